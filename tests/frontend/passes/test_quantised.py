"""A layer between dequantise and quantise is one op on 8-bit numbers, and computes the same."""

from __future__ import annotations

import pytest

from graphturbo_core.pipeline import RunRequest, run_report
from tests.models import graph_of, model_bytes, op_types
from tests.soundness import check_right

NUMBERS = (
    "float xs = {0.05}, uint8 xz = {128}, float ws = {0.0213}, int8 wz = {0}, float ys = {0.0977},"
    " uint8 yz = {100}, uint8 low = {0}, float bs = {0.001065}, float[2] many = {0.0213, 0.0317},"
    " int8[2] none = {0, 0}, int32[2] bias = {500, -300}, float[2] more = {0.001065, 0.001585},"
    " int8[2,3,1,1] w = {10, -20, 30, 40, 50, -60}, int8[3,2] m = {10, -20, 30, 40, 50, -60},"
    " float[2] plain = {0.5, 1}, float one = {0.5}, int32 all = {70},"
    " float[4,1] rows = {1, 2, 3, 4}, int8[3] vector = {10, -20, 30},"
    " int8[2,3] turned = {10, -20, 30, 40, 50, -60}, float[1,1,2] deep = {0.5, 1},"
    " float[1,1,1,2] deeper = {0.5, 1}, float[3] thrice = {0.1, 0.2, 0.3},"
    " int8[3] nones = {0, 0, 0}"
)
BEGIN = "q = QuantizeLinear (x, xs, xz) d = DequantizeLinear (q, xs, xz)"
END = "r = QuantizeLinear (c, ys, yz) y = DequantizeLinear (r, ys, yz)"


def text(nodes: str, shape: str = "2,3,4,4") -> str:
    return (
        f"g (float[{shape}] x) => (float[{','.join('abcd'[: shape.count(',') + 1])}] y)"
        f" <{NUMBERS}> {{ {BEGIN} {nodes} }}"
    )


CONVOLUTION = f"v = DequantizeLinear (w, ws, wz) c = Conv (d, v) {END}"
CHANNELS = f"v = DequantizeLinear <axis = 0> (w, many, none) c = Conv (d, v) {END}"
FUSED = {
    "convolution": (text(CONVOLUTION), "QLinearConv"),
    "channels": (text(CHANNELS), "QLinearConv"),
    "no zero point": (text(CONVOLUTION.replace("(w, ws, wz)", "(w, ws)")), "QLinearConv"),
    "bias": (
        text(
            "v = DequantizeLinear <axis = 0> (w, many, none)"
            f" b = DequantizeLinear <axis = 0> (bias, more) c = Conv (d, v, b) {END}"
        ),
        "QLinearConv",
    ),
    "relu": (
        text(
            "v = DequantizeLinear (w, ws, wz) k = Conv (d, v) c = Relu (k)"
            " r = QuantizeLinear (c, ys, low) y = DequantizeLinear (r, ys, low)"
        ),
        "QLinearConv",
    ),
    "product": (
        text(f"v = DequantizeLinear (m, ws, wz) c = MatMul (d, v) {END}", "4,3"),
        "QLinearMatMul",
    ),
    "columns": (
        text(f"v = DequantizeLinear <axis = 1> (m, many, none) c = MatMul (d, v) {END}", "4,3"),
        "QLinearMatMul",
    ),
    "gemm": (text(f"v = DequantizeLinear (m, ws, wz) c = Gemm (d, v) {END}", "4,3"), "QGemm"),
    "gemm, turned, columns, bias": (
        text(
            "v = DequantizeLinear <axis = 0> (turned, many, none)"
            " b = DequantizeLinear <axis = 0> (bias, more)"
            f" c = Gemm <transB = 1, beta = 1.0> (d, v, b) {END}",
            "4,3",
        ),
        "QGemm",
    ),
    "gemm, data turned": (
        text(f"v = DequantizeLinear (m, ws, wz) c = Gemm <transA = 1> (d, v) {END}", "3,4"),
        "QGemm",
    ),
    "gemm, relu": (
        text(
            "v = DequantizeLinear (m, ws, wz) k = Gemm (d, v) c = Relu (k)"
            " r = QuantizeLinear (c, ys, low) y = DequantizeLinear (r, ys, low)",
            "4,3",
        ),
        "QGemm",
    ),
    "gemm, floating bias": (
        text(
            "v = DequantizeLinear <axis = 0> (turned, many, none)"
            f" c = Gemm <transB = 1> (d, v, plain) {END}",
            "4,3",
        ),
        "QLinearMatMulAdd",
    ),
    "gemm, one floating number": (
        text(f"v = DequantizeLinear (m, ws, wz) c = Gemm <transA = 1> (d, v, one) {END}", "3,4"),
        "QLinearMatMulAdd",
    ),
    "product, bias": (
        text(
            "v = DequantizeLinear <axis = 1> (m, many, none)"
            " b = DequantizeLinear <axis = 0> (bias, more)"
            f" k = MatMul (d, v) c = Add (b, k) {END}",
            "2,4,3",
        ),
        "QLinearMatMulAdd",
    ),
    "product, one number": (
        text(
            "v = DequantizeLinear (m, ws, wz) b = DequantizeLinear (all, bs)"
            f" k = MatMul (d, v) c = Add (k, b) {END}",
            "2,4,3",
        ),
        "QLinearMatMulAdd",
    ),
    "product, floating bias, relu": (
        text(
            "v = DequantizeLinear (m, ws, wz) k = MatMul (d, v) a = Add (k, deep) c = Relu (a)"
            " r = QuantizeLinear (c, ys, low) y = DequantizeLinear (r, ys, low)",
            "2,4,3",
        ),
        "QLinearMatMulAdd",
    ),
}
KEPT = {
    "other readers": text(f"v = DequantizeLinear (w, ws, wz) k = Conv (d, v) c = Relu (k) {END}"
                          .replace("y = Deq", "e = Deq") + " y = Add (e, k)"),
    "a relu above the lowest number": text(
        f"v = DequantizeLinear (w, ws, wz) k = Conv (d, v) c = Relu (k) {END}"
    ),
    "a floating bias": text(f"v = DequantizeLinear (w, ws, wz) c = Conv (d, v, plain) {END}"),
    "a bias of another scale": text(
        "v = DequantizeLinear (w, ws, wz) b = DequantizeLinear (bias, ws)"
        f" c = Conv (d, v, b) {END}"
    ),
    "rows instead of columns": text(
        f"t = Transpose (m) v = DequantizeLinear <axis = 0> (t, many, none) u = Transpose (v)"
        f" c = MatMul (d, u) {END}", "4,3",
    ),
    "another type behind": text(
        "v = DequantizeLinear (w, ws, wz) c = Conv (d, v)"
        " r = QuantizeLinear (c, ys, wz) y = DequantizeLinear (r, ys, wz)"
    ),
    "a scaled product": text(
        f"v = DequantizeLinear (m, ws, wz) c = Gemm <alpha = 0.5> (d, v) {END}", "4,3"
    ),
    "a scaled bias": text(
        f"v = DequantizeLinear (m, ws, wz) c = Gemm <beta = 0.5> (d, v, plain) {END}", "4,3"
    ),
    "rows of a turned weight": text(
        f"v = DequantizeLinear <axis = 0> (m, thrice, nones) c = Gemm (d, v) {END}", "4,3"
    ),
    "a bias a row": text(
        f"v = DequantizeLinear (m, ws, wz) c = Gemm (d, v, rows) {END}", "4,3"
    ),
    "a bias of more axes": text(
        f"v = DequantizeLinear (m, ws, wz) k = MatMul (d, v) c = Add (k, deeper) {END}", "2,4,3"
    ).replace("[a,b,c]", "[1,a,b,c]"),
    "a bias that is computed": text(
        f"v = DequantizeLinear (m, ws, wz) k = MatMul (d, v) e = ReduceSum (x)"
        f" c = Add (k, e) {END}", "2,4,3"
    ),
    "an int32 bias that is computed": text(
        "v = DequantizeLinear (m, ws, wz) k = MatMul (d, v) e = Cast <to = 6> (x)"
        f" f = ReduceSum (e) b = DequantizeLinear (f, bs) c = Add (k, b) {END}", "2,4,3"
    ),
    "a scale an element of a vector": text(
        f"v = DequantizeLinear <axis = 0> (vector, thrice, nones) c = MatMul (d, v) {END}", "4,3"
    ).replace("[a,b]", "[a]"),
    "a product added to itself": text(
        f"v = DequantizeLinear (m, ws, wz) k = MatMul (d, v) c = Add (k, k) {END}", "2,4,3"
    ),
    "a product that others read": text(
        f"v = DequantizeLinear (m, ws, wz) k = MatMul (d, v) c = Add (k, plain) {END}"
        .replace("y = Deq", "e = Deq") + " y = Add (e, k)", "2,4,3"
    ),
    "floating weights": text(
        f"v = Cast <to = 1> (w) c = Conv (d, v) {END}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUSED)
def test_a_layer_is_one_op_and_replays(name: str) -> None:
    nodes, fused = FUSED[name]
    graph = graph_of(nodes)
    assert op_types(graph) == f"QuantizeLinear {fused} DequantizeLinear"
    assert graph.tensors[graph.ops[1].outputs[0]].dtype == "uint8"
    report = run_report(
        model_bytes(nodes), RunRequest(name, "graphturbo", "generic-4x4", verify=True)
    )
    check_right(report)


@pytest.mark.parametrize("name", FUSED)
def test_it_is_left_as_it_is_without_the_pass(name: str) -> None:
    types = op_types(graph_of(FUSED[name][0], skip="fuse-quantised"))
    assert "QLinear" not in types
    assert "QGemm" not in types


@pytest.mark.parametrize("name", KEPT)
def test_what_would_compute_something_else_is_kept(name: str) -> None:
    types = op_types(graph_of(KEPT[name]))
    assert "QLinear" not in types
    assert "QGemm" not in types
    assert "Conv" in types or "MatMul" in types or "Gemm" in types
