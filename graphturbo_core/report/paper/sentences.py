"""Rows of the page -> its sentences: headline, what is not reproduced, marks and reasons."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.report.paper.comparisons import (
    GAINS,
    RATES,
    SPEEDUPS,
    STAGES,
    VENDOR,
    PaperComparison,
    PaperTable,
)
from graphturbo_core.report.paper.data import Mark, PaperData, PaperStep
from graphturbo_core.report.paper.movers import Tornado

MARKS: dict[Mark, str] = {
    "known": "Model known: the paper names it fully",
    "derived": "Model derived: by arithmetic from the published rates",
    "assumed": "Model assumed: the paper leaves it open",
}
EQUAL_BATCHES = ("tvm", "cluster batch")
"""Level and name of the change that gives TVM the cluster batch of GraphTurbo."""
ABOUT_STAGES = (
    "The paper reports utilisation of the matrix unit; it does not define it. Ours is the fill of "
    "the array while it is busy. Derived: the paper's cannot be a share of time, since its TVM "
    "reaches 6 % of the chip's peak and no stage is below 17 %."
)


ABOUT_VENDOR = (
    "The paper's bar is the vendor's hand-written code, which is not public: no run of ours "
    "reproduces it."
)


def headline(data: PaperData) -> str:
    """The result over all rows, in one sentence."""
    tvm = next((mean for mean in data.means if mean.over == "tvm"), None)
    if tvm is None:
        return "GraphTurbo: published and simulated"
    equal = mean_at_equal_batches(data)
    fair = "" if equal is None else f" ({equal:.2f}× at equal cluster batches)"
    return (
        f"GraphTurbo is {tvm.ours:.2f}× as fast as TVM in simulation{fair}; the paper reports "
        f"{tvm.abstract:g}×"
    )


def mean_at_equal_batches(data: PaperData) -> float | None:
    """Arithmetic mean of `full` over TVM at GraphTurbo's cluster batch; None if a row lacks it."""
    ratios = []
    for row in data.configurations:
        full = row.step("full")
        other = next(
            (each.per_s for each in row.movers if (each.level, each.name) == EQUAL_BATCHES), None
        )
        if full is None or not full.per_s or not other:
            return None
        ratios.append(full.per_s / other)
    return sum(ratios) / len(ratios) if ratios else None


def means_text(data: PaperData) -> str:
    """Means over TVM and AStitch: ours, the paper's abstract, and the mean of its bars."""
    names = {"tvm": "TVM", "astitch": "AStitch"}
    parts = [
        f"over {names[mean.over]} {mean.ours:.2f} (abstract {mean.abstract:g}, bars {mean.bars:g})"
        for mean in data.means
    ]
    return f"Arithmetic means of GraphTurbo: {'; '.join(parts)}." if parts else ""


def summary(table: PaperTable, rows: Sequence[PaperComparison]) -> str:
    """How many rows are reproduced, and every other one with its ratio."""
    if not rows:
        return "The paper has no such row."
    if all(row.is_within is None for row in rows):
        listed = ", ".join(f"{row.letter} {row.ratio:.2f}" for row in rows)
        return f"{ABOUT_VENDOR} The best plan of a search of ours, over its number: {listed}."
    far = [row for row in rows if not row.is_within]
    text = (
        f"{len(rows) - len(far)} of {len(rows)} rows are within a factor of {rows[0].factor:g} of "
        "the published number."
    )
    if far:
        listed = ", ".join(f"{_short_label(row)} {row.ratio:.2f}" for row in far)
        text += f" Not reproduced, ours over published: {listed}."
    above = [_short_label(row) for row in rows if row.is_above_bound]
    if above and table.key == RATES:
        text += f" Published above the bound of chip and model: {', '.join(above)}."
    if above and table.key == GAINS:
        text += f" The published gain is above that of any order: {', '.join(above)}."
    return text


def _short_label(row: PaperComparison) -> str:
    return row.label if row.key.startswith(f"{STAGES}.") else row.letter


ABOVE: dict[str, str] = {
    RATES: "No schedule of this model on this chip reaches the published number.",
    GAINS: "No order of the same instructions reaches the published gain.",
}


def verdict(table: PaperTable, row: PaperComparison) -> str:
    """Whether a row is reproduced, with the ratio, and whether its published number can be."""
    if row.is_within is None:
        return f"Another plan than the paper's: our search is {row.ratio:.2f} of its number."
    words = "Reproduced" if row.is_within else "Not reproduced"
    limit = "within" if row.is_within else "beyond"
    text = f"{words}: ours is {row.ratio:.2f} of the published number, {limit} {row.factor:g}×."
    return f"{text} {ABOVE[table.key]}" if row.is_above_bound else text


def number_text(table: PaperTable, value: float) -> str:
    """A number of a table with its digits: rates with thousands, ratios with two decimals."""
    if table.key == RATES:
        return f"{value:,.0f}"
    return f"{value:.0f} %" if table.key == STAGES else f"{value:.2f}×"


def published_text(table: PaperTable, row: PaperComparison) -> str:
    """The published number and how it is known."""
    number = number_text(table, row.published)
    if row.key.startswith(f"{STAGES}."):
        return f"{number}, printed"
    if not row.error:
        return f"{number}, printed"
    read = "read off bars" if table.key == GAINS else "read off a bar chart"
    if table.key in (SPEEDUPS, GAINS):
        return f"{number} ± {row.error:.2f}, {read}"
    return f"{number} ± {row.error:,.0f}, {read}"


def reasons(data: PaperData, row: PaperComparison) -> list[str]:
    """Why a row differs, as docs/paper.md has it; else what limits our run."""
    each = data.configuration(row.letter)
    step = each.step(row.level)
    if row.key.startswith(f"{STAGES}."):
        return [ABOUT_STAGES]
    found = [_step_reason(step)] if step else []
    if row.level == VENDOR and step is not None:
        count = step.options["tuned.evaluations"]
        found.insert(0, f"{ABOUT_VENDOR} Ours: the best plan of {count} evaluations of a search.")
    if row.key.startswith(f"{GAINS}.") and row.level == "full":
        found = [note for note in each.notes if note.startswith("Instruction")] or found
    if row.level in ("tvm", "astitch"):
        found += [note for note in each.notes if note.startswith("`astitch`")]
    return found


def _step_reason(step: PaperStep) -> str:
    if step.reason:
        return f"`{step.strategy}`: {step.reason}"
    return f"`{step.strategy}`: {step.limit}." if step.limit else ""


def knowledge(data: PaperData, letter: str) -> list[tuple[str, str]]:
    """What a configuration consists of, each part with its mark; docs/paper-assumptions.md."""
    each = data.configuration(letter)
    tvm, full = (each.step(level) for level in ("tvm", "full"))
    batches = [step.strategy.partition("@")[2] if step else "-" for step in (tvm, full)]
    sizes = "".join(f", {name} {size}" for name, size in each.dims.items())
    found = [
        (
            "given",
            f"batch {each.batch:,}; samples per cluster at once: TVM {batches[0]}, "
            f"GraphTurbo {batches[1]}",
        ),
        (each.mark, f"model {each.sample}{sizes}"),
        ("assumed", f"number format {data.dtype}; inputs start in DRAM, outputs end there"),
    ]
    if full is not None:
        found.append(
            (
                "derived",
                f"upper bound of this model on {data.chip}: {full.bound_per_s:,.0f} per second",
            )
        )
    return found


def requirement_rows(data: PaperData) -> list[dict[str, object]]:
    """The requirements on the ten rows: met or not, on which rows not, and every value."""
    letters = [each.letter for each in data.configurations]
    return [
        {
            "requirement": each.words.replace("`", "")
            + (f", on {each.asked} rows" if each.asked else ""),
            "met": "yes" if each.is_met else "no",
            "not on": ", ".join(name for name in each.short if name in letters) or "none",
            **{letter: each.values.get(letter) for letter in letters},
        }
        for each in data.requirements
        if any(letter in each.values for letter in letters)
    ]


def requirements_text(data: PaperData) -> str:
    """How many requirements are met."""
    rows = requirement_rows(data)
    met = sum(row["met"] == "yes" for row in rows)
    return f"{met} of {len(rows)} requirements on the rows are met"


def remark_text(data: PaperData, letter: str) -> str:
    """The remark on a configuration as a sentence; "" without one."""
    remark = data.configuration(letter).remark
    return f"{remark[:1].upper()}{remark[1:]}." if remark else ""


def small_text(found: Tornado) -> str:
    """What moves the throughput by less than is drawn, and what is refused."""
    parts = []
    if found.small:
        names = ", ".join(f"{effect.name} {effect.value}" for effect in found.small)
        parts.append(f"No effect of 0.5 % or more: {names}.")
    if found.refused:
        names = ", ".join(
            f"{effect.name} {effect.value} ({effect.mover.refused})" for effect in found.refused
        )
        parts.append(f"Refused: {names}.")
    return " ".join(parts)


def reach_text(found: Tornado) -> str:
    """Whether one changed thing brings our throughput to the published one."""
    if found.needed is None or not found.drawn:
        return ""
    ratios = [effect.ratio for effect in found.drawn if effect.ratio]
    is_reached = (
        min(ratios) <= found.needed <= 1 if found.needed < 1 else max(ratios) >= found.needed
    )
    words = "One change alone reaches it." if is_reached else "No single change reaches it."
    return f"The published throughput of this step is {found.needed:.2f} of ours. {words}"
