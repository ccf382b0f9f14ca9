"""Report -> the ready list of Algorithm 3 step by step, and the bytes in GB meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graphturbo_core.report.canvases.canvas import Array, Show
from graphturbo_core.report.report import Report

BETWEEN = ", "
"""Between the names in a row of the ready list."""
MOST_POINTS = 1600
"""Points of the curve of GB; of more, each stretch has its largest value (our choice)."""
ORDER_OPTION = "graphturbo.instance_order"


def order_picture(report: Report, show: Show) -> dict[str, object] | None:
    """Kernels by number, what enters the list at each step, and the bytes in GB during it.

    None where the run has no ready list, or names in it are not those of kernels. `initial`: what
    is ready before the first step: all pieces of sub-graphs that read no other's results.
    """
    rows = report.tables["ready"]
    kernels = report.tables["kernels"]
    number = {row["name"]: row["index"] for row in kernels}
    if not rows or any(row["run"] not in number for row in rows):
        return None
    initial = _initial(report)
    known = {kernels[index]["name"] for index in initial}
    steps = []
    for row in rows:
        listed = [name for name in row["ready"].split(BETWEEN) if name in number]
        entered = [name for name in listed if name not in known]
        known.update(entered)
        steps.append({"run": number[row["run"]], "entered": [number[name] for name in entered]})
    group_of = {row["name"]: row["index"] for row in report.tables["groups"]}
    gb = _kernel_bytes(report)
    return {
        "kernels": [
            {
                "name": show(row["name"]),
                "group": group_of[row["group"]],
                "start": row["start_cycle"],
                "end": row["end_cycle"],
                **gb[row["index"]],
            }
            for row in kernels
        ],
        "initial": initial,
        "steps": steps,
        "is_breadth_first": report.contract["options"].get(ORDER_OPTION) == "breadth-first",
        "capacity_bytes": report.contract["gb"]["capacity_bytes"],
        "cycles": report.tables["round"][0]["cycles"],
    }


def _initial(report: Report) -> list[int]:
    """Kernels of sub-graphs without a producer, by sub-graph, then by piece."""
    nodes = report.tables["graph_nodes"]
    fed = {
        nodes[edge["target"]]["group"]
        for edge in report.tables["graph_edges"]
        if edge["source"] >= 0 and nodes[edge["source"]]["group"] != nodes[edge["target"]]["group"]
    }
    place = {row["name"]: row["index"] for row in report.tables["groups"]}
    found = [
        (place[row["group"]], _piece(row["name"]), row["index"])
        for row in report.tables["kernels"]
        if place[row["group"]] not in fed
    ]
    return [index for _, _, index in sorted(found)]


def _piece(name: str) -> int:
    """The piece that a kernel's name counts: 8 of `g2/8`."""
    last = name.rpartition("/")[2]
    return int(last) if last.isdigit() else 0


def _kernel_bytes(report: Report) -> Sequence[Mapping[str, int]]:
    """Bytes in GB of each kernel: the most while it runs, and those at its end."""
    cycle, size = report.arrays["gb_cycle"], report.arrays["gb_bytes"]
    found = []
    for row in report.tables["kernels"]:
        first = max(0, int(np.searchsorted(cycle, row["start_cycle"], side="right")) - 1)
        last = max(first + 1, int(np.searchsorted(cycle, row["end_cycle"], side="left")))
        held = size[first:last]
        peak, after = int(held.max(initial=0)), int(held[-1]) if len(held) else 0
        found.append({"gb_peak_bytes": peak, "gb_end_bytes": after})
    return found


def gb_curve(report: Report) -> dict[str, Array]:
    """The step function of the bytes in GB: exact, or the largest value of each stretch."""
    cycle, size = report.arrays["gb_cycle"], report.arrays["gb_bytes"]
    if len(cycle) > MOST_POINTS:
        edges = np.linspace(0, len(cycle), MOST_POINTS + 1).astype(np.int64)[:-1]
        cycle, size = cycle[edges], np.maximum.reduceat(size, edges)
    return {"gb_cycle": cycle.astype("<f8"), "gb_bytes": size.astype("<f8")}
