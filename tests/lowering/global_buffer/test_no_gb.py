"""A chip without a GB: weights come from DRAM to all LBs at once, what waits does so in DRAM."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError, ProfileError
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.hardware.profile import load_profile, parse_profile
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Residency, Scope
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.verify.static.causes import wrong_cause
from tests.full import examples, paired
from tests.lowering.chips import bare
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, conv_nets, plan_of, small_model
from tests.lowering.small_plans import GEMM
from tests.strategies.samples import weighted


def test_weights_reach_every_lb_in_one_move_to_the_cycle() -> None:
    """x: 4 rows a core, 4 x 16 x 2 = 128 bytes; w: 384 bytes to four LBs; y: 4 x 12 x 2 = 96.

    DRAM 16 bytes a cycle, LB 64, a 4 x 4 array; DRAM latency 10; the kernel opens at 100. Sequence:
    x of cores 0 to 3, w (issued by core 0, tile 0), then each core's product and store.

    x0 .. x3  DRAM 8 cycles each    [100, 108) [108, 116) [116, 124) [124, 132)
    w         DRAM 24               [132, 156), at four LB ports 6 cycles each, there at 166
    product   1 x 3 x 16 = 48       [166, 214) on all four cores
    y0 .. y3  DRAM 6 cycles each    [214, 220) .. [232, 238), there at 248; barrier 20: 268
    """
    hardware = bare(
        matrix_rows=4, matrix_columns=4, dram_bandwidth=16 * 10**9, lb_bandwidth=64 * 10**9,
        dram_latency_cycles=10, launch_cycles=100, barrier_cycles=20,
    )  # fmt: skip
    trace = simulate(lower(plan_of(weighted(GEMM), "layerwise", hardware)))
    check_program(trace)
    program = trace.program
    (row,) = (program.kind == InstructionKind.BROADCAST).nonzero()[0].tolist()
    assert (program.source[row], program.target[row]) == (Memory.DRAM, Memory.LB_WEIGHT)
    at = slice(program.channel_at[row], program.channel_at[row + 1])
    names = [program.channels[c].name for c in program.channel[at]]
    assert dict(zip(names, program.channel_cycles[at].tolist(), strict=True)) == {
        "dram": 24, "lb 0": 6, "lb 1": 6, "lb 2": 6, "lb 3": 6,
    }  # fmt: skip
    assert (trace.start[row], trace.end[row]) == (132, 166)
    products = trace.start[program.kind == InstructionKind.COMPUTE]
    assert products.tolist() == [166] * 4
    stores = trace.start[program.kind == InstructionKind.STORE]
    assert sorted(stores.tolist()) == [214, 220, 226, 232]
    assert trace.makespan == 268
    book = ledger(program)
    assert book.causes[Memory.GB] == {}
    assert book.causes[Memory.DRAM] == {
        Cause.INPUT: 512, Cause.WEIGHT_FIRST: 384, Cause.OUTPUT: 384
    }  # fmt: skip


def test_there_is_no_gb_anywhere() -> None:
    program = lower(plan_of(small_model("teaching-resnet"), "graphturbo", bare()))
    assert "gb" not in {channel.name for channel in program.channels}
    assert EngineKind.DMA not in {engine.kind for engine in program.engines}
    assert not (program.buffers.memory == Memory.GB).any()
    plan = program.plan
    assert all(Scope.GB not in kernel.scopes.values() for kernel in plan.kernels)
    assert all(Residency.GB not in kernel.residency.values() for kernel in plan.kernels)


@pytest.mark.parametrize(
    ("strategy", "name"), paired(STRATEGIES, ["generic-4x4", "tiny", "stcp920-10mib"])
)
def test_every_strategy(strategy: str, name: str) -> None:
    check_program(simulate(lower(plan_of(small_model("resnet"), strategy, bare(name)))))


MIXED = [("resnet", 4, 7168), ("mobilenet", 1, 16384)]
"""Models, cores and LBs: of a tensor that is split, pieces that were to stay in LB do not."""


def mixed(model: str, strategy: str, cores: int, lb_bytes: int) -> Program:
    """On a tiny chip whose LBs are of this size."""
    sizes = {"lb_data_bytes": lb_bytes, "split_capacity_bytes": cores * lb_bytes}
    return lower(plan_of(small_model(model), strategy, bare("tiny", cores=cores, **sizes)))


@pytest.mark.parametrize("strategy", ["graphturbo:order", "graphturbo:full"])
@pytest.mark.parametrize(("model", "cores", "lb_bytes"), MIXED)
def test_a_tensor_may_wait_as_planned_in_one_piece_and_for_want_of_room_in_another(
    model: str, cores: int, lb_bytes: int, strategy: str
) -> None:
    program = mixed(model, strategy, cores, lb_bytes)
    assert wrong_cause(program) is None
    book = ledger(program).causes[Memory.DRAM]
    assert book[Cause.SPILL] > 0
    assert book[Cause.ACTIVATION] > 0
    check_program(simulate(program))


def test_each_piece_is_booked_to_why_it_waits() -> None:
    """Samples 2 and 3 are parked in DRAM, 0 and 1 were to stay in LB for the next kernel.

    They are 2 x 32 x 8 x 8 elements of 2 bytes, written once.
    """
    model, *sizes = MIXED[0]
    program = mixed(model, "graphturbo:order", *sizes)
    tensor = "stage1/block1/relu3:0"
    first, second, *_ = program.plan.kernels
    assert (first.scopes[tensor], second.scopes[tensor]) == (Scope.DRAM, Scope.LB)
    assert (first.outputs[tensor][0], second.outputs[tensor][0]) == ((2, 4), (0, 2))
    samples = {Cause.ACTIVATION: (2, 4), Cause.SPILL: (0, 2)}
    written = dict.fromkeys(samples, 0)
    for access, buffer in enumerate(program.access_buffer.tolist()):
        is_there = program.tensors[program.buffers.tensor[buffer]] == tensor
        if not is_there or program.buffers.memory[buffer] != Memory.DRAM:
            continue
        row = int(np.searchsorted(program.access_at, access, "right")) - 1
        lo, hi = samples[Cause(int(program.cause[row]))]
        assert lo <= program.access_lo[access][0] < program.access_hi[access][0] <= hi
        if program.access_write[access]:
            written[Cause(int(program.cause[row]))] += int(program.size_bytes[row])
    assert written == dict.fromkeys(samples, 2 * 32 * 8 * 8 * 2)


@given(conv_nets(), st.sampled_from(STRATEGIES), st.sampled_from([1, 3, 19]))
@settings(max_examples=examples(20))
def test_random_networks(sem: GraphSemantics, strategy: str, cores: int) -> None:
    hardware = bare("tiny", cores=cores, split_capacity_bytes=cores * 8192)
    try:
        program = lower(plan_of(sem, strategy, hardware))
    except CapacityError as error:
        assert error.change
        return
    assert wrong_cause(program) is None
    check_program(simulate(program))


def test_a_shared_engine_needs_a_gb() -> None:
    text = (
        "extends: goya\nname: bare\ncluster:\n  gb_bytes: {value: 0, source: none on this chip}\n"
    )
    with pytest.raises(ProfileError, match=r"while cluster\.gb_bytes is 0"):
        parse_profile(text.encode(), "bare.yaml")
    assert load_profile("goya").has_gb
