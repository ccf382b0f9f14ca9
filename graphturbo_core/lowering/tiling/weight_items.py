"""Stage -> WeightItems: fetch steps of its streamed weight's boxes, and their receivers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.stages.fetches import Fetch, fetches
from graphturbo_core.lowering.stages.stage import Operand, Stage, merge_needs, tensor_bytes
from graphturbo_core.lowering.tiling.tiling import (
    Steps,
    Tile,
    operand_box,
    row_axes,
)
from graphturbo_core.products.plan import Plan, Residency


@dataclass(frozen=True, slots=True)
class WeightItem:
    """Boxes fetched before step `step`: distinct and not equivalent, with their receivers."""

    step: int
    boxes: Mapping[Box, Fetch]


@dataclass(frozen=True)
class WeightItems:
    """A stage's items in order, and the item that each step reads.

    `offsets`: for a weight resident in LB, the separate offset of each item while the stage runs,
    so that none is refetched; empty if items use slots in turn. `size_bytes`: of a resident weight.
    """

    operand: Operand
    items: tuple[WeightItem, ...]
    of_step: tuple[int, ...]
    offsets: tuple[int, ...] = ()
    size_bytes: int = 0

    @property
    def is_resident(self) -> bool:
        """Whether the items are resident in LB while the stage runs."""
        return bool(self.offsets)

    def box_fetches(self) -> Iterator[tuple[Box, Fetch]]:
        """The boxes of all items in order, each with its fetch."""
        return chain.from_iterable(item.boxes.items() for item in self.items)


def weight_items(
    plan: Plan, stage: Stage, steps: Steps, room: tuple[Residency | None, int]
) -> WeightItems:
    """Returns the items of a stage's tiled weight.

    `room`: its planned residency, and bytes for it in LB. It is resident if the plan has it in LB
    or as shards, and all its items fit in those bytes. If loads and computes alternate, a resident
    weight is one item, if it fits half of GB on its way (our choice).
    """
    operand = stage.tile_weight()
    assert operand is not None
    residency, room_bytes = room
    is_held = residency in {Residency.LB, Residency.SHARDED}
    if is_held and not stage.is_on_cluster:
        items = _items(stage, operand, steps, is_resident=True)
        resident = _in_room(plan, stage, items, room_bytes)
        if resident is not None:
            return resident
    return _items(stage, operand, steps, is_resident=False)


def _in_room(plan: Plan, stage: Stage, items: WeightItems, room_bytes: int) -> WeightItems | None:
    """A resident weight with an LB offset per item; None: no room there, or on its way."""
    if not plan.feeding.tiles_ahead:
        items = _at_once(stage, items)
        passes_gb = plan.hardware.has_gb and not plan.feeding.has_own_fetches
        if passes_gb and item_gb_bytes(plan, items) > plan.hardware.gb_bytes // 2:
            return None
    tensor = items.operand.tensor
    sizes = [
        aligned(max(tensor_bytes(plan, tensor, box) for box in item.boxes)) for item in items.items
    ]
    if sum(sizes) > room_bytes:
        return None
    offsets = tuple(accumulate(sizes[:-1], initial=0))
    return replace(items, offsets=offsets, size_bytes=sum(sizes))


def _items(stage: Stage, operand: Operand, steps: Steps, is_resident: bool) -> WeightItems:
    """Consecutive steps with the same tile share an item.

    For a resident weight, all steps with the same tile do.
    """
    items: list[tuple[int, dict[int, Box]]] = []
    of_step: list[int] = []
    known: dict[tuple[int, ...], int] = {}
    is_shared = not _follows_rows(stage, operand)
    for number, step in enumerate(steps):
        key = _key(next(iter(step.values())), is_shared)
        if key not in known and not is_resident:
            known.clear()
        if key not in known:
            known[key] = len(items)
            items.append((number, {}))
        of_step.append(known[key])
        boxes = items[known[key]][1]
        for core, tile in step.items():
            boxes[core] = operand_box(stage, operand, tile)
    fetched = tuple(WeightItem(number, fetches(stage, operand, boxes)) for number, boxes in items)
    return WeightItems(operand, fetched, tuple(of_step))


def _at_once(stage: Stage, items: WeightItems) -> WeightItems:
    """All items merged to one, which every step reads."""
    boxes: dict[int, Box] = {}
    for item in items.items:
        for fetch in item.boxes.values():
            merge_needs(boxes, fetch.targets)
    item = WeightItem(0, fetches(stage, items.operand, boxes))
    return replace(items, items=(item,), of_step=(0,) * len(items.of_step))


def _follows_rows(stage: Stage, operand: Operand) -> bool:
    """Whether row tiles read different parts of the weight: a product with a batch."""
    rows = set(row_axes(stage))
    return any(axis.out_axis in rows for axis in operand.access.axes)


def _key(tile: Tile, is_shared: bool) -> tuple[int, ...]:
    """Key of a weight tile: with the row only if rows do not share tiles."""
    return (tile.column, tile.depth) if is_shared else (tile.row, tile.column, tile.depth)


def item_bytes(plan: Plan, tensor: str, item: WeightItem) -> int:
    """Bytes of GB for an item."""
    return sum(
        fetch.alike * aligned(tensor_bytes(plan, tensor, box)) for box, fetch in item.boxes.items()
    )


def item_gb_bytes(plan: Plan, items: WeightItems) -> int:
    """Bytes of GB for the largest item."""
    return max(item_bytes(plan, items.operand.tensor, item) for item in items.items)
