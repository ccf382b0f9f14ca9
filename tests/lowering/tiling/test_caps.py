"""The cap on instructions grows with the ops of a model, so that a long chain is not refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering import numbering
from graphturbo_core.lowering.caps import fewest_exchanges, fewest_instructions
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.stages import folding
from graphturbo_core.lowering.stages.classes import CoreClasses
from graphturbo_core.lowering.stages.stage import KernelStages
from graphturbo_core.lowering.tiling.tiling import check_total
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import InstructionKind, Memory
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from tests.full import examples
from tests.lowering.chips import FEW_CORES, FOLDED_CHIPS
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, chip, conv_nets, plan_of
from tests.lowering.small_plans import CHAIN, CHAIN_OPS, turned
from tests.strategies.samples import hardware, weighted


def test_caps_of_a_large_model_follow_its_ops() -> None:
    assert DEFAULT_LIMITS.instructions(12_500) == 300_000
    assert DEFAULT_LIMITS.instructions(100_000) == 2_400_000
    assert DEFAULT_LIMITS.instructions_coarsest(50_000) == 1_200_000
    assert DEFAULT_LIMITS.instructions_coarsest(100_000) == 2_400_000
    assert DEFAULT_LIMITS.accesses(40_000) == 4_000_000
    assert DEFAULT_LIMITS.accesses(100_000) == 9_600_000


def test_a_chain_is_lowered_within_what_its_ops_allow() -> None:
    plan = plan_of(weighted(CHAIN), "layerwise", hardware("generic-4x4"))
    fine = lower(plan)
    per_op = -(-len(fine.hold_cycles) // CHAIN_OPS)
    roomy = Limits(max_instructions=1, max_instructions_coarsest=1, instructions_per_op=per_op)
    assert len(lower(plan, roomy).hold_cycles) == len(fine.hold_cycles)
    with pytest.raises(CapacityError, match="too many instructions even with the coarsest tiles"):
        lower(plan, Limits(max_instructions=1, max_instructions_coarsest=1, instructions_per_op=2))


@pytest.mark.parametrize("strategy", ["tvm", "graphturbo:lb"])
def test_a_refusal_names_options_only_to_the_strategy_that_has_them(strategy: str) -> None:
    plan = plan_of(weighted(CHAIN), strategy, hardware("generic-4x4"))
    with pytest.raises(CapacityError) as refused:
        lower(plan, Limits(max_instructions=1, max_instructions_coarsest=1, instructions_per_op=1))
    assert ("graphturbo.binding=literal" in refused.value.change) == (strategy != "tvm")


def exchanges(plan: Plan) -> tuple[int, int]:
    """How many moves from core to core a program has at least, and has."""
    fewest: list[int] = []
    check_moves = lowering.check_moves

    def spy(classes: CoreClasses, plan: Plan, settings: list[Setting], most: int) -> list[int]:
        fewest[:] = [fewest_exchanges(s.placement, classes, {}) for s in settings]
        return check_moves(classes, plan, settings, most)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "check_moves", spy)
        program = lower(plan)
    return sum(fewest), int((program.kind == InstructionKind.EXCHANGE).sum())


def counted(plan: Plan) -> tuple[int, int, int]:
    """Instructions that are counted before any is emitted, all of them, and loads."""
    fewest: list[int] = []
    check_moves = lowering.check_moves

    def spy(*given: Any) -> list[int]:
        fewest[:] = check_moves(*given)
        return fewest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "check_moves", spy)
        program = lower(plan)
    loads = int((program.kind == InstructionKind.LOAD).sum())
    return sum(fewest), len(program.kind), loads


@settings(max_examples=examples(30))
@given(conv_nets(), st.sampled_from(STRATEGIES), st.booleans())
def test_never_more_instructions_are_counted_than_there_are(
    sem: GraphSemantics, strategy: str, is_tiny: bool
) -> None:
    fewest, every, _ = counted(plan_of(sem, strategy, chip("tiny" if is_tiny else "goya")))
    assert fewest <= every


WINDOWS = """
g (float[1,4,160,160] x) => (float[1,4,160,160] y) {
  y = MaxPool<kernel_shape=[3,3], strides=[1,1], pads=[1,1,1,1]> (x)
}
"""
READ_BY_TILES = """
g (float[1,4,60,60] x) => (float[1,8,60,60] y) {
  a = MaxPool<kernel_shape=[3,3], strides=[1,1], pads=[1,1,1,1]> (x)
  b = Sigmoid (a)
  y = Concat<axis=1> (a, b)
}
"""
BESIDE_THE_EDGE = """
g (float[1,2,40,90] x) => (float[1,2,42,92] y) {
  y = AveragePool<kernel_shape=[3,3], strides=[1,1], pads=[2,2,2,2], count_include_pad=1> (x)
}
"""
ENLARGED = """
g (float[1,2,20,30] x) => (float[1,2,60,90] y) {
  s = Constant<value_floats=[1.0,1.0,3.0,3.0]> ()
  y = Resize<mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor">
    (x, , s)
}
"""
MANY_READERS = """
g (float[48,48] x) => (float[48,48] y) { t = Transpose (x) y = Add (x, t) }
"""
SQUARED = "g (float[56,56] x) => (float[56,56] y) { y = MatMul (x, x) }"
WITH_K_CUT = """
g (float[64,4096] x, float[4096,96] w, float[64,96] z) => (float[64,96] y) {
  a = MatMul (x, w)
  y = Add (a, z)
}
"""
LOOKED_UP = "g (float[500,64] w, int64[90] i) => (float[90,64] y) { y = Gather (w, i) }"
READS = (READ_BY_TILES, BESIDE_THE_EDGE, ENLARGED, MANY_READERS, SQUARED, WITH_K_CUT, LOOKED_UP)


@pytest.mark.parametrize("text", READS)
@pytest.mark.parametrize("strategy", ["layerwise", "tvm", "graphturbo:full"])
def test_loads_of_each_kind_of_read_are_counted_at_most_once(text: str, strategy: str) -> None:
    fewest, every, _ = counted(plan_of(weighted(text), strategy, chip("tiny")))
    assert fewest <= every


def test_each_tile_of_what_streams_is_counted_as_a_load() -> None:
    """Windows of a map that does not fit: per tile a load, a compute and a store, and no more."""
    fewest, every, loads = counted(plan_of(weighted(WINDOWS), "tvm", chip("tiny")))
    assert (fewest, loads) == (every, every // 3)
    assert loads > 20


@settings(max_examples=examples(40))
@given(conv_nets(), st.sampled_from(STRATEGIES), st.sampled_from(FOLDED_CHIPS), st.booleans())
def test_never_more_exchanges_are_counted_than_there_are(
    sem: GraphSemantics, strategy: str, hardware: Hardware, is_folded: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "FOLDED_ABOVE", FEW_CORES if is_folded else hardware.cores)
        fewest, found = exchanges(plan_of(sem, strategy, hardware))
    assert fewest <= found


@pytest.mark.parametrize(("cores", "counted"), [(4, 12), (3, 9)])
def test_every_core_gets_columns_of_every_other_one(cores: int, counted: int) -> None:
    """Each of the readers needs all four rows, one of which it has, and copies: a row and a column
    take two places, as they take less room than one box around both.
    """
    assert exchanges(turned(cores)) == (counted, counted)


def test_what_is_read_lies_apart_from_what_is_computed() -> None:
    """A core computes a row of 16 and reads 4 columns of 4 rows: 32 bytes each in fp16, where one
    box around both has 128. Its own part of what it reads, 8 bytes, is copied: a cycle of its LB's
    port out, and one in.
    """
    program = lower(turned(4))
    copies = program.kind == InstructionKind.COPY
    assert program.size_bytes[copies].tolist() == [8] * 4
    assert program.hold_cycles[copies].tolist() == [2] * 4
    buffers = program.buffers
    is_held = (buffers.tensor == program.tensors.index("a")) & (buffers.memory == Memory.LB_DATA)
    assert sorted(buffers.size_bytes[is_held].tolist()) == [32] * 8
    check_program(simulate(program))


def test_exchanges_that_are_too_many_are_refused_before_any_is_listed() -> None:
    """12 computes and 4 stores are within the cap of 20, with 12 exchanges they are not."""
    limits = Limits(max_instructions=20, max_instructions_coarsest=20, instructions_per_op=1)

    def never(*_: object) -> None:
        raise AssertionError("nothing may be listed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "emit_kernel", never)
        with pytest.raises(CapacityError, match="too many instructions"):
            lower(turned(4), limits, is_each_core_simulated=True)


def test_what_leaves_the_model_is_stored_by_each_core_that_makes_it() -> None:
    readers = "\n".join(f"y{number} = Tanh (a)" for number in range(3))
    outputs = ", ".join(f"float[1,8,4,4] y{number}" for number in range(3))
    text = f"g (float[1,8,4,4] x) => ({outputs}) {{ a = Relu (x)\n {readers} }}"
    plan = plan_of(weighted(text), "tvm", hardware("generic-4x4"))
    every = list(map(KernelStages(plan, plan.unit_of_op).of, plan.kernels))
    computes = [len(stage.shares) for stages in every for stage in stages]
    assert computes == [4] * 4
    fewest = 4 * 4 + 4 * 3
    check_total(plan, fewest_instructions(plan, every), fewest)
    with pytest.raises(CapacityError) as refused:
        check_total(plan, fewest_instructions(plan, every), fewest - 1)
    assert refused.value.fields["fewest"] == fewest
    assert len(lower(plan).hold_cycles) >= fewest
