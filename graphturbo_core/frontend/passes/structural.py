"""Clean-up passes without arithmetic: each returns a smaller equivalent graph."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.frontend.passes.rewrite import as_weight, bypass, with_ops
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind

_RANDOM = frozenset(
    {
        "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
        "RandomUniformLike",
    }
)  # fmt: skip

_KEEP_FOLDED = _RANDOM | {"DequantizeLinear", "QuantizeLinear", "DynamicQuantizeLinear"}
"""Ops not folded into weights: quantised weights are 8-bit, random numbers are not constant."""

_DROPOUT_WITH_MODE_INPUT = 12
_DROPOUT_WITHOUT_MODE = 7


def remove_identity(graph: Graph) -> Graph:
    """Remove Identity, of activations and of weights."""
    return bypass(graph, lambda _graph, op: _is(op, "Identity"))


def remove_dropout(graph: Graph) -> Graph:
    """Remove Dropout in inference mode with an unread mask."""
    return bypass(graph, _is_idle_dropout)


def _is_idle_dropout(graph: Graph, op: Op) -> bool:
    if not _is(op, "Dropout"):
        return False
    mask = op.outputs[1] if len(op.outputs) > 1 else ""
    if mask and (graph.consumers[mask] or mask in graph.outputs):
        return False
    return not _is_training(graph, op)


def _is_training(graph: Graph, op: Op) -> bool:
    """Whether a Dropout may drop elements; True if its mode is unknown."""
    if op.opset < _DROPOUT_WITHOUT_MODE:
        return op.attributes.get("is_test", 0) != 1
    mode = "".join(op.inputs[2:])
    if op.opset < _DROPOUT_WITH_MODE_INPUT or not mode:
        return False
    training = graph.tensors[mode].value
    return training is None or bool(training.any())


def draws_numbers(graph: Graph, op: Op) -> bool:
    """Whether the op gives random numbers."""
    if op.domain:
        return False
    return op.op_type in _RANDOM or (_is(op, "Dropout") and _is_training(graph, op))


def remove_same_cast(graph: Graph) -> Graph:
    """Remove a cast to its input's type."""
    return bypass(
        graph,
        lambda graph, op: (
            _is(op, "Cast")
            and graph.tensors[op.inputs[0]].dtype == graph.tensors[op.outputs[0]].dtype
        ),
    )


def fold_constant_of_shape(graph: Graph) -> Graph:
    """Turn a ConstantOfShape of known size into a weight; a large one has no numbers."""
    folded = {
        op.outputs[0]: as_weight(graph.tensors[op.outputs[0]])
        for op in graph.ops
        if _is(op, "ConstantOfShape")
    }
    return with_ops(graph, (op for op in graph.ops if op.outputs[0] not in folded), folded)


def fold_shape_arithmetic(graph: Graph) -> Graph:
    """Turn an op with a known result (from shapes and small constants) into a weight."""
    folded: dict[str, Tensor] = {}
    kept = []
    for op in graph.ops:
        results = [graph.tensors[name] for name in op.outputs if name]
        if any(tensor.value is None for tensor in results):
            kept.append(op)
        else:
            folded |= {tensor.name: as_weight(tensor) for tensor in results}
    return with_ops(graph, kept, folded)


def fold_weight_ops(graph: Graph) -> Graph:
    """Turn an op that reads only weights into weights without values.

    Its numbers were absent or too many to compute; in the second case a note reports it.
    """
    folded: dict[str, Tensor] = {}
    kept, notes = [], []
    for op in graph.ops:
        sources = [folded.get(name) or graph.tensors[name] for name in op.inputs if name]
        if not _is_weight_op(op, sources):
            kept.append(op)
            continue
        rows = _repeated(op, sources)
        folded |= {name: as_weight(graph.tensors[name], rows) for name in op.outputs if name}
        if all(source.value is not None for source in sources):
            notes.append(f"{op.name}: a constant result that is not computed; its values are lost")
    return with_ops(graph, kept, folded, notes)


def _repeated(op: Op, sources: Sequence[Tensor]) -> str:
    """The weight of the file that an Expand makes each row of its result; empty if there is none.

    A weight that was computed at import may depend on the number of rows.
    """
    data = sources[0]
    is_row = data.shape[:1] == (1,) and not data.is_folded
    return data.name if op.op_type == "Expand" and is_row else ""


def _is_weight_op(op: Op, sources: list[Tensor]) -> bool:
    return (
        bool(sources)
        and not op.domain
        and op.op_type not in _KEEP_FOLDED
        and all(source.kind is TensorKind.WEIGHT for source in sources)
    )


def remove_dead_ops(graph: Graph) -> Graph:
    """Remove ops and inputs that no graph output depends on; a note names the inputs."""
    needed = set(graph.outputs)
    kept = []
    for op in reversed(graph.ops):
        if needed.intersection(op.outputs):
            kept.append(op)
            needed.update(filter(None, op.inputs))
    unused = [name for name in graph.inputs if name not in needed]
    inputs = tuple(name for name in graph.inputs if name in needed)
    notes = tuple(f"input {name!r} is not used and left out" for name in unused)
    live = Graph(graph.name, graph.ops, graph.tensors, inputs, graph.outputs, graph.notes)
    return with_ops(live, reversed(kept), notes=notes)


def _is(op: Op, op_type: str) -> bool:
    return op.op_type == op_type and not op.domain
