"""Reports -> tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from rich.markup import escape
from rich.table import Table

from graphturbo_core.report.report import Json, Report, axes_text
from graphturbo_core.report.verdict.verdict import in_flight
from graphturbo_core.units import (
    format_bytes,
    format_count,
    format_percent,
    format_seconds,
    format_si,
)


def _number(key: str) -> Callable[[Json], float]:
    return lambda contract: float(cast(float, contract[key]))


def _inner(key: str, inner: str) -> Callable[[Json], float]:
    return lambda contract: float(cast(Mapping[str, float], contract[key])[inner])


def _sum(*keys: str) -> Callable[[Json], float]:
    return lambda contract: sum(_number(key)(contract) for key in keys)


def _groups(contract: Json) -> float:
    return len(cast(list[Json], contract["groups"]))


def _count(value: float) -> str:
    return format_count(int(value))


def _times(value: float) -> str:
    return f"{format_si(value)}x"


FIGURES: tuple[tuple[str, Callable[[Json], float], Callable[[float], str]], ...] = (
    ("throughput", _number("throughput_per_s"), lambda value: format_si(value, "/s")),
    ("latency", _number("latency_s"), format_seconds),
    ("lower bound (model, chip)", _number("lower_bound_s"), format_seconds),
    ("bound: matrix", _inner("lower_bound_terms", "matrix"), format_seconds),
    ("bound: vector", _inner("lower_bound_terms", "vector"), format_seconds),
    ("bound: matrix and vector", _inner("lower_bound_terms", "engines"), format_seconds),
    ("bound: DRAM", _inner("lower_bound_terms", "dram"), format_seconds),
    ("bound of this plan", _number("plan_bound_s"), format_seconds),
    ("longest dependency chain", _number("program_critical_path_s"), format_seconds),
    ("latency / lower bound", _number("gap"), _times),
    ("samples per cluster at once", _number("cluster_batch"), _count),
    ("rounds", _number("rounds"), _count),
    ("layers (fine sub-graphs)", _number("sub_graphs_fine"), _count),
    ("groups (coarse sub-graphs)", _groups, _count),
    ("kernels per round", _number("kernels"), _count),
    ("instructions per round", _number("instructions"), _count),
    ("DRAM traffic", _sum("dram_read_bytes", "dram_write_bytes"), format_bytes),
    ("GB traffic", _sum("gb_read_bytes", "gb_write_bytes"), format_bytes),
    ("core to core", _number("core_to_core_bytes"), format_bytes),
    ("spilled over DRAM", _inner("dram_ledger", "spill"), format_bytes),
    ("matrix engines busy", _inner("utilization", "matrix"), format_percent),
    ("vector engines busy", _inner("utilization", "vector"), format_percent),
    ("move engines busy", _inner("utilization", "move"), format_percent),
    ("system DMAs busy", _inner("utilization", "dma"), format_percent),
    ("MACs of the chip's peak", _number("mac_utilization"), format_percent),
    ("layers in flight: two or more", in_flight, format_percent),
    ("memory under compute", _inner("overlap", "memory_under_compute"), format_percent),
    ("within one core: two or more", _number("cross_layer_overlap"), format_percent),
    ("LB peak", _inner("lb", "peak_bytes"), format_bytes),
    ("GB peak", _inner("gb", "peak_bytes"), format_bytes),
    ("import to trace", _number("schedule_seconds"), format_seconds),
)  # fmt: skip
"""Label, value in a contract, and how it is written."""


def run_table(reports: Sequence[Report]) -> Table:
    """A column a run, a row a figure."""
    contracts = [report.contract for report in reports]
    first = contracts[0]
    title = f"{first['model']} on {first['profile']}, batch {first['batch']}, {first['dtype']}"
    table = Table(title=escape(title), title_justify="left")
    table.add_column("figure")
    for contract in contracts:
        table.add_column(escape(str(contract["strategy"])), justify="right", no_wrap=True)
    for label, value, text in FIGURES:
        table.add_row(label, *(text(value(contract)) for contract in contracts))
    return table


def group_table(report: Report) -> Table:
    """The coarse sub-graphs of one run."""
    table = Table(title="groups", title_justify="left")
    for heading in ("group", "layers", "ops", "pieces", "split axis", "live before split"):
        table.add_column(heading, justify="left" if heading == "group" else "right")
    for row in report.tables["groups"]:
        table.add_row(
            escape(str(row["name"])),
            str(row["layers"]),
            str(row["ops"]),
            str(row["pieces"]),
            axes_text(row),
            format_bytes(cast(int, row["peak_bytes"])),
        )
    return table


def list_table(title: str, rows: Sequence[Mapping[str, str]]) -> Table:
    """Rows of text with the same keys, which are the headings."""
    table = Table(title=title, title_justify="left")
    for place, heading in enumerate(rows[0] if rows else ()):
        table.add_column(heading, no_wrap=place == 0)
    for row in rows:
        table.add_row(*(escape(value) for value in row.values()))
    return table
