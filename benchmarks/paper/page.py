"""Findings -> docs/paper.md, docs/paper.json and their figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.drawing.dots_figure import Dots, dots_svg
from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.app_rows import write_rows
from benchmarks.paper.breakdown import breakdown_sheet, has_breakdown, has_options, option_sheet
from benchmarks.paper.findings import CHIP, OTHER_CHIP, Findings
from benchmarks.paper.gains import gains_sheet
from benchmarks.paper.reasons import limit_sheet, reasons
from benchmarks.paper.requirements import FACTOR, requirement_sheet
from benchmarks.paper.results import Result
from benchmarks.paper.rows import LEVELS, ROWS
from benchmarks.paper.stages import SQUARES, pass_sheet, stage_sheet
from benchmarks.paper.switches import switch_sheet
from benchmarks.paper.tables import (
    ingredient_sheet,
    over_tvm_sheet,
    throughput_sheet,
    tuned_sheet,
    variant_over_tvm_sheet,
    variant_sheet,
)
from benchmarks.paper.vendor import has_vendor, vendor_sheet

DATA, PAGE = "paper.json", "paper.md"
RATES, STEPS = "images/paper-rates.svg", "images/paper-steps.svg"
COLOURS = {"tvm": "#4269d0", "astitch": "#d1605e", "full": "#2f8f5b"}
STEP_COLOURS = dict(zip(LEVELS, ("#97bbf5", "#4269d0", "#e0a030", "#2f8f5b"), strict=True))
HEAD = f"""# The paper's tables: our results and the published ones

Written by `python -m benchmarks.paper` from the simulator's counts; no constant is fitted.
[paper-assumptions.md](paper-assumptions.md) has the assumptions and the model of each row.
[paper.json](paper.json) has all numbers of this page, and more of each run.

The paper's chip is `{CHIP}`. `{OTHER_CHIP}` is the same chip with the other reading of Algorithm
1's capacity; [its profile](../hardware_profiles/{OTHER_CHIP}.yaml) explains why both are possible.
Both are shown, neither is fitted.

Some constants were chosen by measurements on these rows:
[paper-assumptions.md](paper-assumptions.md#constants-that-were-chosen-on-the-rows) lists them,
[constants.md](constants.md) has the effect of other values.
"""


def sheets(findings: Findings) -> Iterator[Sheet]:
    """All tables with runs, in the order of the page."""
    yield from _of_the_chip(findings)
    if findings.find("A", "full", OTHER_CHIP):
        yield throughput_sheet(findings, OTHER_CHIP)
        yield gains_sheet(findings, OTHER_CHIP)
        yield requirement_sheet(findings, OTHER_CHIP)
    yield from _of_other_choices(findings)


def _of_the_chip(findings: Findings) -> Iterator[Sheet]:
    """Tables of the rows on the paper's chip, and of their limits."""
    yield throughput_sheet(findings, CHIP)
    yield over_tvm_sheet(findings, CHIP)
    if has_vendor(findings):
        yield vendor_sheet(findings)
    yield gains_sheet(findings, CHIP)
    yield requirement_sheet(findings, CHIP)
    if stages := _with_stages(findings):
        yield stage_sheet(stages)
        yield pass_sheet()
    for level in ("tvm", "full"):
        yield limit_sheet(findings, CHIP, level)
    if has_breakdown(findings, CHIP):
        yield breakdown_sheet(findings, CHIP)


def _of_other_choices(findings: Findings) -> Iterator[Sheet]:
    """Tables of other models, assumptions, options and searches."""
    if others := findings.of_other_models():
        yield variant_sheet(others)
        yield variant_over_tvm_sheet(others)
    if findings.switches:
        yield switch_sheet(findings.switches, CHIP)
    if has_options(findings, CHIP):
        yield option_sheet(findings, CHIP)
    if findings.over_searches("full"):
        yield tuned_sheet(findings, CHIP)
    if findings.ratios("plus", "full"):
        yield ingredient_sheet(findings, CHIP)


def _with_stages(findings: Findings) -> list[Result]:
    """Results of the ResNet-50 variants: `tvm` with any and with square passes, and `full`."""
    return [
        result
        for variant in ROWS["A"].variants
        for level, options in (("tvm", {}), ("tvm", dict(SQUARES)), ("full", {}))
        for result in findings.results
        if (result.sample, result.chip, result.level) == (variant.sample, CHIP, level)
        and result.stages
        and result.options == options
    ]


def write(findings: Findings, out: Path) -> None:
    """Writes data, page, the app's rows and figures; the page has no tables without runs."""
    (out / "images").mkdir(parents=True, exist_ok=True)
    (out / DATA).write_text(findings.text(), encoding="utf-8")
    (out / PAGE).write_text(page(findings), encoding="utf-8")
    write_rows(findings, out)
    for name, text in figures(findings).items():
        (out / name).write_text(text, encoding="utf-8")


def figures(findings: Findings) -> dict[str, str]:
    """Figures: our throughputs over the paper's; each step over TVM, ours and the paper's."""
    rates = [Dots(level, c, findings.over_published(level)) for level, c in COLOURS.items()]
    rates = [dots for dots in rates if dots.values]
    steps = [
        dots
        for level, colour in STEP_COLOURS.items()
        for dots in (
            Dots(f"{level}, ours", colour, findings.ratios(level, "tvm")),
            Dots(f"{level}, paper", colour, _published_over_tvm(level), is_hollow=True),
        )
        if dots.values
    ]
    named = [(RATES, rates, "ours over the paper's", (1 / FACTOR, FACTOR))] if rates else []
    rows = {letter: f"{letter}: {row.title}" for letter, row in ROWS.items()}
    return {
        **{name: dots_svg(rows, dots, axis, band) for name, dots, axis, band in named},
        STEPS: dots_svg(rows, steps, "times TVM's throughput"),
    }


def _published_over_tvm(level: str) -> dict[str, float]:
    found = {row: ROWS[row].over_tvm[level] for row in ROWS}
    return {row: ratio for row, ratio in found.items() if ratio}


def page(findings: Findings) -> str:
    """Text of the page: tables, figures below the first two, and reasons row by row."""
    parts = [HEAD]
    for place, sheet in enumerate(sheets(findings)):
        parts.append(sheet.markdown())
        if place == 0:
            parts.append(f"![Ours over the paper's; the band is a factor of {FACTOR:g}]({RATES})\n")
        if place == 1:
            parts.append(f"![Steps over TVM, ours filled, the paper's hollow]({STEPS})\n")
    return "\n".join([*parts, reason_text(findings)])


def reason_text(findings: Findings) -> str:
    """Reasons for results that differ from the paper's by more than `FACTOR`, or in order."""
    lines = [f"## Differences by more than {FACTOR:g}, with reasons\n"]
    row = ""
    for letter, told in reasons(findings, CHIP):
        if letter != row:
            heading = f"**{letter}: {ROWS[letter].title}.** {_sentence(ROWS[letter].remark)}"
            lines.append(f"\n{heading.rstrip()}\n")
            row = letter
        lines.append(f"- {told}")
    return "\n".join(lines) + "\n"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""
