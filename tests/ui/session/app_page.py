"""The app without a browser: its script, how long a test waits for it, what it draws first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.ui.unpacking import unpack

APP = Path(__file__).resolve().parents[3] / "graphturbo_ui" / "server" / "script.py"

PATIENCE_S = 120


def first_screen(app: AppTest) -> Mapping[str, object]:
    """What the first screen is given to draw, without its arrays."""
    parts = app.get("bidi_component")
    (found,) = [part.proto for part in parts if part.proto.component_name.endswith("overview")]
    header, _ = unpack(found.bytes)
    return header


def box_of(app: AppTest, key: str) -> Any:
    """The box of a choice; a value that the page has set is in another one, `key~1`."""
    boxes = (*app.selectbox, *app.number_input, *app.toggle, *app.multiselect)
    (found,) = (box for box in boxes if re.fullmatch(rf"{re.escape(key)}(~\d+)?", box.key or ""))
    return found


def turn_to(app: AppTest, path: str) -> AppTest:
    """Have the next run draw the page at `path`: AppTest itself turns to pages that are files."""
    app._page_hash = calc_hash(path)
    return app
