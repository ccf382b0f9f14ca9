"""Reports -> rows and facts of sub-graphs: what the graph view draws and tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from graphturbo_core.report.report import Report
from graphturbo_core.units import format_bytes, format_count
from graphturbo_ui.figures.tables import BOTH, Table, counted
from graphturbo_ui.text import safe_text


def group_table(*reports: Report, names: str = BOTH) -> Table:
    """A row a sub-graph of every run: what the graph view draws."""
    return [
        {
            "run": name,
            "sub-graph": safe_text(row["name"]),
            "layers": row["layers"],
            "ops": row["ops"],
            "split axis": row["split_axis"],
            "pieces": row["pieces"],
            "peak": format_bytes(cast(int, row["peak_bytes"])),
            "why merged": safe_text(row["why"]),
            "why not further": safe_text(row["why_not"]),
        }
        for name, report in zip(names, reports, strict=False)
        for row in report.tables["groups"]
    ]


def group_facts(report: Report, group: int) -> Mapping[str, str]:
    """What a click on a sub-graph tells: size, split, peak, and why it is as it is."""
    row = report.tables["groups"][group]
    kernels = [k for k in report.tables["kernels"] if k["group"] in (group, row["name"])]
    return {
        "layers": str(row["layers"]),
        "ops": str(row["ops"]),
        "pieces": f"{row['pieces']} along axis {row['split_axis']}"
        if cast(int, row["pieces"]) > 1
        else "1 (not split)",
        "ops that the split covers": str(row["covered_ops"]),
        "live activations at their peak": format_bytes(cast(int, row["peak_bytes"])),
        "kernels in this round": format_count(len(kernels)),
        "why merged": safe_text(row["why"], max_length=1000) or "not merged",
        "why not further": safe_text(row["why_not"], max_length=1000) or "nothing left to merge",
    }


def graph_summary(*reports: Report, names: str = BOTH) -> str:
    """The graph view in a sentence."""
    parts = [
        f"{name} runs {counted(len(report.tables['graph_nodes']), 'op')} as "
        f"{counted(len(report.tables['groups']), 'sub-graph')}"
        for name, report in zip(names, reports, strict=False)
    ]
    return f"{'; '.join(parts)}. The vertical axis is the same for both: order of dependence."
