"""Values between the ops of a loop nest: which staging slot each takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphturbo_core.ir.boxes import volume
from graphturbo_core.lowering.stages import Stage
from graphturbo_core.lowering.tiling import LoopOrder, Steps, Tile, Tiling, staging_slot_bytes
from graphturbo_core.strategies.plan import Plan


@dataclass(frozen=True)
class StagingPlan:
    """Slot of every value inside the nest, and how many sets of slots take turns.

    A set holds one tile, or all row tiles where their partial sums wait for the next cut of K;
    `sets` of them take turns.
    """

    slot_of: Mapping[str, int]
    slot_bytes: int
    slots: int
    rows: int
    sets: int

    def offset(self, tile: Tile, slot: int, ordinal: int) -> int:
        """Byte address of a slot for the core's `ordinal`-th output tile."""
        row = tile.row if self.rows > 1 else 0
        turn = tile.column if self.rows > 1 else ordinal
        return ((turn % self.sets * self.rows + row) * self.slots + slot) * self.slot_bytes


MOST_SETS = 4
"""Sets of slots that take turns where instructions of layers are interleaved, if they fit (our
choice: on the paper's ten rows three gain less, and with sixteen the gain of three rows falls)."""


def staging_plan(plan: Plan, stage: Stage, tiling: Tiling, steps: Steps, sets: int) -> StagingPlan:
    """Slots by first use; a value is written over one that dies with its op, of the same dtype.

    `sets` at least take turns; up to four where there is room and layers may overlap: the matrix
    engine then goes on while the vector engine is busy with another layer.
    """
    slot_of = _assign(plan, stage)
    is_summed = tiling.reduced > 0
    largest = max(volume(tile.box) for step in steps for tile in step.values())
    holds_all_rows = is_summed and tiling.order is LoopOrder.WEIGHTS
    rows = 1 + max(tile.row for step in steps for tile in step.values()) if holds_all_rows else 1
    slots = max(len(set(slot_of.values())), 1 if is_summed else 0)
    slot_bytes = staging_slot_bytes(largest)
    if plan.is_scheduled_across_layers and sets > 1 and slots:
        fitting = plan.hardware.staging_bytes // (slots * rows * slot_bytes)
        sets = max(sets, min(MOST_SETS, fitting))
    return StagingPlan(slot_of, slot_bytes, slots, rows, sets)


def _assign(plan: Plan, stage: Stage) -> dict[str, int]:
    tensors = plan.semantics.graph.tensors
    last_read = {name: place for place, op in enumerate(stage.ops) for name in op.inputs}
    slot_of: dict[str, int] = {}
    owner: dict[int, str] = {}
    for place, op in enumerate(stage.ops[:-1]):
        result = next(name for name in op.outputs if name in last_read)
        dying = sorted(
            slot
            for slot, name in owner.items()
            if last_read[name] == place and tensors[name].dtype == tensors[result].dtype
        )
        slot = dying[0] if dying else next(n for n in range(len(owner) + 1) if n not in owner)
        for other in [s for s, name in owner.items() if last_read[name] <= place]:
            del owner[other]
        owner[slot] = result
        slot_of[result] = slot
    return slot_of
