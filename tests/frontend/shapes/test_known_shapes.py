"""Shapes that onnx leaves open, values that it does not compute, attributes that are tensors."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

from graphturbo_core.errors import ModelError
from tests.models import graph_of, imported, op_types

COMPRESS = "g (float[3,4] x) => (float[M] y) <bool[3] c = {1, 0, 1}> { y = Compress %s (x, c) }"


@pytest.mark.parametrize(
    ("axis", "shape"), [("<axis=0>", (2, 4)), ("<axis=-1>", (3, 2)), ("", (2,))]
)
def test_compress_keeps_as_many_as_are_chosen(axis: str, shape: tuple[int, ...]) -> None:
    assert graph_of(COMPRESS % axis).tensors["y"].shape == shape


def test_what_is_chosen_while_the_model_runs_is_open() -> None:
    text = "g (float[3,4] x, bool[3] c) => (float[M] y) { y = Compress(x, c) }"
    with pytest.raises(ModelError, match="Compress_0"):
        graph_of(text)


def test_functions_without_inference_keep_their_inputs_shape() -> None:
    text = (
        "g (float[1,4,3] x) => (float[1,4,3] y)"
        " <float[4] s = {1, 1, 1, 1}, float[4] b = {0, 0, 0, 0}>"
        " { m = MeanVarianceNormalization <axes=[0,2]> (x)"
        " y = GroupNormalization <num_groups=2> (m, s, b) }"
    )
    graph = graph_of(text, opset=21)
    assert [graph.tensors[name].shape for name in "my"] == [(1, 4, 3)] * 2


def test_a_shape_given_as_a_number() -> None:
    text = (
        "g (float[1,1,2] x, int64[1,1,2] i) => (float[1,1,N] y) <int64[3] s = {1, 1, 5}>"
        " { y = MaxUnpool <kernel_shape=[2], strides=[2]> (x, i, s) }"
    )
    assert graph_of(text).tensors["y"].shape == (1, 1, 5)


@pytest.mark.parametrize(("mode", "wanted"), [("", [2, 1, -1, -2]), ("<fmod=1>", [-1, 1, -1, 1])])
def test_mod_of_constants(mode: str, wanted: list[int]) -> None:
    """-7 = -3 * 3 + 2 and 7 = -3 * -3 - 2: the divisor's sign, or with fmod the dividend's."""
    text = (
        "g (int64[4] x) => (int64[4] y) <int64[4] a = {-7, 7, -7, 7}, int64[4] b = {3, 3, -3, -3}>"
        f" {{ m = Mod {mode} (a, b) y = Add(x, m) }}"
    )
    graph = graph_of(text)
    assert op_types(graph) == "Add"
    value = graph.tensors["m"].value
    assert value is not None
    assert value.tolist() == wanted


def test_a_split_of_constants() -> None:
    """2 | 3 4 | 5: the middle part is a shape."""
    text = (
        "g (float[12] x) => (float[3,4] y) <int64[4] a = {2, 3, 4, 5}, int64[3] s = {1, 2, 1}>"
        " { p, q, r = Split <axis=-1> (a, s) y = Reshape(x, q) }"
    )
    graph = graph_of(text)
    assert op_types(graph) == "Reshape"
    assert graph.tensors["y"].shape == (3, 4)


def test_a_constant_is_cast_like_an_activation() -> None:
    """Of the activation only the type counts, so the result is known at import."""
    text = (
        "g (double[2] x) => (double[2] y) <float[2] a = {1, 2}>"
        " { c = CastLike(a, x) y = Add(x, c) }"
    )
    graph = graph_of(text)
    assert op_types(graph) == "Add"
    value = graph.tensors["c"].value
    assert value is not None
    assert (value.dtype, value.tolist()) == (np.float64, [1, 2])


def test_an_activation_is_cast_like_a_constant() -> None:
    """Knowing the constant says nothing of the result."""
    text = "g (float[2] x) => (double[2] y) <double[2] t = {1, 2}> { y = CastLike(x, t) }"
    assert op_types(graph_of(text)) == "CastLike"


def test_an_attribute_that_is_a_tensor_is_kept() -> None:
    keys = numpy_helper.from_array(np.array([1, 2], np.int64), "keys")
    values = numpy_helper.from_array(np.array([5, 7], np.int64), "values")
    node = helper.make_node(
        "LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_tensor=keys, values_tensor=values
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 7, [3])],
        [helper.make_tensor_value_info("y", 7, [3])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 4)]
    model = helper.make_model(graph, opset_imports=opsets)
    (op,) = imported(model.SerializeToString()).ops
    assert op.attributes["keys_tensor"] == keys.SerializeToString(deterministic=True)
