"""Small models whose convolutions read one input."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper

from tests.models import model_of

WEIGHTS = (
    "float[6,8,1,1] w1, float[10,8,1,1] w2, float[6,8,3,3] w3, float[4,8,3,3] w4,"
    " float[7,6,1,1] w5, float[6,4,1,1] wg, float[4,8,1,3] wr, float[8,6,1,1] wt,"
    " float[6] v1, float[10] v2, float[6,1,1] vc, float[4,8,2,2] we, float[4,8,3,1] wl,"
    " float[8,1,3,3] wd, float[8] v8, float[6,2,1,1] ws, float[8,2,1,1] wq"
)
MAP = "float[n,8,9,9]"


def branches(body: str, outputs: str = "p, q") -> onnx.ModelProto:
    """A model of maps `x` and `y`; values whose name starts with w or v are random weights.

    `k`, `kg` and `b` have the shapes of `w1`, `wg` and `v1`, but they are inputs.
    """
    inputs = f"{MAP} x, {MAP} y, {WEIGHTS}, float[6,8,1,1] k, float[6,4,1,1] kg, float[6] b"
    results = ", ".join(f"float[n,{name}1,{name}2,{name}3] {name}" for name in outputs.split(", "))
    model = model_of(f"branches ({inputs}) => ({results}) {{ {body} }}")
    rng = np.random.default_rng(0)
    for value in [each for each in model.graph.input if each.name[0] in "wv"]:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        numbers = rng.normal(size=shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(numbers, value.name))
        model.graph.input.remove(value)
    for node in model.graph.node:
        node.name = node.output[0]
    return model


def branches_file(body: str, outputs: str = "p, q") -> bytes:
    """The file of such a model."""
    return bytes(branches(body, outputs).SerializeToString(deterministic=True))


def relus(first: str, second: str) -> str:
    """Two convolutions `c` and `d`, each with a Relu."""
    return f"c = {first} d = {second} p = Relu(c) q = Relu(d)"
