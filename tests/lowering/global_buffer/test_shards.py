"""Weights sharded over the LBs of a chip without a GB: fetched once, then from core to core."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.addresses.allocator import ALIGNMENT_BYTES
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.products.shards import SHARD_ROUNDING
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.verify.static.causes import wrong_cause
from graphturbo_core.verify.static.claims import wrong_claim
from tests.full import examples
from tests.lowering.chips import sharing
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, conv_nets, plan_of, small_model, with_residency
from tests.lowering.small_plans import TWICE
from tests.strategies.samples import weighted

WIDE = (
    "g (float[16,{n}] x, float[{n},{n}] w) => (float[16,{n}] y)"
    "{{ a = MatMul (x, w) y = MatMul (a, w) }}"
)
CYCLE = 10**9


def checked(plan: Plan) -> Program:
    """The program, sound in every way that a replay on identities and the claims see."""
    trace = simulate(lower(plan))
    check_program(trace)
    assert wrong_claim(trace.program) is None
    ledger(trace.program).check()
    return trace.program


def test_what_one_other_core_needs_it_fetches_itself() -> None:
    """Of two cores one holds the only box: an exchange for each product, issued by the other."""
    program = lower(plan_of(weighted(TWICE), "tvm", sharing(cores=2)))
    sent = (program.source == Memory.LB_WEIGHT) & (program.target == Memory.LB_WEIGHT)
    assert set(program.kind[sent].tolist()) == {InstructionKind.EXCHANGE}
    read = program.access_buffer[program.access_at[:-1][sent]]
    holders = set(program.buffers.core[read].tolist())
    issuers = {program.engines[engine].core for engine in program.engine[sent]}
    assert len(holders) == 1
    assert holders | issuers == {0, 1}


def shards(program: Program) -> list[int]:
    """Buffers of LBs that are filled from DRAM and read by moves."""
    owner = np.repeat(np.arange(program.size), np.diff(program.access_at))
    is_move = program.kind[owner] != InstructionKind.COMPUTE
    read = program.access_buffer[is_move & ~program.access_write]
    return np.flatnonzero(
        np.isin(np.arange(len(program.buffers.memory)), read)
        & (program.buffers.memory == Memory.LB_WEIGHT)
    ).tolist()


def test_a_weight_of_two_kernels_is_fetched_once_to_the_cycle() -> None:
    """x, a, y: 4 rows a core, 128 bytes; w: 512 bytes, its shard in core 0.

    DRAM 16 bytes a cycle, LB 64, links 32, a 4 x 4 array: 1 x 4 x 16 = 64 cycles a product; DRAM
    latency 10, link latency 5; a kernel opens after 100 and closes after 20. A move starts when it
    heads the queues of all of its channels.

    x0 .. x3   DRAM 8 cycles each     [100, 108) .. [124, 132)
    w -> LB 0  DRAM 32                [132, 164), there at 174
    w -> 1,2,3 link out of core 0 16  [174, 190), there at 195: links in 16 each, ports 8
    products   core 0 reads the shard [174, 238), the others [195, 259)
    a0 .. a3   DRAM 8 each            [238, 246) [259, 267) [267, 275) [275, 283) there at 293
    barrier 20, launch 100            413
    a0 .. a3   DRAM 8 each            [413, 421) .. [437, 445)
    w -> 1,2,3 behind a3 in LB 3's port, where that takes 2 cycles: [439, 455), there at 460
    products   core 0, a0 there at 431: [431, 495), the others [460, 524)
    y0 .. y3   DRAM 8 each            [495, 503) [524, 532) [532, 540) [540, 548) there at 558
    barrier 20                        578
    """
    hardware = sharing(
        matrix_rows=4, matrix_columns=4, dram_bandwidth=16 * CYCLE, lb_bandwidth=64 * CYCLE,
        link_bandwidth=32 * CYCLE, dram_latency_cycles=10, link_latency_cycles=5,
        launch_cycles=100, barrier_cycles=20,
    )  # fmt: skip
    plan = plan_of(weighted(TWICE), "layerwise", hardware)
    assert [dict(kernel.residency) for kernel in plan.kernels] == [{"w": Residency.SHARDED}] * 2
    program = checked(plan)
    trace = simulate(program)
    rows = (program.kind == InstructionKind.BROADCAST).nonzero()[0].tolist()
    assert [(int(trace.start[row]), int(trace.end[row])) for row in rows] == [
        (174, 195),
        (439, 460),
    ]
    for row in rows:
        assert program.engines[int(program.engine[row])].label == "core 0 move"
        at = slice(program.channel_at[row], program.channel_at[row + 1])
        names = [program.channels[c].name for c in program.channel[at]]
        ports, links = {f"lb {core}": 8 for core in range(4)}, {"link out 0": 16}
        links |= {f"link in {core}": 16 for core in (1, 2, 3)}
        assert dict(zip(names, program.channel_cycles[at].tolist(), strict=True)) == ports | links
    products = trace.start[program.kind == InstructionKind.COMPUTE].tolist()
    assert sorted(products) == [174, 195, 195, 195, 431, 460, 460, 460]
    assert trace.makespan == 578
    book = ledger(program)
    assert book.core_to_core_bytes == 2 * 512
    assert book.causes[Memory.DRAM] == {
        Cause.INPUT: 512, Cause.WEIGHT_FIRST: 512, Cause.ACTIVATION: 1024, Cause.OUTPUT: 512
    }  # fmt: skip


def test_owners_hold_equally_many_bytes_behind_the_tiles_in_use() -> None:
    """w of 64 x 64, 8 KiB: more than half of 6 KiB of weight part, so it comes in tiles.

    Half of the part, 3 KiB on each of four cores, holds shards: 8 KiB fit, 2 KiB a core.
    """
    hardware = sharing("tiny", lb_weight_bytes=6144)
    plan = plan_of(weighted(WIDE.format(n=64)), "layerwise", hardware)
    program = checked(plan)
    found, buffers = shards(program), program.buffers
    assert len(found) >= 4
    by_core = np.bincount(buffers.core[found], buffers.size_bytes[found], minlength=4)
    assert by_core.tolist() == [2048] * 4
    assert (buffers.offset[found] >= 3072).all()
    assert (buffers.offset[found] + buffers.size_bytes[found] <= 6144).all()
    inside = buffers.memory == Memory.LB_WEIGHT
    inside[found] = False
    assert (buffers.offset[inside] + buffers.size_bytes[inside] <= 3072).all()
    assert Cause.WEIGHT_AGAIN not in ledger(program).causes[Memory.DRAM]
    assert ledger(program).causes[Memory.DRAM][Cause.WEIGHT_FIRST] == 8192


def test_what_finds_no_room_is_streamed_again_with_a_note() -> None:
    """64 x 64 numbers, 8 KiB, are more than four times 1 KiB: the plan says so, and lowering."""
    hardware = sharing("tiny", lb_weight_bytes=2048)
    plan = plan_of(weighted(WIDE.format(n=64)), "layerwise", hardware)
    assert [set(kernel.residency.values()) for kernel in plan.kernels] == [{Residency.STREAM}] * 2
    program = checked(with_residency(plan, Residency.SHARDED))
    book = ledger(program).causes[Memory.DRAM]
    assert book[Cause.WEIGHT_FIRST] == 8192
    assert 0 < book[Cause.WEIGHT_AGAIN] <= 8192 - 4096 // 2
    assert shards(program)
    assert "1 weights found no room for all their shards in the LBs" in program.notes
    with pytest.raises(CapacityError, match=r"'w' .* found no room in the LBs as shards"):
        lower(replace(with_residency(plan, Residency.SHARDED), fixed=frozenset({"w"})))


def test_what_one_fetch_brings_has_no_shard() -> None:
    text = "g (float[16,16] x, float[16,16] w) => (float[16,16] y) { y = MatMul (x, w) }"
    plan = plan_of(weighted(text), "tvm", sharing())
    assert plan.kernels[0].residency["w"] is Residency.LB
    program = checked(with_residency(plan, Residency.SHARDED))
    assert shards(program) == []
    assert ledger(program).core_to_core_bytes == 0


@pytest.mark.parametrize("level", ["order", "full"])
def test_instances_of_a_group_share_what_the_first_fetches(level: str) -> None:
    """Pieces of one group are copies of a template; only the first of them goes to DRAM."""
    own = load_profile("ipu-gc2")
    hardware = replace(own, cores=7, split_capacity_bytes=7 * 65536)
    sem = small_model("mobilenet")
    plan = plan_of(sem, f"graphturbo:{level}", hardware)
    assert len({kernel.group for kernel in plan.kernels}) < len(plan.kernels)
    book = ledger(checked(plan)).causes[Memory.DRAM]
    tensors = sem.graph.tensors.values()
    whole = sum(2 * t.elements for t in tensors if t.kind is TensorKind.WEIGHT)
    assert book[Cause.WEIGHT_FIRST] == whole
    assert Cause.WEIGHT_AGAIN not in book
    alike = plan_of(sem, f"graphturbo:{level}", replace(hardware, weight_placement="replicated"))
    assert ledger(lower(alike)).causes[Memory.DRAM][Cause.WEIGHT_AGAIN] > whole // 2


def test_bytes_are_given_back_after_the_last_use() -> None:
    """v is used after w: both are in core 0, at one offset, behind the tiles in use.

    512 bytes are there at once: 128 a core, and 512 for one weight, and 32 for their addresses.
    """
    text = (
        "g (float[16,16] x, float[16,16] w, float[16,16] v) => (float[16,16] y)"
        "{ a = MatMul (x, w) b = MatMul (a, w) c = MatMul (b, v) y = MatMul (c, v) }"
    )
    program = checked(plan_of(weighted(text), "layerwise", sharing(lb_weight_bytes=65536)))
    found, buffers = shards(program), program.buffers
    names = [program.tensors[number] for number in buffers.tensor[found]]
    assert sorted(names) == ["v", "w"]
    assert buffers.core[found].tolist() == [0, 0]
    assert buffers.offset[found].tolist() == [65536 - 672] * 2


@given(conv_nets(), st.sampled_from(STRATEGIES), st.sampled_from([1, 3, 19]), st.booleans())
@settings(max_examples=examples(20))
def test_random_networks(
    sem: GraphSemantics, strategy: str, cores: int, is_everything: bool
) -> None:
    hardware = sharing("tiny", cores=cores, split_capacity_bytes=cores * 8192)
    try:
        plan = plan_of(sem, strategy, hardware)
        program = lower(with_residency(plan, Residency.SHARDED) if is_everything else plan)
    except CapacityError as error:
        assert error.change
        return
    check_program(simulate(program))
    assert wrong_claim(program) is None


@pytest.mark.parametrize("field", ["engine", "channel", "target", "owner"])
def test_a_forged_spread_is_found(field: str) -> None:
    program = lower(plan_of(weighted(TWICE), "layerwise", sharing()))
    row = int((program.kind == InstructionKind.BROADCAST).nonzero()[0][0])
    at, first = int(program.channel_at[row]), int(program.access_at[row])
    if field == "engine":
        engine = program.engine.copy()
        engine[row] += 3
        forged, rule = replace(program, engine=engine), "ENGINE"
    elif field == "channel":
        channel = program.channel.copy()
        channel[at : at + 8][channel[at : at + 8] == 8] += 1
        forged, rule = replace(program, channel=channel), "CHANNEL"
    elif field == "target":
        target = program.target.copy()
        target[row] = Memory.LB_DATA
        forged, rule = replace(program, target=target), "ENDS"
    else:
        core = program.buffers.core.copy()
        core[program.access_buffer[first + 1]] = core[program.access_buffer[first]]
        forged, rule = replace(program, buffers=replace(program.buffers, core=core)), "ENGINE"
    found = wrong_claim(forged)
    assert found is not None
    assert found[1] == rule


def test_shards_are_counted_as_they_are_addressed() -> None:
    assert SHARD_ROUNDING == ALIGNMENT_BYTES


def test_causes_of_what_goes_between_cores() -> None:
    program = lower(plan_of(weighted(TWICE), "layerwise", sharing()))
    assert wrong_cause(program) is None
    is_spread = program.kind == InstructionKind.BROADCAST
    assert (program.cause[is_spread] == Cause.NONE).all()
