"""Findings -> requirements on the ten rows, and the rows that meet them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.findings import OTHER_STARTS, OWN_SPACE, Findings
from benchmarks.paper.gains import geometric_mean, over_published_gains, published_gains
from benchmarks.paper.rows import LEVELS, ROWS

FACTOR = 1.5
"""A throughput that differs from the paper's by more than this factor is explained."""
TVM_FACTOR = 2.0
ROWS_WITHIN = 5
GAIN_FACTOR = 1.25
"""A gain may differ from the row's published gain by this factor (our choice)."""
SLOWEST = 1.03
LEAST_OF_TUNED, ROWS_OF_TUNED = 0.9, 7
LEAST_PLUS_OF_TUNED = 0.95
LEAST_PLUS_MEAN, LEAST_PLUS = 1.05, 0.999
LEAST_ORDER = 0.95
"""Two bars of the paper whose ratio is above this count as equal: they are read off a chart."""


@dataclass(frozen=True)
class Requirement:
    """One requirement on rows; `asked`: the number of rows that must meet it, None for all."""

    words: str
    values: Mapping[str, float]
    holds: Callable[[float], bool]
    asked: int | None = None

    @property
    def short(self) -> tuple[str, ...]:
        """Rows that do not meet it."""
        return tuple(row for row, value in self.values.items() if not self.holds(value))

    @property
    def is_met(self) -> bool:
        """Whether enough rows meet it."""
        held = len(self.values) - len(self.short)
        return bool(self.values) and held >= (self.asked or len(self.values))


def requirements(findings: Findings, chip: str) -> Iterator[Requirement]:
    """The requirements, with the value of every row that was run."""
    yield from _gains(findings, chip)
    yield Requirement(
        "in GB only is within 3 % of the slowest of the four steps",
        {row: value for row in ROWS if (value := _over_slowest(findings, row, chip))},
        lambda ratio: ratio <= SLOWEST,
    )
    yield from _near_the_paper(findings, chip)
    yield Requirement(
        "order of `tvm`, `astitch` and `full` as published (1: yes)",
        {row: float(is_in_order(findings, row, chip)) for row in ROWS},
        bool,
    )
    yield Requirement(
        "share of the bound that no schedule beats",
        {
            result.row: result.throughput_per_s / result.bound_per_s
            for row in ROWS
            if (result := findings.find(row, "full", chip)) and not result.refused
        },
        lambda share: share <= 1,
    )
    yield from _of_searches(findings, chip)


def _gains(findings: Findings, chip: str) -> Iterator[Requirement]:
    """Gains of ordering and instruction scheduling over each row's published gain."""
    for step, words in (
        ("order", "ordering over the row's own published gain"),
        ("full", "instruction scheduling over the row's own published gain"),
    ):
        yield Requirement(
            f"{words} is within a factor of {GAIN_FACTOR:g}",
            over_published_gains(findings, step, chip),
            lambda ratio: 1 / GAIN_FACTOR <= ratio <= GAIN_FACTOR,
        )
    published = published_gains("full")
    bounds = {
        row: most / published[row]
        for row, most in findings.most_by_order(chip).items()
        if row in published
    }
    words = "some order of the same instructions might reach it (none gains more than this share)"
    yield Requirement(words, bounds, lambda share: share >= 1)


def _near_the_paper(findings: Findings, chip: str) -> Iterator[Requirement]:
    """Throughputs over the paper's: of the row's model, and of the closest plausible model."""
    for level, factor in (("full", FACTOR), ("tvm", TVM_FACTOR)):
        words = f"`{level}` over the paper's is within a factor of {factor:g}"
        found = {words: findings.over_published(level, chip)}
        if findings.of_other_models(chip):
            words = f"and of the closest plausible model (`{level}`)"
            found[words] = findings.nearest_published(level, chip)
        for words, ratios in found.items():
            yield Requirement(
                words,
                ratios,
                lambda ratio, factor=factor: 1 / factor <= ratio <= factor,
                ROWS_WITHIN,
            )


def _of_searches(findings: Findings, chip: str) -> Iterator[Requirement]:
    """`full` and `plus` over the searches' results, and over each other."""
    apart = findings.ratios("full", "tuned", chip, OTHER_STARTS)
    tuned = findings.ratios("full", "tuned", chip)
    for starts, ratios in (("without its plan", apart), ("with its plan", tuned)):
        words = f"`full` reaches 0.9 of the result of a search that starts {starts}"
        yield Requirement(words, ratios, lambda ratio: ratio >= LEAST_OF_TUNED, ROWS_OF_TUNED)
    words = "and 0.9 of the better of the latter and of `plus`, which has more choices"
    plus = findings.ratios("plus", "full", chip)
    both = {row: min(tuned[row], 1 / plus[row]) for row in tuned if row in plus}
    yield Requirement(words, both, lambda ratio: ratio >= LEAST_OF_TUNED, ROWS_OF_TUNED)
    for words, over in (
        ("of the best of all searches", findings.over_searches("plus", chip)),
        ("of a search among its own choices", findings.ratios("plus", "tuned", chip, OWN_SPACE)),
    ):
        yield Requirement(
            f"`plus` reaches 0.95 {words}", over, lambda ratio: ratio >= LEAST_PLUS_OF_TUNED
        )
    yield Requirement("`plus` is not below `full`", plus, lambda ratio: ratio >= LEAST_PLUS)
    mean = {"all": geometric_mean(plus.values())} if plus else {}
    words = "`plus` over `full`, geometric mean, is at least 1.05"
    yield Requirement(words, mean, lambda ratio: ratio >= LEAST_PLUS_MEAN)


def _over_slowest(findings: Findings, row: str, chip: str) -> float | None:
    rates = [r.throughput_per_s for level in LEVELS if (r := findings.find(row, level, chip))]
    return rates[0] / min(rates) if len(rates) == len(LEVELS) and min(rates) else None


def is_in_order(findings: Findings, row: str, chip: str) -> bool:
    """Whether all pairs of strategies have the paper's order."""
    paper = {"tvm": 1.0, **{k: v for k, v in ROWS[row].over_tvm.items() if v is not None}}
    names = [name for name in ("tvm", "astitch", "full") if name in paper]
    found = {name: findings.find(row, name, chip) for name in names}
    ours = {name: r.throughput_per_s for name, r in found.items() if r and not r.refused}
    return all(
        ours[one] < ours[other]
        for one in ours
        for other in ours
        if paper[one] < LEAST_ORDER * paper[other]
    )


def requirement_sheet(findings: Findings, chip: str) -> Sheet:
    """One table row per requirement: the value of every row of the paper, and whether it is met."""
    found = list(requirements(findings, chip))
    headings = ("requirement", "met", "not on", *ROWS)
    rows = [
        (
            each.words + (f", on {each.asked} rows" if each.asked else ""),
            ("yes" if each.is_met else "no") if each.values else "not run",
            ", ".join(each.short) or "none",
            *(
                f"{value:.3f}" if (value := each.values.get(row)) is not None else ""
                for row in ROWS
            ),
        )
        for each in found
        if "all" not in each.values
    ]
    means = [each for each in found if "all" in each.values]
    remark = " ".join(
        f"{each.words}: {each.values['all']:.3f}, {'yes' if each.is_met else 'no'}."
        for each in means
    )
    return Sheet(f"Requirements on the ten rows, on {chip}", headings, rows, remark)
