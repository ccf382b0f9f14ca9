"""Names of a run's files, and the format of its JSON."""

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
"""End of a file's name by its content; the first three are `plan_io.EMITTED`."""


def json_text(value: object) -> str:
    """A value as JSON, one line per item."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"
