"""Report -> its JSON: the contract, and the tables that the app shows."""

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
"""Keys of the JSON -> tables of the report, row by row in order."""


class KernelTimes(TypedDict):
    """One kernel of `kernel_times`."""

    name: str
    group: str
    layers: int
    start_s: float
    end_s: float
    least_s: float


def json_form(report: Report) -> dict[str, object]:
    """The contract's keys, `kernel_times` and `TABLES`; for one round of the largest share.

    `splits`: results of Algorithm 1 per part and axis. `decisions`: each merge and refusal with its
    rule and numbers. `ready_list`: the ready instances at each choice of Algorithm 3. `bindings`:
    cores and scope of each tensor per kernel.
    """
    return {
        **report.contract,
        "kernel_times": kernel_times(report),
        **{key: [_plain(row) for row in report.tables[name]] for key, name in TABLES.items()},
    }


def kernel_times(report: Report) -> list[KernelTimes]:
    """Start and end of each kernel in seconds from the start of the round.

    `least_s`: lower bound over all orders of its instructions.
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
    """A row without `index`, which equals its place in the list."""
    return {key: value for key, value in row.items() if key != "index"}
