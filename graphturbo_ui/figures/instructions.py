"""Reports -> the instructions of the Gantt chart as rows, and the chart in a sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.report.canvases.canvas import seconds_per_cycle
from graphturbo_core.report.report import Report
from graphturbo_core.units import counted
from graphturbo_ui.figures.tables import (
    BOTH,
    MAX_ROWS,
    Table,
    box_text,
    round_text,
    windows_in_round,
)
from graphturbo_ui.palette import KIND_NAMES
from graphturbo_ui.text import safe_text

WAIT_NAMES = ("nothing", "data", "buffer space", "channel", "barrier", "nothing to do")


Windows = Sequence[Sequence[float]]
"""[first, last] in cycles, a run each."""


def instruction_table(
    *reports: Report,
    names: str = BOTH,
    windows: Windows | None = None,
    ops: Sequence[Collection[int]] | None = None,
) -> Table:
    """Instructions of every run by start: what the Gantt chart draws, as far as it is in sight.

    `windows`: only what is held within them; `ops`: only instructions of these ops of each run.
    None: of all.
    """
    share = MAX_ROWS // max(len(reports), 1)
    found = shown_instructions(*reports, windows=windows, ops=ops)
    return [
        row
        for name, report, rows in zip(names, reports, found, strict=False)
        for row in _rows(name, report, rows[:share])
    ]


def shown_instructions(
    *reports: Report, windows: Windows | None, ops: Sequence[Collection[int]] | None
) -> list[NDArray[np.intp]]:
    """Of every run the instructions in its window and of these ops, by start."""
    found = []
    for number, report in enumerate(reports):
        start, hold = (report.arrays[name].astype(np.int64) for name in ("start", "hold"))
        is_shown = np.ones(len(start), np.bool_)
        if windows:
            window = windows[min(number, len(windows) - 1)]
            is_shown = np.zeros(len(start), np.bool_)
            for first, last in windows_in_round(report, window):
                is_shown |= (start < last) & (start + hold > first)
        if ops is not None:
            is_shown &= np.isin(report.arrays["op"], list(ops[number]))
        rows = np.flatnonzero(is_shown)
        found.append(rows[np.argsort(start[rows], kind="stable")])
    return found


def _rows(name: str, report: Report, rows: NDArray[np.intp]) -> Table:
    arrays, scale = report.arrays, seconds_per_cycle(report) * 1e6
    ops = [row["op"] for row in report.tables["graph_nodes"]]
    layers = [row["name"] for row in report.tables["layers"]]
    tensors = [row["tensor"] for row in report.tables["tensors"]]
    engines = report.tables["engines"]
    waited = _waited_cycles(report)
    return [
        {
            "run": name,
            "engine": safe_text(engines[int(arrays["engine"][i])]["label"]),
            "op": _named(ops, int(arrays["op"][i])),
            "layer": _named(layers, int(arrays["layer"][i])),
            "kind": KIND_NAMES[int(arrays["kind"][i])],
            "tile": int(arrays["tile"][i]) + 1,
            "moves": _named(tensors, int(arrays["moved_tensor"][i])),
            "box": _made_box(report, int(i)),
            "start (µs)": float(arrays["start"][i]) * scale,
            "takes (µs)": float(arrays["hold"][i]) * scale,
            "bytes": int(arrays["size_bytes"][i]),
            "waited (µs)": float(waited[i]) * scale,
            "at last for": WAIT_NAMES[int(arrays["wait"][i])],
        }
        for i in rows
    ]


def _waited_cycles(report: Report) -> NDArray[np.int64]:
    """Cycles between the end of the one before on the same engine and each instruction's start."""
    start, hold = (report.arrays[name].astype(np.int64) for name in ("start", "hold"))
    engine = report.arrays["engine"]
    order = np.lexsort((start, engine))
    ends = np.concatenate([np.zeros(1, np.int64), (start + hold)[order][:-1]])[: len(order)]
    is_first = np.diff(engine[order], prepend=-1) != 0
    waited = np.empty(len(order), np.int64)
    waited[order] = start[order] - np.where(is_first, 0, ends)
    return waited


def _made_box(report: Report, index: int) -> str:
    """The box of the result, or of what is moved."""
    axes = int(report.arrays["box_axes"][index])
    return box_text(*(report.arrays[f"box_{end}"][index, :axes].tolist() for end in ("lo", "hi")))


def _named(names: Sequence[str], index: int) -> str:
    return safe_text(names[index]) if index >= 0 else ""


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
    return f"{round_text(*reports, names=names)} {'; '.join(parts)}."
