"""What is drawn and what is waited for agree, whichever run finishes when."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

import graphturbo_ui
from graphturbo_core.errors import CapacityError, GraphTurboError, ModelError
from graphturbo_core.pipeline import RunRequest
from graphturbo_ui import frame
from graphturbo_ui.jobs import Run, WorkerError
from graphturbo_ui.pages import explore
from tests.ui.synthetic import synthetic_report

REFUSAL = ModelError("NO", "what", "where", "change")
RESCUE_S = 5.0
"""A run that is waited for by mistake is answered after so long, so that a test fails and ends."""


def run(answer: object = None) -> Run:
    made = Run("key", RunRequest("m"))
    if isinstance(answer, Exception):
        made.answer.set_exception(answer)
    elif answer is not None:
        made.answer.set_result(answer)
    return made


def answer_later(made: Run, answer: object = None, seconds: float = RESCUE_S) -> threading.Timer:
    def give() -> None:
        made.answer.set_result(answer or synthetic_report())

    timer = threading.Timer(seconds, give)
    timer.daemon = True
    timer.start()
    return timer


@pytest.fixture
def reruns(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(frame.st, "rerun", lambda: found.append("rerun"))
    return found


@pytest.fixture
def warnings_shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    for name in ("show_refused_run", "show_page_of_refusal"):
        monkeypatch.setattr(frame, name, lambda error, names="": found.append(names))
    return found


def test_both_are_drawn_when_both_are_there():
    runs = {"A": run(synthetic_report()), "B": run(synthetic_report())}
    assert frame.outcome(runs) == (runs, {})


@pytest.mark.parametrize(("there", "missing"), ["AB", "BA"])
def test_a_pending_run_is_waited_for_even_if_it_finishes_meanwhile(there: str, missing: str):
    runs = {"A": run(), "B": run()}
    runs[there].answer.set_result(synthetic_report())
    drawn, pending = frame.outcome(runs)
    runs[missing].answer.set_result(synthetic_report())
    assert drawn == {there: runs[there]}
    assert pending == {missing: runs[missing]}


@pytest.mark.parametrize(("there", "refused"), ["AB", "BA"])
def test_a_refused_run_leaves_the_other_and_is_not_waited_for(
    there: str, refused: str, warnings_shown: list[str]
):
    runs = {"A": run(synthetic_report()), "B": run(synthetic_report())}
    runs[refused] = run(REFUSAL)
    assert frame.outcome(runs) == ({there: runs[there]}, {})
    assert warnings_shown == [refused]


def test_the_same_refusal_is_said_once(warnings_shown: list[str]):
    assert frame.outcome({"A": run(REFUSAL), "B": run(REFUSAL)}) == ({}, {})
    assert warnings_shown == ["A and B"]


def test_one_cause_is_said_once_though_the_words_differ(warnings_shown: list[str]):
    other = ModelError("NO", "what else", "where", "change")
    assert frame.outcome({"A": run(REFUSAL), "B": run(other)}) == ({}, {})
    assert warnings_shown == ["A and B"]


def test_two_causes_are_said_apart(warnings_shown: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(frame, "offer_way_back", lambda: None)
    other = ModelError("NEVER", "what", "where", "change")
    assert frame.outcome({"A": run(REFUSAL), "B": run(other)}) == ({}, {})
    assert warnings_shown == ["A", "B"]


@pytest.mark.parametrize(("there", "pending"), ["AB", "BA"])
def test_one_report_is_enough_to_begin(there: str, pending: str):
    runs = {"A": run(), "B": run()}
    runs[there].answer.set_result(synthetic_report())
    rescue = answer_later(runs[pending])
    frame.wait_for_first(runs)
    assert not runs[pending].is_done
    rescue.cancel()


def test_where_a_is_refused_b_is_waited_for():
    runs = {"A": run(REFUSAL), "B": run()}
    answer_later(runs["B"], seconds=0.3)
    frame.wait_for_first(runs)
    assert runs["B"].is_done


def test_the_page_is_drawn_again_when_what_was_pending_is_there(reruns: list[str]):
    frame.finish({})
    assert reruns == []
    frame.finish({"B": run(synthetic_report())})
    frame.finish({"B": run(REFUSAL)})
    assert reruns == ["rerun", "rerun"]


@pytest.mark.parametrize(
    "error", [CapacityError("WORKER_ENDED", "w"), CapacityError("RUN_TOO_LONG", "w"), WorkerError()]
)
def test_a_run_that_would_be_computed_again_is_not_asked_for_again(
    error: Exception, reruns: list[str]
):
    with pytest.raises((GraphTurboError, WorkerError)):
        frame.finish({"B": run(error)})
    assert reruns == []


@pytest.mark.parametrize("is_there_before", [False, True])
def test_a_run_beside_that_ends_while_the_page_is_drawn_has_it_drawn_again(
    is_there_before: bool, reruns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict was drawn without A at B's cluster batch, so it has to be drawn once more."""
    runs = {"A": run(synthetic_report()), "B": run(synthetic_report())}
    beside = run(synthetic_report() if is_there_before else None)

    def present(*_: object) -> None:
        if not beside.is_done:
            beside.answer.set_result(synthetic_report())

    monkeypatch.setattr(frame, "runs_of", lambda _: runs)
    monkeypatch.setattr(frame, "wait_for_first", lambda _: None)
    monkeypatch.setattr(frame, "outcome", lambda _: (runs, {}))
    monkeypatch.setattr(explore.state, "see", lambda _: None)
    monkeypatch.setattr(explore, "equal_run", lambda *_: beside)
    for name in ("overview", "present_edits", "sharing"):
        monkeypatch.setattr(explore, name, lambda *_: None)
    monkeypatch.setattr(explore, "changed_runs", lambda *_, **__: ())
    monkeypatch.setattr(explore, "why_not", lambda *_: "")
    monkeypatch.setattr(explore, "searched_run", lambda *_: None)
    monkeypatch.setattr(explore, "is_searched", lambda _: True)
    monkeypatch.setattr(explore, "below", present)
    monkeypatch.setattr(explore.state, "keep_drawn", lambda _: None)
    explore.show(choices=SimpleNamespace(widgets=dict))  # type: ignore[arg-type]
    assert reruns == ([] if is_there_before else ["rerun"])


ASKED_WHILE_IT_RUNS = """
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from graphturbo_ui.session import state

context = get_script_run_ctx()
if "asked" not in st.session_state:
    st.session_state["asked"] = True
    own = RerunData(query_string="chip=theirs", page_script_hash=context.page_script_hash)
    context.script_requests.request_rerun(own)
    state.draw_again()
st.text(st.query_params.get("chip", "before"))
"""
"""A script that draws again just after a visitor chose a chip."""


def test_what_a_visitor_did_is_not_replaced_by_the_script_that_runs_again():
    found = AppTest.from_string(ASKED_WHILE_IT_RUNS).run()
    assert [text.value for text in found.text] == ["theirs"]


def test_the_script_runs_again_in_one_way():
    """Streamlit's own one replaces what a visitor asked for meanwhile."""
    folder = Path(graphturbo_ui.__file__).parent
    callers = [path.name for path in folder.rglob("*.py") if "st.rerun(" in path.read_text("utf-8")]
    assert callers == ["state.py"]
