"""Parts of the bar that need the browser: dropped files, keys, theme, clipboard, a chip's facts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from graphturbo_ui.session import state

FOLDER = Path(__file__).parent


@cache
def _component(name: str):  # Streamlit names no public type for it
    """The component whose script, style and page are files of this folder."""
    texts = {kind: (FOLDER / f"{name}.{kind}").read_text("utf-8") for kind in ("html", "js")}
    return st.components.v2.component(f"graphturbo_bar_{name}", **texts)


def page_script() -> None:
    """Files dropped anywhere on the page go to the uploader of their kind; Escape ends Present."""
    _component("page")(key="bar_page", width="content", on_leave_change=state.leave_presenting)


def theme_button(paths: Sequence[str]) -> None:
    """A button that switches between light and dark, on the pages at these paths."""
    _component("theme")(data={"paths": list(paths)}, key="bar_theme", width="content")


def copy_buttons(link: str, command: str) -> None:
    """Buttons that copy the page's full address and the command line."""
    _component("share")(data={"link": link, "command": command}, key="bar_copy")


def facts(parts: Sequence[str]) -> None:
    """A chip's facts beside its name; each part has a class, for screens too narrow for all."""
    spans = (
        f'<span class="fact-{place}">{escape(part)}</span>' for place, part in enumerate(parts)
    )
    st.html(f'<span class="bar-facts">{"".join(spans)}</span>', width="content")
