"""Reports -> output of a command: tables, JSON and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from graphturbo_core.errors import OptionError
from graphturbo_core.export.files import json_text
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.text import group_table, list_table, run_table
from graphturbo_core.report.verdict.verify_text import is_wrong, verification_text, was_verified

WRONG = 1
"""Exit code of a run whose replay differs from its model: a bug of ours."""
STDOUT = "-"


def answer(json_to: str | None, contracts: object, reports: Sequence[Report], *more: Table) -> int:
    """Writes the JSON if `json_to` is given, and prints tables unless it is stdout.

    Returns the exit code. `more`: tables below those of the reports.
    """
    if json_to is not None:
        write_text_to(json_to, lambda: json_text(contracts))
    if json_to != STDOUT:
        _show(reports, more)
    return WRONG if any(is_wrong(report) for report in reports) else 0


def _show(reports: Sequence[Report], more: Sequence[Table]) -> None:
    console = Console(highlight=False)
    console.print(run_table(reports))
    if len(reports) == 1:
        console.print(group_table(reports[0]))
    for table in more:
        console.print(table)
    for note in dict.fromkeys(note for report in reports for note in report.contract["notes"]):
        console.print(printable(f"note: {note}"), markup=False)
    for report in reports:
        if was_verified(report):
            console.print(printable(verification_text(report)), markup=False)


def list_rows(json_to: str | None, title: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Writes a list as JSON if `json_to` is given, and prints it as a table."""
    if json_to is not None:
        write_text_to(json_to, lambda: json_text(list(rows)))
    if json_to != STDOUT:
        Console(highlight=False).print(list_table(title, rows))


def write_text_to(target: str, text: Callable[[], str]) -> None:
    """Writes a text to a file or to stdout.

    Raises:
        OptionError: UNWRITABLE.
    """
    if target == STDOUT:
        sys.stdout.write(text())
    else:
        write_bytes_to(target, text().encode())


def check_writable(target: str | None) -> None:
    """Check before a long run that a target can be written: stdout, or a file in a folder.

    Raises:
        OptionError: UNWRITABLE.
    """
    if target in (None, STDOUT):
        return
    folder = Path(str(target)).parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        what, why = f"{target!r} cannot be written", f"{str(folder)!r} is no folder to write in"
        raise OptionError("UNWRITABLE", what, why, "give another file")


def write_bytes_to(target: str, data: bytes) -> None:
    """Writes bytes to a file.

    Raises:
        OptionError: UNWRITABLE.
    """
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        raise OptionError(
            "UNWRITABLE", f"{target!r} cannot be written", str(error), "give another file"
        ) from error


def printable(line: str) -> str:
    """The line with unprintable characters as question marks; names come from untrusted files."""
    return "".join(c if c.isprintable() else "?" for c in line)


def print_lines(lines: Sequence[str]) -> None:
    """Prints sentences below the tables."""
    console = Console(highlight=False)
    for line in lines:
        console.print(printable(line), markup=False)


def printable_lines(text: str) -> str:
    """`printable` for each line of a text."""
    return "\n".join(map(printable, text.split("\n")))
