"""RegisterRows -> the tables that `run --assumptions` prints, and their JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.markup import escape
from rich.table import Table

from graphturbo_core.hardware.variation import HALF
from graphturbo_core.register import AssumptionTrial, RegisterRow
from graphturbo_core.report.report import Report
from graphturbo_core.units import format_seconds, format_si

MAX_DIGITS = 8


def register_tables(report: Report, register: Sequence[RegisterRow]) -> tuple[Table, ...]:
    """Tables of numbers (halved, doubled), choices with their alternatives, and rules."""
    latency_s = report.contract["latency_s"]
    title = f"assumed numbers; latency with all of them: {format_seconds(latency_s)}"
    numbers = _table(title, "assumption", "value", "at half", "at double")
    choices = _table("assumed choices", "assumption", "value", "other choice", "latency with it")
    rules = _table("assumed rules; no alternative is built", "of", "rule")
    for row in register:
        if not row.trials:
            rules.add_row(escape(row.key), escape(row.value))
        elif row.trials[0].change == HALF:
            effects = (_effect(trial, latency_s) for trial in row.trials)
            numbers.add_row(escape(row.key), _number(row.value), *effects)
        else:
            for cells in _choice_rows(row, latency_s):
                choices.add_row(*cells)
    return numbers, choices, rules


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, no_wrap=heading == "assumption")
    return table


def _choice_rows(row: RegisterRow, latency_s: float) -> Iterator[tuple[str, ...]]:
    """One row per alternative; the first one has the assumption and its value."""
    for place, trial in enumerate(row.trials):
        head = ("", "") if place else (escape(row.key), escape(row.value))
        yield (*head, escape(trial.value), _effect(trial, latency_s))


def _number(text: str) -> str:
    """A number as text; a long one has a prefix."""
    return format_si(int(text)) if text.isdigit() and len(text) > MAX_DIGITS else escape(text)


def _effect(trial: AssumptionTrial, latency_s: float) -> str:
    """Latency of a trial with its change against `latency_s`, or its refusal."""
    if trial.latency_s is None:
        return f"{trial.value}: refused"
    if trial.latency_s == latency_s:
        return "the same"
    percent = 100 * (trial.latency_s / latency_s - 1)
    return f"{format_seconds(trial.latency_s)} ({percent:+.2g} %)"


def register_json(register: Sequence[RegisterRow]) -> list[dict[str, object]]:
    """The contract's `assumptions` with their trials."""
    return [asdict(row) for row in register]
