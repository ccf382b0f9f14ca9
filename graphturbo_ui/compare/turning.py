"""From Compare to another page with the session: a link that follows itself."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer
from streamlit.navigation.page import StreamlitPage

from graphturbo_ui.session.choices import Choices

PLACE = "compare_turn"
SCRIPT = Path(__file__).with_name("turn.js")


@cache
def _component() -> ComponentRenderer:
    js = SCRIPT.read_text("utf-8")
    return st.components.v2.component("graphturbo_compare_turn", html="<span hidden></span>", js=js)


def turn_to(page: StreamlitPage, choices: Choices) -> None:
    """Turn to a page with these choices; its link remains in case nothing follows it.

    `st.switch_page` refuses while widgets are bound to the address, and a new address would begin
    a new session.
    """
    with st.container(key=PLACE):
        st.page_link(
            page, label="A and B are set: go to Explore", icon=":material/open_in_new:",
            query_params=choices.address(),
        )  # fmt: skip
    _component()(data={"container": f"st-key-{PLACE}"}, key="compare_turning", width="content")
