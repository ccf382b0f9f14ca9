"""How TVM's kernels get their operands: own fetches of weights, one tile of each operand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.hardware.hardware import EngineKind, Hardware
from graphturbo_core.hardware.variation import changed_profile
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Residency
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace, Wait
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.verify.static.causes import wrong_cause
from sample_models.bert import BertSize, bert
from sample_models.build_samples import teaching_resnet
from tests.full import examples, paired
from tests.lowering.chips import bare
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, conv_nets, small_model, tvm, with_residency
from tests.strategies.samples import weighted

OWN = {"tvm.weights": "own"}
SINGLE = {"tvm.double_buffering": "off"}
BOTH = OWN | SINGLE
GEMM = "g (float[16,16] x, float[16,12] w) => (float[16,12] y) { y = MatMul (x, w) }"
ONE_CORE = "g (float[4,16] x, float[16,4] w) => (float[4,4] y) { y = MatMul (x, w) }"
TIMES = {
    "matrix_rows": 4, "matrix_columns": 4, "dram_bandwidth": 16 * 10**9,
    "lb_bandwidth": 64 * 10**9, "dram_latency_cycles": 10, "launch_cycles": 100,
    "barrier_cycles": 20,
}  # fmt: skip
"""DRAM 16 bytes a cycle and 10 cycles late, LB 64, a 4 x 4 array; a kernel opens at 100."""


def starts(trace: Trace, kind: InstructionKind) -> list[int]:
    return trace.start[trace.program.kind == kind].tolist()


@pytest.mark.parametrize("has_gb", [False, True])
def test_own_fetches_to_the_cycle(has_gb: bool) -> None:
    """x: 4 rows a core, 128 bytes; w: 16 x 12 x 2 = 384 bytes for each of four cores; y: 96.

    A core's move engine loads its x, then its w. All share DRAM, first come first served: the w of
    core 0 is asked for when its x is through, after those of cores 1 to 3.

    x0 .. x3  DRAM 8 cycles each    [100, 108) [108, 116) [116, 124) [124, 132)
    w0 .. w3  DRAM 24 each          [132, 156) [156, 180) [180, 204) [204, 228), there 10 later
    product   1 x 3 x 16 = 48       from 166, 190, 214, 238
    y0        asked for at 214, while w3 is on the way: [228, 234)
    y1 .. y3  DRAM 6 each           [238, 244) [262, 268) [286, 292), there at 302; barrier: 322

    Shared by a broadcast it is 268 without a GB (`test_no_gb`). With one nothing passes it.
    """
    hardware = replace(chip("generic-4x4"), **TIMES) if has_gb else bare(**TIMES)
    trace = simulate(lower(tvm(weighted(GEMM), hardware, OWN)))
    check_program(trace)
    program = trace.program
    assert starts(trace, InstructionKind.COMPUTE) == [166, 190, 214, 238]
    assert starts(trace, InstructionKind.STORE) == [228, 238, 262, 286]
    assert trace.makespan == 322
    assert not (program.kind == InstructionKind.BROADCAST).any()
    loads = (program.target == Memory.LB_WEIGHT).nonzero()[0]
    assert [program.engines[e].core for e in program.engine[loads]] == [0, 1, 2, 3]
    assert ledger(program).causes[Memory.DRAM] == {
        Cause.INPUT: 512, Cause.WEIGHT_FIRST: 384, Cause.WEIGHT_AGAIN: 1152, Cause.OUTPUT: 384,
    }  # fmt: skip
    assert not sum(ledger(program).causes[Memory.GB].values())
    assert wrong_cause(program) is None


def one_core(weight_bytes: int, **changes: object) -> Hardware:
    return bare(cores=1, lb_weight_bytes=weight_bytes, **TIMES | changes)


def test_two_tiles_and_one_to_the_cycle() -> None:
    """x: 128 bytes, w: 128, in tiles of 64, which is 8 of K: two of them in 128 bytes, one in 64.

    x         DRAM 8 cycles   [100, 108), there at 118
    w, K 0-8  DRAM 4          [108, 112), there at 122
    product   8               [122, 130)
    With two tiles the next comes beside it: w [112, 116), product [130, 138), y, 32 bytes,
    [138, 140), there at 150, barrier 20: 170. With one it waits for the product, 18 cycles of the
    move engine: w [130, 134), there at 144, product [144, 152), y [152, 154), 164, 184.
    """
    for size, options, second, makespan, waited in (
        (128, {}, 130, 170, 0), (64, SINGLE, 144, 184, 18),
    ):  # fmt: skip
        trace = simulate(lower(tvm(weighted(ONE_CORE), one_core(size), options)))
        check_program(trace)
        assert starts(trace, InstructionKind.COMPUTE) == [122, second]
        assert trace.makespan == makespan
        assert address_cycles(trace, EngineKind.MOVE) == waited


def address_cycles(trace: Trace, kind: EngineKind) -> int:
    (place,) = (at for at, e in enumerate(trace.program.engines) if e.kind is kind and e.core >= 0)
    return int(trace.stalls[place][Wait.ADDRESS])


def test_one_slot_in_gb_is_filled_while_the_cores_compute() -> None:
    """The same with a GB, 32 bytes a cycle and 2 cycles late, and w streamed through its slot.

    w, K 0-8   DRAM [108, 112), in GB at 122; GB [122, 124), in LB at 126; product [126, 134)
    w, K 8-16  its slot in GB is free at 126: DRAM [126, 130), in GB at 140, the one in LB at 134:
               GB [140, 142), in LB at 144; product [144, 152), y [152, 154), 164, barrier: 184
    """
    gb = {"gb_bytes": 2**20, "gb_bandwidth": 32 * 10**9, "gb_latency_cycles": 2, "dma_engines": 1}
    plan = tvm(weighted(ONE_CORE), one_core(64, **gb), SINGLE)
    trace = simulate(lower(with_residency(plan, Residency.STREAM)))
    check_program(trace)
    assert starts(trace, InstructionKind.PREFETCH) == [108, 126]
    assert starts(trace, InstructionKind.LOAD) == [100, 122, 140]
    assert starts(trace, InstructionKind.COMPUTE) == [126, 144]
    assert trace.makespan == 184


def test_streamed_rows_alternate() -> None:
    """Relu of 4 x 64: eight tiles of 32 elements, 64 bytes.

    A tile takes 4 cycles of DRAM, 10 later it is there; 32 elements on two lanes are 16 cycles.
    With one tile: load [100, 104), there at 114, compute [114, 130), store [130, 134), and the next
    load after that on the same engine: 34 cycles a tile. The last store begins at
    130 + 7 x 34 = 368, is there at 382, barrier 20: 402.
    """
    text = "g (float[4,64] x) => (float[4,64] y) { y = Relu (x) }"
    small = one_core(64, lb_data_bytes=256, vector_lanes=2)
    options = SINGLE | {"lowering.tile_share": "4"}
    trace = simulate(lower(tvm(weighted(text), small, options)))
    check_program(trace)
    assert starts(trace, InstructionKind.COMPUTE) == [114 + 34 * tile for tile in range(8)]
    assert trace.makespan == 402
    offsets = {
        int(trace.program.buffers.offset[at])
        for at in (trace.program.buffers.memory == Memory.LB_DATA).nonzero()[0]
    }
    assert offsets == {0, 64}


def test_three_tile_buffers_take_turns() -> None:
    """The same with two and three: the loads of all buffers come first, 4 cycles each.

    The next load follows the first store, [130, 134), on the same engine.
    """
    text = "g (float[4,64] x) => (float[4,64] y) { y = Relu (x) }"
    small = one_core(64, lb_data_bytes=384, vector_lanes=2)
    plan = tvm(weighted(text), small, {"lowering.tile_share": "6"})
    for tiles, first in ((2, [100, 104, 134]), (3, [100, 104, 108])):
        trace = simulate(lower(replace(plan, feeding=replace(plan.feeding, tiles=tiles))))
        check_program(trace)
        buffers = trace.program.buffers
        offsets = buffers.offset[buffers.memory == Memory.LB_DATA]
        assert set(offsets.tolist()) == {64 * place for place in range(2 * tiles)}
        assert starts(trace, InstructionKind.LOAD)[:3] == first


def resident_loads(options: Mapping[str, str]) -> list[int]:
    """Sizes of the loads of what stays in LB: of x, and of weights held there."""
    sem = weighted(
        "g (float[4,48,32,32] x, float[48,48,3,3] w) => (float[4,48,32,32] y)"
        "{ y = Conv <pads = [1,1,1,1]> (x, w) }"
    )
    program = lower(tvm(sem, chip("generic-4x4"), options))
    is_there = (program.kind == InstructionKind.LOAD) | (program.kind == InstructionKind.BROADCAST)
    return sorted(set(program.size_bytes[is_there].tolist()))


def test_what_stays_in_lb_comes_whole_where_nothing_is_fetched_ahead() -> None:
    """x is 48 x 32 x 32 x 2 = 98,304 bytes a core, in up to four loads of rows; w is 41,472 bytes,
    two tiles of 32 and 16 columns. Later parts would come beside computes."""
    assert resident_loads({}) == [13824, 24576, 27648]
    assert resident_loads(SINGLE) == [41472, 98304]


OPTIONS = (
    OWN, SINGLE, BOTH, {"tvm.division": "outermost"}, {"tvm.division": "literal"} | BOTH,
    {"tvm.passes": "squares"}, {"tvm.passes": "squares"} | BOTH,
)  # fmt: skip
CHIPS = ("tiny", "generic-4x4", "stcp920-10mib", "goya", "bare")


def chip_of(name: str) -> Hardware:
    return bare("tiny") if name == "bare" else chip(name)


@settings(max_examples=examples(40))
@given(conv_nets(), st.sampled_from(OPTIONS), st.sampled_from(CHIPS))
def test_random_networks(sem: GraphSemantics, options: Mapping[str, str], name: str) -> None:
    try:
        program = lower(tvm(sem, chip_of(name), options))
    except CapacityError:
        assert name in {"tiny", "bare"}
        return
    check_program(simulate(program))
    assert wrong_cause(program) is None


def test_own_fetches_bring_each_core_what_it_reads() -> None:
    """First bytes are those of shared weights; nothing of them passes GB, or goes core to core."""
    for name in ("generic-4x4", "bare"):
        shared, own = (
            ledger(lower(tvm(small_model("resnet"), chip_of(name), options)))
            for options in ({}, OWN)
        )
        first = shared.causes[Memory.DRAM][Cause.WEIGHT_FIRST]
        assert own.causes[Memory.DRAM][Cause.WEIGHT_FIRST] == first
        assert own.causes[Memory.DRAM][Cause.WEIGHT_AGAIN] > first
        assert not sum(own.causes[Memory.GB].values())


def test_a_class_of_cores_books_what_all_of_them_would() -> None:
    """152 = 8 x 19 cores: of a class some are the first to need their channels' weights."""
    plan = tvm(small_model("teaching-resnet"), bare(cores=152), OWN)
    few, every = lower(plan), lower(plan, is_each_core_simulated=True)
    assert any("cores per cluster are simulated" in note for note in few.notes)
    weights = (Cause.WEIGHT_FIRST, Cause.WEIGHT_AGAIN)
    booked = [ledger(each).causes[Memory.DRAM] for each in (every, few)]
    assert [booked[0][cause] for cause in weights] == [booked[1][cause] for cause in weights]


def test_nothing_in_gb_is_reserved_for_own_fetches() -> None:
    """w, 384 bytes, passes GB in a slot; each core's own passes none of it."""
    no_room = replace(chip("generic-4x4"), gb_bytes=32)
    with pytest.raises(CapacityError, match="weight tiles need"):
        lower(tvm(weighted(GEMM), no_room, {}))
    assert lower(tvm(weighted(GEMM), no_room, OWN)).size > 0


@pytest.mark.parametrize(("options", "sets"), [({}, 2), (SINGLE, 1)])
def test_sums_wait_in_one_place_where_tiles_do_not_take_turns(
    options: Mapping[str, str], sets: int
) -> None:
    """Products of four tiles of rows on their way to Relu: in the staging buffer, in turn."""
    sem = weighted(
        "g (float[4,48,32,32] x, float[48,48,3,3] w) => (float[4,48,32,32] y)"
        "{ a = Conv <pads = [1,1,1,1]> (x, w) y = Relu (a) }"
    )
    buffers = lower(tvm(sem, chip("generic-4x4"), options)).buffers
    is_there = (buffers.memory == Memory.STAGING) & (buffers.core == 0)
    assert len(set(buffers.offset[is_there].tolist())) == sets


def test_of_the_outermost_axis_alone_no_idle_core_is_put_to_use() -> None:
    """y wants its two rows on two cores; that is two columns of a, whose own rows take all four."""
    sem = weighted(
        "g (float[8,2] x) => (float[2,8] y) { a = Relu (x) y = Transpose <perm = [1,0]> (a) }"
    )
    (kernel,) = tvm(sem, chip("generic-4x4"), {"tvm.division": "outermost"}).kernels
    cuts = {name: (own.axes, own.grid) for name, own in kernel.bindings.items()}
    assert cuts == {"y": ((0,), (2,)), "a": ((0,), (4,))}


def test_an_engine_that_the_cores_share_still_finds_weights_in_gb() -> None:
    """The bias of a product is added there too; what the cores scale by, each fetches."""
    sem = weighted(
        "g (float[16,16] x, float[16,12] w, float[12] v) => (float[16,12] y)"
        "{ a = MatMul (x, w) y = Mul (a, v) }"
    )
    program = lower(tvm(sem, chip("goya"), OWN))
    check_program(simulate(program))
    assert moved(program, "w") == {(Memory.DRAM, Memory.GB)}
    assert moved(program, "v") == {(Memory.DRAM, Memory.LB_WEIGHT)}


def moved(program: Program, tensor: str) -> set[tuple[Memory, Memory]]:
    number = program.tensors.index(tensor)
    rows = {
        row
        for row in range(program.size)
        if program.kind[row] != InstructionKind.COMPUTE
        and program.buffers.tensor[program.access_buffer[program.access_at[row]]] == number
    }
    return {(Memory(program.source[row]), Memory(program.target[row])) for row in rows}


SWITCHES = (
    OWN, SINGLE, {"tvm.division": "outermost"}, {"tvm.division": "literal"},
    {"tvm.normalisation": "decomposed"},
)  # fmt: skip


def _id(value: object) -> str:
    is_options = isinstance(value, dict)
    return " ".join(f"{name}={v}" for name, v in value.items()) if is_options else str(value)


@pytest.mark.parametrize(
    ("options", "profile", "model"),
    paired(SWITCHES, ["generic-4x4", "ipu-gc2"], ["teaching-resnet", "bert-base"]),
    ids=_id,
)
def test_every_switch_replays(model: str, profile: str, options: Mapping[str, str]) -> None:
    """With a GB, and without one: eight tiles of `ipu-gc2`."""
    built = {
        "teaching-resnet": teaching_resnet,
        "bert-base": lambda: bert(BertSize(2, 64, 4, 5000, 16), {"batch": 2, "sequence": 8}),
    }
    data = built[model]().SerializeToString()
    request = RunRequest(model, "tvm@2", profile, 4, options=options, verify=True)
    changed = changed_profile(profile, "cluster.cores", 8) if profile == "ipu-gc2" else None
    contract = run_report(data, request, changed).contract
    found = contract["verify"]
    assert found["ok"], found  # type: ignore[index]
    (name,) = options
    assert contract["options"][name] == options[name]  # type: ignore[index]


def test_a_plan_that_shares_weights_is_refused_where_each_core_fetches_its_own() -> None:
    sem, spec = weighted(GEMM), parse_strategy("tvm")
    constrained = PinnedPlan(None, Edits(residency={"w": Residency.GB}))
    task = PlanTask(sem, chip("generic-4x4"), "fp16", OWN, constrained)
    with pytest.raises(PlanError, match="w cannot be shared: each core fetches its own from DRAM"):
        plan_for(spec, task)
    shared = with_residency(tvm(sem, chip("generic-4x4"), {}), Residency.GB)
    restored = replace(task, held=PinnedPlan(recorded(shared)))
    with pytest.raises(PlanError, match="w cannot be shared: each core fetches its own from DRAM"):
        plan_for(spec, restored)
    own = tvm(sem, chip("generic-4x4"), OWN)
    assert plan_for(spec, replace(task, held=PinnedPlan(recorded(own)))) == own
