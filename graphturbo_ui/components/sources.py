"""What both canvas components send: scripts and styles from their files, buffers with a time."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from graphturbo_ui import state
from graphturbo_ui.palette import (
    CAPACITY_COLOUR,
    CAUSE_COLOURS,
    GROUP_COLOURS,
    HIT_COLOUR,
    KIND_COLOURS,
    MEMORY_COLOUR,
    OVERLAP_COLOUR,
    RUN_COLOURS,
    TENSOR_COLOURS,
    WAIT_COLOURS,
)

FOLDER = Path(__file__).parent


def script(*names: str) -> str:
    """Palette, kit and the named scripts as one module."""
    palette = {
        "groups": list(GROUP_COLOURS),
        "kinds": list(KIND_COLOURS.values()),
        "kindNames": list(KIND_COLOURS),
        "waits": list(WAIT_COLOURS.values()),
        "overlap": OVERLAP_COLOUR,
        "memory": MEMORY_COLOUR,
        "capacity": CAPACITY_COLOUR,
        "causes": dict(CAUSE_COLOURS),
        "tensors": dict(TENSOR_COLOURS),
        "runs": dict(RUN_COLOURS),
        "hit": HIT_COLOUR,
    }
    files = [(FOLDER / name).read_text(encoding="utf-8") for name in ("canvas_kit.js", *names)]
    return "\n".join([f"const PALETTE = {json.dumps(palette)};", *files])


def style(*names: str) -> str:
    """The style that all canvases share, and the named ones."""
    files = (FOLDER / name for name in ("canvas.css", *names))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def frame(tools: str, role_description: str) -> str:
    """Toolbar, canvas, hover box, legend and the line that says what is picked."""
    return f"""
<div class="frame">
  <div class="tools" role="toolbar" aria-label="{role_description} controls">{tools}
    <button data-act="in" aria-label="zoom in" title="zoom in (W or +)">+</button>
    <button data-act="out" aria-label="zoom out" title="zoom out (S or -)">-</button>
    <button data-act="fit" title="show everything (0)">fit</button>
  </div>
  <div class="stage">
    <canvas tabindex="0" role="application" aria-roledescription="{role_description}"></canvas>
    <div class="tip" hidden></div>
  </div>
  <div class="legend"></div>
  <p class="said" role="status" aria-live="polite"></p>
</div>"""


def stamped(key: str, buffer: bytes) -> bytes:
    """`buffer` with the time since when the canvas `key` shows it, as a float64 at the end.

    Streamlit calls a component's script out of order where two buffers came while it was loading;
    the script keeps to the later one.
    """
    return buffer + struct.pack("<d", state.shown_since(key, hash(buffer)))
