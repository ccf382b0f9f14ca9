"""Stage -> WeightItems: what of its streamed weight is fetched when, and for which cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.allocator import aligned
from graphturbo_core.lowering.stages import Operand, Stage, tensor_bytes
from graphturbo_core.lowering.tiling import LoopOrder, Steps, Tile, Tiling, operand_box, row_axes
from graphturbo_core.strategies.plan import Plan


@dataclass(frozen=True, slots=True)
class WeightItem:
    """What is fetched before step `step`: distinct boxes, each with the cores that need it."""

    step: int
    boxes: Mapping[Box, tuple[int, ...]]


@dataclass(frozen=True)
class WeightItems:
    """A stage's items in order, and which one each step reads."""

    operand: Operand
    items: tuple[WeightItem, ...]
    of_step: tuple[int, ...]


def weight_items(stage: Stage, tiling: Tiling, steps: Steps, slots: int) -> WeightItems | None:
    """Items of the stage's tiled weight; None without one.

    Steps that follow each other with the same tile share an item; where tiles are held for all
    rows (and there are slots for it) each tile is one item.
    """
    operand = stage.tile_weight()
    if operand is None:
        return None
    items: list[tuple[int, dict[Box, set[int]]]] = []
    of_step: list[int] = []
    known: dict[tuple[int, ...], int] = {}
    follows_rows = _follows_rows(stage, operand)
    is_held = not follows_rows and _is_held(tiling, steps, slots)
    for number, step in enumerate(steps):
        is_shared = is_held or (tiling.order is LoopOrder.WEIGHTS and not follows_rows)
        key = _key(next(iter(step.values())), is_shared)
        if key not in known:
            if not is_held:
                known.clear()
            known[key] = len(items)
            items.append((number, {}))
        of_step.append(known[key])
        boxes = items[known[key]][1]
        for core, tile in step.items():
            boxes.setdefault(operand_box(stage, operand, tile), set()).add(core)
    fetched = tuple(
        WeightItem(number, {box: tuple(sorted(boxes[box])) for box in sorted(boxes)})
        for number, boxes in items
    )
    return WeightItems(operand, fetched, tuple(of_step))


def _is_held(tiling: Tiling, steps: Steps, slots: int) -> bool:
    tiles = {(tile.column, tile.depth) for step in steps for tile in step.values()}
    is_repeated = len(tiles) < len(steps)
    return tiling.order is LoopOrder.ROWS and tiling.is_held and is_repeated and len(tiles) < slots


def _follows_rows(stage: Stage, operand: Operand) -> bool:
    """Whether another row tile reads another part of the weight: a product with a batch."""
    rows = set(row_axes(stage))
    return any(axis.out_axis in rows for axis in operand.access.axes)


def _key(tile: Tile, is_shared: bool) -> tuple[int, ...]:
    """What tells weight tiles apart: the row only where rows do not share them."""
    return (tile.column, tile.depth) if is_shared else (tile.row, tile.column, tile.depth)


def item_gb_bytes(plan: Plan, items: WeightItems) -> int:
    """Bytes of GB that the largest item takes."""
    return max(
        sum(aligned(tensor_bytes(plan, items.operand.tensor, box)) for box in item.boxes)
        for item in items.items
    )
