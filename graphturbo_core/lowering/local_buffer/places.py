"""PlacementTask -> KernelPlacement, memoised for equivalent kernels of all lowerings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from graphturbo_core.ir.boxes import Box, corner_of, extents, shifted
from graphturbo_core.ir.graph import Op
from graphturbo_core.lowering.local_buffer.place_kernel import PlacementTask, place_kernel
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement, Resident
from graphturbo_core.lowering.stages.stage import Cut, Operand, Shares, Stage
from graphturbo_core.lowering.stages.views import Need, Views
from graphturbo_core.lowering.tiling.stage_memo import StageMemo, StageValues
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.access import AxisKind
from graphturbo_core.semantics.work import is_work_by_extents

MOST_PLACED = 20_000
"""Most cached placements (our choice: 5 KB each for ResNet-50 on a small chip)."""


Corner = tuple[int, ...]
"""Lowest index of a box along every axis."""

_PlacedT = TypeVar("_PlacedT", Resident, Need)
"""A tensor that is placed in LB, or a request for its place."""

_MOVING = frozenset({AxisKind.SAME, AxisKind.PERMUTED})
"""Kinds of axes along which a read moves with the result, wherever that is."""


@dataclass(frozen=True)
class _Placed:
    """A kernel's names and placement; None: nothing fits beside inherited tensors.

    `tiles`: the most tiles that it had while it was placed.
    """

    names: tuple[str, ...]
    placement: KernelPlacement | None
    tiles: int


@dataclass
class Places:
    """Cache of placements: kernels that differ only by names and by place share one.

    Valid for plans of one graph with equal machine, number format, rules, feeding, scheduling and
    bytes of shards. Linear in the kernels' reads. `values`: what their stages share.
    """

    values: StageValues = field(default_factory=StageValues)
    _known: dict[Hashable, _Placed] = field(default_factory=dict)

    def place(self, task: PlacementTask) -> KernelPlacement | None:
        """As `place_kernel`; a cached kernel with too many tiles is placed again, and refused."""
        names = _names(task)
        corners = {name: corner_of(box) for name, box in task.kernel.boxes.items()}
        key = _key(task, {name: place for place, name in enumerate(names)}, corners)
        known = self._known.get(key)
        if known is None or task.computes + known.tiles > task.max_instructions:
            placement, tiles = place_kernel(task)
            self._keep(key, _Placed(names, placement and _bare(placement), tiles))
            return placement
        if known.placement is None:
            return None
        return _copied(known.placement, task, dict(zip(known.names, names, strict=True)))

    def _keep(self, key: Hashable, placed: _Placed) -> None:
        if len(self._known) >= MOST_PLACED:
            self._known.clear()
            self.values.clear()
        self._known[key] = placed


def _bare(placement: KernelPlacement) -> KernelPlacement:
    """The placement without its lists of tiles, which need much memory."""
    return replace(placement, alike=StageMemo(placement.plan))


def _names(task: PlacementTask) -> tuple[str, ...]:
    """Every tensor that placement may name, in an order independent of names."""
    ops = (op for stage in task.stages for op in stage.ops)
    own = (name for op in ops for name in (*op.inputs, *op.outputs) if name)
    read = (operand.tensor for stage in task.stages for operand in stage.operands)
    around = (*task.inherited, *task.wanted_next, *task.kernel.outputs)
    return tuple(dict.fromkeys((*own, *read, *around)))


def _key(task: PlacementTask, number: Mapping[str, int], corners: Mapping[str, Corner]) -> Hashable:
    """Cache key: equal for tasks that differ by names alone, and not in name-based ties.

    Contains everything that `place_kernel` reads except what `Places` names, and the cap. Boxes are
    relative to the kernel's box of their tensor (`corners`: of each activation's). Where a read
    does not move with the result, the place itself counts: edges and blocks are there.
    """
    plan, kernel = task.plan, task.kernel
    kinds = plan.semantics.kinds
    seen = _Seen(number, corners, {})
    return (
        task.grain,
        bool(kernel.branches),
        tuple(number[name] for name in sorted(number)),
        tuple(plan.element_bytes[name] for name in number),
        tuple(
            [
                (
                    tuple([seen.op(kinds, op) for op in stage.ops]),
                    number[stage.output],
                    stage.output_index,
                    stage.binding,
                    extents(stage.box),
                    seen.reads(plan, stage),
                )
                for stage in task.stages
            ]
        ),
        tuple(seen.held(held) for held in task.inherited.values()),
        tuple((number[name], seen.boxes(name, boxes)) for name, boxes in task.wanted_next.items()),
        tuple((number[name], kernel.scopes.get(name)) for name in number if name in kernel.scopes),
        tuple((number[name], held) for name, held in task.places.weights.items()),
        *(
            tuple(place for name, place in number.items() if name in chosen)
            for chosen in (kernel.outputs, kernel.kept, task.parked, task.places.in_dram)
        ),
    )


class _Seen(NamedTuple):
    """What a kernel has, as seen from its own boxes: tensors by number, boxes from `corners`."""

    number: Mapping[str, int]
    corners: Mapping[str, Corner]
    places: dict[Hashable, Hashable]

    def op(self, kinds: Mapping[str, int], op: Op) -> Hashable:
        """An op by kind, and its tensors."""
        return (kinds[op.name], *[self.number.get(n, -1) for n in (*op.inputs, *op.outputs)])

    def reads(self, plan: Plan, stage: Stage) -> Hashable:
        """The operands of a stage, and the place of its box as far as it matters for them."""
        begin = self.corners[stage.output]
        by_op = plan.semantics.by_op
        is_by_extents = all(
            [
                is_work_by_extents(by_op[op.name], 0 if place else stage.output_index)
                for place, op in enumerate(stage.ops)
            ]
        )
        return (
            None if is_by_extents else begin,
            tuple([(self.number[o.tensor], self._place(o, begin)) for o in stage.operands]),
        )

    def _place(self, operand: Operand, begin: Corner) -> Hashable:
        """As `_new_place`, memoised: thousands of results may read one tensor alike."""
        key = operand.reads, begin, self.corners.get(operand.tensor)
        if key not in self.places:
            self.places[key] = self._new_place(operand, begin)
        return self.places[key]

    def _new_place(self, operand: Operand, begin: Corner) -> Hashable:
        """How a result that begins here lies to the kernel's box of an operand, axis by axis."""
        corner = self.corners.get(operand.tensor)
        found: list[int] = []
        for place, axis in enumerate(operand.access.axes):
            at = begin[axis.out_axis] if axis.out_axis >= 0 else 0
            if corner is None:
                found.append(at)
            elif axis.kind in _MOVING:
                found.append(at - corner[place])
            else:
                found += (at, corner[place])
        return corner is None, tuple(found)

    def held(self, held: Resident) -> Hashable:
        """A tensor that the kernel before left."""
        name, cut = held.tensor, held.cut
        return (
            self.number[name], held.offset, held.size_bytes,
            self.boxes(name, held.boxes), self.boxes(name, held.shares),
            cut and (cut.binding, self._box(name, cut.box)),
            held.first, held.last, held.own and self.held(held.own),
        )  # fmt: skip

    def boxes(self, name: str, shares: Shares) -> Hashable:
        """Boxes of a tensor by core."""
        return tuple([(core, self._box(name, box)) for core, box in shares.items()])

    def _box(self, name: str, box: Box) -> Box:
        corner = self.corners.get(name)
        return box if corner is None else shifted(box, [-begin for begin in corner])


def _copied(
    placement: KernelPlacement, task: PlacementTask, names: Mapping[str, str]
) -> KernelPlacement:
    """The placement of an equivalent kernel, with this task's plan, names and boxes.

    Both placements share `SharedValues`: equivalent kernels have equal ones.
    """
    copy = _Copy(names, placement.kernel.boxes, task.kernel.boxes)
    return replace(
        placement,
        plan=task.plan,
        alike=task.alike,
        kernel=task.kernel,
        stages=task.stages,
        residents={names[n]: copy.resident(held) for n, held in placement.residents.items()},
        views=copy.views(placement.views),
        rings={(stage, names[n]): ring for (stage, n), ring in placement.rings.items()},
        kept=frozenset(map(names.__getitem__, placement.kept)),
        spilled=frozenset(map(names.__getitem__, placement.spilled)),
    )


class _Copy(NamedTuple):
    """Tensors of a cached placement by name, and the boxes of its kernel and of the other one."""

    names: Mapping[str, str]
    old: Mapping[str, Box]
    new: Mapping[str, Box]

    def resident(self, held: Resident) -> Resident:
        """The resident of the other kernel."""
        moved = self._moved(held)
        return moved if held.own is None else replace(moved, own=self.resident(held.own))

    def views(self, views: Views) -> Views:
        """The views of the other kernel."""
        names = self.names
        needs = {names[name]: self._moved(need) for name, need in views.needs.items()}
        maps = {
            names[name]: access._replace(tensor=names[access.tensor])
            for name, access in views.maps.items()
        }
        return Views(needs, maps, views.skipped)

    def _moved(self, placed: _PlacedT) -> _PlacedT:
        """A resident or a need with the other kernel's tensor, boxes, shares and cut."""
        by = self._shift(placed.tensor)
        return replace(
            placed,
            tensor=self.names[placed.tensor],
            boxes=_shifted(placed.boxes, by),
            shares=_shifted(placed.shares, by),
            cut=_shifted_cut(placed.cut, by),
        )

    def _shift(self, tensor: str) -> Corner:
        """From the kernel's box of a tensor to the other kernel's; 0 for a weight."""
        old, new = self.old.get(tensor), self.new.get(self.names[tensor])
        if old is None or new is None:
            return ()
        return tuple([b - a for (a, _), (b, _) in zip(old, new, strict=True)])


def _shifted(shares: Shares, by: Corner) -> Shares:
    return {core: shifted(box, by) for core, box in shares.items()} if any(by) else shares


def _shifted_cut(cut: Cut | None, by: Corner) -> Cut | None:
    return cut and Cut(cut.binding, shifted(cut.box, by) if any(by) else cut.box)
