"""Ops that pick elements by constant indices: does each sample pick from itself alone?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from graphturbo_core.ir.graph import Graph, Op, TensorKind
from graphturbo_core.semantics.access import AxisKind, AxisMap, InputAccess, OpSemantics
from graphturbo_core.semantics.table import GraphSemantics

Pair = tuple[Op, Op]
"""An op in the models for two batches."""


def picks_leading(graph: Graph, op: Op) -> bool:
    """Whether an op picks elements along the first axis of its first input by indices."""
    if op.domain or op.op_type not in ("Gather", "GatherElements", "GatherND"):
        return False
    if op.op_type == "GatherND":
        return not op.attributes.get("batch_dims", 0)
    return op.attributes.get("axis", 0) in (0, -len(graph.tensors[op.inputs[0]].shape))


def offsets_in_samples(op: Op, indices: np.ndarray, size: int, samples: int) -> np.ndarray | None:
    """Returns the indices of one sample, relative to the start of the sample that they pick from.

    `size`: of the axis that the op picks along. This axis and the leading one of the indices
    consist of one equal part per sample, one after the other. None if a sample picks outside its
    part, or other elements than the first sample.
    """
    is_nd = op.op_type == "GatherND"
    if indices.ndim <= int(is_nd) or not indices.size:
        return None
    if size % samples or indices.shape[0] % samples:
        return None
    part = size // samples
    offsets = np.array(indices).reshape(samples, -1, *indices.shape[1:])
    first = offsets[..., 0] if is_nd else offsets
    first[first < 0] += size
    first -= (np.arange(samples) * part).reshape(-1, *(1,) * (first.ndim - 1))
    is_own = bool(np.all((first >= 0) & (first < part)))
    return offsets[0] if is_own and bool(np.all(offsets == offsets[:1])) else None


def equal_picks(
    graphs: tuple[Graph, Graph], pair: Pair, samples: tuple[int, int]
) -> np.ndarray | None:
    """Returns the indices of one sample if all samples of both models pick by the same ones.

    `samples`: batches of the models. Also None if the indices are unknown. Linear in the indices.
    """
    found = []
    for graph, op, batch in zip(graphs, pair, samples, strict=True):
        if not picks_leading(graph, op):
            return None
        data, indices = (graph.tensors[name] for name in op.inputs[:2])
        if indices.value is None:
            return None
        offsets = offsets_in_samples(op, indices.value, data.shape[0], batch)
        if offsets is None:
            return None
        found.append(offsets)
    return found[0] if np.array_equal(found[0], found[1]) else None


def own_picks(graphs: tuple[Graph, Graph], samples: tuple[int, int]) -> dict[str, int]:
    """Indices of the second model that only ops of `equal_picks` read: their rows per sample."""
    found: dict[str, int] = {}
    others: set[str] = set()
    for pair in zip(graphs[0].ops, graphs[1].ops, strict=True):
        offsets, inputs = equal_picks(graphs, pair, samples), pair[1].inputs
        if offsets is not None:
            found[inputs[1]] = len(offsets)
        others.update(name for place, name in enumerate(inputs) if offsets is None or place != 1)
    return {name: rows for name, rows in found.items() if name not in others}


def with_picks(
    whole: GraphSemantics, part: GraphSemantics, samples: tuple[int, int]
) -> tuple[GraphSemantics, GraphSemantics]:
    """Both semantics, with ops of `equal_picks` taken to read a sample for its rows."""
    sides = whole, part
    changed: tuple[dict[str, OpSemantics], dict[str, OpSemantics]] = ({}, {})
    for op in whole.graph.ops:
        own = part.graph.op_by_name.get(op.name)
        if own is None or equal_picks((whole.graph, part.graph), (op, own), samples) is None:
            continue
        for sem, node, batch, found in zip(sides, (op, own), samples, changed, strict=True):
            if not sem.by_op[node.name].is_opaque:
                found[node.name] = _by_sample(sem, node, batch)
    return (
        GraphSemantics(whole.graph, {**whole.by_op, **changed[0]}),
        GraphSemantics(part.graph, {**part.by_op, **changed[1]}),
    )


def unknown_picks(sem: GraphSemantics, samples: int) -> set[str]:
    """Names of ops that pick by constants without numbers, perhaps from each sample alone."""
    found = set()
    for op in sem.graph.ops:
        if not picks_leading(sem.graph, op) or sem.by_op[op.name].is_opaque:
            continue
        data, indices = (sem.graph.tensors[name] for name in op.inputs[:2])
        is_unknown = indices.kind is TensorKind.WEIGHT and indices.value is None
        has_rows = len(indices.shape) > int(op.op_type == "GatherND")
        parts = indices.shape[:1] + data.shape[:1]
        if is_unknown and has_rows and not any(size % samples for size in parts):
            found.add(op.name)
    return found


def picking_own(sem: GraphSemantics, names: Iterable[str], samples: int) -> GraphSemantics:
    """The semantics with these ops taken to pick from each sample alone.

    For a model with a free batch: its indices follow the batch, and of a batch of one sample all
    of them pick from it. The assumption is reported.
    """
    changed = {name: _by_sample(sem, sem.graph.op_by_name[name], samples) for name in names}
    return GraphSemantics(sem.graph, {**sem.by_op, **changed})


def _by_sample(sem: GraphSemantics, op: Op, samples: int) -> OpSemantics:
    """The op's semantics with whole samples of its first input read for whole samples of rows."""
    known = sem.by_op[op.name]
    data, indices = (sem.graph.tensors[name] for name in op.inputs[:2])
    size = data.shape[0]
    blocks = AxisMap(
        AxisKind.GROUPED,
        size,
        0,
        out_block=indices.shape[0] // samples,
        in_block=size // samples,
    )
    accesses = tuple(
        InputAccess(access.tensor, (blocks, *access.axes[1:]))
        if access.tensor == data.name
        else access
        for access in known.accesses[0]
    )
    return replace(known, accesses=(accesses,), uncut_axes=known.uncut_axes - {0})
