"""A tensor whose readers need more than what each core computed of it: one buffer, or two.

A core computes 2 x 4 x 32 elements of `a`, 512 bytes in fp16. `s` reads 2 x 16 x 8 of them, 512
bytes; the box around both is all of `a`, 2,048 bytes. `y` reads what the core computed itself.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.limits import Limits
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering.local_buffer.placement import Resident
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.stages.stage import KernelStages
from graphturbo_core.products.plan import Binding, Plan
from graphturbo_core.products.program import InstructionKind, Memory, Program
from graphturbo_core.products.program_digest import program_digest
from graphturbo_core.sim.simulate import simulate
from tests.lowering.chips import bare
from tests.lowering.nets import chip, lowered_with_placements, plan_of
from tests.lowering.replay import replay
from tests.lowering.small_plans import TURNED_BACK, TURNED_LATER, turned_back
from tests.strategies.samples import weighted

ROOMY, NARROW = 196_608, 3_072


def resident(plan: Plan, tensor: str = "a") -> Resident:
    _, (placement,) = lowered_with_placements(plan)
    assert [stage.output for stage in placement.stages] == ["a", "s", "y"]
    return placement.residents[tensor]


def far_bytes_of(program: Program, tensor: str) -> int:
    buffers = program.buffers
    number = program.tensors.index(tensor)
    is_its = (buffers.tensor == number) & (buffers.memory != Memory.LB_DATA)
    return int(buffers.size_bytes[is_its].sum())


def test_with_room_it_has_one_buffer_from_its_first_stage_to_its_last() -> None:
    placed = resident(turned_back(ROOMY))
    assert (placed.size_bytes, placed.first, placed.last) == (2048, 0, 2)
    assert placed.own is None
    assert placed.direct == frozenset()


def test_without_room_its_own_part_is_live_to_the_end_and_what_is_read_while_it_is() -> None:
    """Three stages of 2,048 bytes, beside what else is live; or three of 512 and one of 512."""
    placed = resident(turned_back(NARROW))
    assert placed.own is not None
    assert (placed.own.size_bytes, placed.own.first, placed.own.last) == (512, 0, 2)
    assert (placed.size_bytes, placed.first, placed.last) == (512, 1, 1)
    assert placed.direct == {2}
    assert placed.boxes[1] == ((0, 2), (0, 16), (8, 16))
    assert placed.own.boxes[1] == ((0, 2), (4, 8), (0, 32))


def test_a_stage_before_the_exchange_reads_what_was_computed_too() -> None:
    plan = turned_back(2048, TURNED_LATER, width=16)
    program, (placement,) = lowered_with_placements(plan)
    placed = placement.residents["a"]
    assert [stage.output for stage in placement.stages] == ["a", "b", "s", "y"]
    assert placed.own is not None
    assert (placed.direct, placed.own.last, placed.first, placed.last) == ({1}, 2, 2, 2)
    copies = program.kind == InstructionKind.COPY
    assert sorted(program.layer[copies].tolist()) == [2] * 8 + [3] * 4


def test_a_stage_of_which_one_core_reads_others_parts_is_not_direct() -> None:
    """Cores 0 and 3 would find their rows of `a`; 1 and 2 have each other's."""
    _, (placement,) = lowered_with_placements(turned_back(NARROW, last=(0, 2, 1, 3)))
    assert all(placed.direct == frozenset() for placed in placement.residents.values())


@pytest.mark.parametrize("lb_data_bytes", [ROOMY, NARROW, 2048, 1664, 1024])
@pytest.mark.parametrize("on", [chip("generic-4x4"), bare()], ids=["GB", "no GB"])
@pytest.mark.parametrize("text", [TURNED_BACK, TURNED_LATER])
@pytest.mark.parametrize("last", [(0, 1, 2, 3), (0, 2, 1, 3)])
def test_whichever_every_element_that_is_read_is_there(
    lb_data_bytes: int, on: Hardware, text: str, last: tuple[int, ...]
) -> None:
    replay(simulate(lower(turned_back(lb_data_bytes, text, width=16, last=last, on=on))))


def test_without_a_gb_tiles_of_it_come_from_the_cores_that_computed_it() -> None:
    """Its parts are live to the last reader; nothing of it is written to DRAM."""
    plan = turned_back(1664, TURNED_LATER, width=16)
    program, (placement,) = lowered_with_placements(plan)
    assert placement.spilled == frozenset()
    placed = placement.residents["a"]
    assert placed.has_tile_exchange
    assert placed.own is None
    assert (placed.size_bytes, placed.first, placed.last, placed.direct) == (256, 0, 2, {1})
    assert (2, "a") in placement.rings
    assert (1, "a") not in placement.rings
    assert far_bytes_of(program, "a") == 0
    assert not any("coarser" in note for note in program.notes)


def test_a_program_too_long_for_it_is_what_it_is_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """140 instructions with it; within 99 not even coarser tiles, and without it 88."""
    plan = turned_back(1664, TURNED_LATER, width=16)
    limits = Limits(max_instructions=99, max_instructions_coarsest=99, instructions_per_op=1)
    longer, shorter = lower(plan), lower(plan, limits)
    monkeypatch.setattr(lowering, "_may_exchange_tiles", lambda *_: False)
    without = lower(plan, limits)
    assert [program.size for program in (longer, shorter, without)] == [140, 88, 88]
    assert program_digest({1: shorter}) == program_digest({1: without})
    assert far_bytes_of(longer, "a") == 0 < far_bytes_of(shorter, "a")
    replay(simulate(shorter))


def exchanging(plan: Plan) -> list[bool]:
    """Of each attempt to lower a plan: whether cores exchange tiles."""
    stages = list(map(KernelStages(plan, plan.unit_of_op).of, plan.kernels))
    attempts = lowering._attempts(plan, [stages], Limits(), None)
    return [attempt.grain.has_tile_exchange for attempt in attempts]


def test_all_attempts_without_that_follow() -> None:
    """What is within the cap without it is never refused for it."""
    assert exchanging(turned_back(ROOMY)) == [True] * 7 + [False] * 7
    assert exchanging(turned_back(ROOMY, on=chip("generic-4x4"))) == [False] * 7
    alone = plan_of(weighted("g (float[4,4] x) => (float[4,4] y) { y = Exp (x) }"), "tvm", bare())
    assert exchanging(alone) == [False] * 7


@pytest.mark.parametrize(
    ("lb_data_bytes", "text", "spilled"), [(1664, TURNED_LATER, "b"), (NARROW, TURNED_BACK, "s")]
)
def test_with_a_gb_it_waits_there_instead(lb_data_bytes: int, text: str, spilled: str) -> None:
    width = 16 if text == TURNED_LATER else 32
    plan = turned_back(lb_data_bytes, text, width=width, on=chip("generic-4x4"))
    program, (placement,) = lowered_with_placements(plan)
    assert not any(
        placed.has_tile_exchange or placed.direct for placed in placement.residents.values()
    )
    assert placement.spilled == {spilled}
    assert far_bytes_of(program, spilled) > 0


def test_a_table_that_was_computed_is_exchanged_by_tile_too() -> None:
    """Any row may be looked up: tiles of all rows, a few columns each."""
    text = "g (float[64,16] x, int64[64] i) => (float[64,16] y) { a = Exp (x) y = Gather (a, i) }"
    plan = plan_of(weighted(text), "graphturbo:order", bare())
    (kernel,) = plan.kernels
    rows = dict.fromkeys(kernel.bindings, Binding((0,), (4,), (0, 1, 2, 3)))
    narrow = replace(plan.hardware, lb_data_bytes=1536)
    by_rows = replace(plan, hardware=narrow, kernels=(replace(kernel, bindings=rows),))
    program, (placement,) = lowered_with_placements(by_rows)
    assert placement.residents["a"].has_tile_exchange
    replay(simulate(program))


def test_what_leaves_the_kernel_is_read_where_it_is_left() -> None:
    """`a` is a result of the model: in DRAM whether or not it has room in LB."""
    plan = turned_back(1664, TURNED_LATER, width=16)
    (kernel,) = plan.kernels
    left = replace(kernel, outputs={**kernel.outputs, "a": kernel.boxes["a"]})
    program, (placement,) = lowered_with_placements(replace(plan, kernels=(left,)))
    assert "a" in placement.spilled
    replay(simulate(program))


def test_each_core_copies_its_own_part_once() -> None:
    """2 x 4 x 8 elements of `a` for `s`, as many of `s` for `y`; of `a` none for `y`."""
    program, _ = lowered_with_placements(turned_back(NARROW))
    copies = program.kind == InstructionKind.COPY
    assert program.size_bytes[copies].tolist() == [128] * 8
    assert sorted(program.layer[copies].tolist()) == [1] * 4 + [2] * 4
