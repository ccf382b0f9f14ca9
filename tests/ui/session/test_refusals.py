"""What a refusal offers: batch 1, where the model cannot follow the batch that was asked for."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page(code: str) -> None:
    """A refusal of A beside the box for the batch."""
    import streamlit as st  # noqa: PLC0415  # the function is run apart from its module

    from graphturbo_core.errors import ModelError  # noqa: PLC0415
    from graphturbo_ui.refusals import show_refusal  # noqa: PLC0415

    st.session_state.setdefault("batch", 16)
    st.number_input("Batch", 1, 64, key="batch")
    show_refusal(ModelError(code, "it does not follow the batch", "Concat", "export it anew"), "A")


def shown(code: str) -> AppTest:
    """The page after its first run."""
    test = AppTest.from_function(page, kwargs={"code": code}).run()
    assert not test.exception
    return test


def test_a_batch_that_cannot_be_had_offers_batch_1() -> None:
    test = shown("BATCH_MISMATCH")
    (button,) = test.button
    assert button.label == "Use batch 1 instead"
    button.click().run()
    assert not test.exception
    assert test.session_state["batch"] == 1
    assert test.number_input(key="batch").value == 1
    assert not test.button


def test_other_refusals_do_not() -> None:
    assert not shown("SUB_GRAPH").button
