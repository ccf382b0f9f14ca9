"""Effects of the parts of instruction scheduling, and of each option of `graphturbo`, on rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.findings import Findings
from benchmarks.paper.gains import geometric_mean
from benchmarks.paper.results import Result
from benchmarks.paper.rows import ROWS, PaperRow
from benchmarks.paper.switches import NOT_RUN
from graphturbo_core.strategies.options import strategy_options

GRAPHTURBO = "graphturbo"
Run = tuple[str, Mapping[str, str]]
"""A strategy with its cluster batch, and its options."""

DOUBLE = {"graphturbo.double_buffering": "off"}
NO_FENCE = {"graphturbo.fence": "off"}
STEPS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("none of the three, samples/s", "order", DOUBLE),
    ("+ double buffering: `order`", "order", {}),
    ("+ no fence", "order", NO_FENCE),
    ("+ list scheduling: `full`", "full", {}),
)
"""Heading, level and options per step; each step adds one part to the previous one."""
LIKE_FULL = (("graphturbo.fence", "off"), ("graphturbo.list_scheduling", "on"))
"""Values that level `full` has by default."""
COUNTED = "A"
"""The row whose sub-graphs are counted; the paper gives its piece counts."""


def other_values() -> tuple[tuple[str, str], ...]:
    """Every value of an option of `graphturbo` that differs from `full`'s."""
    found = (
        (option.name, value)
        for option in strategy_options().values()
        if option.name.startswith(f"{GRAPHTURBO}.")
        for value in option.values[1:]
    )
    return tuple(pair for pair in found if pair not in LIKE_FULL)


def step_runs(row: PaperRow) -> tuple[Run, ...]:
    """The steps of instruction scheduling for a row."""
    return tuple((_strategy(level, row), dict(options)) for _, level, options in STEPS)


def option_runs(row: PaperRow) -> tuple[Run, ...]:
    """`full`, and `full` with each other value of each option."""
    full = _strategy("full", row)
    return ((full, {}), *((full, {name: value}) for name, value in other_values()))


def _strategy(level: str, row: PaperRow) -> str:
    return f"{GRAPHTURBO}:{level}@{row.batch_of_others}"


def has_breakdown(findings: Findings, chip: str) -> bool:
    """Whether a step that is no level was run for any row."""
    return any(findings.find(row, "order", chip, NO_FENCE.items()) for row in ROWS)


def breakdown_sheet(findings: Findings, chip: str) -> Sheet:
    """Throughputs without the three parts, and the speed-up of each part, row by row."""
    gains: list[list[float]] = [[] for _ in STEPS[1:]]
    rows = []
    for row in ROWS:
        runs = [findings.find(row, level, chip, options.items()) for _, level, options in STEPS]
        cells = [_rate(runs[0])]
        for place, (below, run) in enumerate(pairwise(runs)):
            gain = _gain(run, below)
            cells.append(_rate(run) if gain is None else f"{gain:.3f}")
            gains[place] += [] if gain is None else [gain]
        rows.append((row, *cells))
    means = (f"{geometric_mean(each):.3f}" if each else "-" for each in gains)
    rows.append(("geometric mean", "", *means))
    remark = (
        "Speed-up over the previous column. `order` has double buffering and a fence behind "
        "each layer; the last two columns together are the paper's instruction scheduling."
    )
    headings = ("row", *(heading for heading, _, _ in STEPS))
    return Sheet(f"Parts of instruction scheduling, on {chip}", headings, rows, remark)


def _gain(run: Result | None, below: Result | None) -> float | None:
    """Speed-up of a run over another; None where one was not run, or is refused."""
    if run is None or below is None or run.refused or below.refused:
        return None
    return run.throughput_per_s / below.throughput_per_s


def _rate(run: Result | None) -> str:
    if run is None:
        return NOT_RUN
    return run.refused or f"{run.throughput_per_s:,.0f}"


def has_options(findings: Findings, chip: str) -> bool:
    """Whether another value of an option was run for any row."""
    return any(findings.find(row, "full", chip, [pair]) for row in ROWS for pair in other_values())


def option_sheet(findings: Findings, chip: str) -> Sheet:
    """Throughputs of `full` with each other value of each option, and row A's sub-graphs."""
    lines = [("as taken", ()), *((f"{name}={value}", ((name, value),)) for name, value in
             other_values())]  # fmt: skip
    rows = []
    for name, options in lines:
        runs = {row: findings.find(row, "full", chip, options) for row in ROWS}
        counted = runs[COUNTED]
        groups = str(len(counted.pieces)) if counted and not counted.refused else "-"
        rows.append((name, groups, *(_rate(run) for run in runs.values())))
    remark = (
        "One option changed at a time. The grouping rules were chosen to reproduce ResNet-50's "
        "published piece counts; docs/paper-assumptions.md lists the other readings."
    )
    headings = ("option", f"sub-graphs of {COUNTED}", *ROWS)
    title = f"Throughput of `graphturbo:full` with each other reading, samples/s, {chip}"
    return Sheet(title, headings, rows, remark)
