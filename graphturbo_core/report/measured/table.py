"""Bytes of a CSV file -> rows of measured times; and a file to fill in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphturbo_core.errors import MeasurementError
from graphturbo_core.report.report import Report

LAYER, MILLISECONDS = "layer", "milliseconds"
HEADER = (LAYER, MILLISECONDS)
SHORT_MILLISECONDS = "ms"
"""Taken for `milliseconds` in a header."""
DELIMITERS = (",", ";")
MAX_BYTES, MAX_ROWS, MAX_NAME = 2**20, 20_000, 500
"""Of a file, its rows, and a name (characters). Larger ones are refused; our choice."""
MAX_MILLISECONDS = 1e9
"""Of one row, 11.6 days; larger times are refused."""
MAX_SHOWN = 80
"""Characters of a wrong cell in a refusal."""
FORMULA_SIGNS = ("=", "+", "-", "@")
"""A spreadsheet takes a cell that begins so for a formula: files to take have a quote before it."""


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One measured time; `line`: in the file, from 1."""

    name: str
    milliseconds: float
    line: int


def read_measured(data: bytes, where: str) -> tuple[MeasuredRow, ...]:
    """The rows with a time, in the file's order; rows with an empty time were not measured.

    The first line names the columns `layer` and `milliseconds` (or `ms`), in any order and case.
    Cells are separated by commas or semicolons; between semicolons a number may have a decimal
    comma.

    Raises:
        MeasurementError: too large, no text, another header, a wrong row, or no time at all.
    """
    if len(data) > MAX_BYTES:
        what = f"the file has {len(data):,} bytes, more than {MAX_BYTES:,}"
        raise MeasurementError("MEASURED_SIZE", what, where, "keep a row per layer")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is no UTF-8 text"
        raise MeasurementError("MEASURED_TEXT", what, where, "save it as CSV, UTF-8") from error
    delimiter = _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = tuple(_rows(reader, delimiter, where))
    except csv.Error as error:
        what = f"line {reader.line_num} is no CSV: {error}"
        raise MeasurementError("MEASURED_ROW", what, where, "close its quotes") from error
    if not rows:
        change = f"write numbers below {MILLISECONDS}"
        raise MeasurementError("MEASURED_EMPTY", "no row has a time", where, change)
    return rows


def _delimiter(text: str) -> str:
    """The sign that the first line has more often; a comma where it has neither."""
    first = text.split("\n", 1)[0]
    return max(DELIMITERS, key=first.count)


def _rows(reader: Iterator[list[str]], delimiter: str, where: str) -> Iterator[MeasuredRow]:
    places = _columns(next(reader, []), where)
    seen: dict[str, int] = {}
    line = 1
    for cells in reader:
        line += 1
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(HEADER):
            what = f"line {line} has {len(cells)} cells, the header has {len(HEADER)}"
            change = "put a name with a separator in double quotes"
            raise MeasurementError("MEASURED_ROW", what, where, change, line=line)
        name, number = (cells[place].strip() for place in places)
        name = _unquoted(name)
        _check_name(name, line, where, seen)
        seen[name] = line
        if len(seen) > MAX_ROWS:
            what = f"the file has more than {MAX_ROWS:,} rows"
            raise MeasurementError("MEASURED_SIZE", what, where, "keep a row per layer")
        if number:
            yield MeasuredRow(name, _milliseconds(number, line, delimiter, where), line)


def _columns(header: Sequence[str], where: str) -> tuple[int, int]:
    """Where name and time stand."""
    names = [_column(cell) for cell in header]
    if sorted(names) != sorted(HEADER):
        shown = ", ".join(_shown(cell) for cell in header[:6]) or "nothing"
        what = f"the first line has {shown}, not the columns {LAYER} and {MILLISECONDS}"
        change = f"begin with the line {','.join(HEADER)} and leave other columns out"
        raise MeasurementError("MEASURED_HEADER", what, where, change)
    return names.index(LAYER), names.index(MILLISECONDS)


def _column(cell: str) -> str:
    """The full name of a column."""
    name = cell.strip().lower()
    return MILLISECONDS if name == SHORT_MILLISECONDS else name


def _check_name(name: str, line: int, where: str, seen: dict[str, int]) -> None:
    if not name or len(name) > MAX_NAME:
        what = f"line {line} has a name of {len(name)} characters"
        change = f"write 1 to {MAX_NAME} characters"
        raise MeasurementError("MEASURED_ROW", what, where, change, line=line)
    if name in seen:
        what = f"lines {seen[name]} and {line} both name {_shown(name)}"
        change = "keep one: the sum, or the median of several measurements"
        raise MeasurementError("MEASURED_TWICE", what, where, change, line=line)


def _milliseconds(text: str, line: int, delimiter: str, where: str) -> float:
    spelled = text.replace(",", ".") if delimiter == ";" else text
    try:
        value = float(spelled) if "_" not in spelled else -1.0
    except ValueError:
        value = -1.0
    if not 0 <= value <= MAX_MILLISECONDS:
        what = f"line {line} has the time {_shown(text)}"
        change = (
            f"write milliseconds, such as 0.25, at most {MAX_MILLISECONDS:,.0f}; "
            "an empty cell is not measured"
        )
        raise MeasurementError("MEASURED_ROW", what, where, change, line=line)
    return value


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= MAX_SHOWN else f"{cell[:MAX_SHOWN]}…")


def _unquoted(name: str) -> str:
    """The name without the quote that keeps a spreadsheet from taking it for a formula."""
    return name[1:] if name.startswith("'") and name[1:].startswith(FORMULA_SIGNS) else name


def template(report: Report) -> str:
    """A file to fill in: the run's layers, without times."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(HEADER)
    for row in report.tables["layers"]:
        name = row["name"]
        writer.writerow([f"'{name}" if name.startswith(FORMULA_SIGNS) else name, ""])
    return stream.getvalue()
