"""Forms and state without a browser: options, cluster batch, passes, link, swap, cancel."""

from __future__ import annotations

import shlex
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.run_request import RunRequest, options_of_strategy, own_options
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_ui import charts, frame, jobs, shown
from graphturbo_ui.jobs import Desk
from graphturbo_ui.session import run_state
from graphturbo_ui.top_bar.options_form import group_key, group_of
from tests.remote import fake_worker
from tests.ui.session.app_page import APP, PATIENCE_S, box_of

A, B = "tvm@2", "graphturbo@16"


@pytest.fixture
def app(answering: Desk) -> AppTest:
    """The smallest sample with all groups of options open, and one view that no test looks at."""
    test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for key, value in {"model": "teaching-resnet", "batch": "8", "views": "Export"}.items():
        test.query_params[key] = value
    for key, name in (("a", A), ("b", B)):
        for option in options_of_strategy(name).values():
            test.session_state[group_key(key, group_of(option))] = True
    return test


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def command(app: AppTest) -> list[str]:
    return app.code[1].value.splitlines()


def link(app: AppTest) -> dict[str, list[str]]:
    return parse_qs(app.code[0].value.removeprefix("?"))


def test_an_option_is_in_the_link_the_address_and_the_command(app: AppTest):
    run(app)
    box_of(app, "set_b graphturbo.peak").set_value("literal")
    run(app)
    box_of(app, "set_b lowering.tiles").set_value(8)
    run(app)
    wanted = ["graphturbo.peak=literal", "lowering.tiles=8"]
    assert link(app)["set_b"] == wanted
    assert app.query_params["set_b"] == wanted
    assert "set_a" not in link(app)
    first, second = command(app)
    assert "--set" not in first
    assert "--set graphturbo.peak=literal --set lowering.tiles=8" in second
    app.button(key="reset_b").click()
    run(app)
    assert "set_b" not in app.query_params
    assert len(command(app)) == 1
    assert box_of(app, "set_b graphturbo.peak").value == "true"


def test_an_option_back_at_its_default_is_forgotten(app: AppTest):
    app.query_params["set_b"] = ["graphturbo.fit=cluster"]
    run(app)
    assert box_of(app, "set_b graphturbo.fit").value == "cluster"
    box_of(app, "set_b graphturbo.fit").set_value("core")
    run(app)
    assert "set_b" not in link(app)


def test_the_same_options_of_both_are_one_command(app: AppTest):
    for key in ("set_a", "set_b"):
        app.query_params[key] = ["lowering.tiles=8"]
    run(app)
    (one,) = command(app)
    assert one.endswith("--dtype fp16 --set lowering.tiles=8")


def test_a_form_offers_what_changes_its_strategy(app: AppTest):
    run(app)
    names = {widget.key for widget in (*app.selectbox, *app.number_input)}
    assert "set_a lowering.tiles" in names
    assert "set_a graphturbo.peak" not in names
    offered = {str(name)[6:] for name in names if str(name).startswith("set_b ")}
    assert offered == set(own_options(RunRequest("m", B))) < set(strategy_options())
    assert {"tuned.seed", "tuned.evaluations"} < set(strategy_options()) - offered
    assert "set_a tvm.weights" in names
    assert "set_b tvm.weights" not in names


def test_steps_that_a_search_found_are_shown_and_kept(app: AppTest):
    app.query_params["b"] = "taso-like@1"
    app.query_params["set_b"] = ["taso-like.graph=3.0"]
    for option in options_of_strategy("taso-like").values():
        app.session_state[group_key("b", group_of(option))] = True
    run(app)
    box = box_of(app, "set_b taso-like.graph")
    assert (box.value, box.options) == ("3.0", ["search", "unchanged", "3.0"])
    assert link(app)["set_b"] == ["taso-like.graph=3.0"]
    box.set_value("unchanged")
    run(app)
    assert link(app)["set_b"] == ["taso-like.graph=unchanged"]


@pytest.mark.parametrize("text", ["graphturbo.peak=x", "lowering.tiles=99", "nothing=1", "x"])
def test_an_option_that_is_none_is_said(app: AppTest, text: str):
    app.query_params["set_b"] = ["lowering.tiles=8", text]
    run(app)
    assert any("is no option with its value" in note.value for note in app.info)
    assert "set_b" not in link(app)


@pytest.mark.parametrize(
    ("box", "number", "text"),
    [("tvm@2", 4, "tvm@4"), ("tvm", 4, "tvm@4"), ("tvm@2", 0, "tvm"), ("tvm@2", None, "tvm")],
)
def test_the_number_and_the_text_of_a_cluster_batch_agree(
    app: AppTest, box: str, number: int | None, text: str
):
    app.query_params["a"] = box
    run(app)
    assert box_of(app, "cluster_a").value == parse_strategy(box).cluster_batch
    box_of(app, "cluster_a").set_value(number)
    run(app)
    assert box_of(app, "a").value == text
    assert link(app)["a"] == [text]
    box_of(app, "a").set_value(B)
    run(app)
    assert box_of(app, "cluster_a").value == 16


def test_passes_are_left_out_of_both_runs(app: AppTest):
    run(app)
    app.multiselect(key="skip").set_value(["fold-batch-norm", "remove-identity"])
    run(app)
    assert link(app)["skip"] == ["fold-batch-norm", "remove-identity"]
    (one,) = command(app)
    assert one.endswith("--skip-pass fold-batch-norm --skip-pass remove-identity")


def test_a_link_that_names_all_gives_itself_again(app: AppTest):
    chosen = {
        "chip": "generic-4x4", "a": "layerwise", "b": "graphturbo:lb@4", "dtype": "int8",
        "set_a": ["lowering.tiles=2"], "set_b": ["graphturbo.blocks=none", "lowering.tiles=2"],
        "skip": ["remove-identity"], "views": ["Every core", "Export"], "selected": "b-group-1",
        "window": "100-900,100-900",
    }  # fmt: skip
    for key, value in chosen.items():
        app.query_params[key] = value
    run(app)
    assert not app.info or "no longer" not in app.info[0].value
    told = link(app)
    for key, value in chosen.items():
        assert told[key] == (value if isinstance(value, list) else [value]), key
    again = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for key, values in told.items():
        again.query_params[key] = values
    run(again)
    assert again.code[0].value == app.code[0].value
    assert command(again) == command(app)


def test_a_link_from_before_opens_the_views_that_are_named_otherwise_today(app: AppTest):
    app.query_params["views"] = ["Groupings", "Where the time goes", "Passes", "Gantt", "Memory"]
    run(app)
    assert not app.info
    assert link(app)["views"] == ["Graph", "Why", "Algorithms", "Every core", "Memory"]
    assert app.button_group(key="views").value == link(app)["views"]


def test_options_change_places_with_their_runs(app: AppTest):
    app.query_params["set_b"] = ["lowering.tiles=8"]
    run(app)
    app.button(key="swap").click()
    run(app)
    assert link(app)["set_a"] == ["lowering.tiles=8"]
    assert "set_b" not in link(app)
    assert box_of(app, "set_a lowering.tiles").value == 8
    assert box_of(app, "cluster_a").value == 16


def test_a_link_of_another_version_says_so(app: AppTest):
    app.query_params["version"] = "0.0.1"
    run(app)
    assert any("version 0.0.1" in note.value.replace("\\", "") for note in app.info)


def test_the_command_line_takes_what_the_page_says(app: AppTest):
    app.query_params["set_b"] = ["lowering.tiles=8"]
    run(app)
    words = shlex.split(command(app)[1])
    assert words[words.index("--set") + 1] == "lowering.tiles=8"


def test_a_cancelled_run_is_said_and_run_again(
    app: AppTest, orders: Path, monkeypatch: pytest.MonkeyPatch
):
    """The page is at A's steps; the click is as Streamlit takes it, before the page is run."""
    (orders / A).write_text("hold")
    app.query_params["views"] = "Why"
    with monkeypatch.context() as patch:
        patch.setattr(frame, "wait_for_first", lambda runs: frame.cancel(runs["A"]))
        run(app)
    run(app)
    assert any("A was cancelled; other choices still work." in note.value for note in app.info)
    assert len(app.metric) == 8
    shown = "\n".join(text.value for text in app.markdown)
    assert "**B is there, the other run is not.**" in shown.replace("\\", "")
    (orders / A).unlink()
    app.button(key="run_again").click()
    run(app)
    assert not [note for note in app.info if "cancelled" in note.value]
    assert any("as fast as A" in heading.proto.help for heading in app.subheader)


def test_the_server_computes_what_the_page_shows_first(monkeypatch: pytest.MonkeyPatch):
    """The warmed runs are those of a visitor who has chosen nothing."""
    asked: list[str] = []

    class Listening(Desk):
        def start(self, requests, source, visitor=None):
            asked.extend(jobs.run_key(request, source) for request in requests)
            raise frame.WorkerError

    desk = Listening(workers=0, target=fake_worker.main)
    for module in (charts, frame, shown):
        monkeypatch.setattr(module, "shared_desk", lambda: desk)
    AppTest.from_file(str(APP), default_timeout=PATIENCE_S).run()
    requests, source = jobs.default_comparison()
    assert asked == [jobs.run_key(request, source) for request in requests]
    assert run_state.option_key("a", "x") == "set_a x"
