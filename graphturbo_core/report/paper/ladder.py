"""A row of the page -> the steps of its configuration, and the runs behind a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from graphturbo_core.report.paper.comparisons import (
    GAIN_STEPS,
    GAINS,
    LADDER,
    RATES,
    STAGES,
    PaperComparison,
    comparisons,
    find_row,
)
from graphturbo_core.report.paper.data import PaperConfiguration, PaperData, PaperMover

REFERENCE = {"tvm": "full"}
"""Level of B where A is the step itself; other steps are B, beside TVM."""


@dataclass(frozen=True, slots=True)
class PaperRuns:
    """Two runs that Explore computes: A and B on one model, chip and batch."""

    model: str
    dims: Mapping[str, int]
    chip: str
    batch: int
    dtype: str
    a: str
    b: str
    options_a: Mapping[str, str] = field(default_factory=dict)
    options_b: Mapping[str, str] = field(default_factory=dict)


def ladder(data: PaperData, letter: str) -> tuple[PaperComparison, ...]:
    """The throughput of each step of a configuration, published beside ours, in order."""
    found = (find_row(data, f"{RATES}.{level}.{letter}") for level in LADDER)
    return tuple(each[2] for each in found if each is not None)


def same_row(data: PaperData, table: str, series: str, letter: str) -> str:
    """The key of a configuration's row in this series; the first row where it has none."""
    rows = comparisons(data, table, series)
    return next((row.key for row in rows if row.letter == letter), rows[0].key if rows else "")


def runs_of_row(data: PaperData, row: PaperComparison) -> PaperRuns:
    """The runs behind a row: the step that it is about is B; the one it is compared with is A."""
    each = data.configuration(row.letter)
    below = "tvm"
    if row.key.startswith(f"{GAINS}."):
        below = GAIN_STEPS[row.level]
    options = next((s.options for s in each.stages if s.series == row.series), {})
    if row.key.startswith(f"{STAGES}.") and options:
        return replace(_runs(data, each, _strategy(each, row.level)), options_b=options)
    found = _runs(data, each, _strategy(each, below), _strategy(each, _shown(row.level)))
    step = each.step(_shown(row.level))
    return replace(found, options_b=step.options) if step else found


def runs_of_mover(data: PaperData, letter: str, mover: PaperMover) -> PaperRuns | None:
    """The run of a mover as B beside the run as taken; None where Explore cannot compute it.

    On another model or chip A is TVM there.
    """
    if not mover.has_run:
        return None
    each = data.configuration(letter)
    a = _strategy(each, mover.level if mover.options or mover.kind == "assumption" else "tvm")
    found = _runs(data, each, a, _short(mover.strategy))
    is_tvm = mover.kind in ("model", "chip") and mover.level == "tvm"
    return PaperRuns(
        mover.sample, found.dims, mover.chip, found.batch, found.dtype, a,
        _strategy(each, "full") if is_tvm else found.b, options_b=mover.options,
    )  # fmt: skip


def _shown(level: str) -> str:
    return REFERENCE.get(level, level)


def _strategy(each: PaperConfiguration, level: str) -> str:
    step = each.step(level)
    return _short(step.strategy) if step else ""


def _short(strategy: str) -> str:
    """The strategy as Explore lists it: `full` is the level without a name."""
    return strategy.replace(":full@", "@")


def _runs(data: PaperData, each: PaperConfiguration, a: str, b: str = "") -> PaperRuns:
    return PaperRuns(each.sample, each.dims, data.chip, each.batch, data.dtype, a, b or a)
