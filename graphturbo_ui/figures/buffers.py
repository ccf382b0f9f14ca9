"""Reports -> rows and a sentence of buffers: what the address map draws."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from graphturbo_core.report.canvases.canvas import seconds_per_cycle
from graphturbo_core.report.contract import MEMORY_KEYS, MemoryKey
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.buffer_rows import SpaceRow, TensorRow
from graphturbo_core.units import counted, format_bytes
from graphturbo_ui.figures.tables import (
    BOTH,
    MAX_ROWS,
    Table,
    box_text,
    round_text,
    windows_in_round,
)
from graphturbo_ui.text import safe_text

Windows = Sequence[Sequence[float]] | None


def buffer_table(
    *reports: Report,
    names: str = BOTH,
    windows: Windows = None,
    ops: Sequence[Collection[int]] | None = None,
) -> Table:
    """The first buffers of every run, by space and time.

    `windows` (cycles, one per run): only those that hold bytes in it. `ops`: only those of these
    ops of each run.
    """
    share = MAX_ROWS // max(len(reports), 1)
    rows: Table = []
    for number, (name, report) in enumerate(zip(names, reports, strict=False)):
        window = windows[min(number, len(windows) - 1)] if windows else None
        shown = _shown(report, window, None if ops is None else ops[number])[:share]
        rows += [{"run": name, **_row(report, int(index))} for index in shown]
    return rows


def buffer_count(*reports: Report) -> int:
    """Buffers of LB and GB that the reports list."""
    return sum(len(report.arrays["buffer_space"]) for report in reports)


def _shown(
    report: Report, window: Sequence[float] | None, ops: Collection[int] | None
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    arrays = report.arrays
    is_shown = np.ones(len(arrays["buffer_space"]), np.bool_)
    if window is not None:
        begin, end = (arrays[f"buffer_{side}"].astype(np.int64) for side in ("from", "to"))
        is_shown = np.zeros(len(is_shown), np.bool_)
        for first, last in windows_in_round(report, window):
            is_shown |= (begin < last) & (end > first)
    if ops is not None:
        is_shown &= np.isin(arrays["buffer_op"], list(ops))
    return np.flatnonzero(is_shown)


def _row(report: Report, index: int) -> Mapping[str, object]:
    arrays, scale = report.arrays, seconds_per_cycle(report)
    space = report.tables["spaces"][int(arrays["buffer_space"][index])]
    op = int(arrays["buffer_op"][index])
    return {
        "memory": _place(space),
        "tensor": _tensor(report, index),
        "box": _held_box(report, index),
        "holds": _tensor_row(report, index)["kind"],
        "bytes": int(arrays["buffer_size_bytes"][index]),
        "first byte": int(arrays["buffer_offset"][index]),
        "from (s)": float(arrays["buffer_from"][index]) * scale,
        "to (s)": float(arrays["buffer_to"][index]) * scale,
        "filled for": safe_text(report.tables["graph_nodes"][op]["op"]) if op >= 0 else "",
        "bytes before": _tensor(report, int(arrays["buffer_before"][index])),
        "bytes after": _tensor(report, int(arrays["buffer_after"][index])),
    }


def _place(space: SpaceRow) -> str:
    core, cores = space["core"], space["cores"]
    if core < 0:
        return str(space["memory"])
    return f"core {core}{f' x{cores}' if cores > 1 else ''} {space['memory']}"


def _tensor_row(report: Report, index: int) -> TensorRow:
    return report.tables["tensors"][int(report.arrays["buffer_tensor"][index])]


def _tensor(report: Report, index: int) -> str:
    return safe_text(_tensor_row(report, index)["tensor"]) if index >= 0 else ""


def _held_box(report: Report, index: int) -> str:
    """The box of its tensor that a buffer holds."""
    axes = _tensor_row(report, index)["axes"]
    return box_text(
        report.arrays["buffer_lo"][index, :axes].tolist(),
        report.arrays["buffer_hi"][index, :axes].tolist(),
    )


def address_summary(*reports: Report, names: str = BOTH) -> str:
    """The address map in a sentence."""
    parts = []
    for name, report in zip(names, reports, strict=False):
        held = (
            f"{format_bytes(_most(report, memory))} of "
            f"{format_bytes(_capacity(report, memory))} {memory.upper()}"
            for memory in MEMORY_KEYS
            if _capacity(report, memory)
        )
        count = counted(len(report.arrays["buffer_space"]), "buffer")
        parts.append(f"{name} has {count} and uses at most {' and '.join(held)}")
    return f"{round_text(*reports, names=names)} {'; '.join(parts)}.{_left_out(*reports)}"


def _left_out(*reports: Report) -> str:
    """Says how many buffers a report could not list."""
    spaces = [row for report in reports for row in report.tables["spaces"]]
    left = sum(row["buffers"] - row["listed"] for row in spaces)
    return f" {counted(left, 'buffer')} more than a report lists are left out." if left else ""


def _most(report: Report, memory: str) -> int:
    return int(report.arrays[f"{memory}_bytes"].max(initial=0))


def _capacity(report: Report, memory: MemoryKey) -> int:
    return report.contract[memory]["capacity_bytes"]
