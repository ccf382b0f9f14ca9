"""Stages of all kernels -> CoreClasses: cores with equivalent programs are simulated once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.boxes import Box, Interval, with_interval
from graphturbo_core.lowering.stages.classes import CoreClasses, every_core
from graphturbo_core.lowering.stages.stage import (
    Cut,
    Operand,
    Stage,
    stage_operands,
    used_shares,
)
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import IntArray
from graphturbo_core.semantics.access import AxisKind, AxisMap

FOLDED_ABOVE = 64
"""Cores per cluster above which equivalent cores are simulated once from the start (our choice:
smaller chips are lowered core by core in a second or two). On smaller chips they are simulated once
only if all cores need more instructions than the cap."""

_CLIPPED = frozenset({AxisKind.WINDOW, AxisKind.OFFSET, AxisKind.SCALED})
"""Axis kinds along which a tile at the tensor's edge reads less than others."""


class _Boxes(NamedTuple):
    """Box of every core, one row per core; zeros without a box."""

    lo: IntArray
    hi: IntArray
    is_there: NDArray[np.bool_]

    @property
    def extents(self) -> IntArray:
        """Size of every axis."""
        return self.hi - self.lo


def folded(plan: Plan, kernels: Sequence[tuple[Stage, ...]]) -> list[tuple[Stage, ...]]:
    """The stages with only the simulated cores' shares."""
    classes = core_classes(plan, kernels)
    return [tuple(_of_classes(stage, classes) for stage in stages) for stages in kernels]


def may_fold(hardware: Hardware) -> bool:
    """Whether cores may represent others: not with a matrix engine that all of them share.

    Such an engine reads what each of the cores wrote.
    """
    return not hardware.has_shared_matrix


def has_many_cores(hardware: Hardware) -> bool:
    """Whether equivalent cores are simulated once from the start."""
    return hardware.cores > FOLDED_ABOVE


def _of_classes(stage: Stage, classes: CoreClasses) -> Stage:
    shares = {core: box for core, box in stage.shares.items() if classes.leader(core) == core}
    return replace(stage, shares=shares, classes=classes)


def classes_of(hardware: Hardware, kernels: Sequence[tuple[Stage, ...]]) -> CoreClasses:
    """The classes that all stages share."""
    found = next((stage.classes for stages in kernels for stage in stages), None)
    return found or every_core(hardware.cores)


def core_classes(plan: Plan, kernels: Sequence[tuple[Stage, ...]]) -> CoreClasses:
    """Returns classes of cores with equal box extents in all stages of the program.

    Compared: computed share, needed box, the owned part of that, the halo, the hull of all, and
    contact with clipping edges. Not compared (our choice): the senders of a core's remote parts, so
    neighbours may differ within a class. Nor the start of a share within blocks that do not nest,
    so single tiles may read a row more or less; comparing it would give `conformer` under
    `layerwise` 466 simulated cores on `ipu-gc2` instead of 70. Nor the memory of each part of a
    joint tensor. Near-linear in cores and in distinct stages.
    """
    classes = np.zeros(plan.hardware.cores, np.int64)
    known: set[_Tensor] = set()
    for tensor in _tensors(plan, kernels):
        if tensor in known:
            continue
        known.add(tensor)
        rows = np.column_stack((classes, *_features(tensor, plan.hardware.cores)))
        classes = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    _, first, place = np.unique(classes, return_index=True, return_inverse=True)
    return CoreClasses(tuple(first[place.ravel()].tolist()))


@dataclass(frozen=True, slots=True)
class _ShareReader:
    """Read of a tensor by the shares of a stage's result of this shape.

    `owned`: the part of the result that its kernel owns.
    """

    cut: Cut
    owned: Box
    shape: tuple[int, ...]
    axes: tuple[AxisMap, ...]


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A kernel's use of a tensor: its maker, here or in the kernel before, and its readers."""

    made: Cut | None
    readers: tuple[_ShareReader, ...]


def _tensors(plan: Plan, kernels: Sequence[tuple[Stage, ...]]) -> Iterator[_Tensor]:
    """The tensors of every kernel; for LB tensors of the kernel before also their makers."""
    made_before: dict[str, Cut] = {}
    read_before: dict[str, list[_ShareReader]] = {}
    for kernel, stages in zip(plan.kernels, kernels, strict=True):
        made = made_before | {stage.output: stage.cut for stage in stages}
        read = {name: list(read_before[name]) for name in made_before}
        for stage, operand in stage_operands(stages):
            read.setdefault(operand.tensor, []).append(_reader(stage, operand))
        for name in dict.fromkeys((*made, *read)):
            yield _Tensor(made.get(name), tuple(dict.fromkeys(read.get(name, ()))))
        made_before = {name: made[name] for name in sorted(kernel.kept) if name in made}
        read_before = {name: read.get(name, []) for name in made_before}


def _reader(stage: Stage, operand: Operand) -> _ShareReader:
    shape = stage.first.output_shapes[stage.output_index]
    return _ShareReader(stage.cut, stage.owned, shape, operand.access.axes)


def _features(tensor: _Tensor, cores: int) -> Iterator[IntArray]:
    """Values that are equal for equivalent cores, one row per core."""
    own = None if tensor.made is None else _shares(tensor.made, cores)
    around = own
    if own is not None:
        yield own.extents
        yield own.is_there[:, np.newaxis].astype(np.int64)
    for reader in tensor.readers:
        share = _shares(reader.cut, cores)
        need = _needs(reader, share)
        yield need.extents
        yield _common(need, _own_part(reader, share))
        if own is not None:
            yield _common(need, own)
        yield from _edges_touched(need, reader.axes)
        yield from _begun_turns(share, reader.axes)
        around = need if around is None else _hull(around, need)
    if around is not None:
        yield around.extents


def _edges_touched(need: _Boxes, axes: Sequence[AxisMap]) -> Iterator[IntArray]:
    """Whether each core's need touches the tensor's edges, per clipped axis."""
    for place, axis in enumerate(axes):
        if axis.kind in _CLIPPED:
            yield np.column_stack((need.lo[:, place] == 0, need.hi[:, place] == axis.size))


def _begun_turns(share: _Boxes, axes: Sequence[AxisMap]) -> Iterator[IntArray]:
    """Where in a turn of an inner axis each core's share begins: there its tiles may be cut."""
    for axis in axes:
        if axis.kind is AxisKind.INNER:
            turn = axis.size * axis.out_block // gcd(axis.size, axis.in_block)
            yield share.lo[:, axis.out_axis, np.newaxis] % turn


def _shares(cut: Cut, cores: int) -> _Boxes:
    """The box that each core computes."""
    rank = len(cut.box)
    found = _none(cores, rank)
    shares = used_shares(cut)
    boxes = np.array(list(shares.values()), np.int64).reshape(len(shares), rank, 2)
    used = np.array(list(shares), np.int64)
    found.lo[used], found.hi[used] = boxes[:, :, 0], boxes[:, :, 1]
    found.is_there[used] = True
    return found


def _none(cores: int, rank: int) -> _Boxes:
    empty = np.zeros((cores, rank), np.int64)
    return _Boxes(empty, empty.copy(), np.zeros(cores, np.bool_))


def _needs(reader: _ShareReader, share: _Boxes) -> _Boxes:
    """The box of the tensor that each core needs for its share."""
    used = share.is_there
    found = _none(len(used), len(reader.axes))
    found.is_there[:] = used
    for place, axis in enumerate(reader.axes):
        if axis.out_axis < 0:
            found.hi[used, place] = axis.size
            continue
        pairs = np.column_stack([corner[used, axis.out_axis] for corner in share[:2]])
        distinct, which = np.unique(pairs, axis=0, return_inverse=True)
        cuts = [_interval(axis, reader.cut.box, (begin, end)) for begin, end in distinct.tolist()]
        intervals = np.array(cuts, np.int64).reshape(len(cuts), 2)[which.ravel()]
        found.lo[used, place], found.hi[used, place] = intervals[:, 0], intervals[:, 1]
    found.is_there[:] &= (found.hi > found.lo).all(axis=1)
    return found


@lru_cache(maxsize=65536)
def _interval(axis: AxisMap, box: Box, part: Interval) -> Interval:
    return axis.interval(with_interval(box, axis.out_axis, part))


def _own_part(reader: _ShareReader, share: _Boxes) -> _Boxes:
    """As `own_box`: the input part of the share if inputs are divided without overlap."""
    found = _none(len(share.lo), len(reader.axes))
    for place, axis in enumerate(reader.axes):
        found.hi[:, place] = axis.size
        if axis.out_axis >= 0 and axis.kind is not AxisKind.INNER:
            whole = max(1, reader.shape[axis.out_axis])
            begin, end = reader.owned[axis.out_axis]
            lo, hi = (np.clip(ends[:, axis.out_axis], begin, end) for ends in share[:2])
            found.lo[:, place] = lo * axis.size // whole
            found.hi[:, place] = hi * axis.size // whole
    return found


def _common(first: _Boxes, second: _Boxes) -> IntArray:
    """Extents of the common box."""
    lo, hi = np.maximum(first.lo, second.lo), np.minimum(first.hi, second.hi)
    return np.asarray(np.maximum(hi - lo, 0))


def _hull(first: _Boxes, second: _Boxes) -> _Boxes:
    """The smallest box around both, or the only box."""
    one, both = first.is_there[:, np.newaxis], (first.is_there & second.is_there)[:, np.newaxis]
    return _Boxes(
        np.where(both, np.minimum(first.lo, second.lo), np.where(one, first.lo, second.lo)),
        np.where(both, np.maximum(first.hi, second.hi), np.where(one, first.hi, second.hi)),
        first.is_there | second.is_there,
    )
