"""Weights that stay in GB over several kernels: fetched once, at first use or before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering import numbering
from graphturbo_core.lowering.global_buffer.stays import boxes_read
from graphturbo_core.lowering.local_buffer.placement import SharedValues
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.products.scheduling import ACROSS_LAYERS, BY_LAYER
from graphturbo_core.semantics.feeding import Feeding
from graphturbo_core.sim.kernels.kernel_loads import kernel_loads
from graphturbo_core.strategies.steps.kernels import KernelUsage
from graphturbo_core.verify.static.claims import wrong_claim
from tests.lowering.chips import shared
from tests.lowering.equality import arrays_of
from tests.lowering.global_buffer.sound import checked
from tests.lowering.nets import chip, placements_of, plan_of, small_model, with_residency
from tests.strategies.samples import weighted

SOFT = (
    "g (float[16,16] x, float[16,256] w) => (float[16,256] y) { a = Softmax (x) y = MatMul (a, w) }"
)
"""Two kernels of `tvm`: the first reads no weight, w has 16 x 256 x 2 = 8,192 bytes."""
W_BYTES = 8192
THRICE = """g (float[16,64] x, float[64,64] w, float[64,64] v) => (float[16,64] y)
{ a = MatMul (x, w) b = MatMul (a, v) y = MatMul (b, w) }"""
"""The first and the last of three kernels read w, the one between v: 64 x 64 x 2 = 8,192 bytes."""


def one_core() -> Hardware:
    return replace(chip("generic-4x4"), cores=1)


def soft(*stays: GbRetention) -> Plan:
    plan = plan_of(weighted(SOFT), "tvm", one_core())
    return replace(plan, scheduling=ACROSS_LAYERS, stays=stays)


def thrice(*stays: GbRetention) -> Plan:
    return replace(plan_of(weighted(THRICE), "tvm", one_core()), stays=stays)


def fetched(program: Program, weight: str) -> list[tuple[int, int, str]]:
    """Kernel, bytes and cause of every move of the weight out of DRAM."""
    tensor = program.buffers.tensor[program.access_buffer[program.access_at[:-1]]]
    is_own = tensor == program.tensors.index(weight)
    rows = np.flatnonzero(is_own & (program.source == Memory.DRAM))
    columns = (program.kernel[rows], program.size_bytes[rows], program.cause[rows])
    return [
        (kernel, size, Cause(cause).name)
        for kernel, size, cause in zip(*(own.tolist() for own in columns), strict=True)
    ]


def test_what_is_fetched_early_takes_an_earlier_kernels_cycles() -> None:
    """By hand: launch 2,000, barrier 200, DRAM 16 bytes a cycle and 150 later, GB 128 and 40.

    x and a have 512 bytes, 32 cycles of DRAM; w 512 cycles, and 64 of GB; y 512. Softmax takes 88,
    the product 128 (256 columns in 8 passes of 16 rows).
    Without a stay: 2,000 + (32 + 150) + 88 + (32 + 150) + 200 = 2,652; then w is there at 2,000 +
    512 + 150, in LB 64 + 40 later, and 2,766 + 128 + (512 + 150) + 200 = 3,756.
    With: DRAM brings x until 2,032, then w until 2,544, and only then takes a: 2,544 + 32 + 150 +
    200 = 2,926. Then the product waits for a alone: 2,182 + 128 + 662 + 200 = 3,172.
    """
    assert checked(soft()).kernel_cycles == (2652, 3756)
    trace = checked(soft(GbRetention("w", 0, 1, W_BYTES)))
    assert trace.kernel_cycles == (2926, 3172)
    assert fetched(trace.program, "w") == [(0, W_BYTES, "WEIGHT_FIRST")]


def test_what_each_kernel_takes_of_dram_core_and_gb() -> None:
    """By hand: as above; the move engine has all of a kernel's loads and stores, in GB is no data.

    With w in the first kernel its 512 cycles of DRAM are that one's.
    """
    end = one_core().gb_bytes
    assert kernel_loads(checked(soft()).program) == (
        KernelUsage(32 + 32, 88, 0),
        KernelUsage(32 + 512 + 512, 32 + 64 + 512, 0),
    )
    assert kernel_loads(checked(soft(GbRetention("w", 0, 1, W_BYTES))).program) == (
        KernelUsage(32 + 32 + 512, 88, end),
        KernelUsage(32 + 512, 32 + 64 + 512, end),
    )


def test_a_kernels_own_weights_come_before_those_of_later_ones() -> None:
    """The product of kernel 0 has eight tiles of its own to fetch; v is for kernel 1."""
    text = """g (float[16,64] x, float[64,256] w, float[256,256] v) => (float[16,256] y)
    { a = MatMul (x, w) y = MatMul (a, v) }"""
    plan = plan_of(weighted(text), "tvm", replace(one_core(), lb_weight_bytes=8192))
    plan = replace(plan, scheduling=ACROSS_LAYERS, stays=(GbRetention("v", 0, 1, 131072),))
    program = checked(plan).program
    is_first = (program.kernel == 0) & (program.kind == InstructionKind.PREFETCH)
    tensor = program.buffers.tensor[program.access_buffer[program.access_at[:-1]]][is_first]
    names = [program.tensors[number] for number in tensor]
    own = names.count("w")
    assert own >= 8 and names == ["w"] * own + ["v"] * (len(names) - own)


def test_an_early_fetch_is_for_its_reader() -> None:
    program = checked(soft(GbRetention("w", 0, 1, W_BYTES))).program
    (row,) = np.flatnonzero(program.kind == InstructionKind.PREFETCH)
    product = [op.op_type for op in program.plan.semantics.graph.ops].index("MatMul")
    assert (program.kernel[row], program.op[row]) == (0, product)
    assert program.layer[row] == program.layer[program.op == product].max()


@pytest.mark.parametrize("stays", [(), (GbRetention("w", 0, 1, 32),)])
def test_nothing_else_may_be_for_an_op_of_another_kernel(stays: tuple[GbRetention, ...]) -> None:
    """The load of x in the first kernel as one for the product; or w without its stay."""
    program = checked(soft(GbRetention("w", 0, 1, W_BYTES))).program
    (product,) = set(program.op[program.kernel == 1].tolist())
    row = int(np.flatnonzero(program.kind == InstructionKind.LOAD)[0])
    wrong = {"plan": soft()} if not stays else {"op": _with(program.op, row, product)}
    found = wrong_claim(replace(program, **wrong))
    assert found is not None and found[1] == "PLACE"


def test_a_stay_of_another_weight_is_no_leave_to_fetch_early() -> None:
    program = checked(thrice(GbRetention("v", 0, 1, W_BYTES))).program
    found = wrong_claim(replace(program, plan=thrice(GbRetention("w", 0, 2, W_BYTES))))
    assert found is not None and found[1] == "PLACE"


def _with(column: NDArray[Any], row: int, value: int) -> NDArray[Any]:
    changed = column.copy()
    changed[row] = value
    return changed


def test_a_weight_that_stays_is_not_fetched_again() -> None:
    """By hand: the last kernel waits for 512 + 150 cycles of w no longer, but for its data."""
    again = checked(thrice())
    assert fetched(again.program, "w") == [
        (0, W_BYTES, "WEIGHT_FIRST"),
        (2, W_BYTES, "WEIGHT_AGAIN"),
    ]
    once = checked(thrice(GbRetention("w", 0, 2, W_BYTES)))
    assert fetched(once.program, "w") == [(0, W_BYTES, "WEIGHT_FIRST")]
    assert once.kernel_cycles[:2] == again.kernel_cycles[:2]
    assert once.kernel_cycles[2] < again.kernel_cycles[2] - 512 + 128


def test_what_a_kernel_streams_again_and_again_it_fetches_once_where_it_stays() -> None:
    """256 rows do not fit an LB of 8,192 bytes, nor their partial sums the staging buffer.

    So each tile of rows goes through all of w.
    """
    hardware = replace(one_core(), lb_data_bytes=8192, lb_weight_bytes=4096)
    text = THRICE.replace("[16,64]", "[256,64]")
    plan = with_residency(plan_of(weighted(text), "tvm", hardware), Residency.STREAM)
    again = [size for *_, size, _ in fetched(checked(plan).program, "w")]
    assert sum(again) > 2 * W_BYTES
    reads = boxes_read(placements_of(plan), range(3))["w"].values()
    assert {tuple(read.kernel for read in each) for each in reads} == {(0, 2)}
    once = fetched(checked(replace(plan, stays=(GbRetention("w", 0, 2, W_BYTES),))).program, "w")
    assert sum(size for _, size, _ in once) == W_BYTES
    assert {kernel for kernel, *_ in once} == {0}


def test_kernels_agree_for_how_many_boxes_one_stands() -> None:
    """The last of them has two cores that need boxes like w's, the first has one."""
    first, between, last = placements_of(thrice())
    assert set(boxes_read([first, between, last], range(3))) == {"w", "v"}
    (items,) = last.items
    assert items is not None
    double = [
        replace(item, boxes={
            box: replace(fetch, needers=2 * fetch.needers) for box, fetch in item.boxes.items()
        })
        for item in items.items
    ]  # fmt: skip
    other = replace(last, shared=SharedValues())
    vars(other)["items"] = (replace(items, items=tuple(double)),)
    assert set(boxes_read([first, between, other], range(3))) == {"v"}


def test_a_stay_takes_no_more_than_its_bytes() -> None:
    """A core's 4,096 bytes take two tiles of 2,048: three of the four stay, one is streamed."""
    plan = plan_of(weighted(SOFT), "tvm", replace(one_core(), lb_weight_bytes=4096))
    program = checked(replace(plan, stays=(GbRetention("w", 0, 1, W_BYTES - 1),))).program
    assert [row[:2] for row in fetched(program, "w")] == [(0, 2048)] * 3 + [(1, 2048)]


def test_what_finds_no_room_is_streamed() -> None:
    """GB has the ring of two slots of 8,192 and room for one weight more, not for two."""
    plan = thrice(GbRetention("w", 0, 2, W_BYTES), GbRetention("v", 0, 1, W_BYTES))
    assert [kernel for kernel, *_ in fetched(checked(plan).program, "v")] == [0]
    small = replace(plan, hardware=replace(plan.hardware, gb_bytes=3 * W_BYTES))
    program = checked(small).program
    assert [kernel for kernel, *_ in fetched(program, "v")] == [1]
    assert [kernel for kernel, *_ in fetched(program, "w")] == [0]


def test_a_place_is_used_again_when_its_stay_is_over() -> None:
    """Two weights that stay one after the other take the same bytes at GB's end."""
    text = """g (float[16,64] x, float[64,64] w, float[64,64] v) => (float[16,64] y)
    { a = Softmax (x) b = MatMul (a, w) c = Softmax (b) y = MatMul (c, v) }"""
    plan = replace(
        plan_of(weighted(text), "tvm", one_core()),
        stays=(GbRetention("w", 0, 1, W_BYTES), GbRetention("v", 2, 3, W_BYTES)),
    )
    program = checked(plan).program
    buffers = program.buffers
    is_stay = (buffers.memory == Memory.GB) & (buffers.offset >= buffers.offset.max())
    assert buffers.offset.max() == plan.hardware.gb_bytes - W_BYTES
    assert {program.tensors[t] for t in buffers.tensor[is_stay]} == {"w", "v"}


@pytest.mark.parametrize("is_across", [False, True])
@pytest.mark.parametrize(
    ("strategy", "name"),
    [("tvm", "stcp920"), ("tvm", "generic-4x4"), ("tvm", "tiny"), ("graphturbo:full", "tiny")],
)
def test_a_model_whose_weights_all_stay_is_sound(strategy: str, name: str, is_across: bool) -> None:
    """Each weight from the kernel before its first reader, or from that one, to its last."""
    plan = plan_of(small_model("resnet"), strategy, chip(name))
    plan = replace(
        plan, stays=everything(plan), scheduling=ACROSS_LAYERS if is_across else BY_LAYER
    )
    plan.check()
    assert plan.stays
    checked(plan)


@pytest.mark.parametrize("gb_bytes", range(14_336, 22_528, 2048))
def test_what_stays_and_what_neighbours_hold_share_no_byte(gb_bytes: int) -> None:
    """Pieces of a group hold half of their weights in GB of themselves; GB is too small for all."""
    small = replace(chip("tiny"), gb_bytes=gb_bytes)
    plan = with_residency(plan_of(small_model("resnet"), "graphturbo:full", small), Residency.GB)
    checked(replace(plan, stays=everything(plan)[::2]))


def everything(plan: Plan) -> tuple[GbRetention, ...]:
    """Of every second weight an early stay, of the others one over all readers; as GB has room."""
    found: list[GbRetention] = []
    for number, (weight, size) in enumerate(plan.weight_bytes.items()):
        readers = [k for k, own in enumerate(plan.kernels) if weight in own.residency]
        first = max(0, readers[0] - number % 2)
        stay = GbRetention(weight, first, readers[-1], size)
        if first < readers[-1] and not replace(plan, stays=(*found, stay)).retention_fault:
            found.append(stay)
    return tuple(found)


FOUR = """g (float[16,64] x, float[64,64] w0, float[64,64] w1, float[64,64] w2, float[64,64] w3)
  => (float[16,64] y)
{ a = Softmax (x) b = MatMul (a, w0) c = Softmax (b) d = MatMul (c, w1) e = Softmax (d)
  f = MatMul (e, w2) h = Softmax (f) y = MatMul (h, w3) }"""


@pytest.mark.parametrize("with_stay", [(0, 1, 2, 3), (1,), (0, 3), (1, 2)])
def test_kernels_with_stays_are_copies_of_their_likes(
    monkeypatch: pytest.MonkeyPatch, with_stay: tuple[int, ...]
) -> None:
    """Pairs of kernels, some with a stay; the same program comes from each emitted by itself."""
    plan = replace(
        plan_of(weighted(FOUR), "tvm", one_core()),
        stays=tuple(GbRetention(f"w{n}", 2 * n, 2 * n + 1, W_BYTES) for n in with_stay),
    )
    emitted = []
    emit = numbering.emit_kernel
    monkeypatch.setattr(
        numbering, "emit_kernel", lambda *given: emitted.append(given) or emit(*given)
    )
    program = checked(plan).program
    assert len(emitted) < len(plan.kernels)
    monkeypatch.setattr(numbering, "template_key", lambda setting, kinds: id(setting))
    one_by_one = lower(plan)
    found, wanted = arrays_of(program), arrays_of(one_by_one)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_what_a_shared_engine_reads_has_no_stay() -> None:
    sem = weighted(SOFT)
    plan = plan_of(sem, "tvm", shared())
    program = checked(replace(plan, stays=(GbRetention("w", 0, 1, W_BYTES),))).program
    assert {kernel for kernel, *_ in fetched(program, "w")} == {1}


def test_lent_dram_brings_what_stays() -> None:
    """A cluster alone on a chip that lends: early fetches take the shares of all in turn."""
    hardware = replace(chip("stcp920"), cores=2)
    plan = plan_of(weighted(SOFT), "tvm", hardware)
    lent = Cooperation(4, (0, 0), (0, 1), has_remote_dram=True)
    checked(replace(plan, stays=(GbRetention("w", 0, 1, W_BYTES),), cooperation=lent))


def refused(plan: Plan) -> str:
    with pytest.raises(InvariantError) as found:
        plan.check()
    assert found.value.code == "PLAN_STAY"
    return str(found.value)


@pytest.mark.parametrize(
    ("stays", "why"),
    [
        ((GbRetention("w", 1, 1, 32),), "from kernel 1 to 1 of 2"),
        ((GbRetention("w", -1, 1, 32),), "from kernel -1 to 1 of 2"),
        ((GbRetention("w", 0, 2, 32),), "from kernel 0 to 2 of 2"),
        ((GbRetention("x", 0, 1, 32),), "ends in kernel 1, which does not read it"),
        ((GbRetention("w", 0, 1, 0),), "is of 0 bytes of 8192"),
        ((GbRetention("w", 0, 1, W_BYTES + 1),), "is of 8193 bytes of 8192"),
        ((GbRetention("w", 0, 1, W_BYTES),) * 257, "2105344 bytes of weights are retained in GB"),
    ],
)
def test_stays_that_make_no_sense_are_refused(stays: tuple[GbRetention, ...], why: str) -> None:
    assert why in refused(soft(*stays))


def test_stays_need_a_gb_that_all_kernels_share() -> None:
    plan = soft(GbRetention("w", 0, 1, W_BYTES))
    without = replace(plan.hardware, gb_bytes=0)
    assert "the chip has no GB" in refused(replace(plan, hardware=without))
    own = Feeding(has_own_fetches=True)
    assert "each core fetches its own" in refused(replace(plan, feeding=own))
    several = Cooperation(2, (0, 1), (0, 1))
    assert "several clusters run" in refused(replace(plan, cooperation=several))
