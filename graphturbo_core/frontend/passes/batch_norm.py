"""Inference batch normalisation: folded into the contraction before it, else one scale and shift.

y = (x - mean) / sqrt(var + epsilon) * scale + shift is x * factor + offset with
factor = scale / sqrt(var + epsilon) and offset = shift - mean * factor, per channel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from graphturbo_core.frontend.parse.tensors import read_only
from graphturbo_core.frontend.passes.rewrite import fresh_name, with_ops
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind

SCALE_SHIFT = "ScaleShift"
"""Our op: inputs x, scale[C], shift[C]; y = x * scale + shift along axis 1."""

OWN_DOMAIN = "graphturbo"

_DEFAULT_EPSILON = 1e-5
_PARAMETERS = slice(1, 5)
_WITH_BIAS = 3


@dataclass(frozen=True, slots=True)
class _Affine:
    """Factor and offset per channel as weights; values None if parameters are absent."""

    factor: Tensor
    offset: Tensor


def fold_batch_norm(graph: Graph) -> Graph:
    """Fold a BatchNormalization after a Conv or Gemm into its weights and bias.

    1. It must be in inference mode with weights as parameters.
    2. The contraction's output has no other reader and is not a graph output.
    3. The contraction's weight and bias are weights; a Gemm has alpha and beta 1.
    The contraction's name is unchanged; it writes the normalisation's output.
    """
    changed: dict[str, Tensor] = {}
    replaced: dict[str, Op] = {}
    dropped: set[str] = set()
    for op in graph.ops:
        before = graph.producer.get(op.inputs[0]) if _is_inference(graph, op) else None
        if before is not None and _can_take(graph, before):
            replaced[before.name] = _folded(graph, before, op, changed)
            dropped.add(op.name)
    if not dropped:
        return graph
    ops = (replaced.get(op.name, op) for op in graph.ops if op.name not in dropped)
    return with_ops(graph, ops, changed)


def batch_norm_to_scale_shift(graph: Graph) -> Graph:
    """Turns each inference BatchNormalization that could not be folded into one ScaleShift op."""
    changed: dict[str, Tensor] = {}
    ops = [_scale_shift(graph, op, changed) if _is_inference(graph, op) else op for op in graph.ops]
    return with_ops(graph, ops, changed)


def _is_inference(graph: Graph, op: Op) -> bool:
    return (
        op.op_type == "BatchNormalization"
        and not op.domain
        and not op.attributes.get("training_mode", 0)
        and not any(op.outputs[1:])
        and all(
            name and graph.tensors[name].kind is TensorKind.WEIGHT
            for name in op.inputs[_PARAMETERS]
        )
    )


def _can_take(graph: Graph, before: Op) -> bool:
    if before.domain or before.op_type not in ("Conv", "Gemm"):
        return False
    output = before.outputs[0]
    is_private = len(graph.consumers[output]) == 1 and output not in graph.outputs
    are_weights = all(
        graph.tensors[name].kind is TensorKind.WEIGHT for name in before.inputs[1:] if name
    )
    is_plain = all(before.attributes.get(name, 1.0) == 1.0 for name in ("alpha", "beta"))
    return is_private and are_weights and is_plain


def _folded(graph: Graph, before: Op, norm: Op, changed: dict[str, Tensor]) -> Op:
    affine = _affine(graph, norm)
    weight = graph.tensors[before.inputs[1]]
    bias = graph.tensors[before.inputs[-1]] if len(before.inputs) == _WITH_BIAS else None
    axis = _output_axis(before)
    taken = (graph.tensors, changed)
    new_weight = Tensor(
        fresh_name(f"{before.name}/weight", *taken),
        weight.shape,
        weight.dtype,
        TensorKind.WEIGHT,
        _scaled(weight, affine.factor, axis),
    )
    new_bias = Tensor(
        fresh_name(f"{before.name}/bias", *taken),
        affine.offset.shape,
        weight.dtype,
        TensorKind.WEIGHT,
        _shifted(bias, affine),
    )
    changed |= {new_weight.name: new_weight, new_bias.name: new_bias}
    inputs = (before.inputs[0], new_weight.name, new_bias.name)
    return replace(before, inputs=inputs, outputs=norm.outputs[:1])


def _output_axis(before: Op) -> int:
    """The weight's axis of output channels: 0, and 1 for a Gemm that does not transpose it."""
    return 1 if before.op_type == "Gemm" and not before.attributes.get("transB", 0) else 0


def _scaled(weight: Tensor, factor: Tensor, axis: int) -> np.ndarray | None:
    if weight.value is None or factor.value is None:
        return None
    shape = [-1 if index == axis else 1 for index in range(len(weight.shape))]
    product = weight.value.astype(np.float64) * factor.value.astype(np.float64).reshape(shape)
    return read_only(product.astype(weight.value.dtype))


def _shifted(bias: Tensor | None, affine: _Affine) -> np.ndarray | None:
    if affine.offset.value is None or affine.factor.value is None:
        return None
    if bias is None:
        return affine.offset.value
    if bias.value is None:
        return None
    shifted = bias.value * affine.factor.value + affine.offset.value
    return read_only(shifted.astype(affine.offset.value.dtype))


def _scale_shift(graph: Graph, norm: Op, changed: dict[str, Tensor]) -> Op:
    affine = _affine(graph, norm)
    taken = (graph.tensors, changed)
    scale = replace(affine.factor, name=fresh_name(f"{norm.name}/scale", *taken))
    shift = replace(affine.offset, name=fresh_name(f"{norm.name}/shift", *taken))
    changed |= {scale.name: scale, shift.name: shift}
    return replace(
        norm,
        op_type=SCALE_SHIFT,
        domain=OWN_DOMAIN,
        inputs=(norm.inputs[0], scale.name, shift.name),
        outputs=norm.outputs[:1],
        attributes=MappingProxyType({}),
    )


def _affine(graph: Graph, norm: Op) -> _Affine:
    parameters = [graph.tensors[name] for name in norm.inputs[_PARAMETERS]]
    first = parameters[0]
    factor = replace(first, name="", value=None)
    offset = replace(first, name="", value=None)
    scale, shift, mean, variance = (parameter.value for parameter in parameters)
    if scale is None or shift is None or mean is None or variance is None:
        return _Affine(factor, offset)
    epsilon = norm.attributes.get("epsilon", _DEFAULT_EPSILON)
    assert isinstance(epsilon, float)  # the schema's type
    with np.errstate(all="ignore"):
        factors = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + epsilon)
        offsets = shift.astype(np.float64) - mean.astype(np.float64) * factors
    return _Affine(
        replace(factor, value=read_only(factors.astype(scale.dtype))),
        replace(offset, value=read_only(offsets.astype(scale.dtype))),
    )
