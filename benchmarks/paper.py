"""`python -m benchmarks.paper`: our throughputs beside the paper's, whatever they are."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import cast

from rich.console import Console
from rich.table import Table

from benchmarks.paper_rows import ROWS, PaperRow, Variant
from benchmarks.paper_switches import switch_table
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.report.report import Report

PROFILE = "stcp920"
WIDTH = 140
"""Characters of a line: room for all columns, also where the output is no terminal."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table a row, or one a variant of it; or one of TVM's switches."""
    parser = argparse.ArgumentParser(description="Our throughputs beside the paper's.")
    letters = "".join(ROWS)
    parser.add_argument("--rows", default=letters, help=f"letters out of {letters}, all by default")
    parser.add_argument(
        "--variants", action="store_true", help="every model that a row may mean, not only one"
    )
    parser.add_argument(
        "--switches", action="store_true",
        help="what each assumption on TVM's kernels does to its throughput",
    )  # fmt: skip
    chosen = parser.parse_args(arguments)
    names = chosen.rows.upper().replace(",", "")
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        parser.error(f"row {unknown[0]} is not there; rows: {', '.join(ROWS)}")
    console = Console(highlight=False, width=WIDTH)
    if chosen.switches:
        console.print(switch_table(names, PROFILE))
        return 0
    for name in names:
        variants = ROWS[name].variants
        for variant in variants if chosen.variants else variants[:1]:
            console.print(row_table(name, ROWS[name], variant))
    return 0


def row_table(name: str, row: PaperRow, variant: Variant) -> Table:
    """Ours and the paper's throughput of each strategy, and ours over theirs."""
    sizes = "".join(f", {dim} {size}" for dim, size in variant.dims.items())
    title = f"{name}: {row.title} ({variant.sample}{sizes}), batch {row.batch}, {PROFILE}"
    table = Table(title=title, title_justify="left", caption=row.remark, caption_justify="left")
    headings = (
        "strategy",
        "ours /s",
        "paper /s",
        "ours / paper",
        "ours / our tvm",
        "paper / its tvm",
    )
    for heading in headings:
        is_name = heading == "strategy"
        table.add_column(heading, justify="left" if is_name else "right", no_wrap=is_name)
    ours_tvm = 0.0
    for (strategy, paper), report in zip(row.strategies(), _reports(row, variant), strict=True):
        ours = cast(float, report.contract["throughput_per_s"])
        ours_tvm = ours_tvm or ours
        table.add_row(
            strategy, f"{ours:,.0f}", f"{paper:,.0f}", f"{ours / paper:.2f}",
            f"{ours / ours_tvm:.2f}", f"{paper / row.tvm_per_s:.2f}",
        )  # fmt: skip
    return table


def _reports(row: PaperRow, variant: Variant) -> Iterator[Report]:
    requests = [
        RunRequest(variant.sample, strategy, PROFILE, row.batch, dims=dict(variant.dims))
        for strategy, _ in row.strategies()
    ]
    return run_reports(load_sample(variant.sample), requests)


if __name__ == "__main__":
    sys.exit(main())
