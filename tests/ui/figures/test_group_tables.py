"""Rows and facts of sub-graphs and ops, exactly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_ui.figures.group_tables import (
    facts,
    graph_summary,
    group_selections,
    group_table,
    otherwise_table,
)
from graphturbo_ui.session.selection import Selection, marks
from tests.ui.synthetic import synthetic_report

FINE = synthetic_report(layers=4)
COARSE = synthetic_report("graphturbo@16", layers=4, layers_per_group=2)
REPORTS = {"A": FINE, "B": COARSE}


def test_a_clicked_sub_graph_tells_its_ops_split_binding_and_reasons():
    title, given = facts(Selection("B", "group", 1), REPORTS)
    assert title == "Sub-graph stage 1 (2) of B (g2)"
    assert given == {
        "ops": "6 of 2 layers: 2 Conv, 2 Relu, 2 Add",
        "split (Algorithm 1)": "8 pieces along samples, carried by 6 of 6 ops",
        "pieces": "8, run as 0 kernels in this round",
        "time of its kernels": "none",
        "live activations at their peak": "3 MiB",
        "output": "t12",
        "binding of its output": "samples in 2: 2 cores",
        "its output is kept in": "GB",
        "why merged (the plan's record)": "rule 2: straight",
        "why not further (the plan's record)": "the next one wants 4 pieces",
    }


def test_the_time_of_a_sub_graphs_kernels():
    """A cycle of the synthetic report is a nanosecond: 500 and 300, at least 400 and 290."""
    rows = [("g1", 0, 900, 800), ("g2", 1000, 1500, 400), ("g2", 1600, 1900, 290)]
    kernels = tuple(
        {"group": g, "start_cycle": s, "end_cycle": e, "least_cycles": n} for g, s, e, n in rows
    )
    report = replace(COARSE, tables={**COARSE.tables, "kernels": kernels})
    _, given = facts(Selection("B", "group", 1), {"A": FINE, "B": report})
    assert given["time of its kernels"] == (
        "800 ns; at least 690 ns in any order of their instructions"
    )
    assert given["pieces"] == "8, run as 2 kernels in this round"


def split_along(report, axis, along, **further):
    """The report with every sub-graph split along these axes, in its table and its contract."""
    groups = tuple({**row, "split_axis": axis, "along": along} for row in report.tables["groups"])
    listed = [{**row, "split_axis": axis, **further} for row in report.contract["groups"]]
    tables = {**report.tables, "groups": groups}
    return replace(report, tables=tables, contract={**report.contract, "groups": listed})


def test_a_sub_graph_without_a_split_runs_whole():
    report = split_along(FINE, -1, "")
    _, given = facts(Selection("A", "group", 0), {"A": report})
    assert given["split (Algorithm 1)"] == "none: it runs whole"
    assert group_table(report)[0]["split axis"] == "none"


def test_all_axes_of_a_split_are_given():
    report = split_along(COARSE, 2, "axes 2 in 4 and 3 in 2", further_splits=[[3, 2]])
    _, given = facts(Selection("A", "group", 0), {"A": report})
    split = "8 pieces along axis 2 (4) and axis 3 (2), carried by 6 of 6 ops"
    assert given["split (Algorithm 1)"] == split
    assert group_table(report)[0]["split axis"] == "2 in 4 and 3 in 2"


def test_only_the_most_frequent_op_types_are_named():
    nodes = tuple(
        {**row, "op_type": f"T{max(0, int(row['index']) - 2)}"}
        for row in COARSE.tables["graph_nodes"]
    )
    report = synthetic_report(layers=4, layers_per_group=4)
    report = replace(
        report, tables={**report.tables, "graph_nodes": tuple({**row, "group": 0} for row in nodes)}
    )
    _, given = facts(Selection("A", "group", 0), {"A": report})
    # ops 0, 1, 2 are T0, ops 3 to 11 are T1 to T9: ten types of which eight are named
    assert given["ops"] == (
        "12 of 4 layers: 3 T0, 1 T1, 1 T2, 1 T3, 1 T4, 1 T5, 1 T6, 1 T7, 2 more types"
    )


def test_a_clicked_op_tells_its_sub_graph_in_both_runs():
    title, given = facts(Selection("A", "op", 7), REPORTS)
    assert title == "Relu op7"
    assert given == {
        "type": "Relu",
        "name": "op7",
        "reads": "2x64x56x56 of Conv op6",
        "output shape": "2x64x56x56",
        "weights": "64x64x3x3",
        "attributes": "kernel_shape 3, 3",
        "read by": "Add op8",
        "layer": "layer2 (Conv+Relu+Add)",
        "sub-graph in A": "layer 3: 3 ops in 1 piece",
        "sub-graph in B": "stage 1 (2): 6 ops in 8 pieces",
    }


def test_ends_of_the_graph_and_many_readers_are_named():
    last = len(FINE.tables["graph_nodes"]) - 1
    edges = tuple({**FINE.tables["graph_edges"][1], "source": 0, "target": n} for n in range(1, 9))
    report = replace(FINE, tables={**FINE.tables, "graph_edges": edges})
    _, given = facts(Selection("A", "op", 0), {"A": report})
    assert given["read by"].endswith("op6, 2 more")
    assert facts(Selection("A", "op", 0), {"A": FINE})[1]["reads"].endswith("of input t0")
    assert (
        facts(Selection("A", "op", last), {"A": FINE})[1]["read by"]
        == "none (a result of the model)"
    )


def test_a_layer_that_another_view_selects_has_its_facts():
    title, given = facts(Selection("A", "layer", 1), REPORTS)
    assert title == "Layer layer1"
    assert given["sub-graph in B"] == "stage 1 (1): 6 ops in 8 pieces"


def test_what_is_not_there_has_no_facts():
    assert facts(Selection("A", "group", 99), REPORTS) == ("", {})
    assert facts(Selection("B", "op", 1), {"A": FINE}) == ("", {})


def test_rows_stand_for_the_sub_graphs_of_both_runs():
    rows = group_table(FINE, COARSE)
    assert [(row["run"], row["sub-graph"]) for row in rows] == [
        *(("A", f"layer {number}") for number in range(1, 5)), ("B", "stage 1 (1)"),
        ("B", "stage 1 (2)"),
    ]  # fmt: skip
    assert group_selections(FINE) == group_selections(FINE, COARSE)[:4]
    targets = group_selections(FINE, COARSE)
    assert [target.text() for target in targets] == [
        "a-group-0", "a-group-1", "a-group-2", "a-group-3", "b-group-0", "b-group-1",
    ]  # fmt: skip
    # B's first has layers 0 and 1, which are A's first two; op 7 is of layer 2
    whole = ["all", "all", "", "", "all", ""]
    assert marks(Selection("B", "group", 0), targets, REPORTS) == whole
    assert marks(Selection("A", "op", 7), targets, REPORTS) == ["", "", "part", "", "", "part"]
    assert marks(None, targets, REPORTS) == [""] * 6
    assert marks(Selection("B", "op", 0), targets[:4], {"A": FINE}) == [""] * 4


def test_a_summary_says_how_the_axis_is_shared():
    assert graph_summary(FINE, COARSE) == (
        "A runs 12 ops as 4 sub-graphs; B runs 12 ops as 2 sub-graphs. "
        "The vertical axis is the same for both: order of dependence."
    )


def test_what_the_paper_s_method_decides_otherwise_is_in_milliseconds():
    """Of one round; the other layers have no number of kernels."""
    row = {
        "layers": "a .. \u202eb", "is_rest": False, "groups": 3, "kernels": 9, "cycles": 4000,
        "best_groups": 1, "best_kernels": 2, "best_cycles": 3000,
    }  # fmt: skip
    rest = {**row, "layers": "all other layers", "is_rest": True, "best_cycles": 4000}
    report = synthetic_report("best@16")
    report = replace(report, tables={**report.tables, "otherwise": (row, rest)})
    first, second = otherwise_table(synthetic_report(), report)
    scale = 1e3 * report.contract["latency_s"] / report.contract["cycles"]
    assert first["run"] == "B"
    assert "\u202e" not in first["layers"]
    assert first["paper (ms a round)"] == pytest.approx(4000 * scale)
    assert first["saved (ms a round)"] == pytest.approx(1000 * scale)
    assert (first["sub-graphs, paper"], first["sub-graphs, best"]) == (3, 1)
    assert (first["kernels, paper"], first["kernels, best"]) == (9, 2)
    assert second["kernels, paper"] is second["kernels, best"] is None
    assert second["saved (ms a round)"] == 0
