"""Report -> bytes of the Gantt chart: instructions by engine, with paths, bytes and occupancy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphturbo_core.products.program import Cause
from graphturbo_core.report.canvases.canvas import (
    Array,
    Show,
    column,
    narrowed,
    pack,
    seconds_per_cycle,
    sequence,
)
from graphturbo_core.report.canvases.resources import RESOURCE_NAMES
from graphturbo_core.report.contract import MEMORY_KEYS
from graphturbo_core.report.report import Report

SENT_TYPES: Mapping[str, str] = {
    "start": "<u4",
    "hold": "<u4",
    "kind": "|u1",
    "wait": "|u1",
    "layer": "<i4",
    "group": "<i4",
    "op": "<i4",
    "tile": "<i4",
    "size_bytes": "<u4",
}
"""Default types of a Gantt chart's arrays; `_sent` narrows or widens them by their values."""
CAUSE_NAMES = tuple(cause.name.lower().replace("_", " ") for cause in Cause)
"""What the numbers of `booked_way` stand for, the first (no cause) never met."""


def gantt_buffer(
    *reports: Report, show: Show = str, extra: Mapping[str, object] | None = None
) -> bytes:
    """Instructions of one or two runs, engine by engine in order of start.

    `show` is applied to every name from a model or profile; `extra` is added to the header.
    `wait_on` is the other instruction's place in this order, -1 for none.
    """
    runs, arrays = [], {}
    for number, report in enumerate(reports):
        header, own = _gantt_run(report, show)
        runs.append(header)
        arrays.update({f"{number}.{name}": array for name, array in own.items()})
    return pack({"runs": runs, **(extra or {})}, arrays)


def _gantt_run(report: Report, show: Show) -> tuple[dict[str, object], dict[str, Array]]:
    engine = report.arrays["engine"].astype(np.int64)
    order = np.lexsort((report.arrays["start"], engine))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    nodes = report.tables["graph_nodes"]
    rows, stretches = _overlap(report)
    arrays = {
        **{name: narrowed(report.arrays[name][order], kind) for name, kind in SENT_TYPES.items()},
        "wait_on": _places(place, report.arrays["wait_on"][order]),
        "chain": _places(place, report.arrays["chain"]),
        **_path(report, place),
        **_in_flight(report),
        **_busy_shares(report, order),
        **_boxes(report, order),
        **_booked(report, place),
        **_occupancy(report),
        **stretches,
        "op_group": column(row["group"] for row in nodes),
        "op_layer": column(row["layer"] for row in nodes),
        "op_origin": column(row["origin"] for row in nodes),
    }
    return {**_header(report, show, engine[order]), "overlap": rows}, arrays


def _header(report: Report, show: Show, engine: Array) -> dict[str, object]:
    """Names and numbers of a run; `engine`: engine of every instruction in the order sent."""
    engines, contract = report.tables["engines"], report.contract
    (whole,) = report.tables["round"]
    ends = np.searchsorted(engine, np.arange(len(engines)), side="right")
    firsts = [0, *(int(end) for end in ends)]
    return {
        "title": show(f"{contract['strategy']}"),
        "cycles": whole["cycles"],
        "chain_cycles": whole["longest_chain_cycles"],
        "sequence": sequence(report),
        "seconds_per_cycle": seconds_per_cycle(report),
        "rows": [
            {
                "label": show(row["label"]),
                "kind": row["kind"],
                "core": row["core"],
                "cores": row["cores"],
                "from": firsts[index],
                "to": firsts[index + 1],
            }
            for index, row in enumerate(engines)
        ],
        "ops": [show(row["op"]) for row in report.tables["graph_nodes"]],
        "layers": [show(row["name"]) for row in report.tables["layers"]],
        "groups": [show(row["name"]) for row in report.tables["groups"]],
        "tensors": [show(row["tensor"]) for row in report.tables["tensors"]],
        "columns": report.arrays["box_lo"].shape[1],
        "causes": CAUSE_NAMES,
        "overlap_share": contract["cross_layer_overlap"],
        "in_flight_share": whole["layers_in_flight"],
        "under_share": whole["memory_under_compute"],
        "stretches": [dict(row) for row in report.tables["stretches"]],
        "resources": RESOURCE_NAMES,
        "path_shares": _path_shares(report),
        "capacities": {name: contract[name]["capacity_bytes"] for name in MEMORY_KEYS},
    }


def _places(place: Array, instructions: Array) -> Array:
    """Places of instructions in the order sent; -1 maps to -1."""
    numbers = instructions.astype(np.int64)
    return np.where(numbers < 0, -1, place[np.maximum(numbers, 0)]).astype("<i4")


def _path(report: Report, place: Array) -> dict[str, Array]:
    """Stretches of the critical path that belong to an instruction, sorted by its place."""
    at = _places(place, report.arrays["path_instruction"]).astype(np.int32)
    order = np.lexsort((report.arrays["path_start"], at))
    order = order[at[order] >= 0]
    return {
        "path": at[order],
        "path_start": report.arrays["path_start"][order].astype("<f8"),
        "path_end": report.arrays["path_end"][order].astype("<f8"),
        "path_resource": report.arrays["path_resource"][order].astype("|u1"),
        "path_holds_up": report.arrays["path_holds_up"][order].astype("|u1"),
    }


def _path_shares(report: Report) -> list[list[object]]:
    """[resource, share of the round] of the critical path, the largest first."""
    cycles = np.zeros(len(RESOURCE_NAMES), np.int64)
    begin, end = (report.arrays[f"path_{side}"].astype(np.int64) for side in ("start", "end"))
    np.add.at(cycles, report.arrays["path_resource"].astype(np.int64), end - begin)
    total = max(1, int(cycles.sum()))
    order = np.argsort(-cycles, kind="stable").tolist()
    return [[RESOURCE_NAMES[at], int(cycles[at]) / total] for at in order if cycles[at]]


def _in_flight(report: Report) -> dict[str, Array]:
    """Layers in flight as steps, and the stretches of memory under another layer's compute."""
    begin, end = (report.arrays[f"under_{side}"].astype(np.int64) for side in ("start", "end"))
    return {
        "flight_cycle": report.arrays["flight_cycle"].astype("<f8"),
        "flight_layers": narrowed(report.arrays["flight_layers"], "<u4"),
        "under_start": begin.astype("<f8"),
        "under_hold": (end - begin).astype("<f8"),
    }


def _busy_shares(report: Report, order: Array) -> dict[str, Array]:
    """Share of its hold in which an instruction's engines are busy; empty where all are 1.

    It is below 1 where an engine represents those of several cores that share a port.
    """
    cores = np.array([row["cores"] for row in report.tables["engines"]], np.int64)
    held = report.arrays["hold"].astype(np.int64) * cores[report.arrays["engine"].astype(np.int64)]
    busy = report.arrays["busy"].astype(np.int64)
    if np.array_equal(held, busy):
        return {}
    return {"busy_share": (busy / np.maximum(held, 1))[order].astype("<f4")}


def _boxes(report: Report, order: Array) -> dict[str, Array]:
    """The tensor that an instruction moves (-1: it computes), and the box that it writes.

    A box is one place in `cut_lo` and `cut_hi` per column of the header's `columns`. All boxes
    consist of few distinct intervals, so a place needs two bytes where two ends would need eight.
    """
    lo, hi = (report.arrays[f"box_{end}"][order].astype(np.int64) for end in ("lo", "hi"))
    cuts, places = np.unique((lo << 32 | hi).ravel(), return_inverse=True)
    return {
        "moved": narrowed(report.arrays["moved_tensor"][order], "<i4"),
        "axes": report.arrays["box_axes"][order].astype("|u1"),
        "cut": narrowed(places, "<u4"),
        "cut_lo": narrowed(cuts >> 32, "<i4"),
        "cut_hi": narrowed(cuts & 0xFFFFFFFF, "<i4"),
    }


def _booked(report: Report, place: Array) -> dict[str, Array]:
    """Bytes by memory and cause, in the order of the instructions that move them.

    `booked_way` is 0 to 7 for the causes of DRAM, 8 to 15 for those of GB.
    """
    at = place[report.arrays["booked_instruction"].astype(np.int64)]
    order = np.argsort(at, kind="stable")
    way = report.arrays["booked_memory"].astype(np.int64) * len(CAUSE_NAMES)
    cause = report.arrays["booked_cause"].astype(np.int64)
    return {
        "booked_at": at[order].astype("<i4"),
        "booked_way": (way + cause)[order].astype("|u1"),
        "booked_bytes": narrowed(report.arrays["booked_bytes"][order], "<u4"),
    }


def _occupancy(report: Report) -> dict[str, Array]:
    """Live bytes of the fullest LB and of GB as step functions, without steps of zero height."""
    steps: dict[str, Array] = {}
    for name in ("lb", "gb"):
        live = report.arrays[f"{name}_bytes"].astype("<f8")
        changes = np.flatnonzero(np.diff(live, prepend=-1.0))
        steps[f"{name}_bytes"] = live[changes]
        steps[f"{name}_cycle"] = report.arrays[f"{name}_cycle"].astype("<f8")[changes]
    return steps


def _overlap(report: Report) -> tuple[list[dict[str, int]], dict[str, Array]]:
    """Stretches in which a core runs two or more layers, core by core in order of start."""
    cores = report.arrays["overlap_core"].astype(np.int64)
    starts = report.arrays["overlap_start"].astype(np.int64)
    ends = report.arrays["overlap_end"].astype(np.int64)
    order = np.lexsort((starts, cores))
    engines = report.tables["engines"]
    present = {row["core"]: row["cores"] for row in engines if row["core"] >= 0}
    sorted_cores = cores[order]
    rows = [
        {
            "core": core,
            "cores": represented,
            "from": int(np.searchsorted(sorted_cores, core, side="left")),
            "to": int(np.searchsorted(sorted_cores, core, side="right")),
        }
        for core, represented in sorted(present.items())
    ]
    return rows, {
        "overlap_start": starts[order].astype("<f8"),
        "overlap_hold": (ends - starts)[order].astype("<f8"),
    }
