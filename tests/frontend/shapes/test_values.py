"""Values that import computes are what ONNX Runtime computes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphturbo_core.limits import DEFAULT_LIMITS
from tests.frontend.reference import run_model
from tests.models import graph_of, imported, model_bytes

FLOATS = "float[2,3] f = {1, -2, 3, 0.5, 5, -6}"
INTEGERS = "int64[2,3] i = {4, 0, -1, 7, 3, 2}, int64 one = {1}, int64 minus = {-1}"
PLACES = "int64[2,1] rows = {1, 0}, int64[2,2] cells = {1, 2, 0, 0}, int64[2,1] inner = {2, 0}"
KNOWN = {
    "r = CumSum (i, one)": "int64[2,3]",
    "r = CumSum <exclusive = 1> (i, minus)": "int64[2,3]",
    "r = CumSum <reverse = 1> (f, one)": "float[2,3]",
    "z = CastLike (one, one) q = Sub (z, one) r = CumSum <reverse = 1, exclusive = 1> (i, q)": (
        "int64[2,3]"
    ),
    "r = Trilu (f)": "float[2,3]",
    "r = Trilu <upper = 0> (i, minus)": "int64[2,3]",
    "r = Trilu <upper = 1> (i, one)": "int64[2,3]",
    "r = GatherND (i, rows)": "int64[2,3]",
    "r = GatherND (i, cells)": "int64[2]",
    "r = GatherND <batch_dims = 1> (i, inner)": "int64[2]",
    "u = Neg (i) r = ScatterND (i, rows, u)": "int64[2,3]",
    "u = GatherND (f, cells) r = ScatterND <reduction = \"add\"> (f, cells, u)": "float[2,3]",
    "t = Transpose (f) r = MatMul (f, t)": "float[2,2]",
    "n = Sqrt (f) r = IsNaN (n)": "bool[2,3]",
    "s = Sin (f) c = Cos (s) t = Tanh (c) r = Reciprocal (t)": "float[2,3]",
}  # fmt: skip


@pytest.mark.parametrize("nodes", KNOWN)
def test_import_computes_what_the_runtime_does(nodes: str) -> None:
    """`y` is there so that something is left to run."""
    text = (
        f"g (float[2] x) => ({KNOWN[nodes]} r, float[2] y) <{FLOATS}, {INTEGERS}, {PLACES}>"
        f" {{ {nodes} y = Relu (x) }}"
    )
    found = graph_of(text).tensors["r"].value
    expected = run_model(model_bytes(text), {"x": np.zeros(2, np.float32)})[0]
    assert found is not None
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_product_of_large_weights_is_not_computed() -> None:
    """Two results, but a row of 5,000: import would do a file's size of work for each of them."""
    size = DEFAULT_LIMITS.max_elements_value_propagation + 904
    text = (
        f"g (float[2] x) => (float[1,2] r, float[2] y) <float[1,{size}] a, float[{size},2] b>"
        " { r = MatMul (a, b) y = Relu (x) }"
    )
    model = onnx.load_model_from_string(model_bytes(text))
    del model.graph.value_info[:]
    for name, shape in (("a", (1, size)), ("b", (size, 2))):
        array = np.ones(shape, np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    graph = imported(model.SerializeToString())
    assert graph.tensors["r"].value is None
