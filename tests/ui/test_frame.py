"""What is drawn and what is waited for agree, whenever B finishes."""

from __future__ import annotations

from graphturbo_core.errors import ModelError
from graphturbo_core.pipeline import RunRequest
from graphturbo_ui import frame
from graphturbo_ui.jobs import Run
from tests.ui.synthetic import synthetic_report


def run(answer: object = None) -> Run:
    made = Run("key", RunRequest("m"), b"")
    if isinstance(answer, Exception):
        made.answer.set_exception(answer)
    elif answer is not None:
        made.answer.set_result(answer)
    return made


def test_both_are_drawn_when_both_are_there():
    a, b = run(synthetic_report()), run(synthetic_report())
    assert frame.outcome(a, b) == ((a, b), False)


def test_a_pending_b_is_waited_for_even_if_it_finishes_meanwhile():
    a, b = run(synthetic_report()), run()
    drawn, is_waiting = frame.outcome(a, b)
    b.answer.set_result(synthetic_report())
    assert (drawn, is_waiting) == ((a,), True)


def test_a_refused_b_leaves_a_and_is_not_waited_for():
    a, b = run(synthetic_report()), run(ModelError("NO", "what", "where", "change"))
    assert frame.outcome(a, b) == ((a,), False)
