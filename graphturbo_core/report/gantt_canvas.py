"""Report -> bytes of the Gantt chart: instructions, engine by engine, and what goes with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from graphturbo_core.report.canvas import Array, Show, column, pack, seconds_per_cycle
from graphturbo_core.report.report import Report

SENT_TYPES: Mapping[str, str] = {
    "start": "<f8",
    "hold": "<u4",
    "kind": "|u1",
    "wait": "|u1",
    "layer": "<i4",
    "group": "<i4",
    "op": "<i4",
    "tile": "<i4",
    "size_bytes": "<u4",
}
"""Arrays of a Gantt chart as sent; start cycles as float64, exact up to 2^53."""
NARROW = "<i2"
"""What an index array is sent as where its values fit, which they mostly do."""


def gantt_buffer(
    *reports: Report, show: Show = str, extra: Mapping[str, object] | None = None
) -> bytes:
    """Instructions of one or two runs, engine by engine in order of start.

    `show` passes over every name that a model or profile brought; `extra` joins the header. A
    `wait_on` points at the place of the other instruction in this order, -1 for none.
    """
    runs, arrays = [], {}
    for number, report in enumerate(reports):
        header, own = _gantt_run(report, show)
        runs.append(header)
        arrays.update({f"{number}.{name}": array for name, array in own.items()})
    return pack({"runs": runs, **(extra or {})}, arrays)


def _gantt_run(report: Report, show: Show) -> tuple[dict[str, object], dict[str, Array]]:
    engines = report.tables["engines"]
    engine = report.arrays["engine"].astype(np.int64)
    order = np.lexsort((report.arrays["start"], engine))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    own: dict[str, Array] = {
        name: _sent(report.arrays[name][order], kind) for name, kind in SENT_TYPES.items()
    }
    waits = report.arrays["wait_on"][order].astype(np.int64)
    own["wait_on"] = np.where(waits < 0, -1, place[np.maximum(waits, 0)]).astype("<i4")
    nodes = report.tables["graph_nodes"]
    own |= {"op_group": column(nodes, "group"), "op_layer": column(nodes, "layer")}
    ends = np.searchsorted(engine[order], np.arange(len(engines)), side="right")
    firsts = [0, *(int(end) for end in ends)]
    header: dict[str, object] = {
        "title": show(f"{report.contract['strategy']}"),
        "cycles": _round_cycles(report),
        "rounds": report.contract["rounds"],
        "seconds_per_cycle": seconds_per_cycle(report),
        "rows": [
            {
                "label": show(str(row["label"])),
                "kind": row["kind"],
                "core": row["core"],
                "cores": row["cores"],
                "from": firsts[index],
                "to": firsts[index + 1],
            }
            for index, row in enumerate(engines)
        ],
        "ops": [show(str(row["op"])) for row in nodes],
        "layers": [show(str(row["name"])) for row in report.tables["layers"]],
        "groups": [show(str(row["name"])) for row in report.tables["groups"]],
        "overlap_share": report.contract["cross_layer_overlap"],
    }
    header["overlap"], stretches = _overlap(report)
    return header, {**own, **stretches}


def _sent(values: Array, kind: str) -> Array:
    limits = np.iinfo(NARROW)
    numbers = values.astype(np.int64)
    is_narrow = numbers.min(initial=0) >= limits.min and numbers.max(initial=0) <= limits.max
    return numbers.astype(NARROW if kind == "<i4" and is_narrow else kind)


def _overlap(report: Report) -> tuple[list[dict[str, int]], dict[str, Array]]:
    """Stretches in which a core runs two or more layers, core by core in order of start."""
    cores = report.arrays["overlap_core"].astype(np.int64)
    starts = report.arrays["overlap_start"].astype(np.int64)
    ends = report.arrays["overlap_end"].astype(np.int64)
    order = np.lexsort((starts, cores))
    engines = cast(Sequence[Mapping[str, int]], report.tables["engines"])
    present = {row["core"]: row["cores"] for row in engines if row["core"] >= 0}
    sorted_cores = cores[order]
    rows = [
        {
            "core": core,
            "cores": alike,
            "from": int(np.searchsorted(sorted_cores, core, side="left")),
            "to": int(np.searchsorted(sorted_cores, core, side="right")),
        }
        for core, alike in sorted(present.items())
    ]
    return rows, {
        "overlap_start": starts[order].astype("<f8"),
        "overlap_hold": (ends - starts)[order].astype("<f8"),
    }


def _round_cycles(report: Report) -> int:
    """Cycles of the one round that the arrays describe: the end of its last instruction."""
    ends = report.arrays["start"].astype(np.int64) + report.arrays["hold"].astype(np.int64)
    visible = report.arrays["visible"].astype(np.int64)
    return int(max(ends.max(initial=0), visible.max(initial=0)))
