"""Reports -> rows that pages show as tables; pure, capped, every name made safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from graphturbo_core.report.overview.group_names import in_words, words_of
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.run_rows import RoundSizeRow
from graphturbo_core.report.verdict.verify_text import outputs
from graphturbo_core.units import counted
from graphturbo_ui.figures.memory import memory_rows
from graphturbo_ui.text import safe_text

MAX_ROWS = 5000
"""Rows of a table in the page; more are cut, and the page says how many there are."""
BOTH = "AB"
"""Names of the runs, one a report; a run that is shown alone keeps its own."""

Table = list[dict[str, object]]


def box_text(lo: Sequence[int], hi: Sequence[int]) -> str:
    """`[0:2, 0:64]`: a box by its first and end index along every axis."""
    return f"[{', '.join(f'{first}:{end}' for first, end in zip(lo, hi, strict=True))}]"


def round_text(*reports: Report, names: str = BOTH) -> str:
    """What the charts over time show of each run: all rounds of one cluster."""
    parts = [
        f"{name} in {' and '.join(_rounds_text(row) for row in report.tables['rounds'])}"
        for name, report in zip(names, reports, strict=False)
    ]
    return f"The whole batch on one cluster: {', '.join(parts)}."


def _rounds_text(row: RoundSizeRow) -> str:
    """`8 rounds of 2 samples`."""
    rounds, samples = row["count"], row["samples"]
    return f"{counted(rounds, 'round')} of {counted(samples, 'sample')}"


def windows_in_round(report: Report, window: Sequence[float]) -> list[tuple[float, float]]:
    """A window of the whole run, in cycles, as windows of the round that the report describes.

    Two where it holds the end of one such round and the begin of the next; none where it lies in
    other rounds alone.
    """
    found: list[tuple[float, float]] = []
    at = 0
    for row in report.tables["rounds"]:
        cycles, count = row["cycles"], row["count"]
        first, last = (min(max(cycle - at, 0), cycles * count) for cycle in window)
        at += cycles * count
        if not row["is_drawn"] or last <= first:
            continue
        if last - first >= cycles:
            return [(0, cycles)]
        begin, end = first % cycles, last - first
        found.append((begin, min(begin + end, cycles)))
        if begin + end > cycles:
            found.append((0, begin + end - cycles))
    return found


def step_rows(*reports: Report, names: str = BOTH) -> Table:
    """Every step with its seconds, a column a run; steps that only one run has stay empty."""
    columns = [_step_seconds(report) for report in reports]
    steps = list(dict.fromkeys(step for column in columns for step in column))
    rows: Table = [
        {
            "step": safe_text(step),
            **{
                f"{name} (s)": column.get(step)
                for name, column in zip(names, columns, strict=False)
            },
        }
        for step in steps
    ]
    total: dict[str, object] = {"step": "import to trace, together"}
    for name, report in zip(names, reports, strict=False):
        is_timed = bool(report.contract["steps"])  # a stored report is not
        total[f"{name} (s)"] = report.contract["schedule_seconds"] if is_timed else None
    return [*rows, total]


def _step_seconds(report: Report) -> dict[str, float]:
    steps = report.contract["steps"]
    seconds: dict[str, float] = {}
    for step in steps:
        name = str(step["name"])
        seconds[name] = seconds.get(name, 0.0) + step["seconds"]
    return seconds


def output_rows(report: Report) -> Table:
    """Every output of a replayed run: how far it is apart, and how far it may be."""
    return [
        {
            "output": safe_text(row["name"]),
            "type": safe_text(row["dtype"]),
            "shape": " x ".join(str(size) for size in row["shape"]),
            "largest error": _scientific(row["max_abs_error"]),
            "tolerance": _scientific(row["tolerance"]),
            "error, share of magnitude": _scientific(row["max_rel_error"]),
            "tolerance, share of magnitude": _scientific(row["rel_tolerance"]),
            "agrees": "yes" if row["ok"] else "no",
        }
        for row in outputs(report)
    ]


def _scientific(number: float | None) -> str:
    """A small number with two digits; an error that is no number has none."""
    return "not a number" if number is None else f"{number:.1e}"


def notes(*reports: Report, names: str = BOTH) -> list[str]:
    """Every note of the runs once, with whose it is."""
    owners: dict[str, str] = {}
    for name, report, words in zip(names, reports, words_of(*reports), strict=False):
        for note in (in_words(text, words) for text in report.contract["notes"]):
            owners[note] = f"{owners[note]} and {name}" if note in owners else name
    return [f"{owner}: {note}" for note, owner in owners.items()]


def memory_table(*reports: Report, names: str = BOTH) -> Table:
    """A row a layer of every run: what the memory bars draw."""
    return [
        {"run": name, **asdict(row)}
        for name, report in zip(names, reports, strict=False)
        for row in memory_rows(report)
    ]
