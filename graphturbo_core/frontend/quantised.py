"""A layer between dequantise and quantise becomes one op on 8-bit numbers.

Exporters write such a layer as DequantizeLinear of data and weight, the op on floating numbers, and
QuantizeLinear of its result. The chip computes it on the 8-bit numbers, as QLinearConv and
QLinearMatMul say: (x - x_zero) * (w - w_zero) summed up as integers, times
x_scale * w_scale / y_scale, rounded, plus y_zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from graphturbo_core.frontend.element_types import numpy_dtype
from graphturbo_core.frontend.rewrite import fresh_name, with_ops
from graphturbo_core.frontend.tensors import read_only
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind

_QUANTISED: Mapping[str, str] = MappingProxyType({"Conv": "QLinearConv", "MatMul": "QLinearMatMul"})
_BYTES = ("uint8", "int8")
_FIRST_OPSET = 10
"""Where the 8-bit ops begin."""
_BIAS = 2
_BIAS_TOLERANCE = 1e-5
"""A bias' scale is the product of two others, rounded to a float by the exporter."""


@dataclass(frozen=True, slots=True)
class _Scaled:
    """An 8-bit tensor with its scale and zero point."""

    tensor: str
    scale: str
    zero: str

    @property
    def names(self) -> tuple[str, str, str]:
        """As the 8-bit ops read them."""
        return self.tensor, self.scale, self.zero


def fuse_quantised(graph: Graph) -> Graph:
    """A Conv or MatMul between dequantise and quantise becomes QLinearConv or QLinearMatMul.

    1. Data, weight and result are uint8 or int8, data and result alike; scales and zero points are
       weights; data and result have one of each, a weight one or one an output channel.
    2. Only the quantisation reads the result, directly or behind a Relu, which its lower bound
       does too where the zero point is the lowest number.
    3. A bias is int32, of scale x_scale * w_scale and without a zero point.
    4. Unsigned weights meet unsigned data: other pairs have no kernel.
    What else reads a dequantised tensor still does so.
    """
    changed: dict[str, Tensor] = {}
    replaced: dict[str, Op] = {}
    dropped: set[str] = set()
    for op in graph.ops:
        if op.domain or op.op_type not in _QUANTISED or op.opset < _FIRST_OPSET:
            continue
        behind = _ops_behind(graph, op)
        fused = _fused(graph, op, behind[-1], changed) if behind else None
        if fused is not None:
            replaced[op.name] = fused
            dropped.update(after.name for after in behind)
    if not replaced:
        return graph
    ops = (replaced.get(op.name, op) for op in graph.ops if op.name not in dropped)
    return with_ops(graph, ops, changed)


def _ops_behind(graph: Graph, op: Op) -> tuple[Op, ...]:
    """The quantisation of the op's result, and a Relu between; nothing where rule 2 fails."""
    after = _only_reader(graph, op)
    if after is None:
        return ()
    if _is(after, "QuantizeLinear"):
        return (after,)
    last = _only_reader(graph, after) if _is(after, "Relu") else None
    if last is None or not _is(last, "QuantizeLinear") or not _starts_at_zero(graph, last):
        return ()
    return after, last


def _only_reader(graph: Graph, op: Op) -> Op | None:
    output = op.outputs[0]
    readers = graph.consumers[output]
    is_private = len(readers) == 1 and output not in graph.output_names
    return readers[0] if is_private and readers[0].inputs[0] == output else None


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


def _fused(graph: Graph, op: Op, quantise: Op, changed: dict[str, Tensor]) -> Op | None:
    sources = [_dequantised(graph, name, changed) for name in op.inputs[:_BIAS]]
    result = _result(graph, quantise, changed)
    if None in sources or result is None:
        return None
    data, weight = (source for source in sources if source is not None)
    if not _is_fit(graph, op, (data, weight, result), changed):
        return None
    bias = _bias(graph, op, data, weight)
    if bias is None:
        return None
    return replace(
        op,
        op_type=_QUANTISED[op.op_type],
        inputs=(*data.names, *weight.names, result.scale, result.zero, *bias),
        outputs=quantise.outputs,
    )


def _dequantised(graph: Graph, name: str, changed: dict[str, Tensor]) -> _Scaled | None:
    before = graph.producer.get(name)
    if before is None or not _is(before, "DequantizeLinear"):
        return None
    return _scaled(graph, before, before.inputs[0], changed)


def _result(graph: Graph, quantise: Op, changed: dict[str, Tensor]) -> _Scaled | None:
    return _scaled(graph, quantise, quantise.outputs[0], changed)


def _scaled(graph: Graph, op: Op, tensor: str, changed: dict[str, Tensor]) -> _Scaled | None:
    """Scale and zero point of a (de)quantisation; a missing zero point is made."""
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
    wanted = 0 if op.op_type == "Conv" else len(shape) - 1
    return axis % len(shape) == wanted and scale.shape == tensors[weight.zero].shape


def _bias(graph: Graph, op: Op, data: _Scaled, weight: _Scaled) -> tuple[str, ...] | None:
    """The int32 bias as an input, none without one, None where rule 3 fails."""
    if len(op.inputs) <= _BIAS:
        return ()
    before = graph.producer.get(op.inputs[_BIAS])
    if before is None or not _is(before, "DequantizeLinear"):
        return None
    bias, scale = graph.tensors[before.inputs[0]], graph.tensors[before.inputs[1]].value
    factors = [graph.tensors[name].value for name in (data.scale, weight.scale)]
    zero = graph.tensors[before.inputs[2]].value if len(before.inputs) > _BIAS else np.zeros(1)
    if bias.dtype != "int32" or scale is None or zero is None or zero.any():
        return None
    if factors[0] is None or factors[1] is None:
        return None
    product = factors[0].reshape(-1) * factors[1].reshape(-1)
    is_product = np.allclose(scale.reshape(-1), product, rtol=_BIAS_TOLERANCE, atol=0)
    return (bias.name,) if is_product else None
