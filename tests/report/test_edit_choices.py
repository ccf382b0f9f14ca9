"""What can be edited at a sub-graph, worked out by hand for a chain of three groups."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.report.edit_choices import edit_choices
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.verdict import figures_of, since_text
from tests.ui.synthetic import synthetic_report

# ops:    0 conv   1 relu   2 conv   3 add    4 pool
# layers: 0        0        1        1        2
# groups: 0        0        1        1        2
LAYER, GROUP = (0, 0, 1, 1, 2), (0, 0, 1, 1, 2)
EDGES = ((-1, 0), (0, 1), (1, 2), (2, 3), (1, 3), (3, 4))


def chain(groups: tuple[int, ...] = GROUP) -> Report:
    shapes = ([[8, 4]], [[8, 4]], [[8, 6]], [[8, 4], [8, 6]], [[8, 1]])
    keys = ("index", "op", "op_type", "layer", "group", "output_shapes")
    ops, types = [f"op{i}" for i in range(5)], ["Conv", "Relu", "Gemm", "Add", "MaxPool"]
    values = zip(range(5), ops, types, LAYER, groups, shapes, strict=True)
    nodes = tuple(dict(zip(keys, row, strict=True)) for row in values)
    axes = {0: (0, 2), 1: (1, 3), 2: (-1, 1)}
    rows = tuple(
        {
            "name": f"g{i + 1}",
            "split_axis": axes[i][0],
            "pieces": axes[i][1],
            "along": f"axis {axes[i][0]}",
        }
        for i in sorted(set(groups))
    )
    tables = {
        "graph_nodes": nodes,
        "graph_edges": tuple({"source": s, "target": t, "tensor": f"t{s}"} for s, t in EDGES),
        "groups": rows,
        "layers": tuple({"name": f"layer{i}"} for i in range(3)),
    }
    return Report(contract={}, tables=tables, arrays={})


def test_an_axis_that_the_results_lack_has_one_piece():
    found = edit_choices(chain(), 1)
    assert found.piece_counts(0) == (1, 2, 4, 8)
    assert [found.piece_counts(axis) for axis in (-1, 2, 3)] == [(1,)] * 3


def test_a_group_in_the_middle_has_two_neighbours():
    found = edit_choices(chain(), 1)
    assert found.name == "g2"
    assert found.layers == {"layer1": ("op2", "op3")}
    assert found.neighbours == {"g1": ("op0", "op1"), "g3": ("op4",)}
    assert (found.extents, found.axis, found.pieces, found.along) == ((8, 6), 1, 3, "features")
    assert found.axis_names == ("samples", "features")


def test_only_divisors_of_an_axis_can_be_its_pieces():
    found = edit_choices(chain(), 1)
    assert found.piece_counts(0) == (1, 2, 4, 8)
    assert found.piece_counts(1) == (1, 2, 3, 6)
    assert found.piece_counts(-1) == found.piece_counts(2) == (1,)


def test_a_group_is_cut_between_two_of_its_layers():
    found = edit_choices(chain((0, 0, 0, 0, 1)), 0)
    assert list(found.layers) == ["layer0", "layer1"]
    assert found.parts_around(0) == {"g1-before": ("op0", "op1"), "g1-after": ("op2", "op3")}
    assert found.ops == ("op0", "op1", "op2", "op3")


def test_a_graph_input_is_no_neighbour():
    assert edit_choices(chain(), 0).neighbours == {"g2": ("op2", "op3")}


def test_what_edits_changed_is_told():
    report = synthetic_report()
    before = figures_of(report)
    assert set(before) == {"kernels", "latency", "dram"}
    assert since_text(before, report).count("(the same)") == 3
    slower = {**before, "latency": before["latency"] / 2}
    assert "now (2×)" in since_text(slower, report)


def test_the_extents_are_those_of_the_group_s_last_op():
    report = chain((0, 0, 0, 0, 1))
    nodes = tuple(
        {**node, "output_shapes": [[at + 2, at + 2]]}
        for at, node in enumerate(report.tables["graph_nodes"])
    )
    found = edit_choices(replace(report, tables={**report.tables, "graph_nodes": nodes}), 0)
    assert found.extents == (5, 5)
