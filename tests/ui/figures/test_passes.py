"""Rows of the tables below the pictures of Algorithms 1 to 4."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_ui.figures import pass_tables
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
    (row,) = pass_tables.decision_table(with_tables(decisions=(decision,)), names="B")
    assert row == {
        "run": "B", "number": 1, "step": "straight", "answer": "no", "what": "a + b",
        "rule": "rule 2", "numbers": "pieces 8",
    }  # fmt: skip


def test_the_ready_list_step_by_step():
    rows = pass_tables.ready_table(with_tables(ready=READY))
    assert [(row["step"], row["runs"]) for row in rows] == [(1, "g1/2"), (2, "g2/1"), (3, "g1/1")]
    assert [row["ready after it"] for row in rows] == ["g1/1, g2/1", "g1/1", ""]


def test_bindings_name_cores_and_memory():
    bound = {"kernel": "g1/1", "tensor": "t", "op": "conv", "binding": "[[0,1]]", "axes": "0, 2"}
    rows = pass_tables.binding_table(
        with_tables(bindings=({**bound, "scope": "LB"}, {**bound, "scope": ""}))
    )
    assert [row["memory"] for row in rows] == ["LB", "its loop nest"]
    assert (rows[0]["kernel"], rows[0]["cores"], rows[0]["axes"]) == ("g1/1", "[[0,1]]", "0, 2")


def test_both_runs_share_the_rows_of_a_table(monkeypatch):
    monkeypatch.setattr(pass_tables, "MAX_ROWS", 4)
    report = with_tables(ready=READY, splits=(SPLIT,) * 3)
    assert [row["run"] for row in pass_tables.ready_table(report, report)] == ["A", "A", "B", "B"]
    assert [row["run"] for row in pass_tables.split_table(report, names="B")] == ["B"] * 3


def test_every_table_lists_rows_of_a_report():
    report = with_tables(splits=(SPLIT,), ready=READY)
    for rows, make in pass_tables.TABLES.values():
        assert len(make(report)) == len(report.tables[rows])
