"""Schedulers: the kernels of every strategy side by side, their times, and why they differ."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from graphturbo_core.comparison.side_by_side.kept_abilities import kept_abilities
from graphturbo_core.comparison.side_by_side.kept_schedules import kept_schedules
from graphturbo_core.comparison.side_by_side.rewrite_searches import REWRITE_SEARCHES
from graphturbo_ui.schedulers import collecting
from graphturbo_ui.schedulers.below import abilities_html, head_html, why_html
from graphturbo_ui.schedulers.collecting import Schedulers
from graphturbo_ui.schedulers.columns import MOST_LAYERS, columns_html
from graphturbo_ui.schedulers.kept_table import show_kept
from graphturbo_ui.session import query, run_state, state
from graphturbo_ui.session.choices import Choices

STYLE = Path(__file__).parents[1] / "schedulers" / "schedulers.css"


def show(choices: Choices) -> None:
    """The whole page, drawn with the runs that are there."""
    now = collecting.collect(choices)
    is_presenting = state.is_presenting()
    with st.container(key="schedulers_presenting" if is_presenting else "schedulers_page"):
        st.html(STYLE)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.html(head_html(now, _setting(choices)), width="stretch")
            if not is_presenting:
                _rewrite_switch(is_searching=choices.rewrites)
                _search_switch(is_searching=choices.best)
        place = st.empty()
        with st.container():  # each has its place, whether the list of layers is drawn or not
            st.html(columns_html(now, choices, _window(now)))
        with st.container():
            if why_html(now):
                st.html(why_html(now))
        found = kept_abilities()
        if found is not None and not is_presenting:
            st.html(abilities_html(found))
        if not is_presenting:
            show_kept(kept_schedules(), choices)
    collecting.wait(place, choices, now)


def _rewrite_switch(*, is_searching: bool) -> None:
    """The button for the columns of the rewrite searches."""
    names = " and ".join(f"`{name}`" for name in REWRITE_SEARCHES)
    st.button(
        "Leave the rewrites out" if is_searching else "Search rewrites",
        key="schedulers_rewrites", type="tertiary",
        icon=":material/remove:" if is_searching else ":material/add:",
        help=f"Columns {names}: searches that change the graph and simulate each changed graph. "
        "Each takes ten seconds to many minutes.",
        on_click=run_state.search_rewrites, kwargs={"is_wanted": not is_searching},
    )  # fmt: skip


def _search_switch(*, is_searching: bool) -> None:
    """The button for the column of the search, which is Explore's third row too."""
    st.button(
        "Leave the search out" if is_searching else "Search a schedule",
        key="schedulers_search", type="tertiary",
        icon=":material/remove:" if is_searching else ":material/add:",
        help="A column `best`: the fastest schedule of a search, which chooses how many samples a"
        " cluster takes at once. It takes up to minutes. The switch is in Settings too.",
        on_click=run_state.search_beside, kwargs={"is_wanted": not is_searching},
    )  # fmt: skip


def _setting(choices: Choices) -> str:
    """What all runs share."""
    _, samples = query.split_strategy(choices.sides["b"].strategy)
    own = f"at most {samples} samples a cluster at once" if samples else "the whole share at once"
    return f"{choices.setting()} · {own}, as in B"


def _window(now: Schedulers) -> tuple[int, int]:
    """The layers that are drawn: all of them, or of long models the chosen part."""
    layers = max((each.picture.layers for each in now.drawn if each.picture), default=1)
    if layers <= MOST_LAYERS:
        return 0, layers - 1
    starts = range(0, layers, MOST_LAYERS)
    texts = {f"Layers {at + 1}–{min(at + MOST_LAYERS, layers)} of {layers:,}": at for at in starts}
    chosen = st.selectbox(
        "Layers", list(texts), key="schedulers_layers", label_visibility="collapsed"
    )
    first = texts.get(chosen, 0)
    return first, min(first + MOST_LAYERS, layers) - 1
