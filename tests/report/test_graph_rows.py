"""Rows of the op graph: shapes of results and weights, and attributes as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.algorithms.binds import bind_picture
from graphturbo_core.report.algorithms.splits import split_picture
from graphturbo_core.report.edit_choices import edit_choices
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import shapes_text

SPLIT = [[4, 2, 6, 6], [4, 6, 6, 6]]


def report() -> Report:
    """A convolution and a split with two results, of which the second is the larger."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "conv", kernel_shape=[3, 3]),
        helper.make_node("Split", ["a"], ["y", "z"], "split", axis=1, split=[2, 6]),
    ]
    weight = numpy_helper.from_array(np.ones((8, 3, 3, 3), np.float32), "w")
    return report_of(nodes, [[4, 3, 8, 8], *SPLIT], [weight])


def report_of(
    nodes: Sequence[NodeProto], shapes: Sequence[list[int]], weights: Sequence[TensorProto] = ()
) -> Report:
    """Of a model with input x and results y and z, of these shapes."""
    given = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip("xyz", shapes, strict=False)
    ]
    graph = helper.make_graph(nodes, "small", given[:1], given[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)])
    onnx.checker.check_model(model)
    request = RunRequest("small", "graphturbo", "learn-1x4", shapes[0][0])
    return run_report(model.SerializeToString(), request)


def test_shapes_are_those_of_each_result_and_weight() -> None:
    conv, split = report().tables["graph_nodes"]
    assert conv["output_shapes"] == [[4, 8, 6, 6]]
    assert conv["weight_shapes"] == [[8, 3, 3, 3]]
    assert conv["attributes"] == "kernel_shape 3, 3"
    assert split["output_shapes"] == SPLIT
    assert split["weight_shapes"] == []
    assert split["attributes"] == "axis 1; split 2, 6"
    assert shapes_text([*SPLIT, []]) == "4x2x6x6, 4x6x6x6, scalar"


def test_pictures_show_one_result_of_an_op_with_two() -> None:
    found = report()
    drawn = split_picture(found, [0] * len(found.tables["groups"]), str)
    assert drawn is not None
    assert [part["shape"] for part in drawn["parts"]][-1] == SPLIT[-1]
    bound = bind_picture(found, str)
    assert bound is not None
    named = {len(bound["axis_names"][tensor[5]]) for sheet in bound["sheets"] for tensor in sheet}
    assert named == {len(SPLIT[0])}
    last = len(found.tables["groups"]) - 1
    assert edit_choices(found, last).extents == tuple(SPLIT[-1])


def test_a_long_attribute_is_cut() -> None:
    """Pad of five axes has ten numbers."""
    node = helper.make_node("Pad", ["x"], ["y"], "pad", pads=[1, *[0] * 9])
    (row,) = report_of([node], [[2, 3, 4, 4, 4], [3, 3, 4, 4, 4]]).tables["graph_nodes"]
    assert row["attributes"] == "pads 1, 0, 0, 0, 0, 0, 0, 0, 2 more"
    assert row["weight_shapes"] == []
