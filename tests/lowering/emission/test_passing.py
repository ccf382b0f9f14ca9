"""Ops that run whole and are larger than an LB: their bytes stream through one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.products.program import Cause, InstructionKind, Memory
from graphturbo_core.semantics.cost import placed_on
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.verify.faults import ReplayFaultError
from graphturbo_core.verify.replay.script import Script
from graphturbo_core.verify.static.claims import wrong_claim
from tests.lowering.nets import chip, plan_of
from tests.models import imported
from tests.soundness import check_right, check_sound, check_times
from tests.verify.small_samples import chips_with_room, with_fewer_cores

WIDTH = 4096
NOTE = "1 op(s) larger than LB: their bytes stream through one core's LB"


def strange(width: int = WIDTH, weight_width: int = 0, count: int = 1) -> bytes:
    """Ops of a kind that nobody knows, one after the other; the first may have a weight."""
    values = [helper.make_tensor_value_info(f"v{n}", 1, [1, width]) for n in range(count + 1)]
    weights = []
    if weight_width:
        weights.append(numpy_helper.from_array(np.zeros((1, weight_width), np.float32), "w"))
    nodes = [
        helper.make_node(
            "Strange", [f"v{n}", *([] if n else [w.name for w in weights])], [f"v{n + 1}"],
            name=f"op{n}", domain="nobody.knows",
        )
        for n in range(count)
    ]  # fmt: skip
    graph = helper.make_graph(nodes, "g", values[:1], values[-1:], weights, value_info=values[1:-1])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("nobody.knows", 1)]
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())


def unpooled(samples: int = 2, channels: int = 16, size: int = 128) -> bytes:
    """Pooled and put back, which needs all of both inputs; ONNX Runtime computes it too."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv", group=channels),
        helper.make_node("MaxPool", ["a"], ["p", "i"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node(
            "MaxUnpool", ["p", "i"], ["u"], "unpool", kernel_shape=[2, 2], strides=[2, 2]
        ),
        helper.make_node("Add", ["u", "x"], ["y"], name="add"),
    ]
    shape = [samples, channels, size, size]
    given, result = (helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "xy")
    weight = np.random.default_rng(channels).normal(size=(channels, 1, 1, 1))
    kernel = numpy_helper.from_array(weight.astype(np.float32), "w")
    graph = helper.make_graph(nodes, "g", [given], [result], [kernel])
    opset = helper.make_opsetid("", 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def small(**changes: object) -> Hardware:
    """generic-4x4 with LBs of 4,096 bytes for data; DRAM 8, an LB's port 16 bytes per cycle."""
    numbers: dict[str, object] = {
        "lb_data_bytes": 4096, "lb_bandwidth": 16 * 10**9, "dram_bandwidth": 8 * 10**9,
        "gb_bandwidth": 16 * 10**9, "dram_latency_cycles": 10, "gb_latency_cycles": 4,
        "launch_cycles": 100, "barrier_cycles": 20,
    }  # fmt: skip
    return replace(chip("generic-4x4"), **(numbers | changes))  # type: ignore[arg-type]


def semantics_of(data: bytes) -> GraphSemantics:
    return analyse(imported(data, ImportOptions("passing")))


def test_one_op_to_the_cycle() -> None:
    """x and y have 4,096 x 2 = 8,192 bytes each, both in DRAM; an LB has 4,096.

    DRAM's port (8,192 + 8,192) / 8 = 2,048 cycles, the LB's 16,384 / 16 = 1,024; the vector work is
    less than either. The kernel opens at 100; the result is visible 10 cycles after DRAM's port is
    free: 100 + 2,048 + 10, and the barrier 20.
    """
    trace = simulate(lower(plan_of(semantics_of(strange()), "tvm", small())))
    program = trace.program
    trace.check()
    assert [InstructionKind(kind) for kind in program.kind] == [InstructionKind.COMPUTE]
    assert program.engines[int(program.engine[0])].label == "core 0 vector"
    assert (trace.start[0], trace.end[0], trace.makespan) == (100, 2158, 2178)
    names = [program.channels[channel].name for channel in program.channel]
    assert dict(zip(names, program.channel_cycles.tolist(), strict=True)) == {
        "dram": 2048, "lb 0": 1024,
    }  # fmt: skip
    booked = ledger(program)
    booked.check()
    assert (booked.dram_read_bytes, booked.dram_write_bytes) == (8192, 8192)
    assert booked.causes[Memory.DRAM] == {Cause.INPUT: 8192, Cause.OUTPUT: 8192}
    assert booked.causes[Memory.GB] == {}
    assert wrong_claim(program) is None
    assert NOTE in program.notes


def test_what_fits_twice_is_loaded_as_ever() -> None:
    """Inputs and results of 1,024 x 2 bytes each, two tiles of both: 8,192 bytes of LB."""
    sem = semantics_of(strange(1024))
    assert placed_on(sem, small(lb_data_bytes=8192), "fp16").passing_ops == frozenset()
    assert placed_on(sem, small(lb_data_bytes=8191), "fp16").passing_ops == {"op0"}


def test_weights_count_against_their_own_part() -> None:
    room = small().lb_weight_bytes // 2 // 2
    assert placed_on(semantics_of(strange(8, room)), small(), "fp16").passing_ops == frozenset()
    assert placed_on(semantics_of(strange(8, room + 1)), small(), "fp16").passing_ops == {"op0"}


def test_a_weight_is_read_where_it_lies() -> None:
    room = small().lb_weight_bytes
    trace = simulate(lower(plan_of(semantics_of(strange(8, room)), "tvm", small())))
    trace.check()
    assert ledger(trace.program).causes[Memory.DRAM] == {
        Cause.INPUT: 16, Cause.OUTPUT: 16, Cause.WEIGHT_FIRST: 2 * room,
    }  # fmt: skip
    assert wrong_claim(trace.program) is None


def test_products_are_no_such_ops() -> None:
    """A product that is larger than an LB is cut into tiles, which read their operands again."""
    product = helper.make_node("MatMul", ["x", "w"], ["y"], name="product")
    weight = numpy_helper.from_array(np.zeros((WIDTH, 8), np.float32), "w")
    values = [helper.make_tensor_value_info(n, 1, s) for n, s in (("x", [1, WIDTH]), ("y", [1, 8]))]
    graph = helper.make_graph([product], "g", values[:1], values[1:], [weight])
    opset = helper.make_opsetid("", 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    sem = semantics_of(bytes(model.SerializeToString()))
    assert placed_on(sem, small(), "fp16").passing_ops == frozenset()


STRATEGIES = ("layerwise", "tvm", "astitch", "graphturbo:gb", "graphturbo")


@pytest.mark.parametrize("name", chips_with_room())
def test_larger_than_every_memory_of_the_chip(name: str) -> None:
    """16 MiB each in a row of three: larger than any GB but Ascend's, so between them in DRAM."""
    requests = [RunRequest("strange", each, name, None) for each in STRATEGIES]
    for report in run_reports(strange(8 * 2**20, count=3), requests):
        check_times(dict(report.contract))
        assert NOTE.replace("1 op", "3 op") in report.contract["notes"]


@pytest.mark.parametrize("name", ["stcp920", "generic-4x4", "goya"])
def test_it_replays(name: str) -> None:
    for report in run_reports(unpooled(), _requests(name, STRATEGIES)):
        check_right(report)
        check_sound(report)
        assert NOTE in report.contract["notes"]


@pytest.mark.slow
@pytest.mark.parametrize("name", chips_with_room())
def test_it_replays_on_every_chip(name: str) -> None:
    strategies = ("graphturbo:plus",) if name == "ipu-gc2" else ("tvm", "graphturbo:order")
    requests = _requests(name, strategies)
    for report in run_reports(unpooled(3), requests, with_fewer_cores(name)):
        check_right(report)
        check_sound(report)


def _requests(chip_name: str, strategies: tuple[str, ...]) -> list[RunRequest]:
    return [RunRequest("unpooled", each, chip_name, None, verify=True) for each in strategies]


CLAIMS = {"channel_cycles": "CHANNEL", "latency_cycles": "COST", "size_bytes": "COST"}


@pytest.mark.parametrize("column", CLAIMS)
def test_a_wrong_claim_about_it_is_found(column: str) -> None:
    trace = simulate(lower(plan_of(semantics_of(strange()), "tvm", small())))
    Script(trace).check()
    broken = replace(trace.program, **{column: getattr(trace.program, column) + 1})
    with pytest.raises(ReplayFaultError) as caught:
        Script(replace(trace, program=broken)).check()
    assert caught.value.fault.rule == CLAIMS[column]


def test_a_compute_of_another_op_stays_in_its_core() -> None:
    """Without the op among those that are larger than LB its compute may not touch DRAM."""
    trace = simulate(lower(plan_of(semantics_of(strange()), "tvm", small())))
    plan = trace.program.plan
    none = replace(plan, semantics=replace(plan.semantics, passing_ops=frozenset()))
    with pytest.raises(ReplayFaultError) as caught:
        Script(replace(trace, program=replace(trace.program, plan=none))).check()
    assert caught.value.fault.rule == "CHANNEL"
