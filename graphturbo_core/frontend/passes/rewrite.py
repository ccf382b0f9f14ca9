"""Building blocks of the clean-up passes: changed graphs without unused tensors."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace

from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind


def with_ops(
    graph: Graph,
    ops: Iterable[Op],
    changed: Mapping[str, Tensor] | None = None,
    notes: Iterable[str] = (),
) -> Graph:
    """The graph with other ops, new or changed tensors, and more notes; drops unused tensors."""
    ops = tuple(ops)
    tensors = {**graph.tensors, **(changed or {})}
    used = {*graph.inputs, *graph.outputs}
    used.update(name for op in ops for name in (*op.inputs, *op.outputs) if name)
    kept = {name: tensor for name, tensor in tensors.items() if name in used}
    return replace(graph, ops=ops, tensors=kept, notes=(*graph.notes, *notes))


def as_weight(tensor: Tensor, repeats: str = "") -> Tensor:
    """The result of an op as a weight, with the same value."""
    kind = TensorKind.WEIGHT
    return Tensor(
        tensor.name, tensor.shape, tensor.dtype, kind, tensor.value, is_folded=True, repeats=repeats
    )


def fresh_name(wanted: str, *taken: Container[str]) -> str:
    """`wanted`, with underscores appended until it is in none of the collections."""
    while any(wanted in names for names in taken):
        wanted += "_"
    return wanted


def bypass(graph: Graph, is_removable: Callable[[Graph, Op], bool]) -> Graph:
    """Returns the graph without ops that only copy their first input.

    1. Readers of the output read the input instead.
    2. A graph output's name is unchanged: the input's producer takes it over, if it is an op whose
       output is not itself a graph output.
    3. Else the op is not removed (an input or weight that is directly an output).
    """
    alias: dict[str, str] = {}
    outputs = set(graph.outputs)
    produced = set(graph.producer)
    kept = []
    for op in graph.ops:
        if not is_removable(graph, op):
            kept.append(op)
            continue
        source, target = _resolve(op.inputs[0], alias), op.outputs[0]
        if target not in outputs:
            alias[target] = source
        elif source in produced and source not in outputs:
            alias[source] = target
        else:
            kept.append(op)
    if not alias:
        return graph
    return with_ops(graph, (_renamed(op, alias) for op in kept))


def _resolve(name: str, alias: Mapping[str, str]) -> str:
    while name in alias:
        name = alias[name]
    return name


def _renamed(op: Op, alias: Mapping[str, str]) -> Op:
    return replace(
        op,
        inputs=tuple(_resolve(name, alias) for name in op.inputs),
        outputs=tuple(_resolve(name, alias) for name in op.outputs),
    )
