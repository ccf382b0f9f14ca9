"""Runs of a comparison -> rows of the table: numbers that sort, every name made safe."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.grouping import (
    grouping_changes,
    groups_text,
    layers_text,
)
from graphturbo_ui.text import safe_text

MIB = 2**20
Table = list[dict[str, object]]
NUMBERS = (
    "time of the whole batch (ms)", "samples/s", "of bound's speed (%)",
    "DRAM of the whole batch (MiB)", "GB traffic of the whole batch (MiB)", "matrix busy (%)",
    "LB peak (KiB)", "GB peak (MiB)",
)  # fmt: skip
"""Columns with a fraction."""


def run_rows(runs: Sequence[ComparedRun]) -> Table:
    """A row per run, in the order of the comparison."""
    return [
        {
            "run": safe_text(run.name),
            "pinned": "yes" if run.is_pinned else "",
            "time of the whole batch (ms)": 1e3 * run.figures.latency_s,
            "samples/s": run.figures.throughput_per_s,
            "of bound's speed (%)": 100 * run.figures.bound_share,
            "DRAM of the whole batch (MiB)": run.figures.dram_bytes / MIB,
            "GB traffic of the whole batch (MiB)": (
                run.figures.gb_read_bytes + run.figures.gb_write_bytes
            )
            / MIB,
            "matrix busy (%)": 100 * run.figures.utilization.get("matrix", 0.0),
            "kernels of the whole batch": run.figures.launches,
            "groups": len(run.figures.groups),
            "pieces": run.figures.pieces,
            "LB peak (KiB)": run.figures.lb.peak_bytes / 1024,
            "GB peak (MiB)": run.figures.gb.peak_bytes / MIB,
            "strategy": safe_text(run.figures.strategy),
            "model": safe_text(run.figures.model),
            "chip": safe_text(run.figures.profile),
            "batch": run.figures.batch,
            "format": safe_text(run.figures.dtype),
            "note": safe_text(run.note, max_length=500),
            "version": safe_text(run.figures.version),
        }
        for run in runs
    ]


def grouping_rows(a: ComparedRun, b: ComparedRun) -> Table:
    """A row per set of layers that two runs group differently."""
    return [
        {
            "layers": layers_text(change.layers),
            "A": safe_text(groups_text(change.a)),
            "B": safe_text(groups_text(change.b)),
        }
        for change in grouping_changes(a.figures, b.figures)
    ]
