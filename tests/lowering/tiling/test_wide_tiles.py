"""Where instructions are too many: wide weight tiles of little K, then cores alike once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import ref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering import numbering
from graphturbo_core.lowering.emission.emit import Common
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.tiling.cutting import COARSEST, WIDEST, Grain
from graphturbo_core.lowering.tiling.tiling import TOO_MANY_INSTRUCTIONS, Tiling
from graphturbo_core.products.program import InstructionKind, Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from tests.full import examples
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, chip, placements_of, plan_of
from tests.lowering.small_plans import LONG_NEST, by_rows, long_nest
from tests.lowering.tiling.grains import at_most, in_turn, of_grain, tries
from tests.lowering.tiling.placements import check_placements
from tests.strategies.samples import weighted

SHORT_NEST = "g (float[8,64] x, float[64,64] w) => (float[8,64] y) { y = MatMul (x, w) }"


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


@settings(max_examples=examples(40))
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


def within(most: int, *, is_each_core_simulated: bool = False) -> Program:
    """The nest in at most so many instructions."""
    limits = at_most(most)
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
    assert "1 of 4 cores per cluster are simulated, each for its class" in folded.notes
    assert int(folded.macs.sum()) == int(found.macs.sum()) == 8 * 64 * 64


def test_a_replay_of_too_many_is_refused_since_it_needs_each_core() -> None:
    most = within(10_000).size // 4
    assert within(most).notes[0].startswith("1 of 4 cores per cluster are simulated")
    with pytest.raises(CapacityError, match="too many instructions even with the") as refused:
        within(most, is_each_core_simulated=True)
    assert refused.value.code == TOO_MANY_INSTRUCTIONS
    assert refused.value.change.endswith("or leave out the replay, which needs each core")


@pytest.mark.parametrize(("rows", "is_told"), [(8, True), (10, False)])
def test_a_replay_is_to_blame_only_where_cores_are_alike(rows: int, is_told: bool) -> None:
    """Of 8 rows two cores of four are, of 10 none."""
    with pytest.raises(CapacityError) as refused:
        lower(by_rows(rows, 4), at_most(1), is_each_core_simulated=True)
    assert ("leave out the replay" in refused.value.change) is is_told


def test_what_was_listed_is_let_go_before_the_next_grain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of a million instructions take hundreds of MB: of eight there is one at a time."""
    plan = plan_of(weighted(LONG_NEST), "layerwise", chip("tiny"))
    most = lower(plan).size - 1
    emit, codes = numbering.emit_kernel, list[ref[KernelCode]]()

    def emitted(common: Common, placement: KernelPlacement, *where: Any) -> KernelCode:
        code = emit(common, placement, *where)
        codes.append(ref(code))
        return code

    monkeypatch.setattr(numbering, "emit_kernel", emitted)
    tried = tries(monkeypatch, lambda: sum(code() is not None for code in codes))
    folded = lower(plan, replace(at_most(most), max_instructions=most))
    assert folded.notes == ("1 of 4 cores per cluster are simulated, each for its class",)
    assert len(tried) == len(in_turn(plan)) + 1
    assert len(codes) > len(plan.kernels)
    assert not any(alive for *_, alive in tried)


@pytest.mark.parametrize(("rows", "few"), [(8, 3), (10, 4)])
def test_cores_that_are_all_different_are_tried_once(
    rows: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `test_folding`: of 8 rows the inner two cores are alike, of 10 none."""
    plan, tried = by_rows(rows, 4), tries(monkeypatch)
    with pytest.raises(CapacityError, match="too many instructions even with the coarsest tiles"):
        lower(plan, at_most(1))
    ways = (4,) if few == 4 else (4, few)
    assert tried == [(grain, cores, 0) for cores in ways for grain in in_turn(plan)]


def test_cores_beside_a_shared_matrix_engine_are_never_folded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It reads what each of them wrote: beside one of its own, cores of this nest are alike."""
    shared = chip("goya")
    for hardware, is_folded in ((shared, False), (chip("tiny"), True)):
        plan = plan_of(weighted(LONG_NEST), "tvm", hardware)
        with monkeypatch.context() as patch, pytest.raises(CapacityError, match="even with the"):
            tried = tries(patch)
            lower(plan, at_most(1))
        assert len(tried) == len(in_turn(plan)) * (2 if is_folded else 1)
