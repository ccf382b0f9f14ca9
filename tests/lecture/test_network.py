"""The lecture's networks: their ops, and schedules of them that compute what the model computes."""

from __future__ import annotations

from collections import Counter

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.lecture.compute import compute_run
from graphturbo_core.lecture.runs import CHIP, IMAGES, MODEL, RUNS, WIDE
from graphturbo_core.pipeline import RunRequest, run_report
from tests.models import imported
from tests.soundness import check_right, check_sound


@pytest.mark.parametrize("name", [MODEL, WIDE])
def test_six_convolutions_five_relus_and_a_skip(name: str) -> None:
    graph = imported(load_sample(name), ImportOptions(name, batch=1))
    assert Counter(op.op_type for op in graph.ops) == {"Conv": 6, "Relu": 5, "Add": 1}
    add = graph.ops[-1]
    assert set(add.inputs) == {"conv6", "relu3"}
    assert graph.tensors[add.outputs[0]].shape[2:] == ((4, 4) if name == MODEL else (1, 1))


@pytest.mark.parametrize("strategy", ["layerwise", "tvm", "graphturbo:order", "graphturbo"])
def test_a_schedule_of_the_lecture_computes_the_model(strategy: str) -> None:
    request = RunRequest(MODEL, strategy, CHIP, IMAGES, verify=True)
    report = run_report(load_sample(MODEL), request)
    check_right(report)
    check_sound(report)


def test_an_edited_schedule_of_the_lecture_computes_the_model() -> None:
    plan = compute_run(RUNS["rows_8"]).plan
    request = RunRequest(MODEL, "graphturbo", CHIP, IMAGES, verify=True, plan=plan)
    check_right(run_report(load_sample(MODEL), request))
