"""Plans in the app: taken away, given back, edited, compared, linked, dropped."""

from __future__ import annotations

import hashlib

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_ui import store
from tests.ui.session.app_page import APP, PATIENCE_S, box_of

MODEL, CHIP, BATCH = "teaching-resnet", "generic-4x4", 64
A, B = "tvm@16", "graphturbo@16"


@pytest.fixture
def app() -> AppTest:
    test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for key, value in {
        "model": MODEL,
        "chip": CHIP,
        "batch": str(BATCH),
        "a": A,
        "b": B,
        "views": "Export",
    }.items():
        test.query_params[key] = value
    return test


@pytest.fixture(scope="module")
def plan() -> str:
    """B's plan, as the command line emits it."""
    request = RunRequest(MODEL, B, CHIP, BATCH, emit=("plan",))
    return run_report(load_sample(MODEL), request).text("plan")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def prepared(app: AppTest) -> AppTest:
    app.run()
    app.button(key="prepare_plans").click().run()
    assert not app.exception
    return app


def give(app: AppTest, key: str, text: str) -> AppTest:
    """Put a text where a person would edit the plan, and run it."""
    (area,) = [each for each in app.text_area if str(each.key).startswith(f"plan_{key}_text")]
    area.set_value(text)
    app.button(key=f"run_plan_{key}").click().run()
    assert not app.exception
    return app


def warnings(app: AppTest) -> str:
    return "\n".join(each.value for each in app.warning).replace("\\", "")


def test_plans_are_made_when_somebody_asks_for_them(app: AppTest, plan: str) -> None:
    app.run()
    assert not app.text_area
    prepared(app)
    assert [area.value for area in app.text_area][1] == plan
    labels = [each.proto.label for each in app.get("download_button")]
    assert labels == [
        *("A's JSON", "A's trace", "A's DOT", "B's JSON", "B's trace", "B's DOT"),
        *("A's plan", "A's program", "B's plan", "B's program", "Report as one HTML file"),
    ]
    assert not [each for each in app.button if each.key == "prepare_plans"]


def test_an_edited_plan_is_run_linked_and_named(app: AppTest, plan: str) -> None:
    prepared(app)
    edited = plan.replace("  merge: []", "  merge: [[g1, g2]]")
    give(app, "b", edited)
    assert f"plan_b={digest(edited)}" in app.code[0].value
    assert app.query_params["plan_b"] == digest(edited)
    assert "run teaching-resnet" in app.code[1].value
    assert "--strategy graphturbo@16 --plan b.plan.yaml" in app.code[1].value
    shown = [area.value for area in app.text_area][1]
    assert "merge: [[was-g1, was-g2]]" in shown
    assert not warnings(app)


def test_a_link_holds_to_its_plan_and_the_plan_can_be_dropped(app: AppTest, plan: str) -> None:
    edited = plan.replace("  pieces: {}", "  pieces: {g3: 4}")
    app.query_params["plan_b"] = store.upload_store().put("b.plan.yaml", edited.encode())
    prepared(app)
    assert "pieces: {was-g3: 4}" in [area.value for area in app.text_area][1]
    app.button(key="drop_plan_b").click().run()
    assert "plan_b" not in app.query_params
    assert [area.value for area in app.text_area][1] == plan


@pytest.mark.parametrize(
    ("edits", "words"),
    [("  pieces: {}", "a plan file"), ("  pieces: {g3: 4}", "an edited plan (1 edit)")],
)
def test_the_bar_names_a_plan_by_its_edits(app: AppTest, plan: str, edits: str, words: str) -> None:
    edited = plan.replace("  pieces: {}", edits)
    app.query_params["plan_b"] = store.upload_store().put("b.plan.yaml", edited.encode())
    app.run()
    assert not app.exception
    assert app.button(key="drop_plan_b").label == f"B runs from {words} · discard"
    shown = [each.proto.popover.label for each in app.get("popover")]
    assert "B, from a plan **graphturbo@16**" in shown
    assert digest(edited)[:6] not in str([*shown, *(each.label for each in app.button)])
    app.button(key="drop_plan_b").click().run()
    shown = [each.proto.popover.label for each in app.get("popover")]
    assert "B, coarse **graphturbo@16**" in shown


def test_a_link_whose_plan_is_not_here_asks_for_it(app: AppTest) -> None:
    app.query_params["plan_a"] = "0123456789abcdef"
    app.run()
    assert not app.exception
    notes = "\n".join(each.value for each in app.info).replace("\\", "")
    assert "The link names a plan that is not kept here: give it again under Export." in notes
    assert "0123456789abcdef" not in notes
    assert "that run without a plan" in notes


def test_a_plan_that_cannot_be_followed_is_refused_and_the_other_run_shown(
    app: AppTest, plan: str
) -> None:
    app.query_params["views"] = ["Why", "Export"]
    prepared(app)
    give(app, "b", plan.replace("  pieces: {}", "  pieces: {g3: 3}"))
    assert "B cannot be computed:" in warnings(app)
    assert "cannot be split into 3 pieces" in warnings(app)
    assert len(app.metric) == 8
    app.button(key="drop_plan_b").click().run()
    assert not warnings(app)


def test_a_text_that_is_no_plan_is_refused_at_once(app: AppTest, plan: str) -> None:
    prepared(app)
    give(app, "b", plan.replace("edits:", "edit:", 1))
    assert "Key edit is not known" in warnings(app)
    assert "plan_b" not in app.query_params


def test_a_plan_of_another_run_is_refused_by_name(app: AppTest, plan: str) -> None:
    prepared(app)
    give(app, "a", plan)
    assert box_of(app, "a").value == B
    box_of(app, "batch").set_value(32).run()
    assert "the plan is for another graph" in warnings(app)


def test_what_the_plans_differ_in_is_shown(app: AppTest, plan: str) -> None:
    prepared(app)
    (table,) = [each for each in app.dataframe if "part" in each.value.columns]
    rows = table.value.to_dict("records")
    assert {"part": "choices", "what": "strategy", "A": A, "B": B} in rows
    assert any(row["part"] == "groups" for row in rows)


def test_plans_change_places_with_their_runs(app: AppTest, plan: str) -> None:
    app.query_params["plan_b"] = store.upload_store().put("b.plan.yaml", plan.encode())
    app.run()
    app.button(key="swap").click().run()
    assert not app.exception
    assert app.query_params["plan_a"] == digest(plan)
    assert "plan_b" not in app.query_params
    assert box_of(app, "a").value == B


def test_a_plan_too_long_to_edit_is_not_put_on_the_page(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphturbo_ui.views.export.MAX_EDITED_CHARACTERS", 10)
    prepared(app)
    assert not app.text_area
    assert "too long to edit here" in "\n".join(each.value for each in app.caption)
