"""Numbers for weights that the file has none for, and for inputs: seeded, of use, within a cap."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.numbers import BYTES, drawn, drawn_inputs, with_numbers
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from tests.models import graph_of, model_bytes, model_of

WHOLE = "g (float[2,3] x) => (float[2,3] y) <float[3] b = {1, 2, 3}> { y = Add(x, b) }"
FILLED = (
    "g (float[1,4] x) => (float[1,3] y) <int64[2] s = {4, 3}, int64[1] one = {1}>"
    " { w = ConstantOfShape <value = float[1] {0.5}> (s) c = ConstantOfShape (one)"
    " m = MatMul(x, w) y = Add(m, c) }"
)


def absent(name: str, shape: tuple[int, ...]) -> onnx.TensorProto:
    proto = onnx.TensorProto(name=name, data_type=onnx.TensorProto.FLOAT, dims=shape)
    proto.data_location = onnx.TensorProto.EXTERNAL
    return proto


def weights(data: bytes) -> dict[str, np.ndarray]:
    graph = onnx.load_model_from_string(data).graph
    found = {proto.name: numpy_helper.to_array(proto) for proto in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return found


def test_a_model_with_all_its_numbers_is_left_alone() -> None:
    data = model_bytes(WHOLE)
    found = with_numbers(data, 0, DEFAULT_LIMITS)
    assert (found.data, found.drawn) == (data, 0)


def test_weights_in_other_files_are_drawn() -> None:
    """A matrix of 3 x 2 and four bytes each: 24."""
    model = model_of("g (float[2,3] x) => (float[2,2] y) { y = MatMul(x, w) }")
    model.graph.initializer.append(absent("w", (3, 2)))
    found = with_numbers(model.SerializeToString(), 7, DEFAULT_LIMITS)
    assert found.drawn == 1
    wanted = drawn("w", (3, 2), np.dtype(np.float32), 7)
    assert weights(found.data)["w"].tolist() == wanted.tolist()


def test_so_are_those_in_constant_nodes() -> None:
    """As Paddle spells weights; ONNX Runtime would look for their file."""
    model = model_of("g (float[2,3] x) => (float[2,2] y) { y = MatMul(x, w) }")
    node = helper.make_node("Constant", [], ["w"], value=absent("", (3, 2)))
    model.graph.node.insert(0, node)
    found = with_numbers(model.SerializeToString(), 7, DEFAULT_LIMITS)
    assert found.drawn == 1
    wanted = drawn("w", (3, 2), np.dtype(np.float32), 7)
    assert weights(found.data)["w"].tolist() == wanted.tolist()


def test_a_weight_of_one_and_the_same_number_is_drawn() -> None:
    """Twelve of one half stand for a weight; a single one may be what it says."""
    found = with_numbers(model_bytes(FILLED), 0, DEFAULT_LIMITS)
    assert found.drawn == 1
    assert len(set(weights(found.data)["w"].ravel().tolist())) == 12
    assert "c" not in weights(found.data)


def test_more_than_the_cap_is_refused() -> None:
    with_numbers(model_bytes(FILLED), 0, Limits(max_drawn_bytes=48))
    with pytest.raises(CapacityError, match="48 bytes of weights have no numbers, more than 47"):
        with_numbers(model_bytes(FILLED), 0, Limits(max_drawn_bytes=47))


def test_numbers_depend_on_name_shape_and_seed_alone() -> None:
    single = np.dtype(np.float32)
    first = drawn("w", (3, 4), single, 1)
    assert first.tolist() == drawn("w", (3, 4), single, 1).tolist()
    assert first.tolist() != drawn("v", (3, 4), single, 1).tolist()
    assert first.tolist() != drawn("w", (3, 4), single, 2).tolist()


def test_numbers_keep_activations_in_size() -> None:
    """Rows of 400: a standard deviation of 1/20; vectors lie between 0.5 and 1.5."""
    matrix = drawn("w", (300, 400), np.dtype(np.float32), 0)
    assert abs(float(matrix.std()) - 0.05) < 0.001
    vector = drawn("v", (1000,), np.dtype(np.float32), 0)
    assert 0.5 <= vector.min() < vector.max() <= 1.5
    assert set(drawn("i", (100,), np.dtype(np.int64), 0).tolist()) == {0, 1}


def test_inputs_fit_their_types() -> None:
    graph = graph_of(
        "g (float[50] x, int64[50] n, bool[50] b, string[2] s) => "
        "(float[50] y, int64[50] m, bool[50] c, string[4] t)"
        " { y = Neg(x) m = Neg(n) c = Not(b) t = Concat <axis=0> (s, s) }"
    )
    found = drawn_inputs(graph, 0)
    assert {name: numbers.dtype.kind for name, numbers in found.items()} == {
        "x": "f", "n": "i", "b": "b", "s": "O",
    }  # fmt: skip
    assert set(found["n"].tolist()) == {0, 1}
    assert found["s"].tolist() == ["a", "a"]
    assert abs(float(found["x"].mean())) < 0.5
    assert max(drawn_inputs(graph, 0, BYTES)["n"].tolist()) > 127
    assert found["x"].tolist() == drawn_inputs(graph, 0)["x"].tolist()


def test_bytes_stay_within_the_type() -> None:
    graph = graph_of("g (int8[400] n) => (int8[400] m) { m = Neg(n) }")
    numbers = drawn_inputs(graph, 0, BYTES)["n"]
    assert 0 <= numbers.min() < 8
    assert 119 < numbers.max() <= 127
