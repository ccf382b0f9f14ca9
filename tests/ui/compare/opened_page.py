"""Compare as the app's first page, for tests without a browser."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_ui.runs import Source
from graphturbo_ui.session import state
from graphturbo_ui.session.choices import Choices, Side
from graphturbo_ui.session.compared import Comparison
from tests.ui.session.app_page import PATIENCE_S

SCRIPT = Path(__file__).with_name("compare_script.py")
QUERY = {
    "model": "teaching-resnet", "chip": "generic-4x4", "batch": "8", "a": "tvm@2",
    "b": "graphturbo@2",
}  # fmt: skip


def opened(begun: Comparison | None = None, **query: str) -> AppTest:
    """The page of an address; with a comparison, as a session that has it."""
    app = AppTest.from_file(str(SCRIPT), default_timeout=PATIENCE_S)
    for key, value in {**QUERY, **query}.items():
        app.query_params[key] = value
    if begun is not None:
        app.session_state["compared"] = begun
    return run(app)


def run(app: AppTest) -> AppTest:
    """The page, drawn again."""
    app.run()
    assert not app.exception
    return app


def comparison(app: AppTest) -> Comparison:
    """What the session compares."""
    found: Comparison = app.session_state["compared"]
    return found


def bar_of(model: str = "resnet50-slim", chip: str = "stcp920") -> Choices:
    """What a bar has that shows this model and chip."""
    upload = state.uploaded(model)
    source = Source.of(upload.data if upload else load_sample(model), None)
    sides = {key: Side("tvm@16", {}) for key in "ab"}
    return Choices(model, chip, source, sides, 64, "fp16", {}, verify=False)


def html_of(app: AppTest) -> str:
    """All HTML of the page."""
    return "".join(part.proto.body for part in app.get("html"))
