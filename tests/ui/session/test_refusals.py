"""What a refusal offers: fewer samples, no plan, or the way back, where one of them is a remedy."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_ui.refusals import joined


def page(
    code: str, kind: str = "ModelError", is_page: bool = False, at_any_batch: bool = False
) -> None:
    """A refusal of A beside the boxes for the batch and for A's strategy."""
    import streamlit as st  # noqa: PLC0415  # the function is run apart from its module

    from graphturbo_core import errors  # noqa: PLC0415
    from graphturbo_ui.refusals import show_page_of_refusal, show_refusal  # noqa: PLC0415

    st.session_state.setdefault("batch", 16)
    st.session_state.setdefault("a", "tvm@16")
    st.session_state.setdefault("plan_a", "0" * 16)
    st.number_input("Batch", 1, 64, key="batch")
    st.text_input("A", key="a")
    show = show_page_of_refusal if is_page else show_refusal
    given = {"at_any_batch": True} if at_any_batch else {}
    show(getattr(errors, kind)(code, "it does not fit", "Concat", "export it again", **given), "A")


def shown(
    code: str, kind: str = "ModelError", is_page: bool = False, at_any_batch: bool = False
) -> AppTest:
    """The page after its first run."""
    given = {"code": code, "kind": kind, "is_page": is_page, "at_any_batch": at_any_batch}
    test = AppTest.from_function(page, kwargs=given).run()
    assert not test.exception
    return test


def two_runs(b: str) -> None:
    """A is too large, and so is B in other words."""
    import streamlit as st  # noqa: PLC0415  # the function is run apart from its module

    from graphturbo_core.errors import CapacityError  # noqa: PLC0415
    from graphturbo_ui.refusals import one_per_cause, show_refusal  # noqa: PLC0415

    st.session_state.setdefault("batch", 1)
    st.session_state.setdefault("a", "tvm@16")
    st.session_state.setdefault("b", b)
    for key in ("a", "b"):
        st.text_input(key, key=key)
    refused = {
        name: CapacityError("TOO_MANY_INSTRUCTIONS", f"{by} needs too many", "op 'n2'", change)
        for name, by, change in (
            ("A", "tvm", "fewer samples"),
            ("B", "glow", "fewer samples, or x"),
        )
    }
    for error, names in one_per_cause(refused):
        show_refusal(error, names)


def test_runs_refused_for_one_cause_have_one_box_and_one_button() -> None:
    test = AppTest.from_function(two_runs, kwargs={"b": "glow@16"}).run()
    (warning,) = test.warning
    lines = warning.value.replace("\\", "").split("  \n")
    assert lines[0] == "A and B cannot be computed."
    assert lines[1] == "**Tvm (A) and glow (B) needs too many**"
    (button,) = test.button
    assert button.label == "Use cluster batch 1 for A and B"
    button.click().run()
    assert not test.exception
    assert [test.session_state[key] for key in "ab"] == ["tvm@1", "glow@1"]
    assert not test.button


def test_runs_with_other_remedies_have_a_box_each() -> None:
    test = AppTest.from_function(two_runs, kwargs={"b": "glow@1"}).run()
    assert [text.value.split("  \n")[0] for text in test.warning] == [
        "A cannot be computed.", "B cannot be computed.",
    ]  # fmt: skip
    assert [button.label for button in test.button] == ["Use cluster batch 1 for A"]


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ("one", "one", "one"),
        ("A run by x needs 4", "A run by y z needs 4", "A run by x (A) and y z (B) needs 4"),
        ("fewer, or a chip", "fewer, set k=1, or a chip", "fewer, set k=1 (B), or a chip"),
        ("red", "blue sky", "A: red; B: blue sky"),
        ("", "use x", "B: use x"),
    ],
)
def test_texts_of_two_runs_are_joined(a: str, b: str, both: str) -> None:
    assert joined({"A": a, "B": b}) == both


def test_it_says_what_where_and_what_helps() -> None:
    (warning,) = shown("SUB_GRAPH").warning
    assert warning.value.split("  \n") == [
        "A cannot be computed.", "**It does not fit**", "Concat", "What helps: export it again",
        "Code SUB\\_GRAPH",
    ]  # fmt: skip


def a_row() -> None:
    """B is refused beside a run that is drawn."""
    import streamlit as st  # noqa: PLC0415  # the function is run apart from its module

    from graphturbo_core.errors import CapacityError  # noqa: PLC0415
    from graphturbo_ui.refusals import show_refused_run  # noqa: PLC0415

    st.session_state.setdefault("batch", 16)
    st.session_state.setdefault("b", "tvm@16")
    show_refused_run(
        CapacityError("TOO_MANY_INSTRUCTIONS", "it needs too many", "op n2", "set x=1"), "B"
    )


def test_a_run_that_is_refused_beside_another_takes_one_line() -> None:
    test = AppTest.from_function(a_row).run()
    (warning,) = test.warning
    assert warning.value == "**B cannot be computed:** it needs too many"
    assert [button.label for button in test.button] == [
        "Use cluster batch 1 for B", "Use batch 1 instead",
    ]  # fmt: skip
    (details,) = (text.value.replace("\\", "") for text in test.markdown)
    assert details == "Op n2  \nWhat helps: set x=1  \nCode TOO_MANY_INSTRUCTIONS"


def test_a_batch_that_cannot_be_had_offers_batch_1() -> None:
    test = shown("BATCH_MISMATCH")
    (button,) = test.button
    assert button.label == "Use batch 1 instead"
    button.click().run()
    assert not test.exception
    assert test.session_state["batch"] == 1
    assert test.number_input(key="batch").value == 1
    assert not test.button


def test_a_run_that_is_too_large_offers_fewer_samples_at_once() -> None:
    test = shown("TOO_MANY_INSTRUCTIONS", "CapacityError")
    assert [button.label for button in test.button] == [
        "Use cluster batch 1 for A", "Use batch 1 instead",
    ]  # fmt: skip
    test.button[0].click().run()
    assert test.session_state["a"] == "tvm@1"
    assert [button.label for button in test.button] == ["Use batch 1 instead"]


@pytest.mark.parametrize("code", ["DRAM_FULL", "GB_FULL"])
def test_bytes_that_no_batch_makes_fewer_offer_no_batch(code: str) -> None:
    assert len(shown(code, "CapacityError").button) == 2
    assert not shown(code, "CapacityError", at_any_batch=True).button


def test_a_plan_that_cannot_be_followed_can_be_discarded() -> None:
    test = shown("PLAN_SPLIT", "PlanError")
    (button,) = test.button
    assert button.label == "Discard the plan of A"
    button.click().run()
    assert test.session_state["plan_a"] == ""
    assert not test.button


def test_other_refusals_do_not() -> None:
    assert not shown("SUB_GRAPH").button


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("ModelError", "This model cannot be used as it is"),
        ("CapacityError", "This run is too large"),
        ("GraphTurboError", "This cannot be computed"),
    ],
)
def test_a_page_of_its_own_has_a_title_and_a_way_back(kind: str, title: str) -> None:
    test = shown("SUB_GRAPH", kind, is_page=True)
    assert test.header[0].value == title
    (button,) = test.button
    assert button.label == "Back to resnet50\\-slim on stcp920"
    button.click().run()
    assert test.session_state["a"] == "tvm@16"
    assert test.session_state["batch"] == 64
