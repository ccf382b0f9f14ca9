"""Report -> the graph view's buffer: boxes, places and edges are exactly what the report says."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.report.canvases.graph_canvas import graph_buffer
from tests.ui.synthetic import synthetic_report
from tests.ui.unpacking import unpack


def test_a_sub_graph_spans_the_ranks_of_its_ops_and_places_start_at_zero():
    report = synthetic_report(layers=4, layers_per_group=2)
    nodes = tuple(
        {**row, "x_coarse": 3.0 - 2 * (row["index"] == 1)} for row in report.tables["graph_nodes"]
    )
    report = replace(report, tables={**report.tables, "graph_nodes": nodes})
    header, arrays = unpack(graph_buffer(report))
    first, second = header["runs"][0]["groups"]
    # two layers of three ops in a chain each; op 1 stands at 1, all others at 3: leftmost is 0
    assert (first["first"], first["last"], first["left"], first["right"]) == (0, 5, 0.0, 3.0)
    assert (second["first"], second["last"], second["left"], second["right"]) == (6, 11, 2.0, 3.0)
    assert list(arrays["0.x"][:3]) == [2.0, 0.0, 2.0]


def test_edges_from_graph_inputs_are_left_out():
    header, arrays = unpack(graph_buffer(synthetic_report(layers=1)))
    assert list(arrays["0.source"]) == [0, 1]
    assert list(arrays["0.target"]) == [1, 2]
    assert len(header["runs"][0]["shapes"]) == 2


def test_an_edge_brings_its_tensor_shape_and_bytes_and_an_op_its_shape_and_layer():
    header, arrays = unpack(graph_buffer(synthetic_report(layers=1), show=str.upper))
    run = header["runs"][0]
    assert run["tensors"] == ["T1", "T2"]
    # 2 x 64 x 56 x 56 elements of 2 bytes
    assert list(arrays["0.edge_bytes"]) == [802_816.0, 802_816.0]
    assert run["op_shapes"] == ["2X64X56X56"] * 3
    assert run["op_attributes"] == ["kernel_shape 3, 3"] * 3
    long = graph_buffer(synthetic_report(layers=1), show_long=str.upper)
    assert unpack(long)[0]["runs"][0]["op_attributes"] == ["KERNEL_SHAPE 3, 3"] * 3
    assert run["layers"] == ["LAYER0"]
