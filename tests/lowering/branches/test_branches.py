"""Branches of a kernel: at the same time on disjoint cores, without waiting for each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.global_buffer.rings import rings_ahead, weight_rings
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.branches import runs_with
from graphturbo_core.products.plan import KernelPlan, Plan, Residency, Scope
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program
from graphturbo_core.products.scheduling import BY_LAYER
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from tests.lowering.branches.branch_plans import Steps, branch_plan
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, lowered_with_placements, plan_of
from tests.strategies.samples import weighted

TWO = """g (float[1,4,8,8] x, float[4,4,3,3] v, float[4,4,3,3] w)
=> (float[1,4,8,8] a, float[1,4,8,8] b)
{ a = Conv<pads = [1,1,1,1]> (x, v) b = Conv<pads = [1,1,1,1]> (x, w) }"""
"""Two equal layers: eight rows each."""

APART = """g (float[1,16,32,32] x, float[1,16,32,32] y, float[8,16,3,3] v, float[8,16,3,3] w)
=> (float[1,8,32,32] a, float[1,8,32,32] b)
{ a = Conv<pads = [1,1,1,1]> (x, v) b = Conv<pads = [1,1,1,1]> (y, w) }"""
"""Two layers with inputs of their own; of a core that computes 16 rows, 17 rows of 1 KB."""

CHAIN = """g (float[1,8,16,16] x, float[8,8,3,3] v, float[8,8,3,3] w, float[8,8,3,3] v1)
=> (float[1,8,16,16] a, float[1,8,16,16] c)
{ a = Conv<pads = [1,1,1,1]> (x, v) b = Conv<pads = [1,1,1,1]> (x, w)
  c = Conv<pads = [1,1,1,1]> (b, v1) }"""
"""`a` beside `b` and then `c`."""


HALVES: Steps = ({"a": (0, 1), "b": (2, 3)},)
BESIDE: Steps = ({"a": (0, 3), "b c": (1, 2)},)


def cluster(**changes: int) -> Hardware:
    return replace(chip("generic-4x4"), clusters=1, **changes)


@cache
def two_plan() -> Plan:
    return branch_plan(TWO, cluster(), HALVES)


@cache
def traced(text: str, plan: str) -> Trace:
    plans = {
        "halves": lambda: branch_plan(text, cluster(), HALVES),
        "beside": lambda: branch_plan(text, cluster(), BESIDE),
        "in turn": lambda: plan_of(weighted(text), "ios:sequential", cluster()),
    }
    return simulate(lower(plans[plan]()))


def rows_of(program: Program, output: str) -> IntArray:
    """Sequence numbers of the instructions of the op that computes a tensor."""
    graph = program.plan.semantics.graph
    place = [op.name for op in graph.ops].index(graph.producer[output].name)
    return np.flatnonzero(program.op == place)


def computes(program: Program, output: str) -> IntArray:
    rows = rows_of(program, output)
    return rows[program.kind[rows] == InstructionKind.COMPUTE]


def cores_of(program: Program, rows: IntArray) -> set[int]:
    return {program.engines[engine].core for engine in program.engine[rows].tolist()}


def test_two_branches_compute_at_the_same_time_on_half_of_the_cores_each() -> None:
    trace = traced(TWO, "halves")
    program = trace.program
    assert len(program.plan.kernels) == 1
    a, b = computes(program, "a"), computes(program, "b")
    assert cores_of(program, a) == {0, 1}
    assert cores_of(program, b) == {2, 3}
    spans = [(trace.start[rows].min(), trace.end[rows].max()) for rows in (a, b)]
    assert max(begin for begin, _ in spans) < min(end for _, end in spans)
    assert trace.makespan < traced(TWO, "in turn").makespan - cluster().launch_cycles
    check_program(trace)


def test_every_instruction_of_a_branch_is_on_its_cores_or_on_the_system_dma() -> None:
    program = traced(TWO, "halves").program
    for output, cores in (("a", {0, 1}), ("b", {2, 3})):
        rows = rows_of(program, output)
        is_prefetch = program.kind[rows] == InstructionKind.PREFETCH
        assert cores_of(program, rows[~is_prefetch]) == cores
        assert cores_of(program, rows[is_prefetch]) == {-1}
    assert (program.kind == InstructionKind.BROADCAST).any()


def pairs_between(program: Program) -> int:
    """Conflicts between instructions of different branches."""
    branch = {
        op: number
        for kernel in program.plan.kernels
        for number, sections in enumerate(kernel.branches)
        for op in (op for section in sections for op in section)
    }
    names = [op.name for op in program.plan.semantics.graph.ops]
    of_row = np.array([branch[names[op]] for op in program.op.tolist()])
    later = np.repeat(np.arange(program.size), np.diff(program.conflict_at))
    return int((of_row[later] != of_row[program.conflict]).sum())


def data_bytes(placement: KernelPlacement) -> int:
    return max(held.offset + held.size_bytes for held in placement.residents.values())


def test_branches_that_exceed_one_lb_together_do_not_wait_for_each_other() -> None:
    """Each core holds 17 rows of 16 x 32 fp16, 17 KB: one branch fits 32 KB, two do not."""
    hardware = cluster(lb_data_bytes=32_768, split_capacity_bytes=131_072)
    program, placements = lowered_with_placements(branch_plan(APART, hardware, HALVES))
    assert len(placements) == 2
    sizes = [data_bytes(placement) for placement in placements]
    assert all(17 * 1024 <= size <= hardware.lb_data_bytes for size in sizes)
    assert sum(sizes) > hardware.lb_data_bytes
    assert [list(placement.residents) for placement in placements] == [["x"], ["y"]]
    assert pairs_between(program) == 0
    trace = simulate(program)
    a, b = computes(program, "a"), computes(program, "b")
    assert trace.start[b].min() < trace.end[a].max()
    assert trace.start[a].min() < trace.end[b].max()
    check_program(trace)


def test_a_branch_of_two_layers_passes_its_tensor_through_dram() -> None:
    trace = traced(CHAIN, "beside")
    program = trace.program
    (kernel,) = program.plan.kernels
    assert kernel.scopes["b"] is Scope.DRAM
    assert "b" not in kernel.outputs
    stored = program.buffers.memory[program.buffers.tensor == program.tensors.index("b")]
    assert Memory.DRAM in stored
    assert trace.start[computes(program, "c")].min() >= trace.end[computes(program, "b")].min()
    check_program(trace)


def test_slots_of_branches_do_not_overlap_in_gb() -> None:
    _, placements = lowered_with_placements(two_plan())
    plan = placements[0].plan
    first, second = weight_rings(plan, placements)
    assert first.base == 0
    assert first.end == second.base < second.end
    taken = (np.array([second.end] * 2), np.array([plan.hardware.gb_bytes] * 2))
    ahead = rings_ahead(plan, placements, (first, second), taken)
    assert ahead[0].ahead_offset == second.end
    assert ahead[0].ahead_offset + ahead[0].ahead_bytes == ahead[1].ahead_offset
    assert ahead[1].ahead_offset + ahead[1].ahead_bytes <= plan.hardware.gb_bytes
    assert ahead[0].ahead_bytes == ahead[1].ahead_bytes > 0


def test_branches_of_one_kernel_run_together() -> None:
    kernel = two_plan().kernels[0]
    whole, part = replace(kernel, branches=()), replace(kernel, branches=((kernel.ops[:1],),))
    other = replace(part, group=1)
    assert runs_with([whole, part, part, other, whole, whole]) == [
        (0, 0), (1, 2), (1, 2), (3, 3), (4, 4), (5, 5),
    ]  # fmt: skip


def _sharing(kernel: KernelPlan) -> KernelPlan:
    bindings = dict(kernel.bindings)
    bindings["b"] = bindings["a"]
    return replace(kernel, bindings=bindings)


WRONG: dict[str, tuple[Callable[[Plan], Plan], str]] = {
    "a core in two branches": (
        lambda plan: replace(plan, kernels=(_sharing(plan.kernels[0]),)),
        "core 0 is in branches 0 and 1",
    ),
    "an op in no branch": (
        lambda plan: replace(
            plan, kernels=(replace(plan.kernels[0], branches=plan.kernels[0].branches[:1]),)
        ),
        "its branches are not its ops in order",
    ),
    "a fence": (lambda plan: replace(plan, scheduling=BY_LAYER), "no fence"),
    "a shard": (
        lambda plan: replace(
            plan,
            kernels=(replace(plan.kernels[0], residency={"v": Residency.SHARDED}),),
        ),
        "no fence, shard",
    ),
    "an output in LB": (
        lambda plan: replace(plan, kernels=(replace(plan.kernels[0], kept=frozenset("a")),)),
        "LB output",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_illegal_branches_are_refused(case: str) -> None:
    change, message = WRONG[case]
    with pytest.raises(InvariantError, match=message):
        change(two_plan()).check()


def test_a_branch_may_not_read_what_another_computes() -> None:
    plan = branch_plan(CHAIN, cluster(), BESIDE)
    (kernel,) = plan.kernels
    of_a, of_b = kernel.branches
    apart = replace(
        kernel,
        branches=(of_a, of_b[:1], of_b[1:]),
        bindings={**kernel.bindings, "c": kernel.bindings["a"]._replace(cores=(9,) * 2)},
    )
    with pytest.raises(InvariantError, match="reads 'b', which branch 1 computes"):
        replace(plan, kernels=(apart,)).check()


LATER = """g (float[1,8,16,16] x, float[8,8,3,3] v, float[8,8,3,3] w) => (float[1,16,16,16] z)
{ p = Sigmoid (x) a = Conv<pads = [1,1,1,1]> (p, v) b = Conv<pads = [1,1,1,1]> (x, w)
  z = Concat<axis = 1> (a, b) }"""
"""`p` is read for the last time beside the branch that writes `b`; each is 4 KB."""

WIDE = """g (float[1,256,8,8] x, float[128,256,3,3] v, float[128,256,3,3] w)
=> (float[1,128,8,8] a, float[1,128,8,8] b)
{ a = Conv<pads = [1,1,1,1]> (x, v) b = Conv<pads = [1,1,1,1]> (x, w) }"""
"""Each weight has 576 KB and passes GB in many tiles."""

BOTH = """g (float[1,8,16,16] x, float[8,8,3,3] v, float[8,8,3,3] w, float[8,8,3,3] v1)
=> (float[1,8,16,16] a, float[1,8,16,16] b, float[1,8,16,16] c)
{ a = Conv<pads = [1,1,1,1]> (x, v) b = Conv<pads = [1,1,1,1]> (x, w)
  c = Conv<pads = [1,1,1,1]> (b, v1) }"""
"""`b` is a result of the model, and `c` reads it."""


def bytes_in(program: Program, memory: Memory, tensor: str) -> set[int]:
    buffers = program.buffers
    is_own = buffers.memory == memory
    is_own &= buffers.tensor == program.tensors.index(tensor)
    rows = zip(buffers.offset[is_own].tolist(), buffers.size_bytes[is_own].tolist(), strict=True)
    return {byte for offset, size in rows for byte in range(offset, offset + size)}


def test_a_branch_does_not_write_over_what_another_still_reads_from_dram() -> None:
    """One after the other, `b` would take the bytes of `p`."""
    steps: Steps = ({"p": (0, 1, 2, 3)}, {"a": (0, 1), "b": (2, 3)}, {"z": (0, 1, 2, 3)})
    layers = branch_plan(LATER, cluster(), steps)
    program = lower(layers)
    assert bytes_in(program, Memory.DRAM, "p").isdisjoint(bytes_in(program, Memory.DRAM, "b"))
    check_program(simulate(program))


def test_the_system_dma_serves_branches_in_turn() -> None:
    program = lower(branch_plan(WIDE, cluster(), HALVES))
    is_prefetch = program.kind == InstructionKind.PREFETCH
    a, b = (np.intersect1d(rows_of(program, name), np.flatnonzero(is_prefetch)) for name in "ab")
    assert min(len(a), len(b)) > 2
    assert a[0] < b[1]
    assert b[0] < a[1]
    assert pairs_between(program) == 0


def test_weights_of_branches_that_wait_in_gb_have_bytes_of_their_own() -> None:
    plan = branch_plan(WIDE, cluster(), HALVES)
    (kernel,) = plan.kernels
    in_gb = replace(kernel, residency={"v": Residency.GB, "w": Residency.GB})
    program = lower(replace(plan, kernels=(in_gb,), fixed=frozenset("vw")))
    v, w = (bytes_in(program, Memory.GB, name) for name in "vw")
    assert len(v) >= 128 * 256 * 9 * 2
    assert v.isdisjoint(w)
    check_program(simulate(program))


def test_a_result_that_its_branch_reads_comes_back_from_dram() -> None:
    program, placements = lowered_with_placements(branch_plan(BOTH, cluster(), BESIDE))
    assert "b" in program.plan.kernels[0].outputs
    read = placements[1].residents["b"]
    assert not read.shares
    loads = rows_of(program, "c")[program.kind[rows_of(program, "c")] == InstructionKind.LOAD]
    from_dram = int(program.size_bytes[loads][program.source[loads] == Memory.DRAM].sum())
    assert from_dram >= 8 * 16 * 16 * 2
    check_program(simulate(program))
