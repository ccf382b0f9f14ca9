"""Sets of staging slots: two take turns, more where layers may overlap and the bytes are there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.lowering.staging import StagingPlan, staging_plan
from tests.lowering.nets import chip, placements_of, plan_of, small_model


def _staging(strategy: str, room: int, sets: int) -> list[StagingPlan]:
    """Of each nest with values between its ops, where staging has room for so many of its sets."""
    plan = plan_of(small_model("teaching-resnet"), strategy, chip("generic-4x4"))
    placement = placements_of(plan)[0]
    found = []
    for stage, tiling in zip(placement.stages, placement.tilings, strict=True):
        asked = (stage, tiling, placement.tiles[stage.index], sets)
        one = staging_plan(plan, *asked)
        staging_bytes = room * one.slots * one.rows * one.slot_bytes
        hardware = replace(plan.hardware, staging_bytes=staging_bytes)
        if one.slots:
            found.append(staging_plan(replace(plan, hardware=hardware), *asked))
    assert found
    return found


@pytest.mark.parametrize(
    ("strategy", "room", "sets", "taken"),
    [
        ("graphturbo:order", 9, 2, 2),
        ("graphturbo:full", 2, 2, 2),
        ("graphturbo:full", 3, 2, 3),
        ("graphturbo:full", 9, 2, 4),
        ("graphturbo:full", 9, 1, 1),
    ],
)
def test_as_many_sets_take_turns_as_fit(strategy: str, room: int, sets: int, taken: int) -> None:
    """Up to four; one alone where the grain, or a plan without double buffering, has one."""
    assert {staging.sets for staging in _staging(strategy, room, sets)} == {taken}
