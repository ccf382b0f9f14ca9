"""B on changed chips: which are tried, one after another, and what the result line says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.binding_change import NUMBERS
from graphturbo_ui.beside import what_helps
from graphturbo_ui.beside.what_helps import LONGEST, change_text, changed_runs, why_not
from graphturbo_ui.jobs import Run, Visitor
from graphturbo_ui.runs import CANCELLED, Source
from graphturbo_ui.session.choices import Choices
from tests.ui.synthetic import synthetic_report

PATH = {"matrix": 5.0, "dram": 3.0, "vector": 1.5, "gb": 0.5}
"""Seconds of the critical path: three of its resources are tried, a tenth or more."""
REFUSED = CapacityError("TOO_LARGE", "it is", "here", "less")
STOPPED = CapacityError(CANCELLED, "it is", "here", "less")
ASKED = RunRequest("teaching-resnet", "graphturbo@2", "generic-4x4", 8)


def report_at(throughput: float, instructions: int = LONGEST) -> Report:
    """B's report; the chip has each number that is tried."""
    report = synthetic_report("graphturbo@2")
    chip = tuple({"key": key} for key, _, _ in NUMBERS.values())
    figures = {
        "throughput_per_s": throughput, "critical_path": PATH, "instructions": instructions
    }  # fmt: skip
    return replace(
        report,
        contract={**report.contract, **figures},
        tables={**report.tables, "chip": chip},
    )  # type: ignore[arg-type]  # rows with a key alone


class FewRuns:
    """A desk whose runs end as given, in the order asked; None: on its way."""

    def __init__(self, answers: Sequence[float | Exception | None]) -> None:
        self.answers = list(answers)
        self.left = 0

    def view(self, name: str, _: object, __: Run) -> bytes:
        return name.encode()

    def start(self, requests: list[RunRequest], _: Source, __: Visitor) -> list[Run]:
        found = self.answers.pop(0)
        run = Run("changed", requests[0])
        if isinstance(found, Exception):
            run.answer.set_exception(found)
        elif found is not None:
            run.answer.set_result(report_at(found))
        return [run]

    def leave(self, _: Visitor) -> None:
        self.left += 1


def said(
    answers: Sequence[float | Exception | None],
    monkeypatch: pytest.MonkeyPatch,
    *,
    plan: str = "",
    instructions: int = LONGEST,
    strategy: str = "graphturbo@2",
) -> tuple[list[str], str]:
    """The changes tried, in words, and what the result line says."""
    desk = FewRuns(answers)
    monkeypatch.setattr(what_helps, "shared_desk", lambda: desk)
    monkeypatch.setattr(what_helps.run_state, "changed_chip", Visitor)
    b = Run("b", replace(ASKED, strategy=strategy))
    b.answer.set_result(report_at(100.0, instructions))
    choices = SimpleNamespace(
        sides={"b": SimpleNamespace(plan=plan)},
        source=Source.of(b"model", None),
        request=lambda _: ASKED,
    )
    changed = changed_runs(cast(Choices, choices), {"B": b})
    assert desk.left == (not changed)
    reason = why_not(cast(Choices, choices), {"B": b})
    return [change.words for change, _ in changed], change_text(changed, {"B": b}, reason)


COLUMNS, BANDWIDTH, LANES = (
    "25 % more matrix columns", "25 % more DRAM bandwidth", "25 % more vector lanes"
)  # fmt: skip


BOUND = "B is matrix-bound"
IN_VAIN = "The matrix engines take 50 % of B's critical path, but"


@pytest.mark.parametrize(
    ("answers", "tried", "text"),
    [
        ((None,), [COLUMNS], BOUND),
        ((110.0,), [COLUMNS], f"{BOUND}: {COLUMNS} make B 1.1× as fast"),
        ((101.0, None), [COLUMNS, BANDWIDTH], f"{IN_VAIN} {COLUMNS} do not help"),
        (
            (94.0, 105.0),
            [COLUMNS, BANDWIDTH],
            f"{IN_VAIN} {COLUMNS} do not help; {BANDWIDTH} makes B 1.05× as fast",
        ),
        (
            (100.0, 101.9, 100.0),
            [COLUMNS, BANDWIDTH, LANES],
            f"{IN_VAIN} neither {COLUMNS} nor {BANDWIDTH} nor {LANES} helps",
        ),
        ((STOPPED,), [COLUMNS], BOUND),
        (
            (REFUSED, REFUSED, REFUSED),
            [COLUMNS, BANDWIDTH, LANES],
            f"{BOUND}: the chip with {COLUMNS} or with {BANDWIDTH} or with {LANES} cannot run it",
        ),
        ((REFUSED, 110.0), [COLUMNS, BANDWIDTH], f"{BOUND}: {BANDWIDTH} makes B 1.1× as fast"),
    ],
)
def test_the_next_change_is_tried_where_those_before_it_do_not_help(
    answers: Sequence[float | Exception | None],
    tried: list[str],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert said(answers, monkeypatch) == (tried, text)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"plan": "a plan"}, "a run from a plan"),
        ({"instructions": LONGEST + 1}, "more than 600,000 instructions"),
        ({"strategy": "best"}, "a search, which would search again"),
    ],
)
def test_a_run_that_is_not_computed_again_has_its_binding_resource_and_the_reason(
    given: dict[str, str | int], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{BOUND}: what helps is not computed for {what}"
    assert said((), monkeypatch, **given) == ([], text)  # type: ignore[arg-type]


def test_a_alone_is_computed_on_changed_chips_once_b_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = Run("a", ASKED)
    a.answer.set_result(report_at(100.0))
    desk = FewRuns((110.0,))
    monkeypatch.setattr(what_helps, "shared_desk", lambda: desk)
    monkeypatch.setattr(what_helps.run_state, "changed_chip", Visitor)
    asked: list[str] = []
    choices = cast(Choices, SimpleNamespace(
        sides={"a": SimpleNamespace(plan="")}, source=Source.of(b"model", None),
        request=lambda key: (asked.append(key), ASKED)[1],
    ))  # fmt: skip
    assert changed_runs(choices, {"A": a}, is_whole=False) == ()
    changed = changed_runs(choices, {"A": a})
    assert asked == ["a"]
    assert change_text(changed, {"A": a}) == (f"A is matrix-bound: {COLUMNS} make A 1.1× as fast")
    assert change_text((), {"A": a}) == "A is matrix-bound"
    assert change_text((), {}) == ""
