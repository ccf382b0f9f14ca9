"""Report -> what its JSON has: the contract, and the tables behind what the app shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict

from graphturbo_core.report.canvases.canvas import seconds_per_cycle
from graphturbo_core.report.report import Report

TABLES: Mapping[str, Literal["splits", "decisions", "ready", "bindings"]] = {
    "splits": "splits",
    "decisions": "decisions",
    "ready_list": "ready",
    "bindings": "bindings",
}
"""Keys of the JSON, and the report's tables that they hold row by row in order."""


class KernelTimes(TypedDict):
    """One kernel of `kernel_times`."""

    name: str
    group: str
    layers: int
    start_s: float
    end_s: float
    least_s: float


def json_form(report: Report) -> dict[str, object]:
    """The contract's keys, `kernel_times` and `TABLES`; of one round of the largest share.

    `splits`: what Algorithm 1 finds for each part and axis. `decisions`: each merge and refusal
    with its rule and numbers. `ready_list`: what could have run when each instance was chosen.
    `bindings`: the cores and the scope of each tensor in each kernel.
    """
    return {
        **report.contract,
        "kernel_times": kernel_times(report),
        **{key: [_plain(row) for row in report.tables[name]] for key, name in TABLES.items()},
    }


def kernel_times(report: Report) -> list[KernelTimes]:
    """Seconds from the round's begin, kernel by kernel.

    `least_s`: no order of its instructions takes less.
    """
    scale = seconds_per_cycle(report)
    return [
        {
            "name": row["name"],
            "group": row["group"],
            "layers": row["layers"],
            "start_s": row["start_cycle"] * scale,
            "end_s": row["end_cycle"] * scale,
            "least_s": row["least_cycles"] * scale,
        }
        for row in report.tables["kernels"]
    ]


def _plain(row: Mapping[str, object]) -> Mapping[str, object]:
    """A row without its own number, which its place in the list says."""
    return {key: value for key, value in row.items() if key != "index"}
