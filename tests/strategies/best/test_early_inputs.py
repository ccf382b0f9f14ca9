"""`best` with inputs of the model that the kernel before prefetches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from onnx import numpy_helper, parser

from graphturbo_core.export.plan_diff import plan_differences
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Plan
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.best.early_inputs import EARLY, FEWER_EARLY, input_stays
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.kernels import KernelUsage, PlanCost
from tests.lowering.small_plans import batches

BEST = parse_strategy("best")
LOADED = {"best.inputs": "loaded"}
MILLION = 10**6


def costing(of_each: int) -> Callable[[Plan], PlanCost]:
    """Costs by which every plan takes a million cycles, and this less per input in GB."""

    def cost(plan: Plan) -> PlanCost:
        count = len(plan.kernels)
        cycles = [MILLION // count] * count
        for stay in plan.stays:
            cycles[stay.last] -= of_each
        return PlanCost(sum(cycles), tuple(cycles), (KernelUsage(0, 0, 0),) * count)

    return cost


def tried(of_each: int, options: dict[str, str] | None = None) -> tuple[Plan, list[str]]:
    """The plan of a net with four pieces, and the names of plans with inputs in GB."""
    sem, hardware = batches().semantics, batches().hardware
    plan = plan_for(BEST, PlanTask(sem, hardware, "fp16", options or {}, cost=costing(of_each)))
    names = [each.subject[0] for each in plan.decisions if each.step == "plus"]
    return plan, [name for name in names if name.endswith((EARLY, FEWER_EARLY))]


@pytest.mark.parametrize(("of_each", "is_taken"), [(1, True), (0, False), (-1, False)])
def test_it_is_taken_if_it_is_faster(of_each: int, is_taken: bool) -> None:
    plan, names = tried(of_each)
    assert names == [f"full{EARLY}"]
    stays = input_stays(replace(plan, stays=()))
    assert len(stays) == 3
    assert plan.stays == (stays if is_taken else ())


def test_it_is_not_evaluated_without_a_choice() -> None:
    plan, names = tried(1, LOADED)
    assert names == []
    assert plan.stays == ()


def test_plans_without_later_readers_of_inputs_have_none() -> None:
    plan = batches()
    assert input_stays(replace(plan, kernels=plan.kernels[:1])) == ()
    assert input_stays(replace(plan, feeding=replace(plan.feeding, has_own_fetches=True))) == ()
    assert input_stays(replace(plan, hardware=replace(plan.hardware, gb_bytes=0))) == ()


def test_no_more_bytes_wait_in_gb_than_it_has() -> None:
    """Each of four pieces reads 16,384 bytes, and two of them are there while a kernel runs."""
    plan = batches()
    for gb_bytes, count in ((32768, 3), (32767, 2), (16384, 2), (16383, 0)):
        small = replace(plan, hardware=replace(plan.hardware, gb_bytes=gb_bytes))
        stays = input_stays(small)
        assert len(stays) == count
        replace(small, stays=stays).check()
    (first, *_) = input_stays(plan)
    beside = input_stays(replace(plan, stays=(replace(first, last=3),)))
    assert [(stay.first, stay.last) for stay in beside] == [(0, 1), (2, 3)]


NET = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3,256,256] x) => (float[N,16,64,64] y)
{ a = Conv <pads = [1,1,1,1], strides = [2,2]> (x, w) b = Relu (a)
c = Conv <pads = [1,1,1,1]> (b, v) d = Relu (c)
e = Conv <pads = [1,1,1,1], strides = [2,2]> (d, u) y = Relu (e) }"""
WEIGHTS = {"w": (32, 3, 3, 3), "v": (32, 32, 3, 3), "u": (16, 32, 3, 3)}


def found(**choices: object) -> Report:
    made, draw = parser.parse_model(NET), np.random.default_rng(0)
    for name, shape in WEIGHTS.items():
        values = draw.standard_normal(shape, dtype=np.float32) / 9
        made.graph.initializer.append(numpy_helper.from_array(values, name))
    request = RunRequest(
        "net", "best@1", "generic-4x4", 4, emit=("plan",), has_pictures=False,
        **choices,  # type: ignore[arg-type]
    )  # fmt: skip
    return run_report(made.SerializeToString(), request)


def test_it_computes_the_same_and_is_faster() -> None:
    """Replayed on numbers with and without; a plan file has the choice, and gives it again."""
    early = found(verify=True)
    text = early.text("plan")
    assert "weight: x" in text
    assert found(plan=text).contract["cycles"] == early.contract["cycles"]
    without = found(verify=True, options=LOADED)
    assert early.contract["verify"]["ok"] and without.contract["verify"]["ok"]
    assert "weight: x" not in without.text("plan")
    assert early.contract["cycles"] < without.contract["cycles"]
    files = [read_plan(each.text("plan").encode(), "it") for each in (early, without)]
    assert "x" in [row.subject for row in plan_differences(*files)]
