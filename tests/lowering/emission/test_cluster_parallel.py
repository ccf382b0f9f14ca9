"""Clusters that co-operate: what the chip's numbers are, what crosses, and that it replays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.plan import Plan, Scope
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.report.bounds.bounds import _round_bound_s
from graphturbo_core.sim.checks.invariants import check_order
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.occupancy import occupancy
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.verify.faults import ReplayFaultError
from graphturbo_core.verify.replay.replay import replay
from graphturbo_core.verify.replay.script import Script
from graphturbo_core.verify.single_op import Array, OpRunner, load_runtime
from graphturbo_core.verify.static.causes import wrong_cause
from graphturbo_core.verify.static.claims import wrong_claim
from tests.lowering.emission.cluster_plans import (
    BOTH,
    CHAIN,
    GEMM,
    chain,
    cluster_plan,
    gemm,
    two_clusters,
)


def lent(*, has_remote_dram: bool = True) -> Plan:
    """z = x w v on cluster 0 alone, in one kernel."""
    section = Section("g1", (("y",), ("z",)), ("z",))
    return cluster_plan(
        CHAIN, [section], ({0: 0},), two_clusters(), has_remote_dram=has_remote_dram
    )


def replayed(trace: Trace) -> None:
    """Every instruction run on numbers; the result is that of numpy."""
    random = np.random.default_rng(0)
    tensors = trace.program.plan.semantics.graph.tensors
    given: dict[str, Array] = {
        name: random.integers(-4, 5, tensors[name].shape).astype(np.float32)
        for name in ("x", "w", "v")
        if name in tensors
    }
    found = replay(Script(trace), given, OpRunner(load_runtime()))
    y = given["x"] @ given["w"]
    wanted = {"z": y @ given["v"]} if "v" in given else {"y": y}
    assert found.keys() == wanted.keys()
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def checked(plan: Plan) -> Trace:
    """Simulated; invariants, claims and causes hold, and it replays."""
    trace = simulate(lower(plan))
    trace.check()
    assert wrong_claim(trace.program) is None
    assert wrong_cause(trace.program) is None
    replayed(trace)
    return trace


def moves(trace: Trace, kernel: int) -> list[tuple[str, str, int, int]]:
    """Kind, slowest channel, start and end of every move of a kernel, by start."""
    program, found = trace.program, []
    for row in np.flatnonzero(program.kind != InstructionKind.COMPUTE).tolist():
        if program.kernel[row] != kernel:
            continue
        at = slice(program.channel_at[row], program.channel_at[row + 1])
        slowest = program.channel[at][int(program.channel_cycles[at].argmax())]
        kind = InstructionKind(program.kind[row]).name
        name = program.channels[slowest].name
        found.append((kind, name, int(trace.start[row]), int(trace.end[row])))
    return sorted(found, key=lambda move: (move[2], move[1], move[0]))


def test_a_product_over_two_clusters_to_the_cycle() -> None:
    """x: 4 x 16 x 2 = 128 bytes, in cluster 0's DRAM; w: 128 bytes a half; y: 32 bytes a half.

    The step opens at 100. Longest path first: each cluster fetches its half of w, 8 cycles of its
    own DRAM; then both read x, 8 cycles each of DRAM 0, cluster 0 first (lower sequence numbers).

    cluster 0: w [100, 108), in GB at 118; to LB 4 cycles of GB [118, 122), there at 127
               x [108, 116), there at 126; product 1 x 1 x 16 cycles [127, 143)
               y 2 cycles of DRAM 0 [143, 145), there at 155
    cluster 1: w [100, 108) of DRAM 1; x of DRAM 0 [116, 124), there 30 later at 154; its core moves
               one thing after the other, so w to LB 4 cycles of GB [124, 128), there at 133
               product [154, 170); y [170, 172) to its own DRAM, there at 182; barrier 20: 202
    """
    trace = checked(gemm())
    assert moves(trace, 0) == [
        ("PREFETCH", "dram 0", 100, 118), ("LOAD", "dram 0", 108, 126),
        ("LOAD", "gb 0", 118, 127), ("STORE", "dram 0", 143, 155),
    ]  # fmt: skip
    assert moves(trace, 1) == [
        ("PREFETCH", "dram 1", 100, 118), ("LOAD", "dram 0", 116, 154),
        ("LOAD", "gb 1", 124, 133), ("STORE", "dram 1", 170, 182),
    ]  # fmt: skip
    products = trace.start[trace.program.kind == InstructionKind.COMPUTE]
    assert products.tolist() == [127, 154]
    assert trace.makespan == 202
    book = ledger(trace.program)
    assert book.causes[Memory.DRAM] == {
        Cause.INPUT: 256, Cause.WEIGHT_FIRST: 256, Cause.OUTPUT: 64
    }  # fmt: skip


def test_what_another_cluster_reads_crosses_in_the_next_step() -> None:
    """Cluster 1 keeps its half of y in LB and reads 32 bytes of cluster 0's: 2 cycles, 30 later.

    Nobody else reads that half, so it is not stored: the first step ends with its product at 170,
    the second one opens at 170 + 20 + 100 = 290. v (64 bytes) takes DRAM 1 for 4 cycles: in GB at
    304, 2 cycles of GB, there at 311. y: DRAM 0 [290, 292), there at 322. Product 1 x 1 x 8 cycles
    [322, 330); z (32 bytes) 2 cycles of DRAM 1, there at 342; barrier: 362.
    """
    trace = checked(chain())
    program = trace.program
    assert program.plan.kernels[1].kept == {"y"}
    assert moves(trace, 2) == [
        ("LOAD", "dram 0", 290, 322), ("PREFETCH", "dram 1", 290, 304),
        ("LOAD", "gb 1", 304, 311), ("STORE", "dram 1", 330, 342),
    ]  # fmt: skip
    assert trace.makespan == 362
    assert program.segment_open_cycles.tolist() == [100, 100]


def test_weights_are_fetched_first_once_a_cluster() -> None:
    """Rows instead of columns: both clusters need all of w, 256 bytes each, first for each."""
    section = Section("g1", (("y",),), ("y",), {"y": 0}, 2)
    trace = checked(cluster_plan(GEMM, [section], BOTH, two_clusters()))
    assert ledger(trace.program).causes[Memory.DRAM][Cause.WEIGHT_FIRST] == 512


def test_weights_come_through_lent_shares_in_turn() -> None:
    """One kernel, opened at 100: w (256 bytes) from DRAM 0, v (64 bytes) from DRAM 1.

    w  DRAM 0 16 cycles [100, 116), there at 126; GB 8 cycles [100, 108)
    v  DRAM 1 4 cycles once GB's port is free [108, 112), there 30 later at 142
    x  DRAM 0 behind w [116, 124), there at 134
    w to LB 8 cycles of GB [126, 134), there at 139; v to LB [142, 144), there at 149
    y = x w: 1 x 2 x 16 cycles [139, 171); z = y v: 1 x 1 x 8 [171, 179); z stored [179, 181), 191
    Without lending v comes from DRAM 0 behind x: [124, 128), there at 138.
    """
    assert moves(checked(lent()), 0) == [
        ("PREFETCH", "dram 0", 100, 126), ("PREFETCH", "dram 1", 108, 142),
        ("LOAD", "dram 0", 116, 134), ("LOAD", "gb 0", 126, 139), ("LOAD", "gb 0", 142, 149),
        ("STORE", "dram 0", 179, 191),
    ]  # fmt: skip
    alone = moves(checked(lent(has_remote_dram=False)), 0)
    assert ("PREFETCH", "dram 0", 124, 138) in alone
    assert {channel for _, channel, _, _ in alone} == {"dram 0", "gb 0"}


def test_nobody_lends_in_a_step_that_all_work_in() -> None:
    """Both clusters of the product fetch their half from their own DRAM."""
    plan = gemm()
    assert plan.cooperation is not None
    shared = replace(plan, cooperation=replace(plan.cooperation, has_remote_dram=True))
    assert moves(checked(shared), 1) == moves(checked(plan), 1)


def test_no_bound_is_above_the_result_and_gb_is_the_fullest_cluster() -> None:
    """Two halves of w are two buffers of 128 bytes in two GBs, one of them in each.

    DRAM: x twice, w and y once, 2 x 128 + 256 + 64 = 576 bytes over two shares of 16 a cycle: 18
    cycles. GB: w in and out, 512 over two ports of 32: 8. MACs: 512 over two arrays of 16: 16.
    """
    trace = simulate(lower(gemm()))
    clock_hz = trace.program.plan.hardware.clock_hz
    assert _round_bound_s(trace) * clock_hz == pytest.approx(18)
    assert occupancy(trace).gb.peak_bytes == 128


def moved_to(program: Program, memory: Memory, core: int) -> Program:
    """Every buffer of a memory of cluster 1 said to lie elsewhere."""
    buffers = program.buffers
    place = np.where((buffers.memory == memory) & (buffers.core == -2), core, buffers.core)
    return replace(program, buffers=replace(buffers, core=place.astype(np.int16)))


def test_a_cluster_may_not_work_in_another_ones_memories() -> None:
    found = wrong_claim(moved_to(lower(gemm()), Memory.GB, -1))
    assert found is not None
    assert found[1] == "CLUSTER"


def test_a_cluster_may_not_use_another_ones_dma() -> None:
    """Engines 3 and 4, behind three of a core, are cluster 0's DMAs; 8 and 9 are cluster 1's."""
    program = lower(gemm())
    engine = program.engine.copy()
    (first, _) = np.flatnonzero(program.kind == InstructionKind.PREFETCH).tolist()
    assert engine[first] == 3
    engine[first] = 8
    found = wrong_claim(replace(program, engine=engine))
    assert found is not None
    assert found[:2] == (first, "CLUSTER")


def test_two_live_buffers_of_one_gb_share_no_byte() -> None:
    """Both GBs hold a half of w at offset 0: fine, as long as they are two."""
    trace = simulate(lower(gemm()))
    trace.check()
    with pytest.raises(InvariantError, match="shares bytes"):
        replace(trace, program=moved_to(trace.program, Memory.GB, -1)).check()


def test_what_crosses_must_be_made_in_an_earlier_segment() -> None:
    """One segment for both steps: no dependence orders the read after the write."""
    program = lower(chain())
    merged = replace(
        program,
        segment=np.zeros_like(program.segment),
        segment_open_cycles=program.segment_open_cycles[:1],
        segment_close_cycles=program.segment_close_cycles[:1],
    )
    trace = simulate(merged)
    with pytest.raises(InvariantError, match="no dependence orders"):
        check_order(merged)
    with pytest.raises(ReplayFaultError):
        replayed(trace)


def scoped(plan: Plan, scope: Scope) -> Plan:
    kernels = tuple(
        replace(kernel, scopes={**kernel.scopes, "y": scope}) if "y" in kernel.outputs else kernel
        for kernel in plan.kernels
    )
    return replace(plan, kernels=kernels)


def timed(cluster_of: Sequence[int], step_of: Sequence[int]) -> Callable[[Plan], Plan]:
    how = Cooperation(2, tuple(cluster_of), tuple(step_of))
    return lambda plan: replace(plan, cooperation=how)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plan: scoped(plan, Scope.GB), "'y' of g1/1 for g2/1 is in GB, not in DRAM"),
        (timed((0, 1), (0, 0)), "entries"),
        (timed((0, 1, 2), (0, 0, 1)), "cluster 2 of 2"),
        (timed((1, 0, 1), (0, 0, 1)), "follows one at"),
        (timed((0, 1, 1), (0, 0, 2)), "follows one at"),
        (timed((0, 1, 1), (1, 1, 2)), "the first step is 1"),
        (
            lambda plan: timed((0, 0, 1), (0, 1, 1))(scoped(plan, Scope.DRAM)),
            "step 1 and read in step 1",
        ),
    ],
)
def test_refused_plans(change: Callable[[Plan], Plan], message: str) -> None:
    with pytest.raises(InvariantError, match=message):
        change(chain()).check()
