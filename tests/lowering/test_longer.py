"""A longer program where it is asked for: only where all else is refused, and then a sound one."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering import caps
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering.local_buffer.place_kernel import PlacementTask
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.tiling.cutting import COARSEST, WIDEST, Grain
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from tests.full import examples
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, chip, conv_nets, plan_of
from tests.lowering.small_plans import CHAIN, by_rows, long_nest, turned
from tests.lowering.tiling.grains import at_most, in_turn, of_grain, tries
from tests.strategies.samples import weighted

ENOUGH = 10**6
NAMED = "--max-instructions N"


def refused(plan: Plan, limits: Limits, most: int | None = None) -> CapacityError:
    with pytest.raises(CapacityError, match="too many instructions even with") as found:
        lower(plan, limits, max_instructions=most)
    return found.value


def assert_same(one: Program, other: Program) -> None:
    """Every array and every word of two programs of one plan."""
    for each in fields(Program):
        ours, theirs = getattr(one, each.name), getattr(other, each.name)
        if isinstance(ours, np.ndarray):
            assert ours.tobytes() == theirs.tobytes(), each.name
    assert (one.notes, one.tensors) == (other.notes, other.tensors)
    for each in fields(one.buffers):
        held = getattr(one.buffers, each.name)
        assert held.tobytes() == getattr(other.buffers, each.name).tobytes(), each.name


def test_a_longer_program_is_the_one_of_a_higher_cap_and_says_so() -> None:
    """Rows of ten over four cores: no two are alike, so nothing but more instructions helps."""
    plan = by_rows(10, 4)
    made = lower(plan, at_most(ENOUGH))
    tight = replace(at_most(made.size - 1), max_instructions_longest=made.size)
    refused(plan, tight)
    refused(plan, tight, made.size - 1)
    longer = lower(plan, tight, max_instructions=made.size)
    note = f"{made.size} instructions, as --max-instructions {made.size} allows: "
    assert longer.notes[:-1] == made.notes
    assert longer.notes[-1].startswith(note)
    assert_same(replace(longer, notes=made.notes), made)
    trace = simulate(longer)
    trace.check()
    ledger(longer).check()
    check_program(trace)


@pytest.mark.parametrize("fewer", [0, 1])
def test_what_is_made_without_asking_is_the_same_for_who_asks(fewer: int) -> None:
    """The cap holds the widest tiles, or is one below, where like cores are simulated once."""
    plan = long_nest()
    widest = lower_with(plan, (WIDEST,)).size
    limits = at_most(widest - fewer)
    made = lower(plan, limits)
    assert any("simulated" in note for note in made.notes) == bool(fewer)
    assert_same(lower(plan, limits, max_instructions=ENOUGH), made)


def test_longer_programs_come_last_and_of_the_coarsest_tiles_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 8 rows the inner two cores of four are alike: all four, then three."""
    plan, tried = by_rows(8, 4), tries(monkeypatch)
    with pytest.raises(CapacityError):
        lower(plan, at_most(1), max_instructions=2)
    usual = [(grain, cores, 0) for cores in (4, 3) for grain in in_turn(plan)]
    assert tried == [
        *usual,
        *((grain, cores, 0) for cores in (4, 3) for grain in (COARSEST, WIDEST)),
    ]


def test_the_refusal_says_how_many_are_needed_where_so_many_can_be_had() -> None:
    """12 computes, 4 stores and 12 exchanges are counted before any load is listed: 28."""
    cap = Limits(max_instructions=20, max_instructions_coarsest=20, instructions_per_op=1)
    change = {}
    for longest in (27, 28):
        limits = replace(cap, max_instructions_longest=longest)
        with pytest.raises(CapacityError, match="too many instructions") as found:
            lower(turned(4), limits, is_each_core_simulated=True)
        assert found.value.fields == {"fewest": 28}
        change[longest] = found.value.change
    assert f"{NAMED}, at most 28: at least 28 are needed" in change[28]
    assert NAMED not in change[27]


@pytest.mark.parametrize(
    ("cap", "fewest", "placed"),
    [
        (1, 12 * 4 + 4, 0),  # a tile on each core, and the result stored by each
        (52, 28 + 28, 1),  # tiles of the first two kernels
        (400, 12 * 84, 12),  # computes, loads and stores
    ],
)
def test_each_step_counts_what_it_knows(
    cap: int, fewest: int, placed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve kernels of seven tiles on each of four cores, each with a load and a store: 84."""
    plan = plan_of(weighted(CHAIN), "layerwise", chip("tiny"))
    place, seen = Places.place, list[object]()

    def placing(places: Places, task: PlacementTask) -> KernelPlacement | None:
        found = place(places, task)
        seen.append(found)
        return found

    monkeypatch.setattr(Places, "place", placing)
    of_grain(monkeypatch, COARSEST)
    with pytest.raises(CapacityError) as error:
        lower(plan, at_most(cap), is_each_core_simulated=True)
    assert (error.value.fields, len(seen)) == ({"fewest": fewest}, placed)


def test_what_is_emitted_counts_whole_and_what_is_to_come_as_far_as_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loads, here not known before, of the first kernel and of nine like it; two are to come."""
    monkeypatch.setattr(caps, "_fetches", lambda _: 0)
    plan = plan_of(weighted(CHAIN), "layerwise", chip("tiny"))
    of_grain(monkeypatch, COARSEST)
    with pytest.raises(CapacityError) as error:
        lower(plan, at_most(672), is_each_core_simulated=True)
    assert error.value.fields == {"fewest": (1 + 9) * 84 + 2 * (28 + 28)}


def test_a_refused_longer_program_says_how_many_that_one_needs() -> None:
    """Not what was counted when the usual cap was reached."""
    plan = by_rows(10, 4)
    size = lower(plan, at_most(ENOUGH)).size
    low = int(str(refused(plan, at_most(1)).fields["fewest"]))
    high = int(str(refused(plan, at_most(1), size - 1).fields["fewest"]))
    assert low < high == size


def test_the_refusal_is_that_of_the_tiles_that_need_fewest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Narrow tiles have 4 of 5 ops on each of four cores: 80 computes, more than wide ones need."""
    plan = long_nest()
    widest = lower_with(plan, (WIDEST,)).size
    assert widest < 80
    for order in ((COARSEST, WIDEST), (WIDEST, COARSEST)):
        monkeypatch.setattr(lowering, "LAST_GRAINS", order)
        of_grain(monkeypatch, *order)
        with pytest.raises(CapacityError) as error:
            lower(plan, at_most(widest - 1), is_each_core_simulated=True)
        assert widest - 1 < int(str(error.value.fields["fewest"])) <= widest


def test_boxes_are_allowed_in_proportion() -> None:
    assert DEFAULT_LIMITS.longer(2_400_000).accesses(1) == 8_000_000
    assert DEFAULT_LIMITS.longer(2_400_000).instructions_coarsest(1) == 2_400_000
    assert DEFAULT_LIMITS.longer(2_400_000).instructions(1) == 300_000
    plan = by_rows(10, 4)
    made = lower(plan, at_most(ENOUGH))
    boxes = len(made.access_buffer)
    few = replace(at_most(made.size), max_accesses=boxes // 2, accesses_per_op=1)
    error = refused(plan, few)
    assert made.size < int(str(error.fields["fewest"])) <= 2 * made.size + 2
    assert lower(plan, few, max_instructions=2 * made.size + 8).size == made.size


@settings(max_examples=examples(20))
@given(conv_nets(), st.sampled_from(STRATEGIES), st.integers(1, 400))
def test_no_program_is_shorter_than_a_refusal_says(
    sem: GraphSemantics, strategy: str, most: int
) -> None:
    """Whichever step refuses, on a chip whose cores are not folded."""
    plan = plan_of(sem, strategy, chip("goya"))
    made = {grain: lower_with(plan, (grain,)) for grain in (COARSEST, WIDEST)}
    shortest = min(program.size for program in made.values())
    assume(most < shortest)
    error = refused(plan, at_most(most))
    assert most < int(str(error.fields["fewest"])) <= shortest
    longer = lower(plan, at_most(most), max_instructions=shortest)
    assert longer.size == shortest


def lower_with(plan: Plan, only: tuple[Grain, ...]) -> Program:
    with pytest.MonkeyPatch.context() as patch:
        of_grain(patch, *only)
        return lower(plan, at_most(ENOUGH))
