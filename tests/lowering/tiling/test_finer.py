"""Where all kernels at once are too many with the finest tiles, those of few computes keep them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.limits import Limits
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering.local_buffer.place_kernel import PlacementTask
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement, SharedValues
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.tiling.cutting import grains
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Program
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.equality import check_same
from tests.lowering.nets import chip, lowered_with_placements, plan_of
from tests.strategies.samples import weighted

UNEVEN = """
g (float[32,64] x, float[64,16] w1, float[16,512] w2, float[512,64] w3) => (float[32,64] y) {
  a = MatMul (x, w1)
  b = MatMul (a, w2)
  y = MatMul (b, w3)
}"""
"""Three kernels of `layerwise`: the first has few computes."""


def uneven() -> Plan:
    return plan_of(weighted(UNEVEN), "layerwise", chip("tiny"))


COMPUTES = (4, 64, 128)
"""Of the kernels, with the finest tiles."""


def within(most: int, coarsest: int = 10**6) -> Limits:
    return Limits(max_instructions=most, max_instructions_coarsest=coarsest, instructions_per_op=0)


def placed(limits: Limits) -> tuple[Program, list[KernelPlacement]]:
    """The program within limits, and what was decided of each kernel."""
    with pytest.MonkeyPatch.context() as patch:
        whole = lowering.lower
        patch.setattr(lowering, "lower", lambda plan: whole(plan, limits))
        return lowered_with_placements(uneven())


def are_fine(placements: Sequence[KernelPlacement]) -> list[bool]:
    finest = grains(uneven().rules)[0]
    return [placement.grain == finest for placement in placements]


@pytest.mark.parametrize(
    ("most", "few", "which"),
    [
        (6 * 128, 3, ""),
        (6 * 64, 2, " of 1 of 3 kernels"),
        (6 * 64 - 1, 1, " of 2 of 3 kernels"),
        (6 * 4 - 1, 0, ""),
    ],
)
def test_kernels_of_few_computes_keep_the_finest_tiles(most: int, few: int, which: str) -> None:
    """Few are at most their even share of half of what finest tiles may take: a sixth each."""
    program, placements = placed(within(most))
    check_program(simulate(program))
    assert are_fine(placements) == [count <= COMPUTES[few - 1] and few > 0 for count in COMPUTES]
    finest = tuple(each.computes for each in lowered_with_placements(uneven())[1])
    assert finest == COMPUTES
    note = f"tiles{which} are coarser than usual (1/1 of LB, 1 per share): "
    told = f"{note}finer ones need more than {most} instructions"
    assert program.notes == ((told,) if few < 3 else ())


def test_where_that_is_too_much_all_are_coarse() -> None:
    """One instruction less than the three need so: they are cut as the third alone was."""
    mixed = lower(uneven(), within(6 * 64))
    for coarsest, is_mixed in ((mixed.size, True), (mixed.size - 1, False)):
        program, placements = placed(within(6 * 64, coarsest))
        assert are_fine(placements) == ([True, True, False] if is_mixed else [False] * 3)
        assert (program.size == mixed.size) is is_mixed


def lost(placement: KernelPlacement) -> KernelPlacement:
    return replace(placement, spilled=placement.spilled | {"a"}, shared=SharedValues())


def refused(_: KernelPlacement) -> None:
    raise CapacityError("TILE_TOO_LARGE", "none fits", change="choose another")


@pytest.mark.parametrize("change", [lost, refused, lambda _: None])
def test_finer_tiles_cost_no_place_in_lb(
    change: Callable[[KernelPlacement], KernelPlacement | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one finds none with them, or spills what it has as it is, it stays as it is."""
    place, finest = Places.place, grains(uneven().rules)[0]
    mixed = lower(uneven(), within(6 * 64))

    def changed(places: Places, task: PlacementTask) -> KernelPlacement | None:
        found = place(places, task)
        is_finer = found is not None and task.grain == finest and task.max_instructions == 10**6
        return change(found) if is_finer and found is not None else found

    monkeypatch.setattr(Places, "place", changed)
    program, placements = placed(within(6 * 64))
    assert are_fine(placements) == [False] * 3
    assert all("a" not in placement.spilled for placement in placements)
    assert program.size < mixed.size


def test_what_is_kept_of_one_grain_is_not_anothers() -> None:
    """Lowered one after the other within these caps, each program is what it is alone."""
    caps = (10**6, 6 * 64, 6 * 64 - 1, 20, 6 * 64)
    check_same([(uneven(), within(most)) for most in caps])
