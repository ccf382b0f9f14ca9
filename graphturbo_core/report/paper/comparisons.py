"""PaperData -> Comparisons: one published number beside ours, by table and series."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.report.paper.data import (
    Mark,
    PaperConfiguration,
    PaperData,
    PaperStep,
)

RATES, SPEEDUPS, GAINS, STAGES = "throughput", "over-tvm", "gains", "stages"
WITHIN, BEYOND, ABOVE_BOUND = "within", "beyond", "above-bound"
BAR_ERROR = 0.05
"""Of a number over TVM that was read off a bar chart."""
SQUARES = "squares"
"""Series of TVM with square passes of the matrix array, an assumption that is not taken."""
GAIN_STEPS: Mapping[str, str] = {"order": "lb", "full": "order"}
"""Ordering and instruction scheduling: a step, and the step that it is compared with."""
LADDER = ("tvm", "astitch", "gb", "lb", "order", "full")
ROW = re.compile(r"([a-z-]{1,20})\.([a-z]{1,10})\.([A-Z0-9]{1,2})")
"""A row in a link: table, series and letter."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of published numbers; `series` by key: their names. `is_log`: the axis of both."""

    key: str
    title: str
    unit: str
    series: Mapping[str, str]
    default: str
    is_log: bool


STEP_NAMES: Mapping[str, str] = {
    "tvm": "TVM",
    "astitch": "AStitch",
    "gb": "tensors in GB",
    "lb": "tensors in LB",
    "order": "+ order",
    "full": "+ scheduling",
}
"""Levels, as the paper's breakdown has them: the last is GraphTurbo as published."""
VENDOR = "vendor"
"""Series of the vendor's hand-written code; ours is a search."""
OVER_TVM = {
    **{name: words for name, words in STEP_NAMES.items() if name != "tvm"},
    VENDOR: "hand-written",
}
TABLES: tuple[PaperTable, ...] = (
    PaperTable(RATES, "Throughput", "samples/s, whole chip", STEP_NAMES, "full", is_log=True),
    PaperTable(SPEEDUPS, "Over TVM", "times the throughput of TVM", OVER_TVM, "full", is_log=True),
    PaperTable(
        GAINS,
        "Gain of a step",
        "times the throughput of the step before",
        {"order": "ordering", "full": "instruction scheduling"},
        "full",
        is_log=True,
    ),
    PaperTable(
        STAGES,
        "ResNet-50 by stage",
        "fill of the matrix array (%)",
        {"tvm": "TVM", SQUARES: "TVM, square passes", "full": "GraphTurbo"},
        "full",
        is_log=False,
    ),
)


@dataclass(frozen=True, slots=True)
class PaperComparison:
    """A published number beside ours.

    - `key`: what a link names it. `letter`: its configuration. `level`: the step that is compared.
    - `error`: of the published number, 0 where it is printed.
    - `factor`: ours over the published number, or its reciprocal, may be this large.
    - `bound`: no schedule of this model on this chip is above it; None where there is none.
    """

    key: str
    label: str
    letter: str
    level: str
    mark: Mark
    published: float
    error: float
    ours: float
    factor: float
    bound: float | None

    @property
    def series(self) -> str:
        """The series of its table."""
        return self.key.split(".")[1]

    @property
    def ratio(self) -> float:
        """Ours over the published number."""
        return self.ours / self.published

    @property
    def is_within(self) -> bool | None:
        """Whether both differ by at most the factor; None: no run of ours stands for its code."""
        if self.series == VENDOR:
            return None
        return 1 / self.factor <= self.ratio <= self.factor

    @property
    def is_above_bound(self) -> bool:
        """Whether the published number is above what chip and model allow."""
        return self.bound is not None and self.published > self.bound


Test = Callable[[PaperComparison], bool]
OUTCOMES: Mapping[str, tuple[str, Test]] = {
    WITHIN: ("reproduced", lambda each: each.is_within is True),
    BEYOND: ("not reproduced", lambda each: each.is_within is False),
    ABOVE_BOUND: ("published above the bound", lambda each: each.is_above_bound),
}
"""Filters: their names, and what passes; a row of hand-written code passes none."""


def table_of(key: str) -> PaperTable:
    """The table of a key."""
    return next(table for table in TABLES if table.key == key)


def comparisons(data: PaperData, table: str, series: str) -> tuple[PaperComparison, ...]:
    """The rows of one series of a table, in the paper's order; those that the paper has."""
    return tuple(_MAKERS[table](data, series))


def matching(
    rows: Sequence[PaperComparison],
    outcomes: Sequence[str],
    families: Sequence[str],
    data: PaperData,
) -> tuple[PaperComparison, ...]:
    """The rows with one of these outcomes and of one of these families; none of either: all."""
    of_family = {each.letter: each.family for each in data.configurations}
    return tuple(
        row
        for row in rows
        if (not outcomes or any(OUTCOMES[name][1](row) for name in outcomes))
        and (not families or of_family[row.letter] in families)
    )


def families(data: PaperData) -> tuple[str, ...]:
    """Kinds of models, in the paper's order."""
    return tuple(dict.fromkeys(each.family for each in data.configurations))


def find_row(data: PaperData, key: str) -> tuple[PaperTable, str, PaperComparison] | None:
    """Table, series and row that a link names; None where it names none."""
    parts = ROW.fullmatch(key)
    table = next((each for each in TABLES if parts and each.key == parts[1]), None)
    if parts is None or table is None or parts[2] not in table.series:
        return None
    rows = comparisons(data, table.key, parts[2])
    row = next((each for each in rows if each.key == key), None)
    return None if row is None else (table, parts[2], row)


def _rates(data: PaperData, series: str) -> Iterator[PaperComparison]:
    for each, step in _with_step(data, series):
        if step.published_per_s is not None and step.per_s is not None:
            error = BAR_ERROR * (_tvm_published(each) or 0.0) if step.is_read_off else 0.0
            pair = step.published_per_s, error, step.per_s
            yield _comparison(data, each, (RATES, series), pair, step.bound_per_s)


def _speedups(data: PaperData, series: str) -> Iterator[PaperComparison]:
    for each, step in _with_step(data, series):
        tvm = each.step("tvm")
        if tvm is None or not tvm.per_s or step.published_over_tvm is None or step.per_s is None:
            continue
        error = BAR_ERROR if step.is_read_off else 0.0
        pair = step.published_over_tvm, error, step.per_s / tvm.per_s
        yield _comparison(data, each, (SPEEDUPS, series), pair, None)


def _gains(data: PaperData, series: str) -> Iterator[PaperComparison]:
    for each, step in _with_step(data, series):
        below = each.step(GAIN_STEPS[series])
        if below is None or not below.per_s or step.per_s is None:
            continue
        high, low = step.published_over_tvm, below.published_over_tvm
        if not high or not low:
            continue
        published = high / low
        relative = sum(BAR_ERROR / n for n, s in ((high, step), (low, below)) if s.is_read_off)
        most = each.most_by_order if series == "full" else None
        pair = published, published * relative, step.per_s / below.per_s
        yield _comparison(data, each, (GAINS, series), pair, most)


def _stages(data: PaperData, series: str) -> Iterator[PaperComparison]:
    for each in data.configurations:
        for stage in each.stages:
            if stage.series == series:
                yield PaperComparison(
                    f"{STAGES}.{series}.{stage.stage}", f"stage {stage.stage}", each.letter,
                    stage.level, each.mark, stage.published, 0.0, stage.fill, data.factor, None,
                )  # fmt: skip


_MAKERS: Mapping[str, Callable[[PaperData, str], Iterator[PaperComparison]]] = {
    RATES: _rates,
    SPEEDUPS: _speedups,
    GAINS: _gains,
    STAGES: _stages,
}


def _with_step(data: PaperData, level: str) -> Iterator[tuple[PaperConfiguration, PaperStep]]:
    for each in data.configurations:
        step = each.step(level)
        if step is not None:
            yield each, step


def _tvm_published(each: PaperConfiguration) -> float | None:
    tvm = each.step("tvm")
    return tvm.published_per_s if tvm else None


def _comparison(
    data: PaperData,
    each: PaperConfiguration,
    place: tuple[str, str],
    pair: tuple[float, float, float],
    bound: float | None,
) -> PaperComparison:
    table, series = place
    published, error, ours = pair
    return PaperComparison(
        key=f"{table}.{series}.{each.letter}",
        label=f"{each.letter} {each.title}",
        letter=each.letter,
        level=series,
        mark=each.mark,
        published=published,
        error=error,
        ours=ours,
        factor=data.gain_factor if table == GAINS else data.factor,
        bound=bound,
    )
