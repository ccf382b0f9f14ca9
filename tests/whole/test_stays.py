"""Weights that stay in GB, from the model's bytes to a replay and a plan file that is run again."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest
from onnx import numpy_helper, parser

from graphturbo_core.errors import PlanError
from graphturbo_core.export.plan_diff import plan_differences
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,1024] x) => (float[N,512] y)
{ a = Softmax (x) b = MatMul (a, w) c = Softmax (b) y = MatMul (c, v) }"""
"""On the small chip pieces of the second group each fetch w anew, with others between them."""
CLOCK = ("steps", "schedule_seconds")


def model() -> bytes:
    made = parser.parse_model(TEXT)
    draw = np.random.default_rng(0)
    for name, shape in (("w", (1024, 512)), ("v", (512, 512))):
        values = draw.standard_normal(shape, dtype=np.float32)
        made.graph.initializer.append(numpy_helper.from_array(values / 32, name))
    return made.SerializeToString()


def report(keeping: str = "on", plan: str = "") -> Report:
    request = RunRequest(
        "m", "graphturbo:plus@512", "generic-4x4", 2048, verify=True, plan=plan,
        emit=("plan", "program"), options={"plus.keeping": keeping},
    )  # fmt: skip
    return run_report(model(), request)


def text_of(found: Report, name: str = "plan") -> str:
    return zlib.decompress(found.files[name]).decode()


@pytest.fixture(scope="module")
def kept() -> Report:
    return report()


def without_clock(found: Report) -> tuple[object, ...]:
    contract = {key: value for key, value in found.contract.items() if key not in CLOCK}
    arrays = {name: array.tobytes() for name, array in found.arrays.items()}
    return json.dumps(contract), found.tables, arrays, found.files


def test_a_plan_with_stays_replays_right_and_fetches_less(kept: Report) -> None:
    off = report("off")
    assert kept.contract["verify"]["ok"] and off.contract["verify"]["ok"]
    assert "stays:" in text_of(kept) and "stays:" not in text_of(off)
    assert kept.contract["throughput_per_s"] > off.contract["throughput_per_s"]
    ledgers = [each.contract["dram_ledger"] for each in (kept, off)]
    assert ledgers[0]["weight_again"] < ledgers[1]["weight_again"]
    assert ledgers[0]["weight_first"] == ledgers[1]["weight_first"]


def test_a_plan_file_with_stays_is_the_same_run_again(kept: Report) -> None:
    again = report(plan=text_of(kept))
    assert without_clock(again) == without_clock(kept)


def test_stays_that_are_changed_by_hand_are_refused(kept: Report) -> None:
    text = text_of(kept)
    forged = text.replace("        last: g2/1", "        last: g1/1", 1)
    assert forged != text
    with pytest.raises(PlanError) as found:
        read_plan(forged.encode(), "forged")
    assert found.value.code == "PLAN_RECORD_CHANGED"


def test_a_difference_of_stays_is_told(kept: Report) -> None:
    own, other = (read_plan(text_of(each).encode(), "plan") for each in (kept, report("off")))
    rows = [row for row in plan_differences(own, other) if row.part == "retained weights"]
    assert [(row.subject, row.b) for row in rows] == [("w", "-")]
    assert rows[0].a.endswith("bytes from g2/2 to g2/1")
