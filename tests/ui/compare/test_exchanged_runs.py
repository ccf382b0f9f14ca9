"""Figures, tables and sentences of two runs: A is reported as A, and B as B.

Each is compared with the same of either run alone, whose numbers all differ.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, is_dataclass, replace
from importlib import import_module
from typing import Any

import plotly.graph_objects as go
import pytest

from graphturbo_core.report.report import Report
from graphturbo_ui import figures
from graphturbo_ui.figures import (
    accounting,
    bound_steps,
    buffers,
    cluster_batches,
    group_tables,
    instructions,
    layer_tables,
    memory,
    pass_tables,
    roofline,
    tables,
)
from tests.ui.synthetic import synthetic_report

Shown = Callable[..., Any]
SPLIT = {
    "part": "sub-graph", "index": 0, "axis": 0, "possible": True, "covered_ops": 5, "ops": 6,
    "peak_bytes": 1024, "whole_peak_bytes": 4096, "capacity_bytes": 2048, "taken": True,
}  # fmt: skip
DECISION = {"step": "straight", "rule": "rule 2", "numbers": "pieces 8", "taken": True}
BOUND = {"op": "conv", "binding": "[[0,1]]", "axes": "0", "scope": "LB"}
SAVED = {
    "layers": "1-3", "groups": 3, "best_groups": 2, "kernels": 3, "best_kernels": 2,
    "best_cycles": 100, "is_rest": False,
}  # fmt: skip
COMPARED = {
    "cluster_batch": 4, "status": "searched", "least_cycles": 100, "closed_form_cycles": 200,
    "is_traffic": False, "is_taken": True,
}  # fmt: skip


def full(report: Report, number: int) -> Report:
    """The report with rows in every table: `number` of them, and `number` layers without MACs."""
    name, count = f"of run {number}", range(number)
    rows: dict[str, list[dict[str, object]]] = {
        "splits": [{**SPLIT, "name": name, "pieces": 4 * number} for _ in count],
        "decisions": [{**DECISION, "index": index, "subject": name} for index in count],
        "ready": [{"index": index, "run": name, "ready": name} for index in count],
        "bindings": [{**BOUND, "kernel": name, "tensor": name} for _ in count],
        "otherwise": [{**SAVED, "cycles": 1000 * number} for _ in count],
        "compared_batches": [{**COMPARED, "cycles": 1000 * number}],
    }
    layers = [
        {**row, "macs": 0 if row["index"] < number else row["macs"]}
        for row in report.tables["layers"]
    ]
    steps = [{"name": "import", "seconds": 0.1 * number}, {"name": "plan", "seconds": 0.2 * number}]
    contract = {
        **report.contract, "notes": [f"note {name}"], "steps": steps, "schedule_seconds": number
    }  # fmt: skip
    changed = {**report.tables, "layers": layers, **rows}
    return replace(
        report,
        contract=contract,  # type: ignore[arg-type]
        tables={key: tuple(value) for key, value in changed.items()},  # type: ignore[arg-type, misc]
    )


@pytest.fixture(scope="module")
def a() -> Report:
    return full(synthetic_report(), 1)


@pytest.fixture(scope="module")
def b() -> Report:
    coarse = {"layers": 9, "layers_per_group": 3, "cores": 3, "instructions": 300}
    return full(synthetic_report("graphturbo@16", **coarse), 2)  # type: ignore[arg-type]


def run_of(row: Any) -> str:
    """The run of a row, a selection, or the selections of a trace."""
    if isinstance(row, list):
        return run_of(row[0])
    if isinstance(row, str):
        return row[0]
    return str((asdict(row) if is_dataclass(row) and not isinstance(row, type) else row)["run"])


ROWS: tuple[Shown, ...] = (
    accounting.stall_rows, accounting.stall_table, accounting.path_rows, accounting.ledger_rows,
    accounting.busy_targets, bound_steps.bound_step_rows, buffers.buffer_table,
    cluster_batches.batch_rows, cluster_batches.batch_table,
    group_tables.group_table, group_tables.otherwise_table, group_tables.group_selections,
    instructions.instruction_table, layer_tables.layer_table, layer_tables.layer_selections,
    memory.memory_targets, pass_tables.split_table, pass_tables.decision_table,
    pass_tables.ready_table, pass_tables.binding_table, roofline.roofline_targets,
    tables.memory_table, tables.notes,
)  # fmt: skip
"""Rows and selections of one run each."""
COLUMNS: tuple[Shown, ...] = (tables.step_rows, pass_tables.product_rows)
"""A column per run."""
SENTENCES: tuple[Shown, ...] = (
    buffers.address_summary, group_tables.graph_summary, instructions.gantt_summary,
    layer_tables.samples_text, roofline.left_out_text, tables.round_text,
)  # fmt: skip
FIGURES: tuple[Shown, ...] = (
    accounting.stall_figure, accounting.path_figure, accounting.ledger_figure,
    accounting.busy_figure, bound_steps.bound_step_figure, cluster_batches.batch_figure,
    memory.memory_figure, roofline.roofline_figure,
)  # fmt: skip


def name_of(show: Shown) -> str:
    return show.__name__


def of_package() -> set[Shown]:
    """Functions of named runs in `graphturbo_ui.figures`.

    Without the bytes of a canvas, which have the runs and their names in one order.
    """
    found = set()
    for place in pkgutil.walk_packages(figures.__path__, f"{figures.__name__}."):
        for name, one in inspect.getmembers(import_module(place.name), inspect.isfunction):
            signature = inspect.signature(one)
            is_own = one.__module__ == place.name and not name.startswith("_")
            is_of_runs = {"reports", "names"} <= signature.parameters.keys()
            if is_own and is_of_runs and signature.return_annotation != "bytes":
                found.add(one)
    return found


def test_every_function_of_named_runs_is_compared() -> None:
    compared = [*ROWS, *COLUMNS, *SENTENCES, *FIGURES]
    assert sorted(map(name_of, compared)) == sorted(map(name_of, of_package()))


def unnamed(rows: Iterable[Any]) -> list[Any]:
    """Rows without the names of sub-graphs, which follow from both runs."""
    return [
        {key: value for key, value in row.items() if key != "sub-graph"}
        if isinstance(row, dict)
        else row
        for row in rows
    ]


@pytest.mark.parametrize("show", ROWS, ids=name_of)
def test_rows_stand_at_their_run(show: Shown, a: Report, b: Report) -> None:
    of_a, of_b = unnamed(show(a, names="A")), unnamed(show(b, names="B"))
    assert of_a and of_b
    assert unnamed(show(b, names="A")) != of_a, "nothing would change if the runs were exchanged"
    assert unnamed(sorted(show(a, b, names="AB"), key=run_of)) == [*of_a, *of_b]


def column(rows: Sequence[dict[str, Any]], name: str) -> dict[str, dict[str, Any]]:
    """What a table has of a run per step: cells whose heading begins with its name."""
    return {
        row["step"]: {key: value for key, value in row.items() if key.startswith(name)}
        for row in rows
        if row[f"{name} (s)"] is not None
    }


@pytest.mark.parametrize("show", COLUMNS, ids=name_of)
def test_columns_are_those_of_their_run(show: Shown, a: Report, b: Report) -> None:
    both = show(a, b, names="AB")
    assert column(show(b, names="A"), "A") != column(show(a, names="A"), "A")
    assert column(both, "A") == column(show(a, names="A"), "A")
    assert column(both, "B") == column(show(b, names="B"), "B")


def facts(text: str) -> dict[str, list[str]]:
    """The numbers in a sentence by the run that it names before, or as `1 of A's`."""
    found: dict[str, list[str]] = {"A": [], "B": []}
    turned = re.sub(r"(\d+) of ([AB])'s", r"\2 \1,", text)
    for part in re.split(r"(?=\b[AB]\b)", turned)[1:]:
        found[part[0]] += re.findall(r"[\d.]*\d \w+|\d+", part)
    return found


@pytest.mark.parametrize("show", SENTENCES, ids=name_of)
def test_sentences_have_the_numbers_of_their_run(show: Shown, a: Report, b: Report) -> None:
    of_a, of_b = facts(show(a, names="A"))["A"], facts(show(b, names="B"))["B"]
    assert of_a != of_b
    assert facts(show(a, b, names="AB")) == {"A": of_a, "B": of_b}


def marks(figure: go.Figure) -> set[tuple[object, ...]]:
    """Name, place and words of each bar and dot; without roofs, and bars of no length."""
    points = set()
    for trace in figure.data:
        if getattr(trace, "mode", "") != "lines":
            words = trace.customdata or ("",) * len(trace.x)
            points |= {(trace.name, *mark) for mark in zip(trace.x, trace.y, words, strict=True)}
    return {(name, x, y, said) for name, x, y, said in points if x and y}


def titles(figure: go.Figure) -> set[str]:
    """Of the charts of a figure that begin with the name of a run."""
    texts = (note.text for note in figure.layout.annotations)
    return {text for text in texts if re.match(r"[AB]\b", text)}


@pytest.mark.parametrize("show", FIGURES, ids=name_of)
def test_marks_stand_at_their_run(show: Shown, a: Report, b: Report) -> None:
    both, of_a, of_b = show(a, b, names="AB"), show(a, names="A"), show(b, names="B")
    assert marks(of_a) and marks(of_b)
    assert marks(show(b, names="A")) != marks(of_a)
    assert marks(both) == marks(of_a) | marks(of_b)
    assert titles(both) == titles(of_a) | titles(of_b)
