"""What can be taken away: the link and the command that give this again."""

from __future__ import annotations

import streamlit as st

from graphturbo_ui.choices import Choices


def sharing(choices: Choices) -> None:
    """The link and the command that give this again."""
    st.subheader("Take it with you")
    left, right = st.columns(2)
    with left:
        st.caption("Copy link: this page's address with")
        st.code(choices.link(), language=None, wrap_lines=True)
    with right:
        st.caption("The same two runs on the command line")
        st.code(choices.command(), language="bash", wrap_lines=True)
