"""Needs -> Views: tensors that share another tensor's bytes, without copy instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from graphturbo_core.ir.boxes import Box, contains, volume
from graphturbo_core.lowering.stages.stage import Cut, Operand, Shares, Stage, bytes_per_element
from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.semantics.access import AxisKind, AxisMap, InputAccess, Reads, reads_of

_PLAIN = frozenset({AxisKind.SAME, AxisKind.PERMUTED, AxisKind.NONE})


class NeedParts(Enum):
    """The parts of a tensor that a need covers: those that cores computed, or read, or both."""

    FEWEST_BYTES = "both, as one need or as two, whichever needs fewer bytes"
    APART = "both, to be divided into two needs"
    COMPUTED = "the computed parts, of two needs"
    READ = "the boxes that cores read, of two needs"
    TILE_EXCHANGE = "the computed parts alone; cores that read others get them tile by tile"


@dataclass(frozen=True)
class Need:
    """A request for LB: a tensor's lifetime in stages, and per core its box and computed share.

    `cut`: division over the computing cores; None if it is loaded. `direct`: stages that read the
    computed parts.
    """

    tensor: str
    boxes: Shares
    shares: Shares
    cut: Cut | None
    first: int
    last: int
    parts: NeedParts = NeedParts.FEWEST_BYTES
    direct: frozenset[int] = frozenset()

    @property
    def has_tile_exchange(self) -> bool:
        """Whether cores get tiles of it from each other."""
        return self.parts is NeedParts.TILE_EXCHANGE

    def is_in_lb_for(self, stage: int) -> bool:
        """Whether a stage finds all that it reads in LB, without tiles from other cores."""
        return stage in self.direct or not self.has_tile_exchange


@dataclass(frozen=True)
class Views:
    """`maps`: view -> its access in the tensor with its bytes (which may be a view).

    `skipped`: stages that need no instruction. `needs`: tensors that still need their own place.
    """

    needs: Mapping[str, Need]
    maps: Mapping[str, InputAccess] = field(default_factory=dict)
    skipped: frozenset[int] = frozenset()

    def root(self, tensor: str, box: Box) -> tuple[str, Box]:
        """The tensor with the bytes, and the box there."""
        while tensor in self.maps:
            box = self._reads[tensor].box(box)
            tensor = self.maps[tensor].tensor
        return tensor, box

    @cached_property
    def _reads(self) -> Mapping[str, Reads]:
        """Boxes of the tensor with the bytes by boxes of the view."""
        return {view: reads_of(access.axes) for view, access in self.maps.items()}

    @cached_property
    def holders(self) -> frozenset[str]:
        """Tensors with views in their bytes."""
        return frozenset(access.tensor for access in self.maps.values())


def find_views(
    plan: Plan, kernel: KernelPlan, stages: tuple[Stage, ...], needs: Mapping[str, Need]
) -> Views:
    """Returns every legal view inside the kernel, stage by stage.

    1. Split, slice, squeeze, reshape by axes of one element: the result is a view of its source, if
    every core already has the part that it reads. 2. Concat: the parts are computed in place in the
    result, if no core needs more of it than it computes. 3. Elementwise nest: the result overwrites
    an operand that dies there. Tensors that leave the kernel are not views.
    """
    found = _Found(dict(needs))
    for stage in stages:
        if stage.output not in found.needs or _leaves(kernel, stage.output):
            continue
        for rule in (_alias, _joined, _overwritten):
            if rule(plan, kernel, stage, found):
                break
    return Views(found.needs, found.maps, frozenset(found.skipped))


@dataclass
class _Found:
    """The views found so far; fields as in `Views`."""

    needs: dict[str, Need]
    maps: dict[str, InputAccess] = field(default_factory=dict)
    skipped: set[int] = field(default_factory=set)

    def root(self, tensor: str, box: Box) -> tuple[str, Box]:
        while tensor in self.maps:
            tensor, box = self.maps[tensor].tensor, self.maps[tensor].box(box)
        return tensor, box

    def holder(self, tensor: str) -> str:
        """The tensor with the bytes."""
        while tensor in self.maps:
            tensor = self.maps[tensor].tensor
        return tensor

    def merge(self, tensor: str, access: InputAccess, holder: str) -> None:
        """Make `tensor` a view of `holder`, whose lifetime is extended to both."""
        view, kept = self.needs.pop(tensor), self.needs[holder]
        first, last = min(kept.first, view.first), max(kept.last, view.last)
        self.needs[holder] = replace(kept, first=first, last=last)
        self.maps[tensor] = access


def _leaves(kernel: KernelPlan, tensor: str) -> bool:
    return tensor in kernel.outputs or tensor in kernel.kept


def _alias(plan: Plan, kernel: KernelPlan, stage: Stage, views: _Found) -> bool:
    """Rule 1."""
    if len(stage.ops) != 1 or not stage.first.is_view:
        return False
    data = [operand for operand in stage.operands if not operand.is_weight]
    if len(data) != 1:
        return False
    access = data[0].access
    result = views.needs[stage.output]
    if not all(_is_exact(axis) for axis in access.axes):
        return False
    holder, _ = views.root(access.tensor, tuple((0, axis.size) for axis in access.axes))
    source = views.needs.get(holder)
    if source is None or not source.shares:
        return False
    for core, box in result.boxes.items():
        inside = views.root(access.tensor, data[0].reads.box(box))[1]
        if volume(inside) != volume(box) or core not in source.shares:
            return False
        if not contains(source.shares[core], inside):
            return False
    views.merge(stage.output, access, holder)
    views.skipped.add(stage.index)
    return True


def _is_exact(axis: AxisMap) -> bool:
    """Whether boxes of the result are boxes of the source, element by element."""
    if axis.kind in _PLAIN:
        return True
    if axis.kind is AxisKind.OFFSET:
        return axis.step == 1
    if axis.kind is AxisKind.GROUPED:
        return axis.out_block == 1 and axis.in_block == 1
    return axis.kind is AxisKind.WHOLE and axis.size == 1


def _joined(plan: Plan, kernel: KernelPlan, stage: Stage, views: _Found) -> bool:
    """Rule 2."""
    axis = _joint(stage)
    if axis is None:
        return False
    result = views.needs[stage.output]
    if dict(result.boxes) != dict(result.shares):
        return False
    maps: dict[str, InputAccess] = {}
    for operand in stage.operands:
        part = views.needs.get(operand.tensor)
        is_held = part is not None and part.shares and dict(part.boxes) == dict(part.shares)
        if part is None or not is_held or _leaves(kernel, operand.tensor):
            return False
        place = _placed(stage, operand, axis)
        fits = all(
            core in result.boxes and contains(result.boxes[core], place.box(box))
            for core, box in part.boxes.items()
        )
        if not fits or operand.tensor in maps:
            return False
        maps[operand.tensor] = place
    for tensor, place in maps.items():
        views.merge(tensor, place, stage.output)
    views.skipped.add(stage.index)
    return True


def _joint(stage: Stage) -> int | None:
    """The axis of a stage that only concatenates its operands; else None."""
    if len(stage.ops) != 1 or not stage.first.is_joint:
        return None
    if any(operand.is_weight for operand in stage.operands):
        return None
    reads = stage.first.accesses[stage.output_index]
    moved = {
        place
        for read in reads
        for place, axis in enumerate(read.axes)
        if axis.kind is AxisKind.OFFSET
    }
    return moved.pop() if len(moved) == 1 else None


def _placed(stage: Stage, operand: Operand, axis: int) -> InputAccess:
    """Access of a concat's operand in the result."""
    shape = stage.first.output_shapes[stage.output_index]
    begin = -operand.access.axes[axis].offset
    return InputAccess(
        stage.output,
        tuple(
            AxisMap(AxisKind.OFFSET, size, place, offset=begin if place == axis else 0)
            for place, size in enumerate(shape)
        ),
    )


def _overwritten(plan: Plan, kernel: KernelPlan, stage: Stage, views: _Found) -> bool:
    """Rule 3."""
    if not all(plan.semantics.by_op[op.name].is_pointwise for op in stage.ops):
        return False
    result = views.needs[stage.output]
    width = bytes_per_element(plan, stage.output)
    lent = {views.holder(o.tensor) for o in stage.operands if o.tensor in views.maps}
    for operand in stage.operands:
        name = operand.tensor
        source = views.needs.get(name)
        if source is None or source.last != stage.index or _leaves(kernel, name):
            continue
        is_same = dict(source.boxes) == dict(result.boxes) == dict(result.shares)
        if name in lent or not is_same:
            continue
        readers = [other.access for other in stage.operands if other.tensor == name]
        is_one_to_one = all(_is_identity(access, stage) for access in readers)
        if is_one_to_one and bytes_per_element(plan, name) == width:
            views.merge(stage.output, operand.access, name)
            return True
    return False


def _is_identity(access: InputAccess, stage: Stage) -> bool:
    shape = stage.first.output_shapes[stage.output_index]
    return len(access.axes) == len(shape) and all(
        axis.kind is AxisKind.SAME and axis.out_axis == place and axis.size == size
        for place, (axis, size) in enumerate(zip(access.axes, shape, strict=True))
    )
