"""Readings of the paper: options, and a model on which each changes the plan.

Sizes make the chip's memories too small at the default reading: of `generic-4x4` the LBs of a
cluster hold 768 KiB of activations and GB 2 MiB, of `stcp920` both 8 MiB.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper

from tests.models import model_of

READINGS = (
    ("graphturbo.merging", "equal", "falling", {}),
    ("graphturbo.merging", "largest", "falling", {}),
    ("graphturbo.merging", "any", "falling", {}),
    ("graphturbo.coverage", "outputs", "wide", {"graphturbo.merging": "any"}),
    ("graphturbo.binding_of", "instances", "falling", {}),
    ("graphturbo.gb_binding", "plain", "gated", {}),
    ("graphturbo.conflicts", "lb", "gated", {}),
    ("graphturbo.gb_room", "whole", "heavy", {}),
)
"""Option, value, model, and what else is set."""

FALLING = """g (float[1,4,{0},{0}] x, float[4,4,1,1] v, float[4,4,1,1] w) => (float[1,1,1,{1}] u)
    <int64[2] axes = {{1, 2}}> {{
    a = Conv(x, v)
    b = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a)
    c = Conv(b, w)
    u = ReduceMax(c, axes) }}"""
"""Rows of a in two pieces: 16 bytes a pixel of x and a; b and what follows fit whole. u is one row,
so it and what makes it are cut by columns."""

WIDE = """g (float[1,4,{0},{0}] x, float[4,4,1,1] v, float[128,4,1,1] w)
    => (float[1,128,{0},{0}] z) {{
    a = Conv(x, v)
    y = Conv(a, w)
    s = GlobalAveragePool(y)
    z = Mul(y, s) }}"""
"""y takes 256 bytes a pixel and does not fit; s needs all rows of it, a has no channel of it."""

GATED = """g (float[1,8,16,16] x, float[16,16] w) => (float[1,1,16,16] u)
    <int64[2] inner = {2, 3}, int64[1] outer = {1}> {
    y = MatMul(x, w)
    d = ReduceMax(y, inner)
    z = Add(d, y)
    u = ReduceMax(z, outer) }"""
"""u and z are cut by rows and want y so; d is cut by channels and wants y so."""

HEAVY = (
    """g (float[1,64,{0}] x, float[{0},1000] w) => (float[1,64,1000] y) {{ y = MatMul(x, w) }}"""
)
"""The weight fits GB, but not beside a weight part of it."""

ROOMY = """g (float[1,{0},16] x, float[16,1000] v, float[1000,16] w) => (float[1,{0},16] y) {{
    a = MatMul(x, v)
    y = MatMul(a, w) }}"""
"""a takes 1,992 of GB's 2,048 KiB: it fits if no weight part is reserved."""

DEEP = """g (float[1,8,{0},{0}] x, float[8,8,3,3] v, float[8,8,3,3] w) => (float[1,8,{0},{0}] z) {{
    a = Conv <pads = [1,1,1,1]> (x, v)
    b = Conv <pads = [1,1,1,1]> (a, w)
    c = Conv <pads = [1,1,1,1]> (b, v)
    d = Conv <pads = [1,1,1,1]> (c, w)
    e = Conv <pads = [1,1,1,1]> (d, v)
    z = Conv <pads = [1,1,1,1]> (e, w) }}"""
"""Rows have halos, so the largest piece is above the mean; columns need another count."""

MODELS = {
    "falling": (FALLING, {"generic-4x4": (224, 112), "stcp920": (736, 368)}),
    "wide": (WIDE, {"generic-4x4": (64,), "stcp920": (256,)}),
    "gated": (GATED, {"generic-4x4": (), "stcp920": ()}),
    "heavy": (HEAVY, {"generic-4x4": (1024,), "stcp920": (4096,)}),
    "roomy": (ROOMY, {"generic-4x4": (1020,)}),
    "deep": (DEEP, {"generic-4x4": (184,)}),
}
"""Texts and what fills them. HEAVY: its weight takes 2,000 of 2,048 KiB, of which 64 are kept back;
8,000 of 8,192 KiB, of which 256 are."""


def model(name: str, chip: str) -> bytes:
    """The file; inputs v and w become weights, drawn from a seed."""
    text, sizes = MODELS[name]
    proto = model_of(text.format(*sizes[chip]) if sizes[chip] else text, opset=18)
    rng = np.random.default_rng(7)
    for value in [each for each in proto.graph.input if each.name in ("v", "w")]:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        drawn = rng.standard_normal(shape, dtype=np.float32)
        proto.graph.initializer.append(numpy_helper.from_array(drawn, value.name))
        proto.graph.input.remove(value)
    onnx.checker.check_model(proto)
    return bytes(proto.SerializeToString(deterministic=True))
