"""What the canvas components are made of: scripts and styles from files, buffers with a time."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from graphturbo_ui.components.bundle import bundle
from graphturbo_ui.palette import (
    CAPACITY_COLOUR,
    CAUSE_COLOURS,
    HIT_COLOUR,
    HUE_COLOURS,
    KIND_COLOURS,
    LIT,
    MEMORY_COLOUR,
    OVERLAP_COLOUR,
    TENSOR_COLOURS,
    UNDER_COLOUR,
    WAIT_COLOURS,
)
from graphturbo_ui.session import state

FOLDER = Path(__file__).parent


def script(entry: str) -> str:
    """A file of this folder and all that it imports as one module, in which PALETTE is known."""
    palette = {
        "hues": {theme: list(colours) for theme, colours in HUE_COLOURS.items()},
        "kinds": list(KIND_COLOURS.values()),
        "kindNames": list(KIND_COLOURS),
        "waits": list(WAIT_COLOURS.values()),
        "overlap": OVERLAP_COLOUR,
        "under": UNDER_COLOUR,
        "memory": MEMORY_COLOUR,
        "capacity": CAPACITY_COLOUR,
        "causes": dict(CAUSE_COLOURS),
        "tensors": dict(TENSOR_COLOURS),
        "hit": HIT_COLOUR,
        "lit": dict(LIT),
    }
    return bundle(FOLDER / entry, head=f"const PALETTE = {json.dumps(palette)};")


def style(*names: str) -> str:
    """The named styles as one."""
    files = (FOLDER / name for name in names)
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@dataclass(frozen=True)
class Canvas:
    """A kind of canvas: its name, what screen readers call it, its tools, script and styles.

    The script's default export is a function of `data` (`readBuffer` reads it) and `parentElement`.
    """

    name: str
    role: str
    tools: str
    entry: str
    styles: tuple[str, ...] = ()

    def html(self) -> str:
        """Toolbar, canvas, hover box, legend and the line that says what is picked."""
        return f"""
<div class="frame">
  <div class="tools" role="toolbar" aria-label="{self.role} controls">{self.tools}
    <button data-act="in" aria-label="zoom in" title="zoom in (W or +)">+</button>
    <button data-act="out" aria-label="zoom out" title="zoom out (S or -)">-</button>
    <button data-act="fit" title="show everything (0)">Fit</button>
  </div>
  <div class="stage">
    <canvas tabindex="0" role="application" aria-roledescription="{self.role}"></canvas>
    <div class="tip" hidden></div>
  </div>
  <div class="legend"></div>
  <p class="said" role="status" aria-live="polite"></p>
</div>"""

    def css(self) -> str:
        """The style of all canvases and its own."""
        return style("canvas.css", *self.styles)

    def js(self) -> str:
        """Its script and all that it imports as one module."""
        return script(self.entry)

    def draw(self, buffer: bytes) -> None:
        """Draw it on the page; selection and times in sight reach the page by `link.py`."""
        _component(self)(data=stamped(self.name, buffer), key=self.name)


@dataclass(frozen=True)
class Screen:
    """A component with a folder of its name, in which its page, style and first script are."""

    name: str

    def html(self) -> str:
        """The frame that the scripts fill."""
        return (FOLDER / self.name / f"{self.name}.html").read_text(encoding="utf-8")

    def css(self) -> str:
        """The colours, and its style."""
        return style("colours.css", f"{self.name}/{self.name}.css")

    def js(self) -> str:
        """All scripts as one module."""
        return bundle(FOLDER / self.name / f"{self.name}.js")

    def draw(self, buffer: bytes, **on_change: Any) -> None:
        """Draw it on the page; what is selected reaches the page by `link.py`.

        `on_change`: `on_NAME_change`, called where the screen's script triggers NAME.
        """
        _component(self)(
            data=stamped(self.name, buffer), key=self.name, height="content", **on_change
        )


OVERVIEW, ALGORITHMS, CHIPS = Screen("overview"), Screen("algorithms"), Screen("chips")
LEARN, PLAN_DIFF = Screen("learn"), Screen("plan_diff")


@cache
def _component(part: Canvas | Screen) -> ComponentRenderer:
    return st.components.v2.component(
        f"graphturbo_{part.name}", html=part.html(), css=part.css(), js=part.js()
    )


def stamped(key: str, buffer: bytes) -> bytes:
    """`buffer` with the time since when the canvas `key` shows it, as a float64 at the end.

    Streamlit calls a component's script out of order where two buffers came while it was loading;
    the script keeps to the later one.
    """
    return with_time(buffer, state.shown_since(key, hash(buffer)))


def with_time(buffer: bytes, since: float) -> bytes:
    """`buffer` and, as a float64, since when it is shown."""
    return buffer + struct.pack("<d", since)
