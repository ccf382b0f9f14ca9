"""The plan diff without a browser: links, pairs without one, runs under way and cancelled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_ui import jobs
from graphturbo_ui import shown as views
from graphturbo_ui.compare import collecting, plan_diff
from graphturbo_ui.jobs import Desk, Run, Visitor, run_key
from graphturbo_ui.session import reopening
from graphturbo_ui.session.compared import Comparison
from tests.comparison.runs import report_of, run_of
from tests.ui.compare.opened_page import html_of, opened

NAMES = ("tvm@2", "graphturbo@2", "graphturbo:gb@2", "graphturbo:order@2")


class ReadyDesk(Desk):
    """A desk that has the reports of `NAMES`, and starts nothing else."""

    def __init__(self) -> None:
        super().__init__(workers=0)
        for name in NAMES:
            found = reopening.asked(run_of(name))
            assert not isinstance(found, str)
            run = Run(run_key(*found), found[0], found[1].digest)
            run.answer.set_result(report_of(name))
            self._runs[run.key] = run


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReadyDesk]:
    """A desk with all reports, for the page and for the diff."""
    desk = ReadyDesk()
    for module in (collecting, plan_diff, jobs, views):
        monkeypatch.setattr(module, "shared_desk", lambda: desk)
    yield desk
    desk.close()


def pair(*runs: ComparedRun) -> Comparison:
    return Comparison(picked=tuple(run.key for run in runs)).with_runs(runs)


def words(app: AppTest) -> str:
    """The card in place of the picture; empty where there is none."""
    _, _, found = html_of(app).partition("compare-card plan-words")
    return found


def tables(app: AppTest) -> list[str]:
    return [each.label for each in app.expander if each.label.startswith("Table of")]


def test_two_plans_that_differ_have_a_picture(ready: ReadyDesk) -> None:
    app = opened(pair(*map(run_of, NAMES[:2])))
    assert words(app) == ""
    assert tables(app) == ["Table of layers that differ"]


def test_two_runs_of_one_plan_say_so(ready: ReadyDesk) -> None:
    app = opened(pair(run_of("graphturbo@2"), run_of("graphturbo:order@2")))
    assert "Both plans group, cut, place and order all 13 layers the same way." in words(app)
    assert "<li>Groups</li>" in words(app)
    # The order of instructions differs, which no plan decides.
    assert "How weights reach the cores" in words(app)
    assert tables(app) == []


def test_what_is_the_same_names_other_chips_and_equal_programs() -> None:
    own = report_of("graphturbo@2")
    assert plan_diff.same_text(own, own).endswith(plan_diff.SAME_PROGRAMS)
    other = replace(own, contract={**own.contract, "profile": "goya"})
    assert "The chips differ: generic-4x4 and goya." in plan_diff.same_text(own, other)


def test_two_models_have_none_and_the_card_says_why(ready: ReadyDesk) -> None:
    own, other = run_of(NAMES[0]), run_of(NAMES[1])
    assert other.choices is not None
    choices = other.choices.model_copy(update={"model_sha256": "0" * 64, "model_name": "else"})
    app = opened(pair(own, other.model_copy(update={"choices": choices})))
    assert "These two runs are of different models" in words(app)
    assert "Tick two runs of one model" in words(app)


def test_a_saved_report_has_none_and_the_card_says_why(ready: ReadyDesk) -> None:
    saved = run_of(NAMES[1]).model_copy(update={"choices": None})
    app = opened(pair(run_of(NAMES[0]), saved))
    assert "A saved report does not name" in words(app)


def test_a_cancelled_plan_can_be_wanted_again(ready: ReadyDesk) -> None:
    app = opened(pair(*map(run_of, NAMES[:2])))
    key = next(key for key, run in ready._runs.items() if run.request.strategy == NAMES[1])
    run = ready._runs.pop(key)
    visitor: Visitor = app.session_state["plan_diff_visitor_b"]
    visitor.cancelled.add(key)
    app.run()
    assert "A run of this pair was cancelled" in words(app)
    ready._runs[key] = run
    app.button(key="plan_diff_again").click()
    app.run()
    assert visitor.cancelled == set()
    assert tables(app) == ["Table of layers that differ"]


def test_a_link_ticks_its_pair_and_restores_the_toggle(ready: ReadyDesk) -> None:
    app = opened(pair=["A", "graphturbo:gb@2 on generic-4x4"], changed="1")
    now: Comparison = app.session_state["compared"]
    assert [run.name for run in now.runs if run.key in now.picked] == ["tvm@2", "graphturbo:gb@2"]
    assert app.query_params["pair"] == ["A", "graphturbo:gb@2 on generic-4x4"]
    assert app.session_state["plan_diff_only"] is True
    assert len(now.runs) == 3


def test_a_link_names_rows_of_its_comparison_by_their_keys(ready: ReadyDesk) -> None:
    runs = [run_of(name) for name in NAMES[2:]]
    app = opened(Comparison().with_runs(runs), pair=[run.key for run in runs])
    now: Comparison = app.session_state["compared"]
    assert set(now.picked) == {run.key for run in runs}
    assert not app.info


def test_plans_that_nobody_looks_at_are_let_go(
    ready: ReadyDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[Visitor] = []
    monkeypatch.setattr(ready, "leave", left.append)
    app = opened(pair=["A", "B"])
    assert left == []
    now: Comparison = app.session_state["compared"]
    app.session_state["compared"] = Comparison(picked=now.picked[:1]).with_runs(now.runs)
    app.run()
    assert {app.session_state[f"plan_diff_visitor_{key}"] for key in "ab"} <= set(left)


@pytest.mark.parametrize("name", ["nonsense", "graphturbo on nowhere", "*" * 4000, "C"])
def test_a_link_with_an_unknown_run_is_noted(ready: ReadyDesk, name: str) -> None:
    app = opened(pair=["A", name])
    assert "which is not in this comparison" in app.info[0].value
    now: Comparison = app.session_state["compared"]
    assert now.picked == ()
    assert "pair" not in app.query_params


def test_a_pair_that_is_unticked_leaves_the_address(ready: ReadyDesk) -> None:
    app = opened(pair=["A", "B"])
    assert app.query_params["pair"] == ["A", "B"]
    now: Comparison = app.session_state["compared"]
    app.session_state["compared"] = Comparison(picked=now.picked[:1]).with_runs(now.runs)
    app.run()
    assert "pair" not in app.query_params
