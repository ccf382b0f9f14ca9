"""Layer norm and softmax as reductions and elementwise ops: passes that run on request.

Relay decomposes a layer norm before ops are fused: its ONNX frontend at import (class
`LayerNormalization`, apache/tvm pull request 13074), and `SimplifyInference` if a frontend makes
an `nn.layer_norm`. There the variance is one reduction over the data and its mean, so the
difference is computed twice, once inside that reduction. In Relay a softmax is one op (pull request
9892, for the ONNX frontend). XLA, under AStitch, has neither as one op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphturbo_core.frontend.passes.parts import Parts
from graphturbo_core.frontend.passes.rewrite import with_ops
from graphturbo_core.ir.graph import AttributeValue, Graph, Op, Tensor

_DTYPES = frozenset({"float32", "float64"})
"""Decomposed data types; for others the whole op has more precision inside than its parts."""
_OPSET = 11
"""Operator set of the reductions, with axes as an attribute."""
_AXIS_SOFTMAX_OPSET = 13
"""First opset whose softmax is along one axis; before, over all axes from its axis on."""
_DEFAULT_EPSILON = 1e-5
_PARAMETERS = slice(1, 3)


def decompose_layer_norm(graph: Graph) -> Graph:
    """Decompose each layer norm; a note counts those that are not.

    Parts: mean, the mean of the squared difference, and the difference over its root, scaled and
    shifted. An op with 16-bit data, or a used output of mean or deviation, is not decomposed.
    """
    return _in_parts(graph, "LayerNormalization", _layer_norm)


def decompose_softmax(graph: Graph) -> Graph:
    """Decompose each softmax; a note counts those of 16 bits, which are not.

    Parts: maximum, difference, exponential, sum, quotient.
    """
    return _in_parts(graph, "Softmax", _softmax)


def _in_parts(graph: Graph, op_type: str, write: Callable[[_OpParts, Op], None]) -> Graph:
    """The graph with every op of this type decomposed by `write`, where possible."""
    parts = _OpParts(graph, has_origins=True)
    whole = 0
    for op in graph.ops:
        if op.domain or op.op_type != op_type:
            parts.ops.append(op)
        elif graph.tensors[op.inputs[0]].dtype not in _DTYPES or _has_statistics(graph, op):
            parts.ops.append(op)
            whole += 1
        else:
            write(parts, op)
    note = f"{whole} op(s) of type {op_type} not decomposed: 16 bits, or statistics are read"
    return with_ops(graph, parts.ops, parts.tensors, [note] if whole else ())


def _has_statistics(graph: Graph, op: Op) -> bool:
    return any(
        name and (graph.consumers[name] or name in graph.output_names) for name in op.outputs[1:]
    )


class _OpParts(Parts):
    """Parts in the type of the op's data."""

    def part(
        self,
        of: Op,
        what: tuple[str, str],
        inputs: Sequence[str],
        output: Tensor,
        attributes: dict[str, AttributeValue] | None = None,
    ) -> str:
        """Add a part of the op `of`; `what`: its name and op type. Returns its result's name."""
        return self.add(of, (*what, _OPSET), inputs, output, attributes)

    def like_data(self, of: Op, part: str, shape: Sequence[int]) -> Tensor:
        """A new tensor of this shape, in the type of the op's data."""
        return self.between(of, part, shape, self.graph.tensors[of.inputs[0]].dtype)

    def reduced(self, of: Op, what: tuple[str, str], data: str, axes: Sequence[int]) -> str:
        """A reduction along axes, with kept axes of one element."""
        shape = [
            1 if axis in axes else size
            for axis, size in enumerate(self.graph.tensors[of.inputs[0]].shape)
        ]
        attributes: dict[str, AttributeValue] = {"axes": tuple(axes), "keepdims": 1}
        return self.part(of, what, (data,), self.like_data(of, what[0], shape), attributes)

    def alike(self, of: Op, what: tuple[str, str], *inputs: str) -> str:
        """An elementwise op whose result has the shape of its first input."""
        first = self.tensor(inputs[0])
        return self.part(of, what, inputs, self.like_data(of, what[0], first.shape))


def _softmax(parts: _OpParts, op: Op) -> None:
    data = op.inputs[0]
    axes = _softmax_axes(op, len(parts.graph.tensors[data].shape))
    largest = parts.reduced(op, ("max", "ReduceMax"), data, axes)
    below = parts.alike(op, ("subtract", "Sub"), data, largest)
    power = parts.alike(op, ("exp", "Exp"), below)
    total = parts.reduced(op, ("sum", "ReduceSum"), power, axes)
    output = parts.graph.tensors[op.outputs[0]]
    parts.part(op, ("divide", "Div"), (power, total), output)


def _softmax_axes(op: Op, rank: int) -> range:
    is_along_one = op.opset >= _AXIS_SOFTMAX_OPSET
    axis = _integer(op, "axis", -1 if is_along_one else 1) % rank
    return range(axis, axis + 1 if is_along_one else rank)


def _layer_norm(parts: _OpParts, op: Op) -> None:
    data = op.inputs[0]
    rank = len(parts.graph.tensors[data].shape)
    axes = range(_integer(op, "axis", -1) % rank, rank)
    mean = parts.reduced(op, ("mean", "ReduceMean"), data, axes)
    inner = parts.alike(op, ("variance/subtract", "Sub"), data, mean)
    square = parts.alike(op, ("variance/square", "Mul"), inner, inner)
    variance = parts.reduced(op, ("variance", "ReduceMean"), square, axes)
    epsilon = op.attributes.get("epsilon", _DEFAULT_EPSILON)
    assert isinstance(epsilon, float)  # the schema's type
    number = parts.constant(op, "epsilon", epsilon, parts.graph.tensors[data].dtype)
    raised = parts.alike(op, ("add", "Add"), variance, number)
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
    parts.part(op, what, (found, operand), parts.graph.tensors[op.outputs[0]])


def _integer(op: Op, name: str, default: int) -> int:
    value = op.attributes.get(name, default)
    assert isinstance(value, int)  # the schema's type
    return value
