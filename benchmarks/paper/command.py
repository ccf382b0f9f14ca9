"""`python -m benchmarks.paper`: our throughputs and the paper's."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.paper.breakdown import option_runs, step_runs
from benchmarks.paper.findings import CHIP, OTHER_CHIP, OTHER_STARTS, OWN_SPACE, read_findings
from benchmarks.paper.page import DATA, reason_text, sheets, write
from benchmarks.paper.results import Asked, results_of
from benchmarks.paper.rows import ROWS
from benchmarks.paper.stages import SQUARES
from benchmarks.paper.switches import switch_rates
from benchmarks.paper.vendor import vendor_results
from graphturbo_core.strategies.options import EVALUATIONS

DOCS = Path(__file__).resolve().parents[2] / "docs"
WIDTH = 160
"""Characters per line: enough for all columns, also where the output is no terminal."""
PLUS = "graphturbo:plus"
INGREDIENTS = {
    **dict.fromkeys(
        (
            "plus.pieces", "plus.merging", "plus.axes", "plus.mixing", "plus.keeping",
            "plus.cooperation", "plus.lending",
        ),
        "off",
    ),
    "graphturbo.peak": "literal",
}  # fmt: skip
"""Options that switch off one ingredient of `graphturbo:plus`. Halo-aware peaks belong to `:full`
and so to `plus` too: without them a peak is divided by the pieces, as printed in the paper."""
STAGED = "A"
"""The row with results per stage: `tvm`, its first strategy, also runs with square passes."""
ALONE = ("variants", "switches", "ingredients", "breakdown", "options", "vendor")
"""Flags of runs on the paper's chip only."""
HEAVY = "DJHEICBAGF"
"""Rows in running order: slow rows first, so that two processes end at about the same time."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs, prints the tables, and writes data, page and figures."""
    chosen = _parse(arguments)
    names = _letters(chosen)
    findings = read_findings(chosen.out / DATA)
    if chosen.switches:
        rates = switch_rates(names, CHIP)
        findings = replace(findings, switches={**findings.switches, **rates})
    elif chosen.vendor:
        findings = findings.with_results(vendor_results(chosen.out))
    else:
        for results in results_of(list(_asked(names, chosen))):
            findings = findings.with_results(results)
            print(f"row {results[0].row} is done", file=sys.stderr)
    write(findings, chosen.out)
    console = Console(highlight=False, width=WIDTH)
    for sheet in sheets(findings):
        console.print(sheet.table())
    console.print(reason_text(findings), markup=False)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Our throughputs beside the paper's.")
    parser.add_argument("--rows", default="".join(ROWS), help="letters, all by default")
    parser.add_argument("--out", type=Path, default=DOCS, help="where data, page and figures go")
    kinds = parser.add_mutually_exclusive_group()
    for name, told in (
        ("variants", "the other models that a row may mean"),
        ("switches", "what each assumption on TVM's kernels does to its throughput"),
        ("ingredients", f"{PLUS} with each ingredient switched off"),
        ("breakdown", "double buffering, fence and list scheduling one after the other"),
        ("options", "graphturbo:full with each other value of each of its options"),
        ("vendor", "the vendor's own schedule of ResNet-50, replayed; some minutes"),
    ):
        kinds.add_argument(f"--{name}", action="store_true", help=told)
    for name, choices in (
        ("tuned", "graphturbo"),
        ("tuned-others", "graphturbo, from starts other than its own plan"),
        ("tuned-plus", PLUS),
    ):
        told = f"the best schedule that N evaluations find among the choices of {choices}"
        kinds.add_argument(f"--{name}", type=int, metavar="N", help=told)
    told = f"the taken models on {OTHER_CHIP}, where also a search may look"
    parser.add_argument("--other-chip", action="store_true", help=told)
    chosen = parser.parse_args(arguments)
    alone = [name for name in ALONE if getattr(chosen, name)]
    if chosen.other_chip and alone:
        parser.error(f"{alone[0]} are run on {CHIP} alone")
    unknown = [name for name in _letters(chosen) if name not in ROWS]
    if unknown:
        parser.error(f"row {unknown[0]} is not there; rows: {', '.join(ROWS)}")
    return chosen


def _letters(chosen: argparse.Namespace) -> str:
    return str(chosen.rows).upper().replace(",", "")


def _asked(names: str, chosen: argparse.Namespace) -> Iterator[Asked]:
    for name in sorted(names, key=HEAVY.index):
        row = ROWS[name]
        plain = [(strategy, {}) for strategy, _ in row.strategies()]
        if name == STAGED:
            plain.append((plain[0][0], dict(SQUARES)))
        plus = f"{PLUS}@{row.batch_of_others}"
        chip = OTHER_CHIP if chosen.other_chip else CHIP
        if count := chosen.tuned or chosen.tuned_others or chosen.tuned_plus:
            kind = OWN_SPACE if chosen.tuned_plus else OTHER_STARTS if chosen.tuned_others else ()
            searched = (f"tuned@{row.batch_of_others}", {EVALUATIONS: str(count), **dict(kind)})
            yield Asked(name, chip, (searched,))
        elif chosen.ingredients:
            yield Asked(
                name, CHIP, tuple((plus, {key: value}) for key, value in INGREDIENTS.items())
            )
        elif chosen.breakdown or chosen.options:
            yield Asked(name, CHIP, step_runs(row) if chosen.breakdown else option_runs(row))
        elif chosen.variants:
            for place in range(1, len(row.variants)):
                yield Asked(name, CHIP, tuple(plain), place)
        else:
            yield Asked(name, chip, (*plain, (plus, {})))
