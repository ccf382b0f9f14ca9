"""Reports -> the table of layers, and as a CSV file."""

from __future__ import annotations

import csv
import io

from graphturbo_core.report.measured.table import FORMULA_SIGNS
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.layer_rows import LayerRow
from graphturbo_core.report.rows.roof_rows import RoofRow
from graphturbo_core.units import counted
from graphturbo_ui.figures.accounting import busy_rows, samples_of_round
from graphturbo_ui.figures.roofline import roof_over, roofs_of
from graphturbo_ui.figures.tables import BOTH, Table
from graphturbo_ui.session.selection import Selection
from graphturbo_ui.text import safe_text


def layer_table(*reports: Report, names: str = BOTH) -> Table:
    """A row per layer of every run: its times in a round, work and bytes per sample, its roof."""
    return [
        {"run": name, **_row(layer, busy, roofs_of(report), samples_of_round(report))}
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


def _row(
    layer: LayerRow, busy: dict[str, float], roofs: RoofRow, samples: int
) -> dict[str, object]:
    macs, size_bytes = layer["macs"], layer["dram_bytes"]
    window_s = layer["window_s"]
    intensity = macs / size_bytes if size_bytes else None
    roof, limit = roof_over(intensity, roofs)
    achieved = macs / window_s if window_s else 0.0
    return {
        "layer": layer["index"] + 1,
        "name": safe_text(layer["name"]),
        "op types": safe_text(layer["op_types"]),
        "sub-graph": safe_text(layer["group"]),
        "windows per sample (µs)": 1e6 * window_s / samples,
        "first start in a round (µs)": 1e6 * layer["start_s"],
        "last end in a round (µs)": 1e6 * layer["end_s"],
        "MACs per sample": macs / samples,
        "DRAM bytes per sample": size_bytes / samples,
        "GB bytes per sample": layer["gb_bytes"] / samples,
        "MAC/byte": intensity if macs else None,
        "MAC/s": achieved,
        "of its roof (%)": 100 * achieved / limit if macs else None,
        "roof": roof if macs else "",
        **{f"{kind} busy per sample (µs)": 1e6 * seconds for kind, seconds in busy.items()},
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
    """Says over how many samples the layers' figures are taken: those of one round."""
    parts = [
        f"{name}'s {counted(samples_of_round(report), 'sample')} per cluster"
        for name, report in zip(names, reports, strict=False)
    ]
    return (
        "Busy time, work and bytes are per sample: those of one round over "
        f"{' and '.join(parts)}. The mean is over the cluster's engines of a kind."
    )
