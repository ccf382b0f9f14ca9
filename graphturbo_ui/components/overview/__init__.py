"""The first screen as one component: what `report/overview` gives, drawn by the scripts here.

The scripts are ES modules, which `bundle` joins: a component of Streamlit is one module.

words: numbers as text. runs, bins, rows: pure functions from the buffer to what is drawn. draw:
elements by hand. race, layers_panel, labels, time_panel, inspector, play: parts of the screen.
overview: state, pointer and keys.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from graphturbo_ui.components import sources
from graphturbo_ui.components.bundle import bundle

FOLDER = Path(__file__).parent
KEY = "overview"
HELP = {
    "layers": (
        ("One row is a layer, one box a kernel",
         "The width is the samples that one cluster computes. A cuts between layers; B also cuts "
         "between samples and keeps several layers in the cores."),
        ("Numbers in B's boxes",
         "The order in which they run. The same numbers stand above the magnified chart."),
        ("LB and GB",
         "Bytes held while the layer runs. Full colour: mean core. Pale: fullest core. Dashed: "
         "capacity."),
    ),
    "time": (
        ("Height",
         "Share of the time of all engines of that kind in one cluster. The colour is that of B's "
         "group, as on the left."),
        ("Layers at once",
         "Layers that have an instruction in flight, DMA included: grey up to one, dark beyond it, "
         "pale for peaks."),
        ("DRAM link", "Share of the cluster's DRAM bandwidth."),
        ("Keys",
         "Drag: magnify. W A S D: zoom and move the lens, F: all of B. Space: play. Left and right: "
         "playhead. Up and down: layer. 1 to 9: group. Esc: clear."),
    ),
}  # fmt: skip
"""Caption and text of what stands behind each `?`."""


def _help(name: str) -> str:
    entries = "".join(f"<dt>{head}</dt><dd>{text}</dd>" for head, text in HELP[name])
    return f'<div class="help" id="help-{name}" hidden><dl>{entries}</dl></div>'


def _help_button(name: str, label: str, part: str = "") -> str:
    return (
        f'<button class="round control" data-help="help-{name}" {part} aria-expanded="false" '
        f'aria-label="Help: {label}">?</button>'
    )


def html() -> str:
    """The frame that the scripts fill."""
    return f"""
<div class="overview" data-theme="light" data-mode="work">
  <section class="result" data-part="result" aria-label="result"></section>
  <section class="stage">
    <div class="card"><div class="head"><h2>Groupings and memory</h2>
      <span class="sub" data-part="layers_sub"></span>{_help_button("layers", "groupings and memory")}</div>
      <div class="body"><svg data-part="layers" tabindex="0" role="application"
        aria-label="Layers from top to bottom, cut into kernels by A and by B, with their memory"
        ></svg></div>{_help("layers")}</div>
    <div class="card"><div class="head"><h2>Instructions over time</h2>
      <span class="sub" data-part="time_sub"></span>
      <button class="small control" data-part="play" aria-pressed="false">▶ Play</button>
      <button class="small control" data-part="fit" title="Magnify all of B (F)">Fit lens</button>
      <button class="small control" data-part="cores"
        title="Every core and instruction of the magnified time, below">Every core</button>
      {_help_button("time", "instructions over time", 'data-part="keys_button"')}</div>
      <div class="body"><canvas data-part="bars"></canvas><svg data-part="time" tabindex="0"
        role="application" aria-label="Engines of A and of B over one time scale, a part magnified"
        ></svg></div>{_help("time")}</div>
  </section>
  <footer class="inspector" data-part="inspector" role="status" aria-live="polite"></footer>
</div>"""


def css() -> str:
    """The style of the screen."""
    return (FOLDER / "overview.css").read_text(encoding="utf-8")


@cache
def js() -> str:
    """All scripts as one module."""
    return bundle(FOLDER / "overview.js")


@cache
def _component():  # Streamlit names no public type for it
    return st.components.v2.component("graphturbo_overview", html=html(), css=css(), js=js())


def draw(buffer: bytes) -> None:
    """Draw the screen; what is selected reaches the page by `link.py`."""
    _component()(data=sources.stamped(KEY, buffer), key=KEY, height="content")
