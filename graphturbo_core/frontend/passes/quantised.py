"""A layer between dequantise and quantise becomes one op on 8-bit numbers.

Exporters write such a layer as DequantizeLinear of data and weight, the op on floating numbers, and
QuantizeLinear of its result. The chip computes it on the 8-bit numbers, as defined by QLinearConv,
QLinearMatMul and QGemm: (x - x_zero) * (w - w_zero) summed up as integers, times
x_scale * w_scale / y_scale, rounded, plus y_zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType

import numpy as np

from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.frontend.parse.tensors import read_only
from graphturbo_core.frontend.passes.rewrite import fresh_name, with_ops
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind

_FUSED = frozenset({"Conv", "MatMul", "Gemm"})
_QUANTISED: Mapping[str, str] = MappingProxyType({"Conv": "QLinearConv", "MatMul": "QLinearMatMul"})
_SWAPS = ("transA", "transB")
PRODUCT_AND_SUM = "QLinearMatMulAdd"
_BYTES = ("uint8", "int8")
_FIRST_OPSET = 10
"""First opset of the 8-bit ops."""
_BIAS = 2
_BIAS_TOLERANCE = 1e-5
"""Tolerance: a bias' scale is the product of two others, rounded to a float by the exporter."""


@dataclass(frozen=True, slots=True)
class _Scaled:
    """An 8-bit tensor with its scale and zero point."""

    tensor: str
    scale: str
    zero: str

    @property
    def names(self) -> tuple[str, str, str]:
        """Tensor, scale and zero point, in the input order of 8-bit ops."""
        return self.tensor, self.scale, self.zero


@dataclass(frozen=True, slots=True)
class _Layer:
    """An op, its bias ("": none), and the ops after it up to the quantisation."""

    op: Op
    bias: str
    behind: tuple[Op, ...]


def fuse_quantised(graph: Graph) -> Graph:
    """A Conv, MatMul or Gemm between dequantise and quantise becomes one op on 8-bit numbers.

    1. Data, weight and result are uint8 or int8, data and result of equal type. Scales and zero
       points are weights; data and result have one of each, a weight one or one per output channel.
    2. Only the quantisation reads the result, directly or after a Relu. Its lower bound replaces
       the Relu if the zero point is the lowest number. A MatMul's only reader may be an Add before
       that.
    3. A bias is a weight: int32, of scale x_scale * w_scale and without a zero point; for products
       it may be floating. It is one number, or one per output channel.
    4. Unsigned weights need unsigned data: other pairs have no kernel.
    5. A Gemm multiplies neither its product nor its bias.
    Other readers of a dequantised tensor are unchanged.

    A Conv becomes QLinearConv, a MatMul without bias QLinearMatMul, a Gemm without a floating bias
    ONNX Runtime's QGemm. No standard op describes other products: they become our own op, which
    adds an int32 bias to the sums and a floating one to the scaled sums, without approximation.
    """
    changed: dict[str, Tensor] = {}
    replaced: dict[str, Op] = {}
    dropped: set[str] = set()
    for op in graph.ops:
        if op.domain or op.op_type not in _FUSED or op.opset < _FIRST_OPSET:
            continue
        layer = _layer(graph, op)
        fused = _fused(graph, layer, changed) if layer else None
        if layer is not None and fused is not None:
            replaced[op.name] = fused
            dropped.update(after.name for after in layer.behind)
    if not replaced:
        return graph
    ops = (replaced.get(op.name, op) for op in graph.ops if op.name not in dropped)
    return with_ops(graph, ops, changed)


def _layer(graph: Graph, op: Op) -> _Layer | None:
    """The op with the following ops by rule 2; None if that rule fails."""
    bias = op.inputs[_BIAS] if len(op.inputs) > _BIAS else ""
    behind: list[Op] = []
    after = _only_reader(graph, op)
    if after is not None and _is(after, "Add") and _is(op, "MatMul"):
        bias = next((name for name in after.inputs if name != op.outputs[0]), "")
        if not bias:
            return None
        behind.append(after)
        after = _only_reader(graph, after)
    is_bounded = after is not None and _is(after, "Relu")
    if after is not None and is_bounded:
        behind.append(after)
        after = _only_reader(graph, after)
    if after is None or not _is(after, "QuantizeLinear"):
        return None
    if is_bounded and not _starts_at_zero(graph, after):
        return None
    return _Layer(op, bias, (*behind, after))


def _only_reader(graph: Graph, op: Op) -> Op | None:
    output = op.outputs[0]
    readers = graph.consumers[output]
    if len(readers) != 1 or output in graph.output_names:
        return None
    is_first = readers[0].inputs[0] == output
    return readers[0] if is_first or _is(readers[0], "Add") else None


def _is(op: Op, op_type: str) -> bool:
    return op.op_type == op_type and not op.domain


def _starts_at_zero(graph: Graph, quantise: Op) -> bool:
    dtype = graph.tensors[quantise.outputs[0]].dtype
    if dtype not in _BYTES:
        return False
    value = graph.tensors[quantise.inputs[2]].value if len(quantise.inputs) > _BIAS else None
    lowest = int(np.iinfo(numpy_dtype(dtype)).min)
    if len(quantise.inputs) <= _BIAS:
        return lowest == 0
    return value is not None and bool((value == lowest).all())


def _fused(graph: Graph, layer: _Layer, changed: dict[str, Tensor]) -> Op | None:
    op, quantise = layer.op, layer.behind[-1]
    sources = [_dequantised(graph, name, changed) for name in op.inputs[:_BIAS]]
    result = _result(graph, quantise, changed)
    if None in sources or result is None or not _is_plain(layer):
        return None
    data, weight = (source for source in sources if source is not None)
    if not _is_fit(graph, op, (data, weight, result), changed):
        return None
    bias = _bias(graph, layer, data, weight) if layer.bias else ""
    if bias is None:
        return None
    fused = replace(op, outputs=quantise.outputs)
    before, after = (*data.names, *weight.names), (result.scale, result.zero)
    added = (bias,) if bias else ()
    if op.op_type == "Conv" or (op.op_type == "MatMul" and not bias):
        kind = _QUANTISED[op.op_type]
        return replace(fused, op_type=kind, inputs=(*before, *after, *added))
    swaps = {name: op.attributes[name] for name in _SWAPS if name in op.attributes}
    if op.op_type == "Gemm" and not (bias and graph.tensors[bias].dtype != "int32"):
        kind, domain, inputs = "QGemm", "com.microsoft", (*before, bias, *after)
    else:
        kind, domain, inputs = PRODUCT_AND_SUM, "graphturbo", (*before, *after, *added)
    return replace(fused, op_type=kind, domain=domain, inputs=inputs, attributes=swaps, opset=1)


def _is_plain(layer: _Layer) -> bool:
    """Rule 5."""
    attributes = layer.op.attributes
    is_scaled = layer.bias and attributes.get("beta", 1.0) != 1.0
    return attributes.get("alpha", 1.0) == 1.0 and not is_scaled


def _dequantised(graph: Graph, name: str, changed: dict[str, Tensor]) -> _Scaled | None:
    before = graph.producer.get(name)
    if before is None or not _is(before, "DequantizeLinear"):
        return None
    return _scaled(graph, before, before.inputs[0], changed)


def _result(graph: Graph, quantise: Op, changed: dict[str, Tensor]) -> _Scaled | None:
    return _scaled(graph, quantise, quantise.outputs[0], changed)


def _scaled(graph: Graph, op: Op, tensor: str, changed: dict[str, Tensor]) -> _Scaled | None:
    """Scale and zero point of a (de)quantisation; a missing zero point is created."""
    dtype = graph.tensors[tensor].dtype
    parameters = [graph.tensors[name] for name in op.inputs[1:]]
    if dtype not in _BYTES or any(t.kind is not TensorKind.WEIGHT for t in parameters):
        return None
    if op.attributes.get("block_size", 0) or parameters[0].dtype != "float32":
        return None
    if len(parameters) > 1:
        return _Scaled(tensor, op.inputs[1], op.inputs[2])
    name = fresh_name(f"{op.name}/zero", {**graph.tensors, **changed})
    value = read_only(np.zeros(parameters[0].shape, numpy_dtype(dtype)))
    changed[name] = Tensor(name, value.shape, dtype, TensorKind.WEIGHT, value)
    return _Scaled(tensor, op.inputs[1], name)


def _is_fit(
    graph: Graph, op: Op, scaled: tuple[_Scaled, _Scaled, _Scaled], changed: Mapping[str, Tensor]
) -> bool:
    """Rules 1 and 4."""
    tensors = {**graph.tensors, **changed}
    data, weight, result = scaled
    kinds = [tensors[part.tensor].dtype for part in scaled]
    if kinds[0] != kinds[2] or (kinds[0], kinds[1]) == ("int8", "uint8"):
        return False
    if any(tensors[name].elements != 1 for part in (data, result) for name in part.names[1:]):
        return False
    scale = tensors[weight.scale]
    if scale.elements == 1:
        return tensors[weight.zero].elements == 1
    before = graph.producer[op.inputs[1]]
    shape = tensors[weight.tensor].shape
    axis = before.attributes.get("axis", 1)
    assert isinstance(axis, int)  # the schema's type
    is_first = op.op_type == "Conv" or bool(op.attributes.get("transB", 0))
    wanted = 0 if is_first else len(shape) - 1
    return (
        len(shape) > 1 and axis % len(shape) == wanted and scale.shape == tensors[weight.zero].shape
    )


def _bias(graph: Graph, layer: _Layer, data: _Scaled, weight: _Scaled) -> str | None:
    """The bias input of the 8-bit op; None if rule 3 fails."""
    before = graph.producer.get(layer.bias)
    is_scaled = before is not None and _is(before, "DequantizeLinear")
    name = before.inputs[0] if before is not None and is_scaled else layer.bias
    bias, out = graph.tensors[name], graph.tensors[layer.op.outputs[0]].shape
    is_conv = layer.op.op_type == "Conv"
    channels = out[1:2] if is_conv else out[-1:]
    is_along = bias.shape[-1:] == channels and bias.elements == prod(channels)
    if len(bias.shape) > len(out) or not (bias.elements == 1 or is_along):
        return None
    if bias.kind is not TensorKind.WEIGHT:
        return None
    if before is not None and is_scaled:
        return name if _is_of_sums(graph, before, data, weight) else None
    return name if bias.dtype == "float32" and not is_conv else None


def _is_of_sums(graph: Graph, dequantise: Op, data: _Scaled, weight: _Scaled) -> bool:
    """Whether a bias has the scale of the sums that it is added to."""
    places = [graph.tensors[name] for name in dequantise.inputs]
    scales = [graph.tensors[part.scale].value for part in (data, weight)]
    none: np.ndarray | None = np.zeros(1)
    scale, zero = places[1].value, places[_BIAS].value if len(places) > _BIAS else none
    if places[0].dtype != "int32" or dequantise.attributes.get("block_size", 0):
        return False
    if scale is None or zero is None or zero.any() or scales[0] is None or scales[1] is None:
        return False
    product = scales[0].reshape(-1) * scales[1].reshape(-1)
    return np.allclose(scale.reshape(-1), product, rtol=_BIAS_TOLERANCE, atol=0)
