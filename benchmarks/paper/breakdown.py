"""What instruction scheduling is made of, and what each option of `graphturbo` does to rows."""

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
"""A heading, the level and its options; each step adds one thing to the one before it."""
LIKE_FULL = (("graphturbo.fence", "off"), ("graphturbo.list_scheduling", "on"))
"""Values that level `full` has by itself."""
COUNTED = "A"
"""The row whose sub-graphs are counted, since the paper gives its piece counts."""


def other_values() -> tuple[tuple[str, str], ...]:
    """Every value of an option of `graphturbo` that makes another plan than `full`'s."""
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
    """`full` as it is, and with each other value of each option."""
    full = _strategy("full", row)
    return ((full, {}), *((full, {name: value}) for name, value in other_values()))


def _strategy(level: str, row: PaperRow) -> str:
    return f"{GRAPHTURBO}:{level}@{row.batch_of_others}"


def has_breakdown(findings: Findings, chip: str) -> bool:
    """Whether a step that no level is was run for any row."""
    return any(findings.find(row, "order", chip, NO_FENCE.items()) for row in ROWS)


def breakdown_sheet(findings: Findings, chip: str) -> Sheet:
    """Rates without the three, then how many times as fast each of them makes it, row by row."""
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
        "Times as fast as the column before it. `order` has double buffering and a fence behind "
        "each layer; the last two columns together are the paper's instruction scheduling."
    )
    headings = ("row", *(heading for heading, _, _ in STEPS))
    return Sheet(f"What instruction scheduling is made of, on {chip}", headings, rows, remark)


def _gain(run: Result | None, below: Result | None) -> float | None:
    """How many times as fast; None where one was not run, or is refused."""
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
    """Rates of `full` with each other value of each option, and row A's sub-graphs."""
    lines = [("as taken", ()), *((f"{name}={value}", ((name, value),)) for name, value in
             other_values())]  # fmt: skip
    rows = []
    for name, options in lines:
        runs = {row: findings.find(row, "full", chip, options) for row in ROWS}
        counted = runs[COUNTED]
        groups = str(len(counted.pieces)) if counted and not counted.refused else "-"
        rows.append((name, groups, *(_rate(run) for run in runs.values())))
    remark = (
        "One option changed at a time. The grouping rules were chosen so that ResNet-50's "
        "published piece counts come out; docs/paper-assumptions.md says which other readings "
        "there are."
    )
    headings = ("option", f"sub-graphs of {COUNTED}", *ROWS)
    title = f"Throughput of `graphturbo:full` with each other reading, samples/s, {chip}"
    return Sheet(title, headings, rows, remark)
