"""Rows -> CSV and JSON texts: a header, then a row per point and strategy."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from graphturbo_core.export.files import json_text
from graphturbo_core.sweep.axes import Axis
from graphturbo_core.sweep.tasks import FIGURES, Row


def columns_of(axes: Sequence[Axis]) -> tuple[str, ...]:
    """The varied keys, strategy, status and error, then the figures that are not varied."""
    keys = tuple(axis.key for axis in axes)
    return (*keys, "strategy", "status", "error", *(name for name in FIGURES if name not in keys))


def sweep_csv(axes: Sequence[Axis], rows: Sequence[Row]) -> str:
    """The table as CSV with commas and Unix line ends; a missing figure is empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns_of(axes), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _safe(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def sweep_json(axes: Sequence[Axis], rows: Sequence[Row]) -> str:
    """The table as JSON: its columns in order, and its rows."""
    return json_text({"columns": list(columns_of(axes)), "rows": [dict(row) for row in rows]})


def _safe(value: object) -> object:
    """A text that spreadsheets do not take for a formula; names come from untrusted files."""
    is_formula = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if is_formula else value
