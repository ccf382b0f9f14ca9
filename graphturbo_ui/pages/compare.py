"""Compare: any number of runs on one scale, named by the address and kept in a file."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from graphturbo_ui.compare import again, collecting, head, parts, plan_diff, turning
from graphturbo_ui.session import compared, compared_link, reopening, state
from graphturbo_ui.session import plan_diff as plan_pair
from graphturbo_ui.session.choices import Choices


def page_to(explore: StreamlitPage) -> Callable[[Choices], None]:
    """The page, which opens runs in `explore`."""

    def show(choices: Choices) -> None:
        """The whole page; without a comparison in the address it begins with A and B."""
        is_turning = reopening.is_to_open()
        if is_turning:
            turning.turn_to(explore, choices)
        compared_link.begin(choices)
        was_waiting = bool(compared.comparison().wanted)
        collecting.collect()
        if is_turning:  # nothing may run the script again before the link is followed
            return
        if was_waiting and not compared.comparison().wanted:
            state.draw_again()  # the bar is drawn, and its address is of the comparison before
        plan_pair.begin(choices)
        _draw(choices)

    return show


def _draw(choices: Choices) -> None:
    runs = compared.comparison().runs
    with st.container(key="compare_presenting" if state.is_presenting() else "compare_page"):
        beside = head.head(runs)
        if not state.is_presenting():
            parts.toolbar(choices, runs)
        place = st.empty()
        parts.lines()
        with st.container():
            if not state.is_presenting():
                again.offer(runs)
        with st.container():
            parts.picture(runs)
        with st.container():
            parts.ladder_parts(runs)
        with st.container():
            pending = parts.presented_pair(runs) if state.is_presenting() else parts.table(runs)
    collecting.wait(place)
    plan_diff.finish({**beside, **pending})
