"""Lowering broken on purpose: each mistake must be seen by the checks of `test_lower`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.lowering import assemble, lower, numbering
from graphturbo_core.lowering.addresses.packing import pack
from graphturbo_core.lowering.emission import emit
from graphturbo_core.lowering.emission.loads import OperandFeeder
from graphturbo_core.lowering.emission.mover import Mover
from graphturbo_core.lowering.emission.weight_sources.feeder import WeightFeeder
from graphturbo_core.lowering.global_buffer import far_memory
from graphturbo_core.lowering.global_buffer.gb_places import StoredOutput
from graphturbo_core.lowering.instructions import conflicts as conflicts_module
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.conflicts import Conflicts
from graphturbo_core.lowering.local_buffer import place_kernel
from graphturbo_core.lowering.stages import stage as stages
from graphturbo_core.lowering.tiling import tiling
from graphturbo_core.lowering.tiling.staging import StagingPlan
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.program import Cause
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.global_buffer.gb_outputs import in_turn
from tests.lowering.nets import chip, plan_of, small_model, with_residency
from tests.lowering.replay import ReplayError
from tests.lowering.small_plans import batches, halo, k_cut, teaching

Patch = Callable[[pytest.MonkeyPatch], None]


def streaming() -> Plan:
    return with_residency(
        plan_of(small_model("resnet"), "layerwise", chip("tiny")), Residency.STREAM
    )


def no_exchange(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OperandFeeder, "_exchange", lambda *_: None)


def no_store(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Mover, "store", lambda *_: None)


def one_store_forgotten(patch: pytest.MonkeyPatch) -> None:
    store, calls = Mover.store, iter(range(10**6))
    patch.setattr(Mover, "store", lambda *at: None if next(calls) == 1 else store(*at))


def no_conflicts(patch: pytest.MonkeyPatch) -> None:
    def nothing(code: KernelCode, _: bool) -> Conflicts:
        at = np.zeros(code.size + 1, np.int64)
        return Conflicts(at, np.zeros(0, np.int32), np.zeros(0, np.bool_))

    patch.setattr(numbering, "find_conflicts", nothing)


def no_reuse_conflicts(patch: pytest.MonkeyPatch) -> None:
    empty = np.zeros(0, np.int64)
    patch.setattr(conflicts_module, "_owner_pairs", lambda *_: (empty, empty))


def one_staging_slot(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StagingPlan, "offset", lambda *_: 0)


def no_halo_read(patch: pytest.MonkeyPatch) -> None:
    """A window is read as if the kernel were one element wide."""
    box = tiling.operand_box

    def shrunk(stage, operand, tile):  # type: ignore[no-untyped-def]
        found = box(stage, operand, tile)
        if operand.is_weight:
            return found
        return tuple((lo, max(lo + 1, hi - 1)) for lo, hi in found)

    patch.setattr(emit, "operand_box", shrunk)


def first_cut_of_k_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(emit._Emitter, "_tile", _without_last(emit._Emitter._tile))


def _without_last(tile):  # type: ignore[no-untyped-def]
    def first(self, nest, step, core, found):  # type: ignore[no-untyped-def]
        if found.is_first:
            tile(self, nest, step, core, found._replace(is_last=True))

    return first


def all_of_k_each_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(emit, "operand_box", lambda _, operand, tile: operand.access.box(tile.box))


def shares_overlap(patch: pytest.MonkeyPatch) -> None:
    """Every core computes the first core's share."""
    used = stages.used_shares

    def same(cut):  # type: ignore[no-untyped-def]
        shares = used(cut)
        return dict.fromkeys(shares, next(iter(shares.values())))

    patch.setattr(stages, "used_shares", same)


def residents_at_zero(patch: pytest.MonkeyPatch) -> None:
    """All buffers are placed at the bottom of LB."""

    def bottom(requests, taken, capacity):  # type: ignore[no-untyped-def]
        offsets, failed = pack(requests, taken, capacity)
        return dict.fromkeys(offsets, 0), failed

    patch.setattr(place_kernel, "pack", bottom)
    patch.setattr(place_kernel, "rested", lambda *given: given[3])


def weights_of_another_step(patch: pytest.MonkeyPatch) -> None:
    tile = WeightFeeder.tile
    patch.setattr(WeightFeeder, "tile", lambda self, step, core: tile(self, 0, core))


def slot_offset_wrong(patch: pytest.MonkeyPatch) -> None:
    """Weight slots are half as far apart as they are wide."""
    part = place_kernel.weight_part

    def narrow(*at):  # type: ignore[no-untyped-def]
        found = part(*at)
        return replace(found, slot_bytes=found.slot_bytes // 2)

    patch.setattr(place_kernel, "weight_part", narrow)


def always_fetched_first(patch: pytest.MonkeyPatch) -> None:
    causes = assemble.weight_causes

    def first(*at):  # type: ignore[no-untyped-def]
        found = causes(*at)
        return np.where(found == Cause.WEIGHT_AGAIN, Cause.WEIGHT_FIRST, found).astype(np.int8)

    patch.setattr(assemble, "weight_causes", first)


def copies_not_moved(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(numbering, "copied", lambda code, *_: code)


def turns_without_conflicts(patch: pytest.MonkeyPatch) -> None:
    """Outputs that use bytes of GB in turn do not wait for each other."""
    patch.setattr(conflicts_module, "SCRATCH", "")


def turns_too_short(patch: pytest.MonkeyPatch) -> None:
    """An output's bytes are free for another once it is made."""

    def made(**fields: Any) -> StoredOutput:
        first, _ = fields["stages"]
        return StoredOutput(**{**fields, "stages": (first, first)})

    patch.setattr(far_memory, "StoredOutput", made)


CASES: list[tuple[Callable[[], Plan], Patch]] = [
    (halo, no_exchange),
    (teaching, no_store),
    (k_cut, one_store_forgotten),
    (teaching, no_conflicts),
    (teaching, no_reuse_conflicts),
    (k_cut, one_staging_slot),
    (halo, no_halo_read),
    (k_cut, first_cut_of_k_only),
    (k_cut, all_of_k_each_time),
    (halo, shares_overlap),
    (teaching, residents_at_zero),
    (k_cut, weights_of_another_step),
    (k_cut, slot_offset_wrong),
    (streaming, always_fetched_first),
    (batches, copies_not_moved),
    (in_turn, turns_without_conflicts),
    (in_turn, turns_too_short),
]


@pytest.mark.parametrize("make", [halo, teaching, k_cut, streaming, batches, in_turn])
def test_unbroken_passes(make: Callable[[], Plan]) -> None:
    check_program(simulate(lower.lower(make())))


@pytest.mark.parametrize(("make", "mutate"), CASES, ids=[m.__name__ for _, m in CASES])
def test_mistake_is_seen(
    make: Callable[[], Plan], mutate: Patch, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make()
    mutate(monkeypatch)
    with pytest.raises((ReplayError, InvariantError)):
        check_program(simulate(lower.lower(plan)))
