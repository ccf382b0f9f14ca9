"""Depthwise work: each tile on the cheaper engine, or tiles divided over both engines of a core."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.lowering.emission.costs import EngineLoads, TileCost
from graphturbo_core.lowering.known import KnownKernels
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import InstructionKind, Program
from graphturbo_core.semantics.cost import engine_cycles, is_divisible
from graphturbo_core.semantics.feeding import MOST_TILES, Feeding
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import work_of
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.verify.faults import ReplayFaultError
from graphturbo_core.verify.replay.script import Script
from tests.full import examples
from tests.lowering.chips import KIB, VARIED_CHIPS, bare
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, conv_nets, plan_of, small_model, tvm
from tests.strategies.samples import weighted

MATRIX, VECTOR = EngineKind.MATRIX, EngineKind.VECTOR
BOTH = Feeding(divides_depthwise=True)
DEPTHWISE = """g (float[1,8,4,4] x, float[8,1,3,3] w) => (float[1,8,4,4] y)
{ y = Conv <group = 8, pads = [1,1,1,1]> (x, w) }"""
TIMES = {
    "matrix_rows": 4, "matrix_columns": 4, "vector_lanes": 4, "dram_bandwidth": 16 * 10**9,
    "lb_bandwidth": 64 * 10**9, "dram_latency_cycles": 10, "launch_cycles": 100,
    "barrier_cycles": 20,
}  # fmt: skip
"""As in test_feeding.py, with four lanes: both engines need the same cycles for the convolution."""


def divided(plan: Plan) -> Plan:
    return replace(plan, feeding=replace(plan.feeding, divides_depthwise=True))


def products(program: Program, op: str) -> list[EngineKind]:
    """The engine of each tile of a convolution."""
    number = next(at for at, each in enumerate(program.plan.semantics.graph.ops) if each.name == op)
    rows = (program.op == number) & (program.kind == InstructionKind.COMPUTE)
    return [program.engines[engine].kind for engine in program.engine[rows]]


def test_both_engines_to_the_cycle() -> None:
    """x: 256 bytes, DRAM [100, 116); w: 144 bytes, [116, 125), there at 135.

    A row of y on the array: 8 channels x 1 pass of 4 pixels x 9 = 72. On four lanes 4 x 8 x 9 / 4,
    72 too. On the array alone four rows end at 135 + 4 x 72 = 423, the last is stored for 4, there
    10 later, barrier 20: 457.

    On both engines rows 0 and 1 begin at 135, and are stored from 207 and 211. Rows 2 and 3 reuse
    their bytes when they are there, at 221 and 225. Row 3 ends at 297, stored at 301, 311, 331.
    """
    plan = tvm(weighted(DEPTHWISE), bare(cores=1, **TIMES), {})
    for own, engines, starts, makespan in (
        (plan, [MATRIX] * 4, [135, 207, 279, 351], 457),
        (divided(plan), [MATRIX, VECTOR] * 2, [135, 135, 221, 225], 331),
    ):  # fmt: skip
        trace = simulate(lower(own))
        check_program(trace)
        program = trace.program
        assert products(program, program.plan.semantics.graph.ops[0].name) == engines
        assert trace.start[program.kind == InstructionKind.COMPUTE].tolist() == starts
        assert trace.makespan == makespan


def test_each_layer_begins_without_cycles() -> None:
    """Three rows: of both layers the array computes two, though it is ahead after the first."""
    text = """g (float[1,8,3,4] x, float[8,1,3,3] w, float[8,1,3,3] v) => (float[1,8,3,4] z)
    { y = Conv <group = 8, pads = [1,1,1,1]> (x, w) z = Conv <group = 8, pads = [1,1,1,1]> (y, v) }
    """
    plan = divided(plan_of(weighted(text), "graphturbo", bare(cores=1, **TIMES)))
    assert len(plan.kernels) == 1
    program = lower(plan)
    for op in plan.semantics.graph.ops:
        assert products(program, op.name) == [MATRIX, VECTOR, MATRIX]


def test_what_follows_on_a_tile_counts_too() -> None:
    """Per tile 10 on the array or 12 on the lanes, and then 4 on the lanes.

    tile  array alone  lanes alone  taken   loads after it
    0       10, 4         0, 16     array     10, 4
    1       20, 8        10, 20     array     20, 8      (20 and 20: the cheaper engine)
    2       30, 12       20, 24     lanes     20, 24
    3       30, 28       20, 40     array     30, 28
    """
    cost = TileCost(MATRIX, 10, 0, 0, (VECTOR, 12))
    after, loads = [TileCost(VECTOR, 4, 0, 0)], EngineLoads()
    taken = [loads.taken(0, cost, after) for _ in range(4)]
    assert [(each.engine, each.cycles) for each in taken] == [
        (MATRIX, 10), (MATRIX, 10), (VECTOR, 12), (MATRIX, 10),
    ]  # fmt: skip
    assert loads.taken(1, cost, after).engine is MATRIX, "another core has no cycles yet"
    alone = TileCost(VECTOR, 9, 0, 0)
    assert loads.taken(0, alone, after) is alone


@pytest.mark.parametrize(
    ("groups", "name", "feeding"),
    [(8, "generic-4x4", Feeding()), (1, "generic-4x4", BOTH), (8, "goya", BOTH)],
)
def test_other_work_has_one_engine(groups: int, name: str, feeding: Feeding) -> None:
    """Without the division, in one group, or where the cores share the matrix engine."""
    text = DEPTHWISE.replace("float[8,1,", f"float[8,{8 // groups},")
    sem, hardware = weighted(text.replace("group = 8", f"group = {groups}")), chip(name)
    (semantics,) = sem.by_op.values()
    work = work_of(semantics, ((0, 1), (0, 8), (0, 4), (0, 4)))
    assert not is_divisible(semantics, hardware, feeding)
    assert len(engine_cycles(work, semantics, hardware, "fp16", feeding)) == 1


def test_the_cheaper_engine_comes_first() -> None:
    (semantics,) = weighted(DEPTHWISE).by_op.values()
    work = work_of(semantics, ((0, 1), (0, 8), (0, 4), (0, 4)))
    for lanes, wanted in ((4, ((MATRIX, 288), (VECTOR, 288))), (8, ((VECTOR, 144), (MATRIX, 288)))):
        hardware = bare(**TIMES | {"vector_lanes": lanes})
        assert engine_cycles(work, semantics, hardware, "fp16", BOTH) == wanted


@pytest.mark.parametrize("strategy", ["graphturbo", "graphturbo:order", "tvm"])
def test_a_small_mobilenet_uses_both(strategy: str) -> None:
    """A cache of the kernels without the division is not used for those with it."""
    plan = plan_of(small_model("mobilenet"), strategy, chip("generic-4x4"))
    known = KnownKernels()
    alone, both = (simulate(lower(each, known=known)) for each in (plan, divided(plan)))
    check_program(both)
    Script(both).check()
    fresh = lower(divided(plan))
    assert (fresh.engine == both.program.engine).all()
    assert both.makespan < alone.makespan
    grouped = [
        name
        for name, each in plan.semantics.by_op.items()
        if each.contraction is not None and each.contraction.groups > 1
    ]
    used = [set(products(both.program, name)) for name in grouped]
    assert {MATRIX, VECTOR} in used


def test_a_tile_on_the_other_engine_is_found_where_the_plan_does_not_divide_it() -> None:
    """Eight lanes: the array needs twice the cycles, so that it is not the cheaper engine."""
    hardware = bare(cores=1, **TIMES | {"vector_lanes": 8})
    trace = simulate(lower(divided(tvm(weighted(DEPTHWISE), hardware, {}))))
    program = trace.program
    assert set(products(program, program.plan.semantics.graph.ops[0].name)) == {MATRIX, VECTOR}
    Script(trace).check()
    undivided = replace(program, plan=replace(program.plan, feeding=Feeding()))
    with pytest.raises(ReplayFaultError, match=r"not .*vector"):
        Script(replace(trace, program=undivided)).check()


CHIPS = VARIED_CHIPS | {name: chip(name) for name in ("stcp920", "ascend910", "goya")}


@settings(max_examples=examples(40))
@given(
    conv_nets(),
    st.sampled_from(sorted(CHIPS)),
    st.sampled_from((2, MOST_TILES)),
)
def test_random_networks(sem: GraphSemantics, name: str, tiles: int) -> None:
    """No two live buffers share a byte, and every element is computed once from what it needs."""
    feeding = replace(BOTH, tiles=tiles)
    try:
        plan = replace(plan_of(sem, "graphturbo", CHIPS[name]), feeding=feeding)
        trace = simulate(lower(plan))
    except CapacityError:
        assert CHIPS[name].lb_data_bytes <= KIB * 8 or CHIPS[name].gb_bytes <= KIB * 64
        return
    check_program(trace)
    Script(trace).check()
