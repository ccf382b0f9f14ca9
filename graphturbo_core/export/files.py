"""What the files of a run are called, and how JSON is written."""

from __future__ import annotations

import json
from collections.abc import Mapping

SUFFIXES: Mapping[str, str] = {
    "plan": "plan.yaml",
    "program": "program.txt",
    "edits": "edits.yaml",
    "JSON": "json",
    "trace": "trace.json",
    "DOT": "dot",
}
"""The end of a file's name, by what is in it; the first three are `run_request.EMITTED`."""


def json_text(value: object) -> str:
    """A value as JSON, a line an item."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"
