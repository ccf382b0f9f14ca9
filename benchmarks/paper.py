"""`python -m benchmarks.paper --rows A`: our throughputs beside the paper's, whatever they are.

GraphTurbo (Zhao et al., OSDI 2023), chip STCP920. Throughputs over TVM are read off a bar chart
(within 0.05); nothing here is fitted to them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from rich.console import Console
from rich.table import Table

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.report.report import Report

PROFILE = "stcp920"


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's tables; `ratios` are throughputs over TVM's, by strategy."""

    title: str
    sample: str
    batch: int
    tvm: str
    tvm_per_s: float
    ratios: tuple[tuple[str, float], ...]
    remark: str


def _levels(
    cluster_batch: int, gb: float, lb: float, order: float, full: float
) -> tuple[tuple[str, float], ...]:
    figures = {"gb": gb, "lb": lb, "order": order, "full": full}
    return tuple((f"graphturbo:{level}@{cluster_batch}", x) for level, x in figures.items())


ROWS = {
    "A": PaperRow(
        "ResNet-50", "resnet50-slim", 64, "tvm@2", 1064.0, _levels(16, 0.73, 1.09, 4.27, 7.95),
        "which variant of ResNet-50 the paper ran is not known",
    ),
    "G": PaperRow(
        "MobileNet-v2", "mobilenet-v2", 128, "tvm@2", 1416.0, _levels(32, 1.05, 1.09, 5.27, 8.27),
        "",
    ),
    "I": PaperRow(
        "DenseNet", "densenet-121", 32, "tvm@4", 456.0, _levels(8, 1.77, 2.50, 10.68, 18.22),
        "which DenseNet the paper ran is not known",
    ),
}  # fmt: skip
"""The paper's rows whose models are among the samples."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table a row."""
    parser = argparse.ArgumentParser(description="Our throughputs beside the paper's.")
    parser.add_argument("--rows", default="A", help=f"letters out of {''.join(ROWS)}")
    names = parser.parse_args(arguments).rows.upper().replace(",", "")
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        parser.error(f"row {unknown[0]} is not there; rows with a sample: {', '.join(ROWS)}")
    console = Console(highlight=False)
    for name in names:
        console.print(row_table(name, ROWS[name]))
    return 0


def row_table(name: str, row: PaperRow) -> Table:
    """Ours and the paper's throughput of each strategy, and ours over theirs."""
    title = f"{name}: {row.title} ({row.sample}), batch {row.batch}, {PROFILE}"
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
    for (strategy, ratio), report in zip(_figures(row), _reports(row), strict=True):
        ours = cast(float, report.contract["throughput_per_s"])
        ours_tvm = ours_tvm or ours
        paper = row.tvm_per_s * ratio
        table.add_row(
            strategy, f"{ours:,.0f}", f"{paper:,.0f}", f"{ours / paper:.2f}",
            f"{ours / ours_tvm:.2f}", f"{ratio:.2f}",
        )  # fmt: skip
    return table


def _figures(row: PaperRow) -> tuple[tuple[str, float], ...]:
    return ((row.tvm, 1.0), *row.ratios)


def _reports(row: PaperRow) -> Iterator[Report]:
    requests = [
        RunRequest(row.sample, strategy, PROFILE, row.batch) for strategy, _ in _figures(row)
    ]
    return run_reports(load_sample(row.sample), requests)


if __name__ == "__main__":
    sys.exit(main())
