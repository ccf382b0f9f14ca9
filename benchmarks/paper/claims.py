"""Findings -> what is asked of the ten rows, and on which of them it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.findings import OTHER_STARTS, OWN_SPACE, Findings
from benchmarks.paper.gains import geometric_mean, over_published_gains, published_gains
from benchmarks.paper.rows import LEVELS, ROWS

FACTOR = 1.5
"""A rate that is farther than this from the paper's is explained."""
TVM_FACTOR = 2.0
ROWS_WITHIN = 5
GAIN_FACTOR = 1.25
"""A gain farther than this from the row's own published gain is another one (our choice)."""
SLOWEST = 1.03
LEAST_OF_TUNED, ROWS_OF_TUNED = 0.9, 7
LEAST_PLUS_OF_TUNED = 0.95
LEAST_PLUS_MEAN, LEAST_PLUS = 1.05, 0.999
LEAST_ORDER = 0.95
"""Two bars of the paper that are closer than this are alike: they are read off a chart."""


@dataclass(frozen=True)
class Claim:
    """Something asked of rows; `asked`: of how many of them, None for all."""

    words: str
    values: Mapping[str, float]
    holds: Callable[[float], bool]
    asked: int | None = None

    @property
    def short(self) -> tuple[str, ...]:
        """Rows on which it does not hold."""
        return tuple(row for row, value in self.values.items() if not self.holds(value))

    @property
    def is_met(self) -> bool:
        """Whether it holds on as many rows as asked for."""
        held = len(self.values) - len(self.short)
        return bool(self.values) and held >= (self.asked or len(self.values))


def claims(findings: Findings, chip: str) -> Iterator[Claim]:
    """What is asked, with the value of every row that was run."""
    yield from _gains(findings, chip)
    yield Claim(
        "in GB only is within 3 % of the slowest of the four steps",
        {row: value for row in ROWS if (value := _over_slowest(findings, row, chip))},
        lambda ratio: ratio <= SLOWEST,
    )
    yield from _near_the_paper(findings, chip)
    yield Claim(
        "order of `tvm`, `astitch` and `full` as published (1: yes)",
        {row: float(is_in_order(findings, row, chip)) for row in ROWS},
        bool,
    )
    yield Claim(
        "share of the bound that no schedule beats",
        {
            result.row: result.throughput_per_s / result.bound_per_s
            for row in ROWS
            if (result := findings.find(row, "full", chip)) and not result.refused
        },
        lambda share: share <= 1,
    )
    yield from _of_searches(findings, chip)


def _gains(findings: Findings, chip: str) -> Iterator[Claim]:
    """Ordering and instruction scheduling beside each row's own published gain."""
    for step, words in (
        ("order", "ordering over the row's own published gain"),
        ("full", "instruction scheduling over the row's own published gain"),
    ):
        yield Claim(
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
    yield Claim(words, bounds, lambda share: share >= 1)


def _near_the_paper(findings: Findings, chip: str) -> Iterator[Claim]:
    """Rates over the paper's: of the taken models, and of the nearest where others were run."""
    for level, factor in (("full", FACTOR), ("tvm", TVM_FACTOR)):
        words = f"`{level}` over the paper's is within a factor of {factor:g}"
        found = {words: findings.over_published(level, chip)}
        if findings.of_other_models(chip):
            words = f"and of whichever plausible model comes nearest (`{level}`)"
            found[words] = findings.nearest_published(level, chip)
        for words, ratios in found.items():
            yield Claim(
                words,
                ratios,
                lambda ratio, factor=factor: 1 / factor <= ratio <= factor,
                ROWS_WITHIN,
            )


def _of_searches(findings: Findings, chip: str) -> Iterator[Claim]:
    """`full` and `plus` over what searches find, and over each other."""
    apart = findings.ratios("full", "tuned", chip, OTHER_STARTS)
    tuned = findings.ratios("full", "tuned", chip)
    for starts, ratios in (("without its plan", apart), ("with its plan", tuned)):
        words = f"`full` reaches 0.9 of what a search finds that begins {starts}"
        yield Claim(words, ratios, lambda ratio: ratio >= LEAST_OF_TUNED, ROWS_OF_TUNED)
    words = "and 0.9 of the better of the latter and of `plus`, which has more choices"
    plus = findings.ratios("plus", "full", chip)
    both = {row: min(tuned[row], 1 / plus[row]) for row in tuned if row in plus}
    yield Claim(words, both, lambda ratio: ratio >= LEAST_OF_TUNED, ROWS_OF_TUNED)
    for words, over in (
        ("of the best of all searches", findings.over_searches("plus", chip)),
        ("of a search among its own choices", findings.ratios("plus", "tuned", chip, OWN_SPACE)),
    ):
        yield Claim(
            f"`plus` reaches 0.95 {words}", over, lambda ratio: ratio >= LEAST_PLUS_OF_TUNED
        )
    yield Claim("`plus` is not below `full`", plus, lambda ratio: ratio >= LEAST_PLUS)
    mean = {"all": geometric_mean(plus.values())} if plus else {}
    words = "`plus` over `full`, geometric mean, is at least 1.05"
    yield Claim(words, mean, lambda ratio: ratio >= LEAST_PLUS_MEAN)


def _over_slowest(findings: Findings, row: str, chip: str) -> float | None:
    rates = [r.throughput_per_s for level in LEVELS if (r := findings.find(row, level, chip))]
    return rates[0] / min(rates) if len(rates) == len(LEVELS) and min(rates) else None


def is_in_order(findings: Findings, row: str, chip: str) -> bool:
    """Whether no two strategies are the other way round than the paper has them."""
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


def claim_sheet(findings: Findings, chip: str) -> Sheet:
    """A line a claim: the value of every row, and whether it holds."""
    found = list(claims(findings, chip))
    headings = ("asked", "holds", "not on", *ROWS)
    rows = [
        (
            claim.words + (f", on {claim.asked} rows" if claim.asked else ""),
            ("yes" if claim.is_met else "no") if claim.values else "not run",
            ", ".join(claim.short) or "none",
            *(
                f"{value:.3f}" if (value := claim.values.get(row)) is not None else ""
                for row in ROWS
            ),
        )
        for claim in found
        if "all" not in claim.values
    ]
    means = [claim for claim in found if "all" in claim.values]
    remark = " ".join(
        f"{claim.words}: {claim.values['all']:.3f}, {'yes' if claim.is_met else 'no'}."
        for claim in means
    )
    return Sheet(f"What is asked of the ten rows, on {chip}", headings, rows, remark)
