"""GraphSemantics -> regions and MACs that the model's outputs need; no schedule computes less.

Rows that no output reads (such as the last one before a window of stride 2) do not count, since a
schedule may skip them. `regions.py` explains the form of a region, and when it is only a lower
bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from graphturbo_core.ir.boxes import Box
from graphturbo_core.ir.graph import Graph, Op, TensorKind
from graphturbo_core.report.bounds.places import Places, read_places, shortest
from graphturbo_core.report.bounds.regions import (
    Need,
    Region,
    joined,
    region_of,
    size_of,
    whole_region,
)
from graphturbo_core.report.bounds.reshaped import reshaped
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import work_of


@dataclass(frozen=True)
class ModelNeed:
    """Regions of the tensors that the outputs need, and the MACs for them.

    `is_exact`: no other MACs of the model are needed; otherwise `macs` is a lower bound.
    """

    macs: int
    is_exact: bool
    regions: Mapping[str, Region]
    touched: Mapping[str, int]
    """Elements of graph inputs, weights and outputs that must cross DRAM."""


def model_need(sem: GraphSemantics, outputs: Mapping[str, Region] | None = None) -> ModelNeed:
    """ModelNeed of these regions of the outputs (default: all), propagated to the inputs.

    Linear in reads, times the parts of a region (`MOST_PARTS` at most).

    Raises:
        CapacityError: NEED_TOO_SCATTERED, an op reads too many places to list.
    """
    regions = _regions(sem, computed_outputs(sem.graph) if outputs is None else outputs)
    macs, is_exact = 0, True
    for op in sem.graph.ops:
        semantics = sem.by_op[op.name]
        if not has_products(semantics):
            continue
        for index, region in needed_outputs(op, regions):
            own, is_sum = needed_macs(semantics, region, index)
            macs += own
            is_exact &= is_sum and region.is_exact
    return ModelNeed(macs, is_exact, regions, _touched(sem.graph, regions))


def computed_outputs(graph: Graph) -> dict[str, Region]:
    """Whole regions of the computed outputs; an output that is a weight is in DRAM already."""
    tensors = graph.tensors
    return {
        name: whole_region(tensors[name].shape)
        for name in graph.outputs
        if tensors[name].kind is TensorKind.ACTIVATION
    }


def has_products(semantics: OpSemantics) -> bool:
    """Whether the op multiplies and accumulates."""
    return semantics.contraction is not None or bool(semantics.products)


def needed_macs(semantics: OpSemantics, region: Region, index: int) -> tuple[int, bool]:
    """MACs of a region of output `index`, and whether the number is exact (else a lower bound).

    A block of inner products counts as a whole where a part touches it. Two parts may touch the
    same block, so only the largest part counts.
    """
    if not semantics.accesses[index]:
        return 0, True
    if semantics.contraction is not None:
        return region.elements * semantics.contraction.k, True
    parts = [work_of(semantics, counted(part), index).macs for part in region.parts]
    return max(parts, default=0), len(parts) == 1


def counted(need: Need) -> Box:
    """A box with the same number of places per axis."""
    return tuple((0, len(places)) for places in need)


def needed_outputs(op: Op, regions: Mapping[str, Region]) -> Iterator[tuple[int, Region]]:
    """Index and region of each needed output of an op."""
    return ((index, regions[name]) for index, name in enumerate(op.outputs) if name in regions)


def _touched(graph: Graph, regions: Mapping[str, Region]) -> dict[str, int]:
    tensors = graph.tensors
    return {
        name: region.elements
        for name, region in regions.items()
        if tensors[name].kind is not TensorKind.ACTIVATION or name in graph.output_names
    }


def _regions(sem: GraphSemantics, outputs: Mapping[str, Region]) -> dict[str, Region]:
    tensors, regions = sem.graph.tensors, dict(outputs)
    for op in reversed(sem.graph.ops):
        for name, region in _read(sem, op, regions):
            known = regions.get(name)
            regions[name] = (
                region if known is None else joined(op.name, tensors[name].shape, known, region)
            )
    return regions


def _read(
    sem: GraphSemantics, op: Op, regions: Mapping[str, Region]
) -> Iterator[tuple[str, Region]]:
    """Regions of an op's inputs that its needed outputs read."""
    semantics = sem.by_op[op.name]
    for index, region in needed_outputs(op, regions):
        reads = semantics.accesses[index]
        found = ((r.tensor, _image(sem.graph, op, (semantics, index), r, region)) for r in reads)
        yield from (pair for pair in found if pair[1].elements or not pair[1].is_exact)


def _image(
    graph: Graph, op: Op, made: tuple[OpSemantics, int], read: InputAccess, out: Region
) -> Region:
    """The region of an input that a region of output `made` reads.

    An op that only moves elements reads at most one per result. Where its boxes have more elements
    than that, the places are unknown and only a number counts. For a table lookup that number is
    min(table, requested rows).
    """
    semantics, index = made
    shape, found = graph.tensors[read.tensor].shape, Region((), 0, out.is_exact)
    rows, unplaced = _known_rows(graph, op, read), 0
    for part in out.parts:
        results = _widened(semantics, index, part)
        need = tuple(_axis(op.name, axis, results, rows) for axis in read.axes)
        placed: tuple[Need, ...] | None = (need,)
        if read.is_lookup and rows is None:
            placed = None
        elif semantics.fusion is FusionKind.INJECTIVE and size_of(need) > size_of(results):
            is_reshape = semantics.is_view and len(semantics.accesses) == 1
            out_shape = semantics.output_shapes[index]
            placed = reshaped(read.axes, out_shape, results) if is_reshape else None
        if placed is None:
            unplaced += min(size_of(need), size_of(results))
        for each in placed or ():
            found = joined(op.name, shape, found, region_of(shape, (each,), 0, is_exact=True))
    if out.elements > out.listed:
        unplaced = max(unplaced, _least_read(semantics, index, read, out.elements))
    if unplaced:
        found = joined(op.name, shape, found, region_of(shape, (), unplaced, is_exact=False))
    return found


def _known_rows(graph: Graph, op: Op, read: InputAccess) -> Places | None:
    """The rows that a Gather with constant indices looks up; None where indices are computed."""
    if not read.is_lookup:
        return None
    size = next(axis.size for axis in read.axes if axis.kind is AxisKind.WHOLE)
    value = graph.tensors[op.inputs[1]].value
    if value is None or not value.size:
        return None
    return shortest(np.unique(np.where(value < 0, value + size, value).astype(np.int64)))


def _widened(semantics: OpSemantics, index: int, need: Need) -> Need:
    """The need with uncut axes widened to their full size."""
    shape = semantics.output_shapes[index]
    return tuple(
        range(shape[axis]) if axis in semantics.uncut_axes else places
        for axis, places in enumerate(need)
    )


def _axis(op: str, axis: AxisMap, out: Need, rows: Places | None) -> Places:
    """The places of an input axis that the output's places read; `rows`: those looked up."""
    if axis.out_axis >= 0:
        return read_places(op, axis, out[axis.out_axis])
    return rows if rows is not None and axis.kind is AxisKind.WHOLE else range(axis.size)


def _least_read(semantics: OpSemantics, index: int, read: InputAccess, elements: int) -> int:
    """Lower bound of the elements of an input that `elements` results at unknown places read.

    1. An op that moves a whole tensor reads one element per result.
    2. An op that moves a part of it, or concatenates it with others, reads one element per result
       that cannot come from another input.
    3. Results that differ only on axes that the input lacks, or does not follow place by place, may
       read the same elements. Axes that each result reads whole count in full.
    4. Windows and blocks count zero: a result may read padding only.
    """
    shape = semantics.output_shapes[index]
    results = prod(shape)
    kinds = {axis.kind for axis in read.axes}
    if semantics.fusion is FusionKind.INJECTIVE:
        if semantics.is_view and prod(axis.size for axis in read.axes) == results:
            return elements
        if not kinds <= _SHIFTED or {axis.out_axis for axis in read.axes} != {*range(len(shape))}:
            return 0
        own = prod(_reading(axis, shape[axis.out_axis]) for axis in read.axes)
        return max(0, elements - (results - own))
    followed = {axis.out_axis for axis in read.axes if axis.kind in _FOLLOWED}
    if any(axis.out_axis >= 0 and axis.kind not in _FOLLOWED for axis in read.axes):
        return 0
    others = prod(size for axis, size in enumerate(shape) if axis not in followed)
    whole = prod(axis.size for axis in read.axes if axis.out_axis < 0)
    return -(-elements // max(1, others)) * whole


_FOLLOWED = frozenset({AxisKind.SAME, AxisKind.PERMUTED})
_SHIFTED = _FOLLOWED | {AxisKind.OFFSET}


def _reading(axis: AxisMap, results: int) -> int:
    """Places of an output axis that read one place of the input axis each."""
    if axis.kind is not AxisKind.OFFSET:
        return results
    first = max(0, -(axis.offset // axis.step))
    end = min(results, -(-(axis.size - axis.offset) // axis.step))
    return max(0, end - first)
