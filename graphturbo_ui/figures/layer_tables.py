"""Reports -> the table of layers, and as a CSV file."""

from __future__ import annotations

import csv
import io
from typing import cast

from graphturbo_core.report.report import Report, Row
from graphturbo_ui.figures.accounting import busy_rows
from graphturbo_ui.figures.roofline import roof_over, roofs_of
from graphturbo_ui.figures.tables import BOTH, Table
from graphturbo_ui.selection import Selection
from graphturbo_ui.text import safe_text

FORMULA_SIGNS = ("=", "+", "-", "@")
"""A spreadsheet takes a cell that begins so for a formula."""


def layer_table(*reports: Report, names: str = BOTH) -> Table:
    """A row a layer of every run: time, work, bytes and roof, in one round on one cluster."""
    return [
        {"run": name, **_row(layer, busy, roofs_of(report))}
        for name, report in zip(names, reports, strict=False)
        for layer, busy in zip(report.tables["layers"], busy_rows(report), strict=True)
    ]


def layer_selections(*reports: Report, names: str = BOTH) -> list[Selection]:
    """What each of these rows stands for."""
    return [
        Selection(name, "layer", index)
        for name, report in zip(names, reports, strict=False)
        for index in range(len(report.tables["layers"]))
    ]


def _row(layer: Row, busy: dict[str, float], roofs: Row) -> dict[str, object]:
    macs, size_bytes = cast(int, layer["macs"]), cast(int, layer["dram_bytes"])
    window_s = cast(float, layer["window_s"])
    intensity = macs / size_bytes if size_bytes else None
    roof, limit = roof_over(intensity, roofs)
    achieved = macs / window_s if window_s else 0.0
    return {
        "layer": cast(int, layer["index"]) + 1,
        "name": safe_text(layer["name"]),
        "op types": safe_text(layer["op_types"]),
        "sub-graph": safe_text(layer["group"]),
        "windows (µs)": 1e6 * window_s,
        "first start (µs)": 1e6 * cast(float, layer["start_s"]),
        "last end (µs)": 1e6 * cast(float, layer["end_s"]),
        "MACs": macs,
        "DRAM bytes": size_bytes,
        "GB bytes": layer["gb_bytes"],
        "MAC a byte": intensity if macs else None,
        "MAC/s": achieved,
        "of its roof (%)": 100 * achieved / limit if macs else None,
        "roof": roof if macs else "",
        **{f"{kind} busy (µs)": 1e6 * seconds for kind, seconds in busy.items()},
    }


def csv_text(rows: Table) -> str:
    """The rows with a header line, by RFC 4180; no name can pass for a formula."""
    stream = io.StringIO()
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(stream, columns)
    writer.writeheader()
    writer.writerows([{name: _cell(value) for name, value in row.items()} for row in rows])
    return stream.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_SIGNS) else value


def samples_text(*reports: Report, names: str) -> str:
    """Says for how many samples the layers' times are: those of one round."""
    parts = [
        f"{name}'s takes {report.contract['cluster_batch']} samples a cluster"
        for name, report in zip(names, reports, strict=False)
    ]
    return f"Times, work and bytes are those of one round; {' and '.join(parts)}."
