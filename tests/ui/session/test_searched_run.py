"""A searched schedule beside A and B: asked for, shown, taken as B, left out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_ui import frame
from graphturbo_ui.beside import searched_run
from graphturbo_ui.jobs import Desk, Run, Visitor
from graphturbo_ui.runs import Source
from graphturbo_ui.session import run_state
from graphturbo_ui.session.compared import WantedRun
from tests.ui.session.app_page import APP, PATIENCE_S, first_screen

QUERY = {"model": "teaching-resnet", "chip": "generic-4x4", "batch": "8", "a": "tvm@2"}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for key, value in {**QUERY, "b": "graphturbo@2", **query}.items():
        app.query_params[key] = value
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def test_nothing_is_searched_unasked() -> None:
    screen = first_screen(opened())
    assert screen["best"] == {}
    assert screen["can_search"]


def test_the_third_row_has_the_figures_of_a_run_by_itself() -> None:
    app = opened(best="true")
    row = cast(dict[str, object], first_screen(app)["best"])
    request = RunRequest("teaching-resnet", "best", "generic-4x4", 8, has_pictures=False)
    contract = run_report(load_sample("teaching-resnet"), request).contract
    assert row["strategy"] == contract["strategy"]
    assert row["latency_s"] == contract["latency_s"]
    assert row["kernels"] == contract["kernels"] * contract["rounds"]
    assert row["bound_share"] == pytest.approx(contract["lower_bound_s"] / contract["latency_s"])
    app.toggle(key="best").set_value(False)
    assert first_screen(run(app))["best"] == {}


def test_a_search_as_b_has_none_beside_it() -> None:
    screen = first_screen(opened(b="best@2", best="true"))
    assert screen["best"] == {}
    assert not screen["can_search"]


def test_b_becomes_the_search_without_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    session: dict[str, object] = {"b": "graphturbo@2", "best": True, "plan_b": "0" * 16}
    monkeypatch.setattr(run_state.st, "session_state", session)
    monkeypatch.setattr(run_state.st, "query_params", {"set_b": ["plus.axes=off"]})
    run_state.take_search()
    assert isinstance(session.pop("searched"), Visitor)
    assert session == {"b": "best", "best": False, "plan_b": "", "set_b": {}}
    assert run_state.st.query_params == {}


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"is_done": False}, "is being searched"),
        ({"is_done": True, "is_cancelled": True}, "was cancelled"),
        (
            {
                "is_done": True,
                "is_cancelled": False,
                "refusal": CapacityError("NO_CLUSTER_BATCH", "no cluster batch has a plan"),
            },
            "was refused: error: NO_CLUSTER_BATCH: no cluster batch has a plan",
        ),
    ],
    ids=["under way", "cancelled", "refused"],
)
def test_the_row_says_how_a_search_stands(state: dict[str, object], text: str) -> None:
    row = searched_run.searched_row(cast(Run, SimpleNamespace(**state)))
    under_way = {} if state["is_done"] else {"is_under_way": True}
    assert row == {"state": text, **under_way}


def test_without_a_search_there_is_no_row() -> None:
    assert searched_run.searched_row(None) == {}


def test_who_cancels_a_run_is_who_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not A's and B's visitor; a search that is asked for again is begun again."""
    monkeypatch.setattr(run_state.st, "session_state", {})
    desk = Desk(workers=0)
    monkeypatch.setattr(frame, "shared_desk", lambda: desk)
    source = Source.of(load_sample("teaching-resnet"), None)
    request = RunRequest("teaching-resnet", "best", "generic-4x4", 8)
    (run,) = desk.start([request], source, run_state.searched())
    frame.cancel(run)
    assert run.is_cancelled
    assert run_state.searched().cancelled == {run.key}
    assert not run_state.visitor().cancelled
    run_state.search_beside(is_wanted=True)
    (again,) = desk.start([request], source, run_state.searched())
    assert not again.is_cancelled
    desk.close()


def test_a_cancelled_run_ends_though_the_comparison_waits_for_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_state.st, "session_state", {})
    desk = Desk(workers=0)
    monkeypatch.setattr(frame, "shared_desk", lambda: desk)
    source = Source.of(load_sample("teaching-resnet"), None)
    request = RunRequest("teaching-resnet", "tvm@2", "generic-4x4", 8)
    wanted, feed = WantedRun(request, source), run_state.compared()
    asked = {wanted.key: (request, source)}
    (run,) = desk.start([request], source, run_state.visitor())
    assert feed.advance(desk, asked) == []
    frame.cancel(run)
    assert run.is_cancelled
    assert run_state.visitor().cancelled == {run.key}
    assert feed.advance(desk, {}) == [(wanted.key, run)]
    assert feed.advance(desk, asked) == []
    assert feed.first is not None
    assert not feed.first.is_cancelled
    desk.close()
