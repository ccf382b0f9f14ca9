"""One matrix engine for all cores of a cluster: it has no LB and works in GB."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.hardware import CLUSTER_CORE, EngineKind
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Residency, Scope
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.semantics.cost import compute_cycles, is_on_cluster, placed_on
from graphturbo_core.semantics.fit import KernelHold, holding_boxes
from graphturbo_core.semantics.nests import loop_nests
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import work_of
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Wait
from graphturbo_core.verify.static.claims import wrong_claim
from tests.full import EVERY_DAY, examples, often
from tests.lowering.chips import shared
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, chip, conv_nets, plan_of, small_model, with_residency
from tests.strategies.samples import weighted

GEMM = "g (float[8,16] x, float[16,12] w) => (float[8,12] y) { y = MatMul (x, w) }"
COMPUTE, PREFETCH, STORE = (
    InstructionKind.COMPUTE, InstructionKind.PREFETCH, InstructionKind.STORE
)  # fmt: skip


def test_partial_sums_of_a_shared_engine_occupy_no_port() -> None:
    """K is cut, so the engine has values in its staging buffer, which is outside the cores."""
    text = "g (float[16,1024] x, float[1024,16] w) => (float[16,16] y) { y = MatMul (x, w) }"
    program = lower(plan_of(weighted(text), "tvm", shared(gb_bytes=16384)))
    buffers = program.buffers
    assert ((buffers.memory == Memory.STAGING) & (buffers.core == CLUSTER_CORE)).any()
    assert wrong_claim(program) is None


def test_one_gemm_to_the_cycle() -> None:
    """8 x 12 x 16 in two tiles of 4 rows (2 passes of rows either way), all of w held in GB.

    x0, x1: 4 x 16 x 2 = 128 bytes, DRAM 16 cycles, GB 8. w: 384 bytes, DRAM 48, GB 24.
    A tile: 1 x 3 x 16 = 48 cycles; it reads x 128 and w 384 and writes y 96 bytes: GB 608/16 = 38.
    y0, y1: 96 bytes, DRAM 12, GB 6. Latency of DRAM 10; the kernel opens at 100.

    x0       dma 0           [100, 116), there at 126
    w        dma 1, DRAM     [116, 164), there at 174
    x1       dma 0, DRAM     [164, 180), there at 190; GB [164, 172)
    tile 0   after w         [174, 222), GB [174, 212)
    y0       dma 1           [222, 234), GB [222, 228): lower in sequence than tile 1
    tile 1   GB port         [228, 276)
    y1       dma 0           [276, 288), there at 298, barrier 20: 318
    """
    trace = simulate(lower(plan_of(weighted(GEMM), "layerwise", shared())))
    check_program(trace)
    program = trace.program
    assert [InstructionKind(kind) for kind in program.kind] == [
        PREFETCH, PREFETCH, PREFETCH, COMPUTE, STORE, COMPUTE, STORE,
    ]  # fmt: skip
    assert trace.start.tolist() == [100, 116, 164, 174, 222, 228, 276]
    assert trace.end.tolist() == [126, 174, 190, 222, 244, 276, 298]
    assert trace.makespan == 318
    assert [program.engines[e].label for e in program.engine] == [
        "dma 0", "dma 0", "dma 0", "cluster matrix", "dma 1", "cluster matrix", "dma 1",
    ]  # fmt: skip
    (engine,) = (e for e in program.engines if e.kind is EngineKind.MATRIX)
    assert (engine.core, engine.label) == (CLUSTER_CORE, "cluster matrix")
    stalls = trace.stalls[program.engines.index(engine)]
    # Busy 96; launch to w's arrival 174, then 6 behind y0 at GB's port; idle from 276.
    assert (stalls[Wait.BUSY], stalls[Wait.DATA], stalls[Wait.CHANNEL]) == (96, 174, 6)
    assert stalls[Wait.IDLE] == 318 - 276


def test_every_byte_of_that_gemm() -> None:
    """GB: x in and read 256, w in, read first and again 384 each, y written and read 192."""
    found = ledger(lower(plan_of(weighted(GEMM), "layerwise", shared())))
    found.check()
    assert found.gb_read_bytes == 256 + 2 * 384 + 192
    assert found.gb_write_bytes == 256 + 384 + 192
    assert found.causes[Memory.GB] == {
        Cause.INPUT: 512, Cause.WEIGHT_FIRST: 768, Cause.WEIGHT_AGAIN: 384, Cause.OUTPUT: 384,
    }  # fmt: skip
    assert found.causes[Memory.DRAM] == {
        Cause.INPUT: 256, Cause.WEIGHT_FIRST: 384, Cause.OUTPUT: 192
    }  # fmt: skip


def test_a_starved_port_makes_the_tile_longer() -> None:
    """At 8 bytes a cycle a tile's 608 bytes hold GB's port 76 cycles, more than its 48."""
    program = lower(plan_of(weighted(GEMM), "layerwise", shared(gb_bandwidth=8 * 10**9)))
    assert set(program.hold_cycles[program.kind == COMPUTE].tolist()) == {76}


def test_what_follows_runs_on_the_cores_from_gb() -> None:
    """conv + relu: the conv is a nest of its own, its result lies in GB, relu goes through LB."""
    sem = weighted(
        "g (float[1,8,8,8] x, float[8,8,1,1] w) => (float[1,8,8,8] y) { c = Conv (x, w) "
        "y = Relu (c) }"
    )
    plan = plan_of(sem, "tvm", shared())
    (kernel,) = plan.kernels
    assert kernel.scopes["c"] is Scope.GB
    assert kernel.bindings["c"].cores == (CLUSTER_CORE,)
    assert kernel.bindings["y"].cores == (0, 1, 2, 3)
    program = lower(plan)
    check_program(simulate(program))
    assert _memories(program, "c") == {Memory.GB, Memory.LB_DATA}
    assert _memories(program, "x") == {Memory.DRAM, Memory.GB}
    assert _memories(program, "w") == {Memory.DRAM, Memory.GB}
    assert _memories(program, "y") == {Memory.LB_DATA, Memory.DRAM}


def _memories(program: Program, tensor: str) -> set[Memory]:
    rows = program.buffers.tensor == program.tensors.index(tensor)
    return {Memory(memory) for memory in program.buffers.memory[rows].tolist()}


def test_depthwise_goes_to_whoever_is_faster() -> None:
    """64 groups of 8 x 8 pixels, 9 taps, 4 x 4 array: 64 x ceil(64/4) x 1 x 9 = 9,216 cycles.

    The cores' vector engines: 64 x 64 x 9 / (4 x 32 lanes) = 288 cycles. One lane a core: 9,216,
    a tie, which the matrix engine takes.
    """
    sem = weighted(
        "g (float[1,64,8,8] x, float[64,1,3,3] w) => (float[1,64,8,8] y)"
        "{ y = Conv <pads = [1,1,1,1], group = 64> (x, w) }"
    )
    op = sem.by_op["y"]
    work = work_of(op, ((0, 1), (0, 64), (0, 8), (0, 8)))
    assert not is_on_cluster(op, shared(), "fp16")
    assert compute_cycles(work, op, shared(), "fp16") == (EngineKind.VECTOR, 64 * 64 * 9 // 32)
    # Three lanes a core: 3,072 cycles for all cores, though 12,288 for one alone.
    assert not is_on_cluster(op, shared(vector_lanes=3), "fp16")
    tie = shared(vector_lanes=1)
    assert is_on_cluster(op, tie, "fp16")
    assert compute_cycles(work, op, tie, "fp16") == (EngineKind.MATRIX, 9216)


@pytest.mark.parametrize("residency", Residency)
def test_weights_wait_in_gb_whatever_the_plan_says(residency: Residency) -> None:
    """w of 64 x 64 comes in tiles; the next is fetched while one is read, never over it."""
    sem = weighted("g (float[64,64] x, float[64,64] w) => (float[64,64] y) { y = MatMul (x, w) }")
    plan = plan_of(sem, "tvm", shared(gb_bytes=1 << 15))
    assert plan.kernels[0].residency["w"] is not Residency.LB
    program = lower(with_residency(plan, residency))
    check_program(simulate(program))
    assert _memories(program, "w") == {Memory.DRAM, Memory.GB}


def test_no_core_holds_what_the_shared_engine_works_on() -> None:
    sem = weighted(
        "g (float[4,8,8,8] x, float[8,8,1,1] w) => (float[4,8,8,8] y) { c = Conv (x, w) "
        "y = Relu (c) }"
    )
    placed = placed_on(sem, shared(), "fp16")
    nests = loop_nests(placed, ("c", "y"), lambda _: False)
    assert [nest.ops for nest in nests] == [("c",), ("y",)]
    whole = ((0, 4), (0, 8), (0, 8), (0, 8))
    shares = {"c": {CLUSTER_CORE: whole}, "y": {0: whole}}
    boxes = holding_boxes(placed, nests, shares)
    assert boxes == {"c": {0: whole}, "y": {0: whole}}
    hold = KernelHold(placed, nests, boxes, dict.fromkeys("xcwy", 2), 10**6)
    # 4 x 8 x 8 x 8 x 2 = 4,096 bytes: c is loaded where relu reads it, and written over.
    assert hold.live_bytes() == {0: (0, 4096)}
    alone = KernelHold(placed, nests[:1], {}, dict.fromkeys("xcw", 2), 10**6)
    assert alone.peak_bytes() == 0


def test_a_box_in_two_buffers_is_read_from_both() -> None:
    """Two pieces left y's input in GB, a buffer each; one product over both reads two parts."""
    sem = small_model("resnet")
    chip_bytes = {"gb_bytes": 1 << 20, "split_capacity_bytes": 1 << 12}
    program = lower(plan_of(sem, "graphturbo:order", shared(**chip_bytes)))
    check_program(simulate(program))
    assert _split_reads(program) > 0


def _split_reads(program: Program) -> int:
    """Computes that read an activation from two or more buffers in GB."""
    count = 0
    for row in np.flatnonzero(program.kind == COMPUTE).tolist():
        at = slice(program.access_at[row], program.access_at[row + 1])
        reads = program.access_tensor[at][~program.access_write[at]].tolist()
        is_cluster = program.engines[program.engine[row]].core == CLUSTER_CORE
        count += is_cluster and len(reads) > len(set(reads))
    return count


@pytest.mark.parametrize("strategy", often(STRATEGIES, EVERY_DAY))
def test_every_strategy_on_goya(strategy: str) -> None:
    program = lower(plan_of(small_model("teaching-resnet"), strategy, chip("goya")))
    check_program(simulate(program))
    rows = program.kind == COMPUTE
    is_matrix = np.array([e.kind is EngineKind.MATRIX for e in program.engines])[program.engine]
    assert (program.macs[rows & ~is_matrix] == 0).all()


@given(
    conv_nets(), st.sampled_from(STRATEGIES), st.sampled_from([1, 3, 4]),
    st.sampled_from([16, 48, 256]), st.sampled_from([1, 4, 16]),
)  # fmt: skip
@settings(max_examples=examples(25))
def test_random_networks(
    sem: GraphSemantics, strategy: str, cores: int, gb_kib: int, pieces: int
) -> None:
    hardware = shared(
        cores=cores, gb_bytes=gb_kib * 1024, split_capacity_bytes=gb_kib * 1024 // pieces
    )
    try:
        program = lower(plan_of(sem, strategy, hardware))
    except CapacityError as error:
        assert error.change
        return
    check_program(simulate(program))
