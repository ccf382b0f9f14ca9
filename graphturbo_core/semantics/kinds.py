"""Ops -> kinds: numbers that are equal if two ops differ by names alone."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter

from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.semantics.access import OpSemantics


def op_kinds(
    graph: Graph, by_op: Mapping[str, OpSemantics], cluster_ops: Collection[str]
) -> dict[str, int]:
    """The kind of every op by name; results for one op of a kind apply to all."""
    numbers: dict[Hashable, int] = {}
    found: dict[str, int] = {}
    for op in graph.ops:
        trait = op_trait(graph, op, by_op[op.name]), op.name in cluster_ops
        found[op.name] = numbers.setdefault(trait, len(numbers))
    return found


def by_place(
    kinds: Mapping[str, int], ops: Sequence[Op]
) -> tuple[dict[str, int], tuple[tuple[int | None, ...], ...]]:
    """Returns each tensor's place among the ops' tensors, and the ops by kind and places.

    The latter are equal for ops that differ by names alone.
    """
    names = dict.fromkeys(name for op in ops for name in (*op.inputs, *op.outputs) if name)
    place = {name: number for number, name in enumerate(names)}
    return place, tuple((kinds[op.name], *map(place.get, (*op.inputs, *op.outputs))) for op in ops)


def op_trait(graph: Graph, op: Op, semantics: OpSemantics) -> Hashable:
    """All semantics of an op, tensors by their places among the op's own."""
    read = (access.tensor for reads in semantics.accesses for access in reads)
    names = tuple(dict.fromkeys(name for name in (*op.inputs, *op.outputs, *read) if name))
    place = {name: number for number, name in enumerate(names)}
    accesses = tuple(
        tuple((place[access.tensor], access.axes, access.is_lookup) for access in reads)
        for reads in semantics.accesses
    )
    contraction = semantics.contraction
    operands: tuple[int, ...] = ()
    if contraction is not None:
        operands = (place[contraction.data], place[contraction.weight])
        contraction = replace(contraction, data="", weight="")
    tensors = [graph.tensors[name] for name in names]
    return (
        tuple(place.get(name, -1) for name in (*op.inputs, *op.outputs)),
        len(op.inputs),
        tuple((tensor.shape, tensor.dtype, tensor.kind) for tensor in tensors),
        _nameless(semantics),
        contraction,
        accesses,
        operands,
    )


_nameless = attrgetter(
    *(each.name for each in fields(OpSemantics) if each.name not in ("accesses", "contraction"))
)
"""Fields of an op's semantics that name no tensors."""
