"""Values between the ops of a loop nest: staging slot of each, and offsets of the slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from graphturbo_core.ir.boxes import Interval, volume
from graphturbo_core.lowering.addresses.packing import Request, rested
from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.lowering.tiling.tiling import (
    LoopOrder,
    Steps,
    Tile,
    Tiling,
    staging_slot_bytes,
)
from graphturbo_core.products.plan import Plan


class Nest(NamedTuple):
    """A stage with its tiling and tiles."""

    stage: Stage
    tiling: Tiling
    steps: Steps


@dataclass(frozen=True)
class StagingPlan:
    """Slot of every value inside the nest; sets of slots, used in turn, from `base` on.

    A set has one tile, or all row tiles if their partial sums wait for the next cut of K.
    """

    slot_of: Mapping[str, int]
    slot_bytes: int
    slots: int
    rows: int
    sets: int
    base: int = 0

    @property
    def set_bytes(self) -> int:
        """Bytes of one set; 0 without values between the ops."""
        return self.rows * self.slots * self.slot_bytes

    def offset(self, tile: Tile, slot: int, ordinal: int) -> int:
        """Byte address of a slot for the core's `ordinal`-th output tile."""
        row = tile.row if self.rows > 1 else 0
        turn = tile.column if self.rows > 1 else ordinal
        set_offset = turn % self.sets * self.set_bytes
        return self.base + set_offset + (row * self.slots + slot) * self.slot_bytes


MOST_SETS = 6
"""Sets of slots if instructions of layers are interleaved and they fit (our choice: with three or
twelve no row of the paper changes by more than 0.5 %, docs/constants.md)."""


def staging_plans(
    plan: Plan, nests: Sequence[Nest], sets: int, expected: Sequence[Interval]
) -> dict[int, StagingPlan]:
    """Returns the slots of each nest, by the index of its stage; `sets`: sets per nest.

    If layers may overlap, up to six sets, in half of the staging buffer if several nests need any:
    the matrix engine then continues while the vector engine is busy with another layer. Nests whose
    stages are `expected` to run at the same time (cycles, by stage) get separate bytes, so that one
    need not wait for the other's last read.
    """
    found = {nest.stage.index: _least(plan, nest, sets) for nest in nests}
    if plan.scheduling.has_fence:
        return found
    staging_bytes = plan.hardware.staging_bytes
    using = [index for index, staging in found.items() if staging.set_bytes]
    for index in using if sets > 1 else ():
        share = staging_bytes // min(2, len(using))
        fitting = share // found[index].set_bytes
        found[index] = replace(found[index], sets=max(sets, min(MOST_SETS, fitting)))
    asked = [
        Request(str(index), found[index].sets * found[index].set_bytes, index, index)
        for index in using
    ]
    lowest = dict.fromkeys((request.place for request in asked), 0)
    placed = rested(asked, (), staging_bytes, lowest, expected)
    for request in asked:
        found[request.first] = replace(found[request.first], base=placed[request.place])
    return found


def _least(plan: Plan, nest: Nest, sets: int) -> StagingPlan:
    """Slots by first use; a value overwrites one of equal dtype that dies at its op."""
    stage, tiling, steps = nest
    slot_of = _assign(plan, stage)
    is_summed = tiling.reduced > 0
    largest = max(volume(tile.box) for step in steps for tile in step.values())
    holds_all_rows = is_summed and tiling.order is LoopOrder.WEIGHTS
    rows = 1 + max(tile.row for step in steps for tile in step.values()) if holds_all_rows else 1
    slots = max(len(set(slot_of.values())), 1 if is_summed else 0)
    return StagingPlan(slot_of, staging_slot_bytes(largest), slots, rows, sets)


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
