"""Other readings of the paper's algorithms: each changes the plan it is about, and replays right.

Sizes make the chip's memories too small at the default reading: of `generic-4x4` the LBs of a
cluster hold 768 KiB of activations and GB 2 MiB, of `stcp920` both 8 MiB.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from tests.full import paired
from tests.models import model_of
from tests.soundness import check_right
from tests.strategies.graphturbo.readings import READINGS

CHIPS = ("generic-4x4", "stcp920")

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

MODELS = {
    "falling": (FALLING, {"generic-4x4": (224, 112), "stcp920": (736, 368)}),
    "wide": (WIDE, {"generic-4x4": (64,), "stcp920": (256,)}),
    "gated": (GATED, {"generic-4x4": (), "stcp920": ()}),
    "heavy": (HEAVY, {"generic-4x4": (1024,), "stcp920": (4096,)}),
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


def run(data: bytes, chip: str, options: dict[str, str], plan: str = "") -> Report:
    request = RunRequest(
        "model", "graphturbo", chip, 1, options=options, emit=("plan",), plan=plan,
        verify=not plan, has_pictures=False,
    )  # fmt: skip
    return run_report(data, request)


def kernels(report: Report) -> str:
    """Groups and kernels of the plan file; its head names the options, its end has decisions."""
    return report.text("plan").partition("\n    groups:")[2].partition("\n    decisions:")[0]


@pytest.mark.parametrize(
    ("reading", "chip"), paired(READINGS, CHIPS),
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:3]),
)  # fmt: skip
def test_it_changes_the_plan_and_replays(
    reading: tuple[str, str, str, dict[str, str]], chip: str
) -> None:
    option, value, name, others = reading
    data = model(name, chip)
    usual, other = run(data, chip, others), run(data, chip, {**others, option: value})
    assert kernels(usual) != kernels(other) != ""
    check_right(other)
    again = run(data, chip, {**others, option: value}, other.text("plan"))
    assert again.contract["cycles"] == other.contract["cycles"]
