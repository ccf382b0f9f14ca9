"""Cores of like programs are simulated once: same bytes and work as all of them, and the time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.hardware.hardware import EngineKind, Hardware
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.stages.folding import core_classes
from graphturbo_core.lowering.stages.stage import KernelStages
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.report.outcome import busy_cycles
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.occupancy import occupancy
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from tests.full import examples, paired
from tests.lowering.chips import FEW_CORES, FOLDED_CHIPS, bare, folding_above, sharing
from tests.lowering.nets import STRATEGIES, conv_nets, plan_of, small_model
from tests.lowering.small_plans import GEMM, by_rows, two_convolutions
from tests.strategies.samples import weighted


def both(plan: Plan) -> tuple[Trace, Trace]:
    """Folded, and with each core."""
    with folding_above(FEW_CORES):
        found = simulate(lower(plan)), simulate(lower(plan, is_each_core_simulated=True))
    for trace in found:
        trace.check()
        ledger(trace.program).check()
    return found


def leaders(plan: Plan) -> tuple[int, ...]:
    layer_of = {name: layer.index for layer in plan.layers for name in layer.ops}
    return core_classes(plan, list(map(KernelStages(plan, layer_of).of, plan.kernels))).leaders


@pytest.mark.parametrize(
    ("rows", "cores", "expected"),
    [
        (8, 4, (0, 1, 1, 3)),  # 2 rows each; halo below, on both sides, on both sides, above
        (16, 4, (0, 1, 1, 3)),
        (9, 4, (0, 1, 1, 3)),  # 3, 2, 2, 2 rows
        (10, 4, (0, 1, 2, 3)),  # 3, 3, 2, 2 rows: the second reads 5, the third 4, the last 3
        (8, 2, (0, 1, 2, 2)),  # 4 rows, above and below; the others have nothing to do
    ],
)
def test_cores_are_alike_that_compute_and_need_as_much(
    rows: int, cores: int, expected: tuple[int, ...]
) -> None:
    assert leaders(by_rows(rows, cores)) == expected


def test_four_alike_take_as_long_as_worked_out_for_each() -> None:
    """The case of `test_no_gb`, 268 cycles with four cores; here core 0 stands for all four.

    x: four transfers of 8 cycles hold DRAM over [100, 132); w [132, 156), there at 166; product
    [166, 214); y: four of 6, [214, 238), there at 248; barrier 20: 268.
    """
    hardware = bare(
        matrix_rows=4, matrix_columns=4, dram_bandwidth=16 * 10**9, lb_bandwidth=64 * 10**9,
        dram_latency_cycles=10, launch_cycles=100, barrier_cycles=20,
    )  # fmt: skip
    folded, each = both(plan_of(weighted(GEMM), "layerwise", hardware))
    program = folded.program
    assert (program.size, each.program.size) == (4, 13)
    assert program.cores.tolist() == [4, 1, 4, 4]
    assert folded.start.tolist() == [100, 132, 166, 214]
    assert folded.end.tolist() == [142, 166, 214, 248]
    assert folded.makespan == each.makespan == 268
    assert {engine.label for engine in program.engines} == {
        "core 0 x4 matrix", "core 0 x4 vector", "core 0 x4 move",
    }  # fmt: skip
    assert program.notes == ("1 of 4 cores per cluster are simulated, each for its class",)
    # a core holds 128 bytes of x, 384 of w and 96 of y at most at once: w and y, or x and w
    assert occupancy(folded).lb_total.peak_bytes == occupancy(each).lb_total.peak_bytes


def test_a_halo_comes_from_a_core_like_the_neighbour() -> None:
    """Of the first convolution's map 6 rows of 8 x 8 x 2 bytes go from core to core."""
    folded, each = both(two_convolutions())
    program = folded.program
    moved = np.flatnonzero(program.kind == InstructionKind.EXCHANGE)
    receivers = [program.engines[e].core for e in program.engine[moved]]
    assert receivers == [0, 1, 1, 3]
    assert program.cores[moved].tolist() == [1, 2, 2, 1]
    assert program.size_bytes[moved].tolist() == [128, 256, 256, 128]
    assert ledger(program).core_to_core_bytes == ledger(each.program).core_to_core_bytes == 768
    # cores 1 and 2 both get a row from above: one from core 0, which stands for itself alone
    first = moved[1]
    channels = slice(program.channel_at[first], program.channel_at[first + 1])
    names = [program.channels[c].name for c in program.channel[channels]]
    cycles = program.channel_cycles[channels].tolist()
    assert dict(zip(names, cycles, strict=True)) == {
        "lb 0": 2, "link out 0": 8, "link in 1": 4, "lb 1": 1,
    }  # fmt: skip


WEIGHTS = (Cause.WEIGHT_FIRST, Cause.WEIGHT_AGAIN)


def books(program: Program) -> tuple[object, ...]:
    """Bytes by memory and cause, and work; weights fetched first and again together.

    Which of the two is told by the boxes of simulated cores: others may overlap theirs.
    """
    causes = {
        (memory, WEIGHTS if cause in WEIGHTS else cause): 0
        for memory, causes in ledger(program).causes.items()
        for cause in causes
    }
    for memory, booked in ledger(program).causes.items():
        for cause, size in booked.items():
            causes[memory, WEIGHTS if cause in WEIGHTS else cause] += size
    sent = ledger(program).core_to_core_bytes
    return causes, sent, int(program.macs.sum()), int(program.vector_ops.sum())


def busy(program: Program, kind: EngineKind) -> int:
    is_kind = np.array([engine.kind is kind for engine in program.engines])
    return int(busy_cycles(program)[is_kind[program.engine]].sum())


@settings(max_examples=examples(40))
@given(conv_nets(), st.sampled_from(STRATEGIES), st.sampled_from(FOLDED_CHIPS))
def test_bytes_and_work_are_those_of_all_cores(
    sem: GraphSemantics, strategy: str, hardware: Hardware
) -> None:
    folded, each = both(plan_of(sem, strategy, hardware))
    assert books(folded.program) == books(each.program)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "hardware", "strategy"),
    paired(
        ("teaching-resnet", "mobilenet"), FOLDED_CHIPS, ("tvm", "graphturbo:full")
    ),
    ids=lambda value: f"{value.name}-{value.cores}" if isinstance(value, Hardware) else value,
)  # fmt: skip
def test_the_time_is_nearly_that_of_all_cores(
    model: str, hardware: Hardware, strategy: str
) -> None:
    """Every pair of a model, a chip and a strategy; all of them with GRAPHTURBO_FULL=1.

    Over four models, six strategies and these chips 0.92 to 1.20 times, 139 of 168 within 1 %.

    Farthest above are tiny LBs, where each of few cores waits for one load and computes alone: all
    of a class get what they load at the end, while real cores start one after the other.
    """
    folded, each = both(plan_of(small_model(model), strategy, hardware))
    assert books(folded.program) == books(each.program)
    for kind in (EngineKind.MATRIX, EngineKind.VECTOR, EngineKind.DMA):
        assert busy(folded.program, kind) == busy(each.program, kind)
    moving = busy(each.program, EngineKind.MOVE)
    assert busy(folded.program, EngineKind.MOVE) == pytest.approx(moving, rel=0.02)
    assert folded.makespan == pytest.approx(each.makespan, rel=0.2)


@pytest.mark.parametrize("samples", [24, 144])
def test_who_stands_for_others_gets_the_shard_that_it_holds_itself(samples: int) -> None:
    """One of the cores that need a box holds it as a shard; all others get it over their links."""
    text = (
        f"g (float[{samples},16] x, float[16,16] w) => (float[{samples},16] y)"
        "{ a = MatMul (x, w) y = MatMul (a, w) }"
    )
    folded, each = both(plan_of(weighted(text), "tvm", sharing(cores=72)))
    assert books(folded.program) == books(each.program)
    assert ledger(each.program).core_to_core_bytes > 0


def test_a_shard_is_held_once_for_every_core_that_is_simulated() -> None:
    """Of a weight that two products read, each box comes from DRAM once, folded or not."""
    text = (
        "g (float[24,16] x, float[16,16] w) => (float[24,16] y)"
        "{ a = MatMul (x, w) y = MatMul (a, w) }"
    )
    folded, each = both(plan_of(weighted(text), "tvm", sharing(cores=12)))
    for trace in (folded, each):
        program = trace.program
        filled = (program.source == Memory.DRAM) & (program.target == Memory.LB_WEIGHT)
        assert int(program.size_bytes[filled].sum()) == 16 * 16 * 2
