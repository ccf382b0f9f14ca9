"""What is drawn and what is waited for agree, whichever run finishes when."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.pipeline import RunRequest
from graphturbo_ui import frame
from graphturbo_ui.jobs import Run
from tests.ui.synthetic import synthetic_report

REFUSAL = ModelError("NO", "what", "where", "change")


def run(answer: object = None) -> Run:
    made = Run("key", RunRequest("m"))
    if isinstance(answer, Exception):
        made.answer.set_exception(answer)
    elif answer is not None:
        made.answer.set_result(answer)
    return made


def found(runs: frame.Runs) -> tuple[frame.Runs, frame.Runs]:
    """What is drawn and what is waited for."""
    seen = frame.outcome(runs)
    return seen.drawn, seen.pending


@pytest.fixture
def warnings_shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(frame, "show_refusal", lambda error, names="": found.append(names))
    return found


def test_both_are_drawn_when_both_are_there():
    runs = {"A": run(synthetic_report()), "B": run(synthetic_report())}
    assert found(runs) == (runs, {})


@pytest.mark.parametrize(("there", "missing"), ["AB", "BA"])
def test_a_pending_run_is_waited_for_even_if_it_finishes_meanwhile(there: str, missing: str):
    runs = {"A": run(), "B": run()}
    runs[there].answer.set_result(synthetic_report())
    drawn, pending = found(runs)
    runs[missing].answer.set_result(synthetic_report())
    assert drawn == {there: runs[there]}
    assert pending == {missing: runs[missing]}


@pytest.mark.parametrize(("there", "refused"), ["AB", "BA"])
def test_a_refused_run_leaves_the_other_and_is_not_waited_for(
    there: str, refused: str, warnings_shown: list[str]
):
    runs = {"A": run(synthetic_report()), "B": run(synthetic_report())}
    runs[refused] = run(REFUSAL)
    assert found(runs) == ({there: runs[there]}, {})
    assert warnings_shown == [refused]


def test_the_same_refusal_is_said_once(warnings_shown: list[str]):
    assert found({"A": run(REFUSAL), "B": run(REFUSAL)}) == ({}, {})
    assert warnings_shown == ["A and B"]
