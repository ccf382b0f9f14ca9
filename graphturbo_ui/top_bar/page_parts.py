"""Parts of the bar that need the browser: dropped files, keys, theme, clipboard, a chip's facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from time import time

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from graphturbo_ui.charts import theme
from graphturbo_ui.session import learn, state, what_if
from graphturbo_ui.session.paper import row_query

FOLDER = Path(__file__).parent
HELP = "/help/"
"""Of the app's own server."""


@cache
def _component(name: str) -> ComponentRenderer:
    """The component whose script, style and page are files of this folder."""
    html, js = ((FOLDER / f"{name}.{kind}").read_text("utf-8") for kind in ("html", "js"))
    return st.components.v2.component(f"graphturbo_bar_{name}", html=html, js=js)


def page_script(address: Sequence[tuple[str, str]], defaults: Mapping[str, str]) -> None:
    """Files dropped anywhere on the page go to the uploader of their kind; Escape ends Present.

    Also has the browser's address name the choices: Streamlit loses those of closed popovers when
    the page changes. A key of `defaults` that has its default may be missing. What is chosen, the
    views, boxes of What-if, row and filters of Paper, the step of Learn, and whether somebody
    presents are one entry of the browser's history; Back opens the page as the entry before has
    it. The serial has the script called in every run. A run that has other boxes of What-if than
    the address is followed by another one.
    """
    values: dict[str, list[str]] = {}
    seen = (
        *state.shown_views(),
        *state.presenting_query(),
        *row_query(),
        *learn.place_query(),
        *what_if.query(),
    )
    for key, value in (*address, *seen):
        values.setdefault(key, []).append(value)
    choices = [[key, texts, texts == [defaults.get(key)]] for key, texts in values.items()]
    _component("page")(
        data={"choices": choices, "boxes": what_if.KEYS, "serial": time()},
        key="bar_page",
        width="content",
        on_leave_change=state.leave_presenting,
        on_behind_change=lambda: None,
    )


def theme_button(paths: Sequence[str]) -> None:
    """A button that switches between light and dark, on the pages at these paths.

    It also runs the script where the system switches: colours of pictures come from here.
    """
    _component("theme")(
        data={"paths": list(paths), "theme": theme()},
        key="bar_theme",
        width="content",
        on_system_change=lambda: None,
    )


def copy_buttons(link: str, command: str) -> None:
    """Buttons that copy the page's full address and the command line."""
    _component("share")(data={"link": link, "command": command}, key="bar_copy")


def facts(parts: Sequence[str]) -> None:
    """A chip's facts beside its name; each part has a class, for screens too narrow for all."""
    spans = (
        f'<span class="fact-{place}">{escape(part)}</span>' for place, part in enumerate(parts)
    )
    st.html(f'<span class="bar-facts">{"".join(spans)}</span>', width="content")


def help_link() -> None:
    """The documentation in a new tab, below the pages of the menu."""
    st.html(f'<a class="bar-help" href="{HELP}" target="_blank">Help</a>')
