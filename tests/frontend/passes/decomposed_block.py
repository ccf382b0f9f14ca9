"""A block with a softmax and a layer norm, and options that decompose them."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper

from tests.models import model_bytes

RELAY, WHOLE, DECOMPOSED = (
    {"tvm.normalisation": value} for value in ("relay", "whole", "decomposed")
)

BLOCK = """block (float[n,16,32] x, float[32,32] w, float[32] s, float[32] v)
    => (float[n,16,32] y) {
    q = MatMul (x, w)
    k = Transpose <perm = [0,2,1]> (x)
    a = MatMul (q, k)
    c = Relu (a)
    f = Softmax (c)
    p = Mul (f, f)
    o = MatMul (p, x)
    r = Add (o, x)
    t = LayerNormalization (r, s, v)
    y = Relu (t)
}"""


def block() -> bytes:
    """The weights of BLOCK as initializers."""
    model = onnx.load_from_string(model_bytes(BLOCK))
    rng = np.random.default_rng(0)
    for name in ("w", "s", "v"):
        (value,) = (each for each in model.graph.input if each.name == name)
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        numbers = rng.normal(size=shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(numbers, name))
        model.graph.input.remove(value)
    return bytes(model.SerializeToString())
