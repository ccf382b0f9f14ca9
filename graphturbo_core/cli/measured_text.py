"""`run --measured`: the file, and its comparison with a report as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from graphturbo_core.cli.output import printable
from graphturbo_core.errors import OptionError
from graphturbo_core.report.measured.comparison import LayerShare, compared
from graphturbo_core.report.measured.table import MAX_BYTES, MeasuredRow, read_measured
from graphturbo_core.report.measured.texts import (
    correlation_text,
    measured_json,
    share_row,
    total_text,
    unmatched_texts,
)
from graphturbo_core.report.report import Report

WORST = 10
"""Layers in the table."""


def measured_rows(path: str) -> tuple[MeasuredRow, ...]:
    """The rows of a file.

    Raises:
        OptionError: UNREADABLE.
        MeasurementError: it is no file of measured times.
    """
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        what = f"{path!r} cannot be read"
        raise OptionError("UNREADABLE", what, str(error), "give another file") from error
    return read_measured(data, path)


def measured_table(rows: tuple[MeasuredRow, ...], report: Report) -> Table:
    """The layers that differ most; its caption has correlation, sums and what has no match."""
    found = compared(rows, report)
    lines = [correlation_text(found), total_text(found), *unmatched_texts(found)]
    worst = [_cells(share) for share in found.worst(WORST)]
    table = Table(
        title="Measured times: the layers whose shares differ most",
        caption="\n".join(escape(printable(line)) for line in lines),
        caption_justify="left",
    )
    for name in worst[0] if worst else ("layer", "name"):
        table.add_column(name)
    for cells in worst:
        table.add_row(*cells.values())
    return table


def _cells(share: LayerShare) -> Mapping[str, str]:
    return {
        name: f"{value:.4g}" if isinstance(value, float) else escape(printable(str(value)))
        for name, value in share_row(share).items()
    }


def measured_contract(rows: tuple[MeasuredRow, ...], report: Report) -> dict[str, object]:
    """What the JSON of such a run has in addition to the contract."""
    return {"measured": measured_json(compared(rows, report))}
