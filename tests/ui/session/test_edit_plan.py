"""Plans edited from the graph: an edit is listed, run, compared, undone, and refused calmly."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.session.app_page import APP, PATIENCE_S, box_of, first_screen

MODEL, CHIP, BATCH, A, B = "teaching-resnet", "generic-4x4", "64", "tvm@16", "graphturbo@16"

STEM = "layer 1 (stem/conv)"
STAGES = "layers 2 to 8 (stage1/block1/conv1 to stage2/block1/conv2)"
REST = "layers 3 to 8 (stage1/block1/conv2 to stage2/block1/conv2)"


@pytest.fixture
def app() -> AppTest:
    """B's first sub-graph is selected: the stem, beside stage 1 and 2 (docs/plan-files.md)."""
    test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    chosen = {"model": MODEL, "chip": CHIP, "batch": BATCH, "a": A, "b": B}
    views = ["Why", "Plan edits"]
    for key, value in {**chosen, "views": views, "selected": "b-group-0"}.items():
        test.query_params[key] = value
    return test


def prose(app: AppTest) -> str:
    shown = (*app.markdown, *app.caption, *app.warning)
    return "\n".join(element.value for element in shown).replace("\\", "")


def click(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def figure(app: AppTest, label: str) -> str:
    return next(metric.value for metric in app.metric if metric.label == label)


def test_a_forced_merge_is_listed_run_compared_and_undone(app: AppTest):
    app.run()
    assert figure(app, "Kernels launched") == "4"
    assert app.selectbox(key="neighbour_b").options == ["Stage 1 + stage 2"]
    click(app, "force_b")
    assert f"merge {STEM} + {STAGES}" in prose(app)
    assert figure(app, "Kernels launched") == "4"
    click(app, "run_edits_b")
    assert figure(app, "Kernels launched") == "3"
    assert "Kernels launched 4 in the run before, 3 now (-25 %)" in prose(app)
    assert "plan_b" in app.query_params
    click(app, "undo_b merge 0")
    assert f"merge {STEM} + {STAGES}" not in prose(app)
    assert figure(app, "Kernels launched") == "3"
    click(app, "run_edits_b")
    assert figure(app, "Kernels launched") == "4"
    assert "plan_b" not in app.query_params


def test_an_edited_plan_runs_beside_the_one_it_came_from(app: AppTest):
    app.run()
    click(click(app, "force_b"), "beside_b")
    assert box_of(app, "a").value == B
    assert "plan_a" in app.query_params
    assert "plan_b" not in app.query_params
    assert figure(app, "Kernels launched") == "4"
    assert first_screen(app)["beside"] == ""
    assert first_screen(app)["edited_A"] == "Plan edited: 1 change"
    assert app.query_params["plan_a"] not in prose(app)


def test_a_cut_and_a_split_can_be_fixed_and_all_undone(app: AppTest):
    app.query_params["selected"] = "b-group-1"
    app.run()
    click(app, "forbid_b")
    app.selectbox(key="pieces_b_g2_0").set_value(4).run()
    click(app, "fix_b")
    apart = f"keep apart layer 2 (stage1/block1/conv1) | {REST}"
    for text in (apart, f"pieces of {STAGES}: 4, along axis 0"):
        assert text in prose(app)
    assert "**Stage 1 + stage 2**: 7 layers" in prose(app)
    assert not re.search(r"\bg\d", prose(app))
    click(app, "undo_all_b")
    assert "Edits of B's plan" not in prose(app)


@pytest.mark.parametrize("view", ["Plan edits", "Export"])
def test_edits_stand_right_below_what_makes_them_and_stay_when_another_view_is_open(
    app: AppTest, view: str
):
    app.run()
    click(app, "force_b")
    app.button_group(key="views").set_value(["Why", view]).run()
    shown = [element.value for element in app.main if element.type in ("subheader", "markdown")]
    listed, *more = (at for at, text in enumerate(shown) if text == "**Edits of B's plan**")
    assert not more
    assert (listed > shown.index("Time breakdown")) == (view == "Plan edits")


def test_an_edit_that_is_refused_can_be_taken_back(app: AppTest):
    """One piece of group 2 is more than the cores hold (docs/plan-files.md)."""
    app.query_params["selected"] = "b-group-1"
    app.run()
    app.selectbox(key="pieces_b_g2_0").set_value(1).run()
    click(click(app, "fix_b"), "run_edits_b")
    assert "B cannot be computed:" in prose(app)
    assert f"pieces of {STAGES}: 1" in prose(app)
    assert "Code PLAN_SPLIT" in prose(app)
    click(click(app, "undo_all_b"), "run_edits_b")
    assert not app.warning
    assert figure(app, "Kernels launched") == "4"


def test_edits_that_contradict_each_other_are_marked_at_once(app: AppTest):
    """Stem and stages as one sub-graph, but the first layer of the stages apart from the rest."""
    app.query_params["selected"] = "b-group-1"
    app.run()
    click(app, "force_b")
    assert "Contradicts" not in prose(app)
    assert not app.button(key="run_edits_b").disabled
    click(app, "forbid_b")
    assert prose(app).count("**Contradicts**") == 2
    assert f"**Contradicts** “merge {STAGES} + {STEM}”: undo one of them." in prose(app)
    assert app.button(key="run_edits_b").disabled
    assert app.button(key="beside_b").disabled
    click(app, "undo_b keep_apart 0")
    assert "Contradicts" not in prose(app)
    assert not app.button(key="run_edits_b").disabled


def test_a_strategy_that_does_not_merge_offers_no_edits(app: AppTest):
    app.query_params["b"] = "layerwise"
    app.run()
    assert not app.exception
    assert not [button for button in app.button if button.key in ("force_a", "force_b")]
