"""Compare's ratio at equal cluster batches: from a row, from a run beside, or why there is none."""

from __future__ import annotations

from graphturbo_core.comparison.equal_batches import missing_choices
from graphturbo_core.units import format_si
from graphturbo_ui.jobs import run_key
from graphturbo_ui.runs import Visitor
from graphturbo_ui.session import reopening
from graphturbo_ui.session.compared import Comparison
from graphturbo_ui.text import Sink, safe_text
from tests.comparison.runs import made_up, run_of
from tests.ui.compare.opened_page import comparison, html_of, opened, run

A, B = "tvm@1", "graphturbo@2"


def ratio() -> str:
    rates = [run_of(name).figures.throughput_per_s for name in (B, "tvm@2")]
    return format_si(rates[0] / rates[1])


def ticked() -> Comparison:
    runs = (run_of(A), run_of(B))
    return Comparison(picked=tuple(each.key for each in runs)).with_runs(runs)


def test_the_headline_and_the_pair_give_the_ratio_of_a_run_beside() -> None:
    app = opened(ticked(), a=A, b=B)
    assert f"({ratio()}× at a cluster batch of 2 for both)" in html_of(app)
    words = " ".join(each.value for each in app.markdown)
    sentence = f"At a cluster batch of 2 for both, B is {ratio()}× as fast as A."
    assert safe_text(sentence, Sink.MARKDOWN) in words
    assert [each.name for each in comparison(app).runs] == [A, B]


def test_a_cancelled_run_beside_is_not_begun_again() -> None:
    slow, fast = run_of(A), run_of(B)
    assert slow.choices is not None
    own = slow.choices.model_copy(update={"max_instructions": 99_999})  # no test has run these
    slow = slow.model_copy(update={"choices": own})
    choices = missing_choices(slow, fast)
    assert choices is not None
    asked = reopening.asked_with(choices)
    assert not isinstance(asked, str)
    app = opened(Comparison())
    waiting = Visitor(cancelled={run_key(*asked)})
    app.session_state["equal_visitor_headline"] = waiting
    app.session_state["compared"] = Comparison().with_runs([slow, fast])
    app = run(app)
    assert "(cluster batches of 2 and 1; the ratio at equal ones was cancelled)" in html_of(app)


def test_a_saved_report_has_none() -> None:
    saved = run_of(A).model_copy(update={"choices": None})
    other = run_of(B).model_copy(update={"choices": None})
    app = opened(Comparison().with_runs([saved, other]))
    assert "(cluster batches of 2 and 1)" in html_of(app)
    uploaded = made_up(A, 8e-3, 8, cluster_batch=1)
    fast = made_up(B, 1e-3, 8, cluster_batch=2)
    app = run(opened(Comparison().with_runs([uploaded, fast])))
    assert "none of these runs gives the ratio at equal ones" in html_of(app)
