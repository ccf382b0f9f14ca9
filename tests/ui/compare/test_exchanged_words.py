"""Words of two runs in the verdict and in a saved page: each stands at its own run."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.pipeline import RunRequest
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.kept_replays import state_text
from graphturbo_ui.jobs import Run
from graphturbo_ui.page_file.document import Origin, page_html
from graphturbo_ui.views.verdict import notes_beside
from tests.ui.synthetic import synthetic_report

OUTPUT = {
    "name": "y", "dtype": "float32", "shape": [2], "max_abs_error": 0.0, "max_rel_error": 0.0,
    "tolerance": 1e-3, "rel_tolerance": 1e-3, "ok": True,
}  # fmt: skip
REPLAYED = {"ran": True, "ok": True, "fault": None, "outputs": [OUTPUT], "instructions": 400}
IDLE = {"A": "2 of 4 clusters idle: the batch is 2", "B": "1 of 4 clusters idle: the batch is 3"}


@pytest.fixture
def runs() -> dict[str, Report]:
    """A without a replay, B with one; a digest and a note on the throughput of their own."""
    of_a = {"program_sha256": "a" * 64, "notes": [IDLE["A"]]}
    of_b = {"program_sha256": "b" * 64, "notes": [IDLE["B"]], "verify": REPLAYED}
    a, b = synthetic_report(), synthetic_report("graphturbo@16")
    return {
        "A": replace(a, contract={**a.contract, **of_a}),  # type: ignore[arg-type]
        "B": replace(b, contract={**b.contract, **of_b}),  # type: ignore[arg-type]
    }


def states(runs: dict[str, Report]) -> dict[str, str]:
    found = {name: f"{name}: {state_text(report)}" for name, report in runs.items()}
    assert found["A"][1:] != found["B"][1:]
    return found


def test_a_note_below_a_figure_has_the_name_of_its_run(runs: dict[str, Report]) -> None:
    found = notes_beside(*runs.values(), names="AB")
    assert found == {"throughput": (f"A: {IDLE['A']}", f"B: {IDLE['B']}")}


def test_a_saved_page_heads_and_checks_each_run(runs: dict[str, Report]) -> None:
    text = unescape(page_html(*runs.values(), origin=Origin("?model=made-up", "compare made-up")))
    assert "A: tvm@2, batch 64, fp16" in text
    assert "B: graphturbo@16, batch 64, fp16" in text
    assert all(state in text for state in states(runs).values())


def test_the_verdict_checks_each_run(runs: dict[str, Report]) -> None:
    def page(runs: object) -> None:
        from graphturbo_ui.views.verdict import verdict  # noqa: PLC0415 - a script of its own

        verdict(runs, {}, None)  # type: ignore[arg-type]

    shown = {name: Run(f"checked as {name}", RunRequest("m")) for name in runs}
    for name, report in runs.items():
        shown[name].answer.set_result(report)
    app = AppTest.from_function(page, kwargs={"runs": shown}).run()
    assert not app.exception
    (checked,) = (each for each in app.markdown if "Numbers checked" in each.value)
    assert ", ".join(states(runs).values()) in checked.value
    assert checked.help == f"Program of A: {'a' * 64}. Program of B: {'b' * 64}."
