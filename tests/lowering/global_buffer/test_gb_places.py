"""Outputs in GB: in order of production if all fit, else packed or in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.ir.boxes import Interval
from graphturbo_core.lowering.addresses.allocator import OffsetAllocator
from graphturbo_core.lowering.global_buffer.far_memory import FarMemory, place_far
from graphturbo_core.lowering.global_buffer.gb_places import (
    GbPlaces,
    SharedWeights,
    StoredOutput,
    place_outputs,
)
from graphturbo_core.lowering.local_buffer.placement import SharedValues
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.placing import PlacedKernel
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, Memory
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.global_buffer.gb_outputs import RESULT, UNIT, chain, in_turn, output, users
from tests.lowering.nets import placements_of
from tests.lowering.small_plans import halo

KERNELS, STAGES = 4, 4
"""Of random outputs."""


def placed(
    outputs: list[StoredOutput], units: int, base: int = 0, weights: Sequence[SharedWeights] = ()
) -> GbPlaces:
    """Places in a GB with so many units, from unit `base` on."""
    kernels = 1 + max(each.last for each in outputs)
    return place_outputs(outputs, weights, kernels, (base * UNIT, units * UNIT))


def offsets(places: GbPlaces) -> list[int | None]:
    """Offset of each output in units."""
    return [None if place is None else place.offset // UNIT for place in places.of_output]


def turns(places: GbPlaces) -> list[bool]:
    """Whether each output uses its bytes in turn with others."""
    return [place is not None and place.scratch is not None for place in places.of_output]


def test_outputs_that_fit_are_placed_in_order_of_production() -> None:
    """b follows a; c reuses a's units, d the rest. Two units at the bottom have another use."""
    outputs = [output(2, (0, 1)), output(3, (1, 3)), output(1, (2, 2)), output(3, (2, 3))]
    found = placed(outputs, 10, base=2)
    assert offsets(found) == [2, 4, 2, 7]
    assert not any(turns(found))
    assert (found.tops // UNIT).tolist() == [4, 7, 10, 10]


def test_outputs_are_packed_by_size() -> None:
    """First fit leaves c out: a [0, 2), b [2, 3), and units 0, 1, 3 and 4 are not adjacent.

    By size: c [0, 4), a [0, 2), and b, live with both, [4, 5).
    """
    found = placed([output(2, (0, 1)), output(1, (1, 3)), output(4, (2, 3))], 5)
    assert offsets(found) == [0, 4, 0]
    assert (found.tops // UNIT).tolist() == [2, 5, 5, 5]


SHORT = [output(3, (kernel, kernel + 1)) for kernel in (0, 2, 4)]


def test_outputs_are_packed_by_lifetime() -> None:
    """The output of 4 units leaves out three of 3 units; they leave out that one alone."""
    assert offsets(placed([output(4, (0, 5)), *SHORT], 4)) == [None, 0, 0, 0]


def test_an_output_with_more_reads_is_placed() -> None:
    """Both have 3 of 4 units. Equal reads: the first; else the one whose reads are more bytes."""
    outputs = [output(3, (0, 5)), output(3, (1, 2))]
    assert offsets(placed(outputs, 4)) == [0, None]
    outputs[1] = outputs[1]._replace(read_bytes=20 * UNIT)
    assert offsets(placed(outputs, 4)) == [None, 0]


def test_outputs_leave_room_for_weights_that_instances_share() -> None:
    """GB has 8 units. Without the output of 5, kernels 1 to 3 have room for 8 units of weights.

    With it, 5 units of weights are refetched twice: 10, and 8 for the output of 4; else 10.
    """
    outputs = [output(5, (0, 3)), output(4, (0, 0))]
    assert offsets(placed(outputs, 8)) == [0, None]
    found = [offsets(placed(outputs, 8, 0, [SharedWeights(1, 3, n * UNIT)])) for n in (4, 8)]
    assert found == [[0, None], [None, 0]]


def test_a_fixed_output_is_packed_before_others() -> None:
    assert offsets(placed([output(4, (0, 5), is_fixed=True), *SHORT], 4)) == [0, None, None, None]


def test_outputs_of_one_kernel_use_units_in_turn() -> None:
    """Two of three are live at once: 4 of 5 units, where all three would need 6."""
    outputs = [output(2, (0, 0), stages) for stages in ((0, 1), (1, 2), (2, 3))]
    found = placed(outputs, 5)
    assert offsets(found) == [0, 2, 0]
    assert all(turns(found))
    assert (found.tops // UNIT).tolist() == [4]


def test_an_output_that_other_clusters_read_takes_no_turn() -> None:
    stages = ((0, 1), (1, 2), (2, 3))
    outputs = [output(2, (0, 0), each, is_remote_input=each == (2, 3)) for each in stages]
    assert not turns(placed(outputs, 5))[2]


def test_turns_are_in_the_lowest_gap_that_holds_them() -> None:
    """Kernel 2 has [0, 3) and [5, 12) for eleven outputs of one unit, of which two are live."""
    crossing = [output(3, (0, 1)), output(2, (1, 3))]
    inside = [output(1, (2, 2), (stage, stage + 1)) for stage in range(11)]
    found = placed([*crossing, *inside], 12)
    assert offsets(found) == [0, 3, *([0, 1] * 5), 0]
    assert (found.tops // UNIT).tolist() == [3, 5, 5, 5]


def test_an_output_for_dram_has_no_place() -> None:
    found = placed([output(1, (0, 0), wants_gb=False), output(1, (0, 0))], 4)
    assert offsets(found) == [None, 0]


spans = st.tuples(st.integers(0, KERNELS - 1), st.integers(0, 2), st.integers(0, STAGES - 1))


@given(st.lists(st.tuples(st.integers(1, 6), spans), min_size=1, max_size=12), st.integers(2, 14))
def test_live_outputs_share_no_byte_and_no_more_are_left_out(
    sizes: list[tuple[int, tuple[int, int, int]]], units: int
) -> None:
    outputs = sorted(
        (_random(size, span) for size, span in sizes), key=lambda each: (each.maker, each.stages)
    )
    found = place_outputs(outputs, (), KERNELS, (0, units * UNIT))
    used = users(outputs, found, (KERNELS, STAGES, units))
    assert used.max() <= 1
    for kernel in range(KERNELS):
        assert not used[kernel, :, int(found.tops[kernel]) // UNIT :].any()
    first_fit = OffsetAllocator(units * UNIT)
    known = [first_fit.place(each.size_bytes, each.maker, each.last) for each in outputs]
    if None not in known:
        assert [place and place.offset for place in found.of_output] == known
    assert _left_out(outputs, list(found.of_output)) <= _left_out(outputs, known)


def _random(units: int, span: tuple[int, int, int]) -> StoredOutput:
    kernel, length, stage = span
    last_stage: Interval = (stage, min(STAGES - 1, stage + length))
    return output(units, (kernel, min(KERNELS - 1, kernel + length // 2)), last_stage)


def _left_out(outputs: list[StoredOutput], places: list[object]) -> int:
    pairs = zip(outputs, places, strict=True)
    return sum(each.size_bytes for each, place in pairs if place is None)


def far_of(plan: Plan) -> FarMemory:
    return place_far(plan, placements_of(plan))


def spilled(plan: Plan) -> int:
    """Bytes that cross DRAM since GB has no room, in a program that passes all checks."""
    trace = simulate(lower(plan))
    check_program(trace)
    return ledger(trace.program).causes[Memory.DRAM].get(Cause.SPILL, 0)


def test_a_chain_that_fits_has_bytes_of_its_own_for_each_result() -> None:
    plan = chain(6, 8 * RESULT)
    far = far_of(plan)
    (around,) = far.environments
    assert not around.has_scratch
    assert spilled(plan) == 0
    base = around.ring.end
    keys = [around.targets[f"t{at}"].key for at in range(1, 6)]
    assert [far.offsets[key] for key in keys] == [base + RESULT * at for at in range(5)]


def test_a_long_chain_uses_the_bytes_of_two_results_in_turn() -> None:
    """All five do not fit; a product reads one result and writes the next."""
    plan = in_turn()
    far = far_of(plan)
    (around,) = far.environments
    assert far.spilled == ()
    assert spilled(plan) == 0
    scratch = [around.targets[f"t{at}"].scratch for at in range(1, 6)]
    assert scratch == [0, RESULT, 0, RESULT, 0]
    assert around.ring.ahead_offset == around.ring.end + 2 * RESULT


def test_results_without_a_turn_are_spilled() -> None:
    """One result fits at a time: t1 is read before t3 is made, and so is t3 before t5."""
    plan = chain(6, 12_000)
    far = far_of(plan)
    assert [tensor for tensor, _ in far.spilled] == ["t2", "t4"]
    assert spilled(plan) >= 2 * 2 * RESULT


def test_turns_bar_other_orders_of_stages() -> None:
    """Bytes are used in the order of stages, which an alternative placement may change."""
    (placement,) = placements_of(halo())
    turned = replace(placement, stages=placement.stages[::-1], shared=SharedValues())
    kernel = PlacedKernel(placement, (turned, placement))
    assert kernel.usable(may_reorder=True) == (turned, placement)
    assert kernel.usable(may_reorder=False) == (placement,)
    assert far_of(in_turn()).environments[0].has_scratch
