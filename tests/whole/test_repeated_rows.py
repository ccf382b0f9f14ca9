"""Constants with one row per sample, too large for their numbers: is the batch divided?"""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.strip import strip_weights
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.semantics.sample_axis import mixed_samples
from graphturbo_core.semantics.table import analyse
from tests.models import imported
from tests.soundness import check_right

WIDTH, BATCH = 512, 16
"""16 rows have 8,192 elements, 4 rows 2,048: only these are small enough to be computed."""


def classed(*extra: onnx.NodeProto, row: str = "token", op_type: str = "Expand") -> bytes:
    """A row per sample, of this op to the free batch, before each sample's three own rows."""
    nodes = [
        helper.make_node("Shape", ["x"], ["n"], end=1),
        helper.make_node("Concat", ["n", "sizes"], ["shape"], axis=0),
        *extra,
        helper.make_node(op_type, [row, "shape"], ["rows"]),
        helper.make_node("Concat", ["rows", "x"], ["all"], axis=1),
        helper.make_node("Relu", ["all"], ["y"]),
    ]
    token = np.random.default_rng(3).standard_normal((1, 1, WIDTH)).astype(np.float32)
    weights = {"token": token, "sizes": np.array([1, WIDTH], dtype=np.int64)}
    graph = helper.make_graph(
        nodes, "classed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4, WIDTH])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    opset = helper.make_opsetid("", 18)
    return bytes(helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString())


@pytest.mark.parametrize("has_numbers", [True, False])
def test_rows_of_one_weight_are_divided(has_numbers: bool) -> None:
    data = classed() if has_numbers else strip_weights(classed(), DEFAULT_LIMITS).data
    request = RunRequest("classed", "graphturbo", "stcp920", BATCH, verify=True)
    report = run_report(data, request)
    assert report.contract["cluster_batch"] == BATCH // 4
    check_right(report)
    few, all_samples = (imported(data, ImportOptions("classed", size)) for size in (4, BATCH))
    assert all_samples.tensors["rows"].repeats == ("" if has_numbers else "token")
    assert mixed_samples(analyse(few), analyse(all_samples), (4, BATCH)) is None


SCALED = (
    helper.make_node("Cast", ["n"], ["count"], to=TensorProto.FLOAT),
    helper.make_node("Mul", ["token", "count"], ["scaled"]),
)
"""Each row is the token times the number of samples."""


@pytest.mark.parametrize("has_numbers", [True, False])
def test_rows_that_depend_on_the_batch_are_not_divided(has_numbers: bool) -> None:
    data = classed(*SCALED, row="scaled")
    data = data if has_numbers else strip_weights(data, DEFAULT_LIMITS).data
    request = RunRequest("classed", "graphturbo", "stcp920", BATCH, verify=True)
    report = run_report(data, request)
    assert report.contract["cluster_batch"] == BATCH
    assert any("is not divided" in note for note in report.contract["notes"])
    check_right(report)
    few, all_samples = (imported(data, ImportOptions("classed", size)) for size in (4, BATCH))
    assert not all_samples.tensors["rows"].repeats
    assert mixed_samples(analyse(few), analyse(all_samples), (4, BATCH)) is not None


def test_repeated_numbers_need_no_memory_and_are_not_copied() -> None:
    """An Expand has its numbers, without memory of its own; a Reshape of it would copy them."""
    graph = imported(classed(), ImportOptions("classed", BATCH))
    value = graph.tensors["rows"].value
    assert value is not None and value.shape == (BATCH, 1, WIDTH) and value.strides[0] == 0
    many = helper.make_node("Expand", ["token", "shape"], ["many"])
    data = classed(many, row="many", op_type="Reshape")
    assert imported(data, ImportOptions("classed", BATCH)).tensors["rows"].value is None


def test_an_op_without_inputs_is_imported() -> None:
    """It repeats nothing."""
    random = helper.make_node("RandomNormal", [], ["random"], shape=[1, 1, WIDTH])
    graph = imported(classed(random, row="random"), ImportOptions("classed", BATCH))
    assert [op.op_type for op in graph.ops] == ["RandomNormal", "Expand", "Concat", "Relu"]
