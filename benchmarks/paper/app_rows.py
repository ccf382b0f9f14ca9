"""Findings -> docs/paper-rows.json: what the app's page about the paper shows.

python -m benchmarks.paper.app_rows    writes the file from the stored docs/paper.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.paper.breakdown import other_values
from benchmarks.paper.findings import CHIP, OTHER_CHIP, OTHER_STARTS, Findings, read_findings
from benchmarks.paper.gains import MEANS
from benchmarks.paper.reasons import is_explained, limit, order_reason, reason, scheduling_reason
from benchmarks.paper.requirements import FACTOR, GAIN_FACTOR, is_in_order, requirements
from benchmarks.paper.results import Result
from benchmarks.paper.rows import LEVELS, ROWS, PaperRow
from benchmarks.paper.stages import SQUARES, STAGES, UTILISATION
from benchmarks.paper.switches import FARTHEST, SWITCHES
from benchmarks.paper.vendor import ROW as STAGED
from benchmarks.paper.vendor import VENDOR
from graphturbo_core.report.paper.data import (
    FILE,
    SCHEMA,
    Mark,
    PaperConfiguration,
    PaperData,
    PaperMean,
    PaperMover,
    PaperRequirement,
    PaperStage,
    PaperStep,
)
from graphturbo_core.strategies.options import EVALUATIONS

DTYPE = "fp16"
"""The number format of all rows: the chip's peak is quoted in it."""
STEPS = ("tvm", "astitch", *LEVELS)
MODELS: Mapping[str, tuple[str, Mark]] = {
    "A": ("convolutional", "assumed"), "B": ("transformer", "derived"),
    "C": ("transformer", "derived"), "D": ("transformer", "derived"),
    "E": ("transformer", "assumed"), "F": ("recommender", "assumed"),
    "G": ("convolutional", "known"), "H": ("transformer", "assumed"),
    "I": ("convolutional", "assumed"), "J": ("speech", "assumed"),
}  # fmt: skip
"""Family of each row's model, and how sure it is: docs/paper-assumptions.md has the reasons."""
PRINTED = frozenset({("H", "lb"), ("H", "order"), ("H", "full"), ("I", "full")})
"""Numbers over TVM that the paper prints; all others are read off bar charts."""
FARTHEST_NAME = "all of the weakest"
TVM, FULL = "tvm", "full"


def paper_data(findings: Findings) -> PaperData:
    """All that the page shows, of the rows that were run."""
    ran = [letter for letter in ROWS if findings.find(letter, TVM) and findings.find(letter, FULL)]
    return PaperData(
        schema=SCHEMA,
        chip=CHIP,
        dtype=DTYPE,
        factor=FACTOR,
        gain_factor=GAIN_FACTOR,
        means=tuple(_means(findings)),
        requirements=tuple(_requirements(findings)),
        configurations=tuple(_configuration(findings, letter) for letter in ran),
    )


def text_of(data: PaperData) -> str:
    """Text of the file: JSON with one step or mover per line."""
    fields = asdict(data)
    rows = ",\n".join(_row_text(row) for row in fields.pop("configurations"))
    head = json.dumps(fields)[:-1]
    return f'{head}, "configurations": [\n{rows}\n]}}\n'


def _row_text(row: dict[str, Any]) -> str:
    lists = {name: row.pop(name) for name in ("steps", "movers", "stages")}
    parts = [
        f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, each)) + "\n]"
        for name, each in lists.items()
    ]
    return ",\n".join([json.dumps(row)[:-1], *parts]) + "}"


def _means(findings: Findings) -> Iterator[PaperMean]:
    for other, (abstract, bars) in MEANS.items():
        ratios = findings.ratios(FULL, other)
        known = [ratios[row] for row in ratios if other == TVM or ROWS[row].over_tvm[other]]
        if known:
            mean = float(f"{sum(known) / len(known):.6g}")
            yield PaperMean(other, abstract, bars, mean, len(known))


def _requirements(findings: Findings) -> Iterator[PaperRequirement]:
    """Those that were run, in the page's order."""
    for each in requirements(findings, CHIP):
        if each.values:
            values = {row: float(f"{value:.6g}") for row, value in each.values.items()}
            yield PaperRequirement(each.words, each.is_met, each.asked, each.short, values)


def _configuration(findings: Findings, letter: str) -> PaperConfiguration:
    row, (family, mark) = ROWS[letter], MODELS[letter]
    taken = row.variants[0]
    most = findings.most_by_order().get(letter)
    vendor = findings.find(letter, VENDOR)
    notes = (order_reason(findings, letter, CHIP), scheduling_reason(findings, letter, CHIP))
    return PaperConfiguration(
        letter=letter,
        title=row.title,
        family=family,
        batch=row.batch,
        sample=taken.sample,
        dims=dict(taken.dims),
        remark=row.remark,
        mark=mark,
        is_in_order=is_in_order(findings, letter, CHIP),
        steps=(*_steps(findings, letter), *_searched(findings, letter)),
        notes=tuple(note for note in notes if note),
        most_by_order=float(f"{most:.6g}") if most and most != float("inf") else None,
        vendor_plan_per_s=vendor.throughput_per_s if vendor else None,
        movers=tuple(_movers(findings, letter)),
        stages=tuple(_stages(findings)) if letter == STAGED else (),
    )


def _steps(findings: Findings, letter: str) -> Iterator[PaperStep]:
    for level in STEPS:
        run = findings.find(letter, level)
        if run is None:
            continue
        over_tvm = 1.0 if level == TVM else ROWS[letter].over_tvm[level]
        yield PaperStep(
            level=level,
            strategy=run.strategy,
            options={},
            published_per_s=run.published_per_s,
            published_over_tvm=over_tvm,
            is_read_off=level != TVM and (letter, level) not in PRINTED,
            per_s=_rate(run),
            refused=run.refused,
            bound_per_s=run.bound_per_s,
            limit="" if run.refused else limit(run),
            reason=reason(run) if is_explained(run) else "",
        )


def _searched(findings: Findings, letter: str) -> Iterator[PaperStep]:
    """Our search beside the paper's bar of the vendor's hand-written code, where it has one."""
    row, run = ROWS[letter], findings.find(letter, "tuned", CHIP, OTHER_STARTS)
    over_tvm = row.over_tvm[VENDOR]
    if run is None or over_tvm is None:
        return
    options = {**run.options, EVALUATIONS: str(run.evaluations)}
    yield PaperStep(
        VENDOR, run.strategy, options, row.tvm_per_s * over_tvm, over_tvm, True, _rate(run),
        run.refused, run.bound_per_s, "" if run.refused else limit(run), "",
    )  # fmt: skip


def _rate(run: Result) -> float | None:
    return None if run.refused else run.throughput_per_s


def _movers(findings: Findings, letter: str) -> Iterator[PaperMover]:
    """Assumptions on TVM, options of `full`, other models and the other chip, in this order."""
    yield from _switched(findings, letter)
    row = ROWS[letter]
    for name, value in other_values():
        run = findings.find(letter, FULL, CHIP, ((name, value),))
        if run is not None:
            yield _mover(run, "option", name, value)
    for variant in row.variants[1:]:
        for level in STEPS:
            for run in findings.of_other_models():
                if (run.row, run.sample, run.level) == (letter, variant.sample, level):
                    yield _mover(run, "model", "model", run.sample)
    for level in STEPS:
        run = findings.find(letter, level, OTHER_CHIP)
        if run is not None:
            yield _mover(run, "chip", "capacity in Algorithm 1", "10 MiB")


def _mover(run: Result, kind: str, name: str, value: str) -> PaperMover:
    return PaperMover(
        run.level, kind, name, value, run.sample, run.chip, run.strategy,  # type: ignore[arg-type]
        dict(run.options), _rate(run), run.refused, has_run=True,
    )  # fmt: skip


def _switched(findings: Findings, letter: str) -> Iterator[PaperMover]:
    """`tvm` with each assumption changed."""
    row, rates = ROWS[letter], findings.switches.get(letter, {})
    for switch in SWITCHES[1:]:
        rate = rates.get(switch.name)
        if rate is None:
            continue
        name, _, value = switch.name.partition(": ")
        if switch.options == FARTHEST:
            name, value = FARTHEST_NAME, switch.name
        is_refused = isinstance(rate, str)
        yield PaperMover(
            TVM, "assumption", name, value, row.variants[0].sample, CHIP,
            f"{switch.strategy}@{_batch(row, switch.has_batch_of_others)}", dict(switch.options),
            None if isinstance(rate, str) else float(f"{rate:.6g}"),
            rate if isinstance(rate, str) else "", has_run=switch.number is None and not is_refused,
        )  # fmt: skip


def _batch(row: PaperRow, is_of_others: bool) -> int:
    return row.batch_of_others if is_of_others else row.tvm_batch


def _stages(findings: Findings) -> Iterator[PaperStage]:
    series = ((TVM, TVM, ()), ("squares", TVM, SQUARES), (FULL, FULL, ()))
    for name, level, options in series:
        run = findings.find(STAGED, level, CHIP, options)
        if run is None or not run.stages:
            continue
        for stage, percent in zip(STAGES, UTILISATION[level], strict=True):
            fill = float(f"{100 * run.stages[str(stage)].fill:.6g}")
            yield PaperStage(stage, name, level, run.strategy, dict(options), percent, fill)


def write_rows(findings: Findings, out: Path) -> None:
    """Writes the file below a folder."""
    (out / FILE.name).write_text(text_of(paper_data(findings)), encoding="utf-8", newline="\n")


def main() -> int:
    """Write the file from the stored runs."""
    write_rows(read_findings(FILE.parent / "paper.json"), FILE.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
