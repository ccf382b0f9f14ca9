"""Findings -> gain of each step and the row's published gain, and the paper's means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.findings import CHIP, Findings
from benchmarks.paper.rows import ROWS

STEPS = {"order": "lb", "full": "order"}
"""Ordering and instruction scheduling, each over the step before it."""
MEANS = {"tvm": (11.15, 9.64), "astitch": (6.16, 6.28)}
"""Means of GraphTurbo over another compiler: the abstract's, and that of the bars."""
TAKEN, EQUAL_BATCHES = "as taken", "cluster batch: GraphTurbo's"
"""Names of switches."""


def published_gains(step: str) -> dict[str, float]:
    """Gain of a step over the previous one in the paper's bars, by row."""
    below = STEPS[step]
    pairs = {row: (each.over_tvm[step], each.over_tvm[below]) for row, each in ROWS.items()}
    return {row: one / other for row, (one, other) in pairs.items() if one and other}


def over_published_gains(findings: Findings, step: str, chip: str) -> dict[str, float]:
    """Our gain over the row's published gain."""
    published = published_gains(step)
    ours = findings.ratios(step, STEPS[step], chip)
    return {row: gain / published[row] for row, gain in ours.items() if row in published}


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean; 0 for no values."""
    known = list(values)
    product = 1.0
    for value in known:
        product *= value
    return product ** (1 / len(known)) if known else 0.0


def gains_sheet(findings: Findings, chip: str) -> Sheet:
    """Table of our and the paper's gains, row by row, with the means below."""
    ours = {step: findings.ratios(step, below, chip) for step, below in STEPS.items()}
    paper = {step: published_gains(step) for step in STEPS}
    most = findings.most_by_order(chip)
    rows = [
        (
            row,
            *(_pair(ours[step].get(row), paper[step].get(row)) for step in STEPS),
            f"{most[row]:.2f}" if row in most else "-",
        )
        for row in ROWS
    ]
    rows.append(
        (
            "geometric mean",
            *(_pair(_mean(ours[step]), _mean(paper[step])) for step in STEPS),
            "",
        )
    )
    headings = (
        "row", "order over lb", "instruction scheduling: full over order",
        "at most, by any order of these instructions",
    )  # fmt: skip
    least = min(paper["full"], key=lambda row: paper["full"][row])
    remark = (
        "Ours / the paper's. The least gain of instruction scheduling in the paper's bars is "
        f"{paper['full'][least]:.2f} ({least}). {_means_text(findings, chip)}"
    )
    return Sheet(f"Gains of ordering and instruction scheduling, on {chip}", headings, rows, remark)


def _mean(gains: Mapping[str, float]) -> float | None:
    return geometric_mean(gains.values()) if gains else None


def _means_text(findings: Findings, chip: str) -> str:
    """Text on the means of `full` over each compiler, for rows with a bar in the paper."""
    parts = []
    for other, (abstract, bars) in MEANS.items():
        rows = [row for row in ROWS if other == "tvm" or ROWS[row].over_tvm[other]]
        ratios = findings.ratios("full", other, chip)
        known = [ratios[row] for row in rows if row in ratios]
        if known:
            parts.append(
                f"`full` over `{other}`, arithmetic mean of {len(known)} rows: "
                f"{sum(known) / len(known):.2f}; the paper's abstract has {abstract}, its bars "
                f"{bars}."
            )
    equal = _at_equal_batches(findings, findings.ratios("full", "tvm", chip))
    if equal is not None and chip == CHIP:
        parts.append(f"With `tvm` at GraphTurbo's cluster batch its mean is {equal:.2f}.")
    return " ".join(parts)


def _at_equal_batches(findings: Findings, ratios: Mapping[str, float]) -> float | None:
    """Mean of the ratios, each over TVM at GraphTurbo's cluster batch; None if a row lacks it."""
    found = []
    for row, ratio in ratios.items():
        rates = findings.switches.get(row, {})
        taken, equal = (rates.get(name) for name in (TAKEN, EQUAL_BATCHES))
        if not isinstance(taken, float) or not isinstance(equal, float):
            return None
        found.append(ratio * taken / equal)
    return sum(found) / len(found) if found else None


def _pair(ours: float | None, paper: float | None) -> str:
    return f"{_ratio(ours)} / {_ratio(paper)}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
