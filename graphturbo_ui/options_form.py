"""The form of a run's options: a widget by its kind, and only what is not at its default kept."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from graphturbo_core.option_fields import StrategyOption
from graphturbo_core.run_request import options_of_strategy
from graphturbo_ui.session import run_state
from graphturbo_ui.text import Sink, safe_text

HELD = "The plan brings its own options along: drop it to choose others."


def options_form(key: str, strategy: str, is_held: bool) -> Mapping[str, str]:
    """The popover with the options of run `key`; what of them is not at its default.

    A run that holds to a plan has the plan's options, and the form only says so.
    """
    known = options_of_strategy(strategy)
    chosen = {name: text for name, text in run_state.set_options(key).items() if name in known}
    count = 0 if is_held else len(chosen)
    label = f"Options of {key.upper()}" + (f" ({count})" if count else "")
    with st.popover(
        label, key=f"options_{key}", width="stretch", icon=":material/tune:", on_change="rerun"
    ) as box:
        if box.open and is_held:
            st.caption(HELD)
        elif box.open:
            _form(key, strategy, chosen)
    return {} if is_held else chosen


def _form(key: str, strategy: str, chosen: Mapping[str, str]) -> None:
    """A widget an option, drawn only while somebody looks: two dozen cost every other click."""
    name = safe_text(strategy, Sink.MARKDOWN)
    st.caption(f"What {name} is lowered with, as \\--set says on the command line.")
    st.button(
        "Reset", key=f"reset_{key}", on_click=run_state.reset_options, args=(key,),
        disabled=not chosen, icon=":material/restart_alt:",
    )  # fmt: skip
    for option in options_of_strategy(strategy).values():
        _widget(key, option, chosen.get(option.name, option.default))


def _widget(key: str, option: StrategyOption, value: str) -> None:
    """A box of choices, or a number within its bounds, that shows `value`."""
    name, words = option.name, f"{option.doc}. Default {option.default}."
    widget, chosen = run_state.option_key(key, name), (key, name)
    if option.bounds is None:
        run_state.show_option(key, name, value)
        st.selectbox(
            name, option.values, key=widget, help=words,
            on_change=run_state.take_option, args=chosen,
        )  # fmt: skip
        return
    run_state.show_option(key, name, int(value))
    low, high = option.bounds
    st.number_input(
        name, low, high, step=1, key=widget, help=words,
        on_change=run_state.take_option, args=chosen,
    )  # fmt: skip
