"""Reports -> tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from graphturbo_core.report.contract import split_axes
from graphturbo_core.report.report import Report
from graphturbo_core.units import (
    format_bytes,
    format_count,
    format_percent,
    format_seconds,
    format_si,
)


def _count(value: float) -> str:
    return format_count(int(value))


def _times(value: float) -> str:
    return f"{format_si(value)}x"


def _in_flight(contract: Mapping[str, Any]) -> float:
    share: float = contract["overlap"]["layers_in_flight"]["share"]
    return share


FIGURES: tuple[
    tuple[str, Callable[[Mapping[str, Any]], float], Callable[[float], str]], ...
] = (
    ("throughput (samples/s)", lambda c: c["throughput_per_s"], format_si),
    ("latency", lambda c: c["latency_s"], format_seconds),
    ("lower bound (model, chip)", lambda c: c["lower_bound_s"], format_seconds),
    ("bound: matrix", lambda c: c["lower_bound_terms"]["matrix"], format_seconds),
    ("bound: vector", lambda c: c["lower_bound_terms"]["vector"], format_seconds),
    ("bound: matrix and vector", lambda c: c["lower_bound_terms"]["engines"], format_seconds),
    ("bound: DRAM", lambda c: c["lower_bound_terms"]["dram"], format_seconds),
    ("bound of this plan", lambda c: c["plan_bound_s"], format_seconds),
    ("longest dependency chain", lambda c: c["program_critical_path_s"], format_seconds),
    ("latency / lower bound", lambda c: c["gap"], _times),
    ("samples per cluster at once", lambda c: c["cluster_batch"], _count),
    ("rounds", lambda c: c["rounds"], _count),
    ("layers (fine sub-graphs)", lambda c: c["sub_graphs_fine"], _count),
    ("groups (coarse sub-graphs)", lambda c: len(c["groups"]), _count),
    ("kernels per round", lambda c: c["kernels"], _count),
    ("instructions per round", lambda c: c["instructions"], _count),
    ("DRAM traffic", lambda c: c["dram_read_bytes"] + c["dram_write_bytes"], format_bytes),
    ("GB traffic", lambda c: c["gb_read_bytes"] + c["gb_write_bytes"], format_bytes),
    ("core to core", lambda c: c["core_to_core_bytes"], format_bytes),
    ("spilled over DRAM", lambda c: c["dram_ledger"]["spill"], format_bytes),
    ("matrix engines busy", lambda c: c["utilization"]["matrix"], format_percent),
    ("vector engines busy", lambda c: c["utilization"]["vector"], format_percent),
    ("move engines busy", lambda c: c["utilization"]["move"], format_percent),
    ("system DMAs busy", lambda c: c["utilization"]["dma"], format_percent),
    ("MACs of the chip's peak", lambda c: c["mac_utilization"], format_percent),
    ("layers in flight: two or more", _in_flight, format_percent),
    ("memory under compute", lambda c: c["overlap"]["memory_under_compute"], format_percent),
    ("within one core: two or more", lambda c: c["cross_layer_overlap"], format_percent),
    ("LB peak", lambda c: c["lb"]["peak_bytes"], format_bytes),
    ("GB peak", lambda c: c["gb"]["peak_bytes"], format_bytes),
)  # fmt: skip
"""Label, value in a contract, and format of the value."""
SECONDS_OF_STEPS = "schedule_seconds"
"""The figure of the clock, which a kept run does not have."""


def run_table(reports: Sequence[Report]) -> Table:
    """Table with one column per run and one row per figure."""
    contracts: list[Mapping[str, Any]] = [report.contract for report in reports]
    names = [contract["strategy"] for contract in contracts]
    table = figure_table(setting_title(contracts[0]), names, contracts)
    seconds = [format_seconds(contract[SECONDS_OF_STEPS]) for contract in contracts]
    table.add_row("import to trace", *seconds)
    return table


def setting_title(contract: Mapping[str, Any]) -> str:
    """`resnet50-slim on stcp920, batch 64, fp16`."""
    first = f"{contract['model']} on {contract['profile']}"
    return f"{first}, batch {contract['batch']}, {contract['dtype']}"


def figure_table(title: str, names: Sequence[str], contracts: Sequence[Mapping[str, Any]]) -> Table:
    """Table with one column per contract, of which the clock's figure is left out."""
    table = Table(title=escape(title), title_justify="left")
    table.add_column("figure")
    for name in names:
        table.add_column(escape(name), justify="right", no_wrap=True)
    for label, value, text in FIGURES:
        table.add_row(label, *(text(value(contract)) for contract in contracts))
    return table


def group_table(report: Report) -> Table:
    """Table of the coarse sub-graphs of one run."""
    table = Table(title="groups", title_justify="left")
    for heading in ("group", "layers", "ops", "pieces", "split axis", "live before split"):
        table.add_column(heading, justify="left" if heading == "group" else "right")
    for group in report.contract["groups"]:
        table.add_row(
            escape(group["name"]),
            str(group["layers"]),
            str(len(group["ops"])),
            str(group["pieces"]),
            split_axes(group),
            format_bytes(group["peak_bytes"]),
        )
    return table


def list_table(title: str, rows: Sequence[Mapping[str, str]]) -> Table:
    """Table of text rows; their common keys are the headings."""
    table = Table(title=title, title_justify="left")
    for place, heading in enumerate(rows[0] if rows else ()):
        table.add_column(heading, no_wrap=place == 0)
    for row in rows:
        table.add_row(*(escape(value) for value in row.values()))
    return table
