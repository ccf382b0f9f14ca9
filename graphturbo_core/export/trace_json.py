"""Report -> Trace Event JSON for Chrome and Perfetto: one round of the largest share.

It has instructions per engine, kernels, and counters: live bytes of LB and GB, layers in flight.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from graphturbo_core.products.program import InstructionKind
from graphturbo_core.report.canvases.canvas import seconds_per_cycle
from graphturbo_core.report.report import Report
from graphturbo_core.sim.trace import Wait

CLUSTER = 0
"""Process id of the simulated cluster."""
MICROSECONDS = 1e6

COUNTERS = {
    "LB of the fullest core": ("lb_cycle", "lb_bytes", "bytes"),
    "GB": ("gb_cycle", "gb_bytes", "bytes"),
    "layers in flight": ("flight_cycle", "flight_layers", "layers"),
}
"""Counters: name -> the report's arrays of cycles and values, and the unit."""

Event = Mapping[str, object]


def trace_json(report: Report) -> str:
    """Text of the trace; times in microseconds, cycles in every event's `args`.

    `pid` is the cluster, `tid` the engine (its index + 1; 0 is the process). Kernels are
    asynchronous events, because kernels of clusters that share a round overlap.
    """
    contract = report.contract
    head = {
        "displayTimeUnit": "ns",
        "otherData": {
            key: str(contract[key]) for key in ("model", "profile", "strategy", "batch", "version")
        },
    }
    events = ",\n".join(json.dumps(event, allow_nan=False) for event in _events(report))
    return f'{json.dumps(head)[:-1]}, "traceEvents": [\n{events}\n]}}\n'


def _events(report: Report) -> Iterator[Event]:
    yield _named("process_name", 0, "cluster 0, one round")
    for row in report.tables["engines"]:
        tid = row["index"] + 1
        yield _named("thread_name", tid, row["label"])
        yield _meta("thread_sort_index", tid, {"sort_index": tid})
    yield from _kernels(report)
    yield from _counters(report)
    yield from _instructions(report)


def _kernels(report: Report) -> Iterator[Event]:
    """A begin ("b") and an end ("e") per kernel, with the lower bound over instruction orders."""
    scale = MICROSECONDS * seconds_per_cycle(report)
    for row in report.tables["kernels"]:
        own = {"name": row["name"], "cat": "kernel", "id": row["index"], "pid": CLUSTER, "tid": 0}
        begin, end, least = (
            round(row[key] * scale, 6) for key in ("start_cycle", "end_cycle", "least_cycles")
        )
        args = {"group": row["group"], "layers": row["layers"], "least_us": least}
        yield {**own, "ph": "b", "ts": begin, "args": args}
        yield {**own, "ph": "e", "ts": end}


def _counters(report: Report) -> Iterator[Event]:
    """Counter events: live bytes of the fullest core's LB and of GB, and layers in flight."""
    scale = MICROSECONDS * seconds_per_cycle(report)
    for name, (cycles, values, unit) in COUNTERS.items():
        steps = zip(report.arrays[cycles].tolist(), report.arrays[values].tolist(), strict=True)
        for cycle, value in steps:
            yield {
                "name": name, "ph": "C", "ts": round(cycle * scale, 6), "pid": CLUSTER, "tid": 0,
                "args": {unit: value},
            }  # fmt: skip


def _named(what: str, tid: int, name: str) -> Event:
    return _meta(what, tid, {"name": name})


def _meta(what: str, tid: int, args: Mapping[str, object]) -> Event:
    return {"name": what, "ph": "M", "pid": CLUSTER, "tid": tid, "args": args}


def _instructions(report: Report) -> Iterator[Event]:
    """One complete event ("X") per instruction, in sequence order."""
    columns = {
        name: report.arrays[name].tolist()
        for name in ("start", "hold", "engine", "kind", "layer", "op", "tile", "size_bytes", "wait")
    }
    ops = [row["op"] for row in report.tables["graph_nodes"]]
    layers = [row["name"] for row in report.tables["layers"]]
    waited = report.arrays["wait_on"].tolist()
    scale = MICROSECONDS * seconds_per_cycle(report)
    for number in range(len(columns["start"])):
        row = {name: values[number] for name, values in columns.items()}
        kind = InstructionKind(row["kind"]).name.lower()
        op = ops[row["op"]] if row["op"] >= 0 else ""
        yield {
            "name": op or kind,
            "cat": kind,
            "ph": "X",
            "ts": round(row["start"] * scale, 6),
            "dur": round(row["hold"] * scale, 6),
            "pid": CLUSTER,
            "tid": row["engine"] + 1,
            "args": {
                "sequence": number,
                "op": op,
                "layer": layers[row["layer"]] if row["layer"] >= 0 else "",
                "tile": row["tile"],
                "bytes": row["size_bytes"],
                "wait": Wait(row["wait"]).name.lower(),
                "wait_on": waited[number],
                "start_cycle": row["start"],
                "cycles": row["hold"],
            },
        }
