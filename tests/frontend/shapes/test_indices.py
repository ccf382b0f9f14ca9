"""Computed indices keep their numbers above the usual limit, up to one for the whole model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.shapes.indices import index_ops
from graphturbo_core.ir.graph import Op
from graphturbo_core.limits import DEFAULT_LIMITS
from tests.models import imported

SAMPLES, WIDTH = 16, 512
ELEMENTS = SAMPLES * WIDTH
USUAL = DEFAULT_LIMITS.max_elements_value_propagation


def node(call: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(call, inputs.split(), [output], output, **attributes)


INDICES = (
    node("Shape", "x", "sizes", end=1),
    node("Squeeze", "sizes zero", "n"),
    node("Range", "low n one", "samples"),
    node("Mul", "samples width", "starts"),
    node("Unsqueeze", "starts one1", "column"),
    node("Add", "column offsets", "first"),
    node("Add", "first none", "i"),
)
PICK = (node("Reshape", "x flat", "all"), node("Gather", "all i", "picked", axis=0))


def model(*nodes: onnx.NodeProto, samples: int | str = SAMPLES) -> bytes:
    weights = {
        "zero": [0], "low": 0, "one": 1, "one1": [1], "width": WIDTH, "none": 0, "flat": [-1],
        "offsets": np.arange(WIDTH)[None],
    }  # fmt: skip
    graph = helper.make_graph(
        list(nodes), "indices",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [samples, WIDTH])],
        [helper.make_tensor_value_info("picked", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(each), name) for name, each in weights.items()],
    )  # fmt: skip
    opset = helper.make_opsetid("", 18)
    return bytes(helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString())


def known(data: bytes, name: str, most: int = DEFAULT_LIMITS.max_index_elements) -> bool:
    limits = replace(DEFAULT_LIMITS, max_index_elements=most)
    graph = imported(data, ImportOptions("indices", limits=limits))
    return graph.tensors[name].value is not None


def test_indices_are_computed() -> None:
    assert ELEMENTS > USUAL
    value = imported(model(*INDICES, *PICK)).tensors["i"].value
    assert value is not None
    np.testing.assert_array_equal(value.reshape(-1), np.arange(ELEMENTS))


def test_no_other_constant_of_that_size_is() -> None:
    """The same numbers as an addend of the result."""
    other = (node("Cast", "i", "many", to=TensorProto.FLOAT), node("Add", "x many", "picked"))
    assert not known(model(*INDICES, *other), "many")


@pytest.mark.parametrize(
    ("most", "is_known"), [(2 * ELEMENTS, True), (2 * ELEMENTS - 1, False), (0, False)]
)
def test_all_indices_of_a_model_have_one_limit(most: int, is_known: bool) -> None:
    """Two sums of 8,192 elements each."""
    assert known(model(*INDICES, *PICK), "i", most) == is_known


def test_a_view_needs_no_memory() -> None:
    view = (node("Reshape", "first flat", "list"), node("Add", "list none", "i"))
    assert known(model(*INDICES[:6], *view, *PICK), "i", 2 * ELEMENTS)


def test_a_fixed_batch_is_rescaled_with_its_indices() -> None:
    data = model(*INDICES, *PICK, samples=1)
    graph = imported(data, ImportOptions("indices", batch=SAMPLES))
    value = graph.tensors["i"].value
    assert value is not None
    np.testing.assert_array_equal(value.reshape(-1), np.arange(ELEMENTS))


def op(op_type: str, inputs: str, output: str) -> Op:
    return Op(output, op_type, "", tuple(inputs.split()), (output,), {}, 18)


def test_ops_of_indices_are_those_before_the_second_input() -> None:
    """Not those of the data, nor products: their work is larger than their result."""
    ops = (
        op("Neg", "x", "a"), op("Range", "zero n one", "b"), op("Mul", "b w", "c"),
        op("MatMul", "v v", "d"), op("Add", "c d", "i"), op("Gather", "a i", "y"),
    )  # fmt: skip
    assert index_ops(ops) == {"b", "c", "i"}
    assert index_ops((*ops, op("GatherND", "y a", "z"))) == {"a", "b", "c", "i"}
    assert not index_ops((*ops[:-1], op("Add", "a i", "y")))
