"""Rows of the passes, and bindings as grids of cores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_ui.figures import binding, pass_tables
from graphturbo_ui.palette import MUTED
from tests.ui.canvas_page import contrast
from tests.ui.synthetic import synthetic_report

READY = (
    {"index": 0, "run": "g1/2", "ready": "g1/1, g2/1"},
    {"index": 1, "run": "g2/1", "ready": "g1/1"},
    {"index": 2, "run": "g1/1", "ready": ""},
)
SPLIT = {
    "part": "sub-graph", "index": 0, "name": "g1", "axis": 0, "possible": True, "pieces": 4,
    "covered_ops": 5, "ops": 6, "peak_bytes": 1024, "whole_peak_bytes": 4096,
    "capacity_bytes": 2048, "taken": True,
}  # fmt: skip


def with_tables(**tables):
    report = synthetic_report("graphturbo@16")
    return replace(report, tables={**report.tables, **tables})


def bound(text: str, axes: str, scope: str = "LB"):
    place = {"kernel": "g1/1", "tensor": "t", "op": "conv"}
    return {**place, "binding": text, "axes": axes, "scope": scope}


def test_every_step_has_its_product():
    report = synthetic_report(layers=2)
    steps = [{"name": name, "seconds": 0.5} for name in ("import", "plan (round of 2)", "report")]
    report = replace(report, contract={**report.contract, "steps": steps})
    rows = pass_tables.product_rows(report, names="B")
    assert [row["B's product"] for row in rows] == [
        "6 ops, 6 reads of activations",
        "2 sub-graphs, 0 kernels, 0 decisions",
        "",
        "",
    ]
    assert pass_tables.product("lower", report) == "400 instructions on 7 engines, 320 buffers"
    assert pass_tables.product("divide the batch", report) == "8 rounds of 2 samples per cluster"
    both = pass_tables.product_rows(synthetic_report(), report)
    plan = next(row for row in both if row["step"] == "plan (round of 2)")
    assert (plan["A (s)"], plan["A's product"]) == (None, "")


def test_quadruples_and_merges_in_words():
    no = {**SPLIT, "axis": 1, "possible": False, "taken": False, "pieces": 0, "covered_ops": 2}
    rows = pass_tables.split_table(with_tables(splits=(SPLIT, no)))
    assert [row["split"] for row in rows] == ["taken", "no"]
    assert [row["ops covered"] for row in rows] == ["5 of 6", "2 of 6"]
    assert [row["peak of a piece"] for row in rows] == ["1 KiB", ""]
    assert (rows[1]["pieces"], rows[0]["limit"]) == (None, "2 KiB")
    decision = {
        "index": 0, "step": "straight", "rule": "rule 2", "subject": "a + b", "taken": False,
        "numbers": "pieces 8",
    }  # fmt: skip
    (row,) = pass_tables.decision_table(with_tables(decisions=(decision,)))
    assert row == {
        "number": 1, "step": "straight", "answer": "no", "what": "a + b", "rule": "rule 2",
        "numbers": "pieces 8",
    }  # fmt: skip


def test_the_ready_list_step_by_step():
    report = with_tables(ready=READY)
    assert pass_tables.ready_at(report, 0) == {
        "done": "nothing yet",
        "ready, newest last": "what has no producers",
        "runs": "g1/2",
        "ready after it": "g1/1, g2/1",
    }
    assert pass_tables.ready_at(report, 2) == {
        "done": "g1/2, g2/1",
        "ready, newest last": "g1/1",
        "runs": "g1/1",
        "ready after it": "nothing",
    }
    rows = pass_tables.ready_table(report)
    assert [(row["step"], row["runs"]) for row in rows] == [(1, "g1/2"), (2, "g2/1"), (3, "g1/1")]


def test_a_nested_list_is_a_grid_of_cores():
    row = bound("[[4,1],[6,0]]", "0, 2")
    assert binding.binding_cells(row) == [[(4, (0, 0)), (1, (0, 1))], [(6, (1, 0)), (0, (1, 1))]]
    figure = binding.binding_figure(row)
    (grid,) = figure.data
    assert list(grid.text) == [["core 4", "core 1"], ["core 6", "core 0"]]
    assert grid.customdata[1][0] == "core 6: part 2 of 2 along axis 0, part 1 of 2 along axis 2"
    assert (grid.x0, grid.y0) == (1, 1), "parts are counted from 1, on the axes as in the hover"
    assert figure.layout.yaxis.title.text == "part of axis 0"
    assert figure.layout.xaxis.title.text == "part of axis 2"
    cells = [colour for _, colour in grid.colorscale]
    assert cells == [binding.pale(colour) for colour in MUTED]
    assert binding.pale("#0072b2") == "#80b8d8"
    assert len(set(cells)) == len(cells)
    assert min(contrast(binding.LABEL_INK, colour) for colour in cells) >= 4.5
    assert grid.textfont.color == binding.LABEL_INK


@pytest.mark.parametrize(
    ("text", "axes", "cells"),
    [
        ("[4,5,6]", "1", [["core 4", "core 5", "core 6"]]),
        ("7", "", [["core 7"]]),
        ("-1", "", [["cluster"]]),
        ("[[[0,1],[2,3]]]", "0, 1, 2", [["core 0", "core 1", "core 2", "core 3"]]),
    ],
)
def test_bindings_of_one_none_and_three_axes(text: str, axes: str, cells: list[list[str]]):
    figure = binding.binding_figure(bound(text, axes))
    assert [list(line) for line in figure.data[0].text] == cells


def test_what_can_be_chosen_and_the_empty_case():
    report = with_tables(bindings=(bound("7", ""), {**bound("7", "", ""), "kernel": "g1/2"}))
    assert binding.kernel_names(report) == ["g1/1", "g1/2"]
    (row,) = binding.bindings_of(report, "g1/2")
    assert binding.binding_label(row) == "t of conv, used up in its loop nest"
    assert binding.binding_label(bound("7", "")) == "t of conv, held in LB"
    assert binding.binding_figure(None).layout.annotations[0].text == binding.NOTHING
