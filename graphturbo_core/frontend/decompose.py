"""Softmax and layer norm as the reductions and elementwise ops that TVM's Relay makes of them.

A pass that runs only where it is asked for. Relay's `SimplifyInference` takes a layer norm apart
before ops are fused; the variance is one reduction over the data and its mean there, so that the
difference is computed twice, once inside that reduction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphturbo_core.frontend.rewrite import fresh_name, with_ops
from graphturbo_core.frontend.tensors import read_only
from graphturbo_core.ir.graph import AttributeValue, Graph, Op, Tensor, TensorKind

_DTYPES = frozenset({"float32", "float64"})
"""Of other types the whole op keeps more digits inside than its parts would between them."""
_OPSET = 11
"""Operator set of the reductions: they have their axes as an attribute there."""
_AXIS_SOFTMAX_OPSET = 13
"""From here on a softmax is along one axis; before, over all axes from its axis on."""
_DEFAULT_EPSILON = 1e-5
_PARAMETERS = slice(1, 3)


def decompose_normalisation(graph: Graph) -> Graph:
    """Each softmax and layer norm in parts; a note counts those that stay whole.

    1. Softmax: maximum, difference, exponential, sum, quotient. 2. Layer norm: mean, the mean of
    the squared difference, and the difference over the root of that, scaled and shifted. 3. It
    stays whole where its mean or deviation is an output that is used, or in 16 bits.
    """
    parts = _Parts(graph)
    whole = 0
    for op in graph.ops:
        is_softmax = not op.domain and op.op_type == "Softmax"
        is_norm = not op.domain and op.op_type == "LayerNormalization"
        if not (is_softmax or is_norm):
            parts.ops.append(op)
        elif graph.tensors[op.inputs[0]].dtype not in _DTYPES or _has_statistics(graph, op):
            parts.ops.append(op)
            whole += 1
        elif is_softmax:
            _softmax(parts, op)
        else:
            _layer_norm(parts, op)
    notes = [f"{whole} softmax or layer norm ops stay whole: 16 bits, or statistics"]
    return with_ops(graph, parts.ops, parts.tensors, notes if whole else ())


def _has_statistics(graph: Graph, op: Op) -> bool:
    return any(
        name and (graph.consumers[name] or name in graph.output_names) for name in op.outputs[1:]
    )


class _Parts:
    """Collects the ops of the new graph, and the tensors between those that are new."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ops: list[Op] = []
        self.tensors: dict[str, Tensor] = {}
        self._taken: set[str] = {op.name for op in graph.ops}

    def add(
        self,
        of: Op,
        what: tuple[str, str],
        inputs: Sequence[str],
        output: Tensor,
        attributes: dict[str, AttributeValue] | None = None,
    ) -> str:
        """One part of the op `of`: its own name and its op type are `what`; its result's name."""
        part, op_type = what
        name = fresh_name(f"{of.name}/{part}", self._taken)
        self._taken.add(name)
        if output.name not in self.graph.tensors:
            self.tensors[output.name] = output
        self.ops.append(
            Op(name, op_type, "", tuple(inputs), (output.name,), attributes or {}, _OPSET)
        )
        return output.name

    def between(self, of: Op, part: str, shape: Sequence[int]) -> Tensor:
        """A new tensor of this shape, in the type of the op's data."""
        name = fresh_name(f"{of.name}/{part}:0", self.graph.tensors, self.tensors)
        dtype = self.graph.tensors[of.inputs[0]].dtype
        return Tensor(name, tuple(shape), dtype, TensorKind.ACTIVATION)

    def constant(self, of: Op, part: str, number: float) -> str:
        """A new weight that is one number."""
        tensor = self.between(of, part, ())
        value = read_only(np.array(number, tensor.dtype))
        self.tensors[tensor.name] = replace(tensor, kind=TensorKind.WEIGHT, value=value)
        return tensor.name

    def reduced(self, of: Op, what: tuple[str, str], data: str, axes: Sequence[int]) -> str:
        """A reduction along axes, which stay with one element each."""
        shape = [
            1 if axis in axes else size
            for axis, size in enumerate(self.graph.tensors[of.inputs[0]].shape)
        ]
        attributes: dict[str, AttributeValue] = {"axes": tuple(axes), "keepdims": 1}
        return self.add(of, what, (data,), self.between(of, what[0], shape), attributes)

    def alike(self, of: Op, what: tuple[str, str], *inputs: str) -> str:
        """An elementwise op whose result has the shape of its first input."""
        first = self.tensors.get(inputs[0]) or self.graph.tensors[inputs[0]]
        return self.add(of, what, inputs, self.between(of, what[0], first.shape))


def _softmax(parts: _Parts, op: Op) -> None:
    data = op.inputs[0]
    axes = _softmax_axes(op, len(parts.graph.tensors[data].shape))
    largest = parts.reduced(op, ("max", "ReduceMax"), data, axes)
    below = parts.alike(op, ("subtract", "Sub"), data, largest)
    power = parts.alike(op, ("exp", "Exp"), below)
    total = parts.reduced(op, ("sum", "ReduceSum"), power, axes)
    output = parts.graph.tensors[op.outputs[0]]
    parts.add(op, ("divide", "Div"), (power, total), output)


def _softmax_axes(op: Op, rank: int) -> range:
    is_along_one = op.opset >= _AXIS_SOFTMAX_OPSET
    axis = _integer(op, "axis", -1 if is_along_one else 1) % rank
    return range(axis, axis + 1 if is_along_one else rank)


def _layer_norm(parts: _Parts, op: Op) -> None:
    data = op.inputs[0]
    rank = len(parts.graph.tensors[data].shape)
    axes = range(_integer(op, "axis", -1) % rank, rank)
    mean = parts.reduced(op, ("mean", "ReduceMean"), data, axes)
    inner = parts.alike(op, ("variance/subtract", "Sub"), data, mean)
    square = parts.alike(op, ("variance/square", "Mul"), inner, inner)
    variance = parts.reduced(op, ("variance", "ReduceMean"), square, axes)
    epsilon = op.attributes.get("epsilon", _DEFAULT_EPSILON)
    assert isinstance(epsilon, float)  # the schema's type
    raised = parts.alike(op, ("add", "Add"), variance, parts.constant(op, "epsilon", epsilon))
    root = parts.alike(op, ("sqrt", "Sqrt"), raised)
    found = parts.alike(op, ("subtract", "Sub"), data, mean)
    steps = [(("divide", "Div"), root)]
    named = (("scale", "Mul"), ("shift", "Add"))
    steps += [
        (what, name) for what, name in zip(named, op.inputs[_PARAMETERS], strict=False) if name
    ]
    for what, operand in steps[:-1]:
        found = parts.alike(op, what, found, operand)
    what, operand = steps[-1]
    parts.add(op, what, (found, operand), parts.graph.tensors[op.outputs[0]])


def _integer(op: Op, name: str, default: int) -> int:
    value = op.attributes.get(name, default)
    assert isinstance(value, int)  # the schema's type
    return value
