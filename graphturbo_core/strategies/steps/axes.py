"""Loop nests of a kernel -> NestAxes: how well each axis of a result is cut over cores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from graphturbo_core.ir.boxes import Box, extents
from graphturbo_core.semantics.access import AxisKind, InputAccess
from graphturbo_core.semantics.fit import nest_outputs
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.layers.layer_graph import CARRYING


class AxisRank(IntEnum):
    """Order in which axes are cut: by the bytes that a cut makes cores read twice.

    MOVED: none, but the operand's producer is better cut otherwise, and cores exchange the operand.
    """

    SAME = 0
    WINDOW = 1
    MOVED = 2
    WEIGHTS_ONLY = 3
    NEVER = 4


@dataclass(frozen=True, slots=True)
class NestAxes:
    """Axes of a nest's output: the extents that this kernel computes, and their ranks."""

    sizes: tuple[int, ...]
    ranks: tuple[AxisRank, ...]


def kernel_axes(
    sem: GraphSemantics, nests: Sequence[LoopNest], boxes: Mapping[str, Box]
) -> list[NestAxes]:
    """Returns extents and ranks of every nest's axes; an axis bad for a producer is at best MOVED.

    Our choice: a pooling cuts the channels of a convolution no sooner than the convolution does,
    else the two would bind the tensor between them differently. But products of queries and keys
    cut the heads, which are channels of their producers, before the rows: then cores exchange both
    operands once. Cut by rows, each core would read all keys.

    Ops of one kind that read the same tensors are computed once for boxes of one size.
    """
    found: dict[str, NestAxes] = {}
    known: dict[Hashable, NestAxes] = {}
    for nest in nests:
        ops = [sem.graph.op_by_name[name] for name in nest.ops]
        box = boxes.get(nest.output)
        key = (*((sem.kinds[op.name], op.inputs) for op in ops), box and extents(box))
        axes = known.get(key)
        if axes is None:
            axes = known[key] = _inherited(sem, nest, nest_axes(sem, nest, boxes), found)
        found.update(dict.fromkeys(nest_outputs(sem, nest), axes))
    return [found[nest.output] for nest in nests]


def _inherited(
    sem: GraphSemantics, nest: LoopNest, own: NestAxes, found: Mapping[str, NestAxes]
) -> NestAxes:
    ranks = own.ranks
    accesses = (access for name in nest.ops for access in sem.by_op[name].accesses[0])
    for access in (access for access in accesses if access.tensor in found):
        above = found[access.tensor].ranks
        ranks = tuple(
            _not_better(rank, following(access, axis), above) for axis, rank in enumerate(ranks)
        )
    return NestAxes(own.sizes, ranks)


def _not_better(rank: AxisRank, follows: int, above: Sequence[AxisRank]) -> AxisRank:
    """The rank of an axis, no better than that of the axis that it follows or MOVED."""
    if rank is AxisRank.NEVER or not 0 <= follows < len(above):
        return rank
    return max(rank, min(above[follows], AxisRank.MOVED))


def nest_axes(sem: GraphSemantics, nest: LoopNest, boxes: Mapping[str, Box]) -> NestAxes:
    """Extent of each axis of a nest's output in this kernel, and its rank."""
    shape = sem.graph.tensors[nest.output].shape
    sizes = extents(boxes[nest.output]) if nest.output in boxes else shape
    own = {t for op in nest.ops for t in sem.graph.op_by_name[op].outputs}
    ranks = [AxisRank.SAME] * len(shape)
    for name in nest.ops:
        for axis, rank in enumerate(_op_ranks(sem, name, own, len(shape))):
            ranks[axis] = max(ranks[axis], rank)
    return NestAxes(sizes, tuple(ranks))


def _op_ranks(sem: GraphSemantics, name: str, own: set[str], rank: int) -> list[AxisRank]:
    """Per output axis the worst rank over the op's data operands from outside the nest."""
    resolved = sem.by_op[name]
    outside = set(sem.graph.activations_in(sem.graph.op_by_name[name])) - own
    reads = [access for access in resolved.accesses[0] if access.tensor in outside]
    found = []
    for axis in range(rank):
        if axis in resolved.uncut_axes or resolved.is_opaque:
            found.append(AxisRank.NEVER)
            continue
        votes = [_axis_rank(access, axis, resolved.is_pointwise) for access in reads]
        found.append(max(votes, default=AxisRank.SAME))
    return found


def _axis_rank(access: InputAccess, axis: int, is_pointwise: bool) -> AxisRank:
    """Rank by one operand; a pointwise op broadcasts an absent axis, which costs little."""
    kinds = {axis_map.kind for axis_map in access.axes if axis_map.out_axis == axis}
    if not kinds:
        return AxisRank.SAME if is_pointwise else AxisRank.WEIGHTS_ONLY
    if AxisKind.OFFSET in kinds:
        return AxisRank.WEIGHTS_ONLY
    if kinds & {AxisKind.WINDOW, AxisKind.GROUPED, AxisKind.SCALED}:
        return AxisRank.WINDOW
    return AxisRank.SAME


def following(access: InputAccess, axis: int) -> int:
    """The operand's axis that follows an output axis, -1 if none does."""
    return next(
        (
            own
            for own, axis_map in enumerate(access.axes)
            if axis_map.out_axis == axis and axis_map.kind in CARRYING
        ),
        -1,
    )
