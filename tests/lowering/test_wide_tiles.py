"""Where instructions are too many: wide weight tiles of little K, then cores alike once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.limits import Limits
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering.cutting import COARSEST, WIDEST, Grain
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.program import InstructionKind, Program
from graphturbo_core.lowering.tiling import Tiling
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.plan import Plan
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, chip, placements_of, plan_of
from tests.lowering.test_tiling import check_placements
from tests.strategies.samples import weighted

LONG_NEST = (
    "g (float[8,64] x, float[64,64] w) => (float[8,64] y) { a = MatMul (x, w) "
    "b = Relu (a) c = Sigmoid (b) d = Exp (c) y = Tanh (d) }"
)
SHORT_NEST = "g (float[8,64] x, float[64,64] w) => (float[8,64] y) { y = MatMul (x, w) }"


def of_grain(patch: pytest.MonkeyPatch, *only: Grain) -> None:
    patch.setattr(lowering, "grains", lambda _: only)


def tiling_of(text: str, grain: Grain) -> tuple[Tiling, int]:
    """How the only kernel of `tvm` on `tiny` is cut, and its computes on four cores."""
    plan = plan_of(weighted(text), "tvm", chip("tiny"))
    with pytest.MonkeyPatch.context() as patch:
        of_grain(patch, grain)
        ((placement,), program) = placements_of(plan), lower(plan)
    (tiling,) = placement.tilings
    return tiling, int((program.kind == InstructionKind.COMPUTE).sum())


def test_a_long_nest_gets_fewer_columns_of_tiles_and_more_cuts_of_k() -> None:
    """A slot of 2,048 bytes holds 16 columns of 64 fp16 weights: 4 tiles of 5 ops each on a core.

    Or 64 columns of 16: 4 cuts of K, and the other 4 ops after the last one: 8.
    """
    coarsest, computes = tiling_of(LONG_NEST, COARSEST)
    assert (coarsest.columns, coarsest.reduced, computes) == (16, 0, 4 * 4 * 5)
    widest, computes = tiling_of(LONG_NEST, WIDEST)
    assert (widest.columns, widest.reduced, computes) == (64, 16, 4 * (4 + 4))


def test_a_product_alone_keeps_all_of_k() -> None:
    """4 tiles either way: nothing is gained."""
    assert tiling_of(SHORT_NEST, WIDEST) == tiling_of(SHORT_NEST, COARSEST)


@st.composite
def long_nests(draw: st.DrawFn) -> GraphSemantics:
    """Products and convolutions of little depth to much, each with elementwise ops behind it."""
    depth, columns = draw(st.integers(8, 96)), draw(st.integers(8, 96))
    if draw(st.booleans()):
        head = f"g (float[8,{depth}] x, float[{depth},{columns}] w) => (float[8,{columns}] y)"
        texts = ["p = MatMul (x, w)"]
    else:
        head = (
            f"g (float[2,{depth},5,6] x, float[{columns},{depth},3,3] w)"
            f" => (float[2,{columns},5,6] y)"
        )
        texts = ["p = Conv <pads = [1,1,1,1]> (x, w)"]
    value = "p"
    for number in range(draw(st.integers(0, 5))):
        texts.append(f"t{number} = Sigmoid ({value})")
        value = f"t{number}"
    return weighted(f"{head} {{ {' '.join(texts)} y = Relu ({value}) }}")


@settings(max_examples=40)
@given(long_nests(), st.sampled_from(STRATEGIES), st.sampled_from(["tiny", "generic-4x4"]))
def test_wide_tiles_compute_the_same(sem: GraphSemantics, strategy: str, name: str) -> None:
    plan = plan_of(sem, strategy, chip(name))
    found: list[Program] = []
    for grain in (COARSEST, WIDEST):
        with pytest.MonkeyPatch.context() as patch:
            of_grain(patch, grain)
            check_placements(plan)
            found.append(lower(plan))
    coarse, wide = ((p.kind == InstructionKind.COMPUTE).sum() for p in found)
    assert wide <= coarse
    trace = simulate(found[1])
    trace.check()
    ledger(trace.program).check()
    check_program(trace)


def long_nest() -> Plan:
    return plan_of(weighted(LONG_NEST), "tvm", chip("tiny"))


def within(most: int, *, is_each_core_simulated: bool = False) -> Program:
    """The nest in at most so many instructions."""
    limits = Limits(max_instructions=1, max_instructions_coarsest=most, instructions_per_op=1)
    return lower(long_nest(), limits, is_each_core_simulated=is_each_core_simulated)


def test_wide_tiles_come_after_coarse_ones_and_folding_after_both() -> None:
    """Each only where what was tried before is over the cap, and the program says so."""
    sizes = []
    for grain in (COARSEST, WIDEST):
        with pytest.MonkeyPatch.context() as patch:
            of_grain(patch, grain)
            sizes.append(lower(long_nest()).size)
    coarse, wide = sizes
    assert wide < coarse
    narrow = within(coarse)
    assert (narrow.size, "wide weight tiles" in narrow.notes[-1]) == (coarse, False)
    found = within(coarse - 1)
    assert (found.size, "wide weight tiles" in found.notes[-1]) == (wide, True)
    assert all("simulated" not in note for note in found.notes)
    folded = within(wide - 1)
    assert folded.size < wide
    assert "1 of 4 cores a cluster are simulated, each for all alike" in folded.notes
    assert int(folded.macs.sum()) == int(found.macs.sum()) == 8 * 64 * 64


def test_a_replay_of_too_many_is_refused_since_it_needs_each_core() -> None:
    most = within(10_000).size // 4
    assert "too many" not in " ".join(within(most).notes)
    with pytest.raises(CapacityError, match="too many instructions even with the coarsest tiles"):
        within(most, is_each_core_simulated=True)


def test_cores_beside_a_shared_matrix_engine_are_never_folded() -> None:
    """It reads what each of them wrote."""
    plan = plan_of(weighted(LONG_NEST), "tvm", replace(chip("goya"), name="small"))
    limits = Limits(max_instructions=1, max_instructions_coarsest=1, instructions_per_op=1)
    with pytest.raises(CapacityError, match="too many instructions even with the coarsest tiles"):
        lower(plan, limits)
