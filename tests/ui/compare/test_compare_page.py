"""Compare without a browser: what it begins with, adds, keeps, undoes, opens and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_ui.compare import collecting
from graphturbo_ui.session import reopening
from graphturbo_ui.session.compared import Comparison
from tests.comparison.runs import made_up, run_of
from tests.ui.compare.opened_page import comparison, html_of, opened, run


def click(app: AppTest, key: str) -> AppTest:
    app.button(key=f"compare_{key}").click()
    return run(app)


def strategies(app: AppTest) -> list[str]:
    return [each.figures.strategy for each in comparison(app).runs]


def ticked(*runs: int) -> Comparison:
    kept = tuple(run_of(name) for name in ("tvm@2", "graphturbo@2", "graphturbo:gb@2"))
    return Comparison(picked=tuple(kept[at].key for at in runs)).with_runs(kept)


def test_it_begins_with_a_and_b() -> None:
    app = opened()
    assert strategies(app) == ["tvm@2", "graphturbo@2"]
    assert comparison(app).wanted == ()
    assert "graphturbo@2 is the fastest: " in html_of(app)
    kept = comparison(app).runs[0]
    assert kept.figures == run_of("tvm@2").figures
    assert kept.choices is not None
    assert kept.choices.profile == "generic-4x4"


def test_the_ladder_is_added_by_a_click_and_runs_that_are_there_stand_once() -> None:
    app = click(opened(), "add_ladder")
    levels = [f"graphturbo:{level}@2" for level in ("gb", "lb", "order")]
    assert strategies(app) == ["tvm@2", "graphturbo@2", *levels]
    assert "The paper&#39;s steps on teaching-resnet" in html_of(app)
    for key in ("both", "ladder"):
        assert app.button(key=f"compare_add_{key}").disabled
    assert not app.button(key="compare_add_chips").disabled


def test_more_runs_are_added_by_a_click() -> None:
    app = click(opened(), "add_batches")
    assert strategies(app)[2:] == ["graphturbo@1"]
    app = click(app, "add_strategies")
    names = ("layerwise", "astitch", "xla", "glow", "onednn", "tensorrt-like", "ios")
    others = [*(f"{name}@2" for name in names), "graphturbo:plus@2"]
    assert strategies(app)[3:] == others
    app = click(app, "add_chips")
    chips = [each.figures.profile for each in comparison(app).runs[3 + len(others) :]]
    assert "stcp920" in chips
    assert "generic-4x4" not in chips


def test_the_button_of_share_adds_a_and_b() -> None:
    app = opened(Comparison())
    assert "No run is in this comparison." in html_of(app)
    app.button(key="share_compare").click()
    assert strategies(run(app)) == ["tvm@2", "graphturbo@2"]


def test_a_refused_run_is_listed_and_can_be_dismissed() -> None:
    app = opened()
    app.session_state["compared"] = comparison(app).refusing("graphturbo on goya: error: NO")
    app = run(app)
    assert any("error" in each.value for each in app.warning)
    assert not click(app, "dismiss").warning


def test_one_ticked_run_is_named_and_noted() -> None:
    app = opened(ticked(0))
    key = comparison(app).runs[0].key
    app.text_input(key=f"compare_name_{key}").set_value("first <b>")
    run(app)
    app.text_input(key=f"compare_note_{key}").set_value("as printed")
    run(app)
    kept = comparison(app).runs[0]
    assert (kept.name, kept.note) == ("first <b>", "as printed")
    assert "first &lt;b&gt;" in html_of(app)
    app.text_input(key=f"compare_name_{key}").set_value("  ")
    assert comparison(run(app)).runs[0].name == "first <b>"


def test_runs_are_pinned_moved_removed_and_brought_back() -> None:
    app = opened(ticked(2))
    assert strategies(click(app, "up")) == ["tvm@2", "graphturbo:gb@2", "graphturbo@2"]
    assert strategies(click(app, "down"))[2] == "graphturbo:gb@2"
    assert strategies(click(app, "pin"))[0] == "graphturbo:gb@2"
    assert app.button(key="compare_pin").label == "Unpin"
    assert not comparison(click(app, "pin")).runs[0].is_pinned
    click(app, "remove")
    assert strategies(app) == ["tvm@2", "graphturbo@2"]
    assert app.button(key="compare_undo").label == "Undo: bring back 1 run"
    assert "graphturbo:gb@2" in strategies(click(app, "undo"))
    assert not [each for each in app.button if each.key == "compare_undo"]


def test_two_ticked_runs_are_compared_in_words_and_by_layers() -> None:
    app = opened(ticked(0, 1))
    words = "\n".join(each.value for each in app.markdown)
    assert "Strategy: tvm@2 in A, graphturbo@2 in B" in words.replace("\\", "")
    assert "as fast as A" in words
    tables = [each.value for each in app.dataframe]
    assert list(tables[0]["layers"]) == ["1 to 13"]
    same = opened(ticked(0, 1), a="tvm@2")
    assert "badge a" in html_of(same)


def test_two_runs_open_as_a_and_b() -> None:
    app = opened(ticked(1, 2), a="layerwise", chip="stcp920", batch="16")
    click(app, "open")
    state = app.session_state
    assert [state[key] for key in ("model", "chip", "batch")] == [
        "teaching-resnet",
        "generic-4x4",
        8,
    ]
    assert [state["a"], state["b"]] == ["graphturbo@2", "graphturbo:gb@2"]


def test_a_run_without_a_batch_opens_with_the_one_that_was_run() -> None:
    one = run_of("graphturbo:gb@2")
    assert one.choices is not None
    saved = one.model_copy(update={"choices": one.choices.model_copy(update={"batch": None})})
    app = opened(Comparison(picked=(saved.key,)).with_runs([saved]), batch="16")
    click(app, "open")
    assert app.session_state["batch"] == one.figures.batch == 8


def test_a_run_with_another_plan_leaves_none_of_the_plan_before() -> None:
    def script() -> None:
        import streamlit as st  # noqa: PLC0415 - AppTest runs this text alone

        from graphturbo_ui.session import run_state  # noqa: PLC0415

        st.session_state["plan_a"] = "0" * 16
        run_state.choose_run("a", "tvm@2", {}, "groups: [")

    app = AppTest.from_function(script)
    assert run(app).session_state["plan_a"] == ""


def test_runs_that_a_and_b_cannot_share_do_not_open() -> None:
    one, two = run_of("tvm@2"), made_up("tvm@2", 1e-3)
    app = opened(Comparison(picked=(one.key, two.key)).with_runs([one, two]))
    assert app.button(key="compare_open").disabled
    words = [each.value for each in app.caption]
    assert any("batch, which A and B of Explore share" in each for each in words)


def test_a_saved_report_does_not_open() -> None:
    saved = run_of("tvm@2").model_copy(update={"choices": None})
    app = opened(Comparison(picked=(saved.key,)).with_runs([saved]))
    assert app.button(key="compare_open").disabled
    assert "saved report" in app.button(key="compare_open").help


def test_an_unknown_model_does_not_open() -> None:
    run_ = made_up("tvm@2", 1e-3)
    app = opened(Comparison(picked=(run_.key,)).with_runs([run_]))
    assert "is not kept here" in app.button(key="compare_open").help


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"strategy": "rm -rf"}, "is not a strategy"),
        ({"dtype": "fp0"}, "is not a number format"),
        ({"batch": 10**9}, "is not a batch"),
        ({"skip_passes": ("none",)}, "is not a clean-up pass"),
        ({"options": {"graphturbo.peak": "x"}}, "is no option with its value"),
        ({"dims": {"n": 0}}, "is not from 1 to"),
        ({"max_instructions": 9}, "no choice of max_instructions"),
        ({"plan": "groups: ["}, "the run's plan"),
        ({"profile_text": "name: ["}, "the run's profile"),
    ],
)
def test_choices_out_of_a_file_that_the_bar_does_not_take_do_not_open(
    changed: dict[str, object], fault: str
) -> None:
    one = run_of("tvm@2")
    assert one.choices is not None
    wrong = one.model_copy(update={"choices": one.choices.model_copy(update=changed)})
    found = reopening.reopened([wrong])
    assert fault in found.why_not
    assert reopening.reopened([one]).why_not == ""


def test_refusals_and_bugs_of_workers_are_listed(orders: Path) -> None:
    (orders / "tvm@2").write_text("refuse", encoding="utf-8")
    (orders / "graphturbo@2").write_text("bug", encoding="utf-8")
    app = opened()
    assert comparison(app).runs == ()
    lines = comparison(app).refused
    assert lines[0] == "tvm@2 on generic-4x4: error: NO: what, where, change"
    assert lines[1] == f"graphturbo@2 on generic-4x4: {collecting.FAULT}"
