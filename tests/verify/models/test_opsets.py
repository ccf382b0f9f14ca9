"""Operator sets 7 to the newest: old spellings of an op and new ones are imported and replay."""

from __future__ import annotations

import onnx
import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.pipeline import RunRequest, run_report
from tests.models import graph_of, model_bytes, op_types
from tests.soundness import check_right

NEWEST = 26
"""What this ONNX Runtime replays; onnx itself describes later ones, which import takes."""
PLAIN = "g (float[4,6] x) => (float[M,N] y)"
IMAGE = "g (float[2,3,4,4] x) => (float[N,C,H,W] y)"
SPELLINGS: dict[str, tuple[tuple[int, str], ...]] = {
    "BatchNormalization": (
        (7, f"{IMAGE} <float[3] s = {{1, 2, 3}}, float[3] b = {{0, 1, 2}}, "
            "float[3] m = {0.1, 0.2, 0.3}, float[3] v = {1, 2, 3}> "
            "{ t = Relu(x) y = BatchNormalization (t, s, b, m, v) }"),
        (8, f"{IMAGE} <float[3] s = {{1, 2, 3}}, float[3] b = {{0, 1, 2}}, "
            "float[3] m = {0.1, 0.2, 0.3}, float[3] v = {1, 2, 3}> "
            "{ t = Relu(x) y = BatchNormalization <spatial = 1> (t, s, b, m, v) }"),
        (NEWEST, f"{IMAGE} <float[3] s = {{1, 2, 3}}, float[3] b = {{0, 1, 2}}, "
            "float[3] m = {0.1, 0.2, 0.3}, float[3] v = {1, 2, 3}> "
            "{ t = Relu(x) y = BatchNormalization <training_mode = 0> (t, s, b, m, v) }"),
    ),
    "Cast": (
        (7, f"{PLAIN.replace('float[M', 'double[M')} {{ y = Cast <to = 11> (x) }}"),
        (NEWEST, f"{PLAIN.replace('float[M', 'double[M')} {{ y = Cast <to = 11> (x) }}"),
    ),
    "Clip": (
        (7, f"{PLAIN} {{ y = Clip <min = -0.5, max = 0.5> (x) }}"),
        (11, f"{PLAIN} <float low = {{-0.5}}, float high = {{0.5}}> {{ y = Clip (x, low, high) }}"),
        (NEWEST, f"{PLAIN} <float high = {{0.5}}> {{ y = Clip (x, , high) }}"),
    ),
    "Dropout": (
        (7, f"{PLAIN} {{ t = Relu(x) d = Dropout <ratio = 0.3> (t) y = Neg(d) }}"),
        (10, f"{PLAIN} {{ t = Relu(x) d, m = Dropout <ratio = 0.3> (t) y = Neg(d) }}"),
        (NEWEST, f"{PLAIN} <float r = {{0.3}}> {{ t = Relu(x) d = Dropout (t, r) y = Neg(d) }}"),
    ),
    "Gemm": (
        (7, f"{PLAIN} <float[6,2] w = {{1,2,3,4,5,6,7,8,9,10,11,12}}, float[2] c = {{1, 2}}> "
            "{ y = Gemm <alpha = 0.5, beta = 2.0> (x, w, c) }"),
        (9, f"{PLAIN} <float[6,2] w = {{1,2,3,4,5,6,7,8,9,10,11,12}}, float[1,1] c = {{3}}> "
            "{ y = Gemm (x, w, c) }"),
        (NEWEST, f"{PLAIN} <float[2,6] w = {{1,2,3,4,5,6,7,8,9,10,11,12}}> "
            "{ y = Gemm <transB = 1> (x, w) }"),
    ),
    "Hardmax": (
        (7, "g (float[2,3,4] x) => (float[a,b,c] y) { y = Hardmax (x) }"),
        (NEWEST, "g (float[2,3,4] x) => (float[a,b,c] y) { y = Hardmax (x) }"),
    ),
    "LogSoftmax": (
        (7, "g (float[2,3,4] x) => (float[a,b,c] y) { y = LogSoftmax <axis = 1> (x) }"),
        (NEWEST, "g (float[2,3,4] x) => (float[a,b,c] y) { y = LogSoftmax <axis = 1> (x) }"),
    ),
    "MaxPool": (
        (7, f"{IMAGE} {{ y = MaxPool <kernel_shape = [2, 2]> (x) }}"),
        (8, f"{IMAGE} {{ y = MaxPool <kernel_shape = [2, 2], auto_pad = \"SAME_UPPER\"> (x) }}"),
        (NEWEST, f"{IMAGE} {{ y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], "
            "ceil_mode = 1, dilations = [1, 1]> (x) }"),
    ),
    "Pad": (
        (7, f"{PLAIN} {{ y = Pad <pads = [0, 1, 2, 0], value = 0.5> (x) }}"),
        (11, f"{PLAIN} <int64[4] p = {{0, 1, 2, 0}}, float v = {{0.5}}> {{ y = Pad (x, p, v) }}"),
        (NEWEST, f"{PLAIN} <int64[2] p = {{1, 2}}, float v = {{0.5}}, int64[1] a = {{1}}> "
            "{ y = Pad (x, p, v, a) }"),
    ),
    "ReduceMean": (
        (7, f"{PLAIN} {{ y = ReduceMean <axes = [1]> (x) }}"),
        (NEWEST, f"{PLAIN} <int64[1] a = {{1}}> {{ y = ReduceMean (x, a) }}"),
    ),
    "ReduceSum": (
        (7, f"{PLAIN} {{ y = ReduceSum <axes = [1], keepdims = 1> (x) }}"),
        (12, f"{PLAIN} {{ y = ReduceSum <axes = [-1], keepdims = 1> (x) }}"),
        (NEWEST, f"{PLAIN} <int64[1] a = {{-1}}> {{ y = ReduceSum (x, a) }}"),
    ),
    "Resize": (
        (10, f"{IMAGE} <float[4] s = {{1, 1, 2, 2}}> {{ y = Resize (x, s) }}"),
        (11, f"{IMAGE} <float[4] s = {{1, 1, 2, 2}}, float[8] r = {{0,0,0,0,1,1,1,1}}> "
            "{ y = Resize <coordinate_transformation_mode = \"asymmetric\", "
            "nearest_mode = \"floor\"> (x, r, s) }"),
        (13, f"{IMAGE} <int64[4] z = {{2, 3, 8, 8}}> {{ y = Resize (x, , , z) }}"),
        (NEWEST, f"{IMAGE} <float[2] s = {{2, 2}}> {{ y = Resize <axes = [2, 3], "
            "mode = \"linear\"> (x, , s) }"),
    ),
    "Slice": (
        (7, f"{PLAIN} {{ y = Slice <axes = [1], starts = [1], ends = [5]> (x) }}"),
        (10, f"{PLAIN} <int64[1] s = {{1}}, int64[1] e = {{-1}}, int64[1] a = {{1}}> "
            "{ y = Slice (x, s, e, a) }"),
        (NEWEST, f"{PLAIN} <int64[2] s = {{0, 5}}, int64[2] e = {{4, 0}}, int64[2] a = {{0, 1}}, "
            "int64[2] t = {2, -1}> { y = Slice (x, s, e, a, t) }"),
    ),
    "Softmax": (
        (7, "g (float[2,3,4] x) => (float[a,b,c] y) { y = Softmax (x) }"),
        (11, "g (float[2,3,4] x) => (float[a,b,c] y) { y = Softmax <axis = -1> (x) }"),
        (NEWEST, "g (float[2,3,4] x) => (float[a,b,c] y) { y = Softmax <axis = 1> (x) }"),
    ),
    "Split": (
        (7, f"{PLAIN} {{ a, b = Split <axis = 1, split = [2, 4]> (x) c = Neg(b) "
            "y = Concat <axis = 1> (c, a) }"),
        (13, f"{PLAIN} <int64[2] s = {{2, 4}}> {{ a, b = Split <axis = 1> (x, s) c = Neg(b) "
            "y = Concat <axis = 1> (c, a) }"),
        (NEWEST, f"{PLAIN} {{ a, b = Split <axis = 1, num_outputs = 2> (x) c = Neg(b) "
            "y = Concat <axis = 1> (c, a) }"),
    ),
    "Squeeze": (
        (7, f"{PLAIN} {{ u = Unsqueeze <axes = [0, 2]> (x) r = Relu(u) "
            "y = Squeeze <axes = [0, 2]> (r) }"),
        (NEWEST, f"{PLAIN} <int64[2] a = {{0, 2}}> {{ u = Unsqueeze (x, a) r = Relu(u) "
            "y = Squeeze (r, a) }"),
    ),
    "TopK": (
        (7, "g (float[4,6] x) => (float[4,2] y, int64[4,2] i) { y, i = TopK <k = 2> (x) }"),
        (NEWEST, "g (float[4,6] x) => (float[4,2] y, int64[4,2] i) <int64[1] k = {2}> "
            "{ y, i = TopK (x, k) }"),
    ),
    "Upsample": (
        (7, f"{IMAGE} {{ y = Upsample <scales = [1.0, 1.0, 2.0, 2.0]> (x) }}"),
        (9, f"{IMAGE} <float[4] s = {{1, 1, 2, 2}}> {{ y = Upsample (x, s) }}"),
        (9, f"{IMAGE} <float[4] s = {{1, 1, 2, 2}}> {{ y = Upsample <mode = \"linear\"> (x, s) }}"),
    ),
    "broadcasting": (
        (7, "g (float[4,6] x, float[6] z) => (float[M,N] y) { a = Add(x, z) y = Mul(a, x) }"),
        (NEWEST, "g (float[4,6] x, float[4,1] z) => (float[M,N] y)"
            " { a = Add(x, z) y = Mul(a, x) }"),
    ),
}  # fmt: skip
CASES = [(name, *spelling) for name, spellings in SPELLINGS.items() for spelling in spellings]


@pytest.mark.parametrize(
    ("name", "opset", "text"), CASES, ids=[f"{name}-{opset}" for name, opset, _ in CASES]
)
def test_it_replays(name: str, opset: int, text: str) -> None:
    data = model_bytes(text, opset)
    check_right(run_report(data, RunRequest(name, "graphturbo", "generic-4x4", verify=True)))


def test_what_onnx_describes_is_imported() -> None:
    newest = onnx.defs.onnx_opset_version()
    assert newest >= NEWEST
    assert op_types(graph_of(f"{PLAIN} {{ y = Relu (x) }}", newest)) == "Relu"
    with pytest.raises(ModelError, match=f"known are 1 to {newest}"):
        graph_of(f"{PLAIN} {{ y = Relu (x) }}", newest + 1)
