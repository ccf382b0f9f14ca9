"""Reports -> the instructions of the Gantt chart as rows, and the chart in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphturbo_core.report.canvas import seconds_per_cycle
from graphturbo_core.report.report import Report, Row
from graphturbo_ui.figures.tables import BOTH, MAX_ROWS, Table, counted
from graphturbo_ui.text import safe_text

KIND_NAMES = ("compute", "load", "store", "core to core", "broadcast", "DMA")
WAIT_NAMES = ("nothing", "data", "buffer space", "channel", "barrier", "nothing to do")


def instruction_table(*reports: Report, names: str = BOTH) -> Table:
    """The first instructions of every run by start: what the Gantt chart draws."""
    share = MAX_ROWS // max(len(reports), 1)
    return [
        row
        for name, report in zip(names, reports, strict=False)
        for row in _instructions(name, report, share)
    ]


def _instructions(name: str, report: Report, count: int) -> Table:
    arrays, scale = report.arrays, seconds_per_cycle(report)
    ops, engines = report.tables["graph_nodes"], report.tables["engines"]
    first = np.argsort(arrays["start"], kind="stable")[:count]
    return [
        {
            "run": name,
            "engine": safe_text(engines[int(arrays["engine"][i])]["label"]),
            "op": _op_name(ops, int(arrays["op"][i])),
            "kind": KIND_NAMES[int(arrays["kind"][i])],
            "tile": int(arrays["tile"][i]) + 1,
            "start (s)": float(arrays["start"][i]) * scale,
            "takes (s)": float(arrays["hold"][i]) * scale,
            "bytes": int(arrays["size_bytes"][i]),
            "waited for": WAIT_NAMES[int(arrays["wait"][i])],
        }
        for i in first
    ]


def _op_name(ops: Sequence[Row], index: int) -> str:
    return safe_text(ops[index]["op"]) if index >= 0 else ""


def instruction_count(*reports: Report) -> int:
    """Instructions of all runs together."""
    return sum(len(report.arrays["start"]) for report in reports)


def gantt_summary(*reports: Report, names: str = BOTH) -> str:
    """The Gantt chart in a sentence."""
    parts = [
        f"{name}: {counted(len(report.arrays['start']), 'instruction')} on "
        f"{counted(len(report.tables['engines']), 'engine')}"
        for name, report in zip(names, reports, strict=False)
    ]
    return f"One round on one cluster. {'; '.join(parts)}."
