"""Staging slots: how many sets take turns, and which nests have bytes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.ir.boxes import Interval
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.tiling.staging import Nest, StagingPlan, staging_plans
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory
from tests.lowering.nets import chip, placements_of, plan_of, small_model
from tests.strategies.samples import weighted

LAYERS = """
g (float[64,64] x, float[64,64] u, float[64,64] v, float[64,64] w) => (float[64,64] y) {
  a = MatMul (x, u) b = Relu (a) c = MatMul (b, v) d = Relu (c) e = MatMul (d, w) y = Relu (e)
}"""
"""Three nests that need the same of the staging buffer: 16 rows of 64 fp32 a core and set."""
SET_BYTES = 16 * 64 * 4


def _staging(strategy: str, room: int, sets: int) -> list[StagingPlan]:
    """Of each nest with values between its ops, where staging has room for so many of its sets."""
    plan = plan_of(small_model("teaching-resnet"), strategy, chip("generic-4x4"))
    found = []
    for nest in _nests(plan):
        expected = [(0, 0)] * (nest.stage.index + 1)
        ((index, one),) = staging_plans(plan, [nest], sets, expected).items()
        hardware = replace(plan.hardware, staging_bytes=room * one.set_bytes)
        if one.set_bytes:
            roomy = replace(plan, hardware=hardware)
            found.append(staging_plans(roomy, [nest], sets, expected)[index])
    assert found
    return found


def _nests(plan: Plan) -> list[Nest]:
    """Those of the plan's first kernel."""
    placement = placements_of(plan)[0]
    stages = zip(placement.stages, placement.tilings, strict=True)
    return [Nest(stage, tiling, placement.tiles[stage.index]) for stage, tiling in stages]


@pytest.mark.parametrize(
    ("strategy", "room", "sets", "taken"),
    [
        ("graphturbo:order", 9, 2, 2),
        ("graphturbo:full", 2, 2, 2),
        ("graphturbo:full", 3, 2, 3),
        ("graphturbo:full", 9, 2, 6),
        ("graphturbo:full", 9, 1, 1),
    ],
)
def test_as_many_sets_take_turns_as_fit(strategy: str, room: int, sets: int, taken: int) -> None:
    """Up to six; one alone where the grain, or a plan without double buffering, has one."""
    assert {staging.sets for staging in _staging(strategy, room, sets)} == {taken}


def _placed(
    strategy: str, room: int, sets: int, expected: Sequence[Interval]
) -> list[tuple[int, int]]:
    """Sets and base, in sets, of each nest of LAYERS where staging has room for so many sets."""
    hardware = replace(chip("generic-4x4"), staging_bytes=room * SET_BYTES, lb_data_bytes=1 << 20)
    plan = plan_of(weighted(LAYERS), strategy, hardware)
    nests = _nests(plan)
    found = staging_plans(plan, nests, sets, expected)
    for nest in nests:
        tile = nest.steps[0][0]
        staging = found[nest.stage.index]
        offsets = [staging.offset(tile, 0, turn) for turn in range(sets)]
        assert offsets == [staging.base + turn * SET_BYTES for turn in range(sets)]
    assert {staging.set_bytes for staging in found.values()} == {SET_BYTES}
    return [(staging.sets, staging.base // SET_BYTES) for _, staging in sorted(found.items())]


AT_ONCE = [(0, 100), (0, 100), (0, 100)]
IN_TURN = [(0, 100), (100, 200), (200, 300)]


@pytest.mark.parametrize(
    ("strategy", "room", "sets", "expected", "placed"),
    [
        # Two of a set each beside the third; of eight each may take half, and two are left.
        ("graphturbo:full", 3, 1, AT_ONCE, [(1, 0), (1, 1), (1, 2)]),
        ("graphturbo:full", 8, 2, AT_ONCE, [(4, 0), (4, 4), (4, 0)]),
        # The third finds what the first left 100 cycles ago.
        ("graphturbo:full", 3, 1, IN_TURN, [(1, 0), (1, 1), (1, 0)]),
        # Half of three is one set, and two at least take turns: the second finds no room.
        ("graphturbo:full", 3, 2, IN_TURN, [(2, 0), (2, 0), (2, 0)]),
        # Layers do not overlap.
        ("graphturbo:order", 8, 2, AT_ONCE, [(2, 0), (2, 0), (2, 0)]),
    ],
)
def test_nests_that_may_run_at_once_have_bytes_of_their_own(
    strategy: str, room: int, sets: int, expected: list[Interval], placed: list[tuple[int, int]]
) -> None:
    assert _placed(strategy, room, sets, expected) == placed


def test_no_nest_waits_for_the_values_of_the_one_before() -> None:
    """On core 0, each of several tiles, where the staging buffer has room for both."""
    wide = LAYERS.replace("float[64,64] x", "float[512,64] x").replace("[64,64] y", "[512,64] y")
    program = lower(plan_of(weighted(wide), "graphturbo:full", chip("generic-4x4")))
    buffers = program.buffers
    is_there = (buffers.memory == Memory.STAGING) & (buffers.core == 0)
    lowest = {
        program.tensors[tensor]: buffers.offset[is_there & (buffers.tensor == tensor)]
        for tensor in np.unique(buffers.tensor[is_there])
    }
    assert all(len(set(offsets.tolist())) > 1 for offsets in lowest.values())
    (size,) = set(buffers.size_bytes[is_there].tolist())
    begins = [int(offsets.min()) for offsets in lowest.values()]
    ends = [int(offsets.max()) + size for offsets in lowest.values()]
    assert len(begins) == 3
    assert ends[0] <= begins[1] or ends[1] <= begins[0]
    assert ends[1] <= begins[2] or ends[2] <= begins[1]
