"""Ops that must be cut to fit: in a small net each, under strategies of every kind, replayed.

The models of onnx's node suite have a few elements; these have tiles, halos and cuts of weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from graphturbo_core.pipeline import RunRequest, run_reports
from tests.soundness import check_right, check_sound

STRATEGIES = ("layerwise", "tvm@2", "graphturbo:order@2", "graphturbo")
BATCH = 2

NETS: dict[str, tuple[int, str]] = {
    "attention": (23, """g (float[n,48,256] x, float[256,256] wq, float[256,256] wk,
        float[256,256] wv, float[256,256] wo) => (float[n,48,256] y) {
        q = MatMul(x, wq) k = MatMul(x, wk) v = MatMul(x, wv)
        a = Attention <q_num_heads = 8, kv_num_heads = 8, is_causal = 1> (q, k, v)
        o = MatMul(a, wo) y = Add(x, o) }"""),
    "grouped heads": (23, """g (float[n,8,32,16] q, float[n,2,32,16] k, float[n,2,32,16] v,
        float[32,8] wc, float[32,8] ws, float[16] wg, int64[n,32] i) => (float[n,8,32,16] y) {
        a = RotaryEmbedding(q, wc, ws, i) b = RotaryEmbedding(k, wc, ws, i)
        c = Attention(a, b, v) y = RMSNormalization(c, wg) }"""),
    "lstm both ways": (17, """g (float[12,2,40] x, float[2,256,40] w, float[2,256,64] wr,
        float[2,512] wb, float[128,10] wo) => (float[12,2,10] y) <int64[3] s = {0,0,-1}> {
        a = LSTM <hidden_size = 64, direction = "bidirectional"> (x, w, wr, wb)
        b = Transpose <perm = [0,2,1,3]> (a) c = Reshape(b, s) y = MatMul(c, wo) }"""),
    "gru": (17, """g (float[10,2,32] x, float[1,192,32] w, float[1,192,64] wr, float[64,48] wo)
        => (float[1,2,48] y) { a, h = GRU <hidden_size = 64> (x, w, wr) y = MatMul(h, wo) }"""),
    "quantised convolutions": (21, """g (float[n,8,20,20] x, int8[64,8,3,3] wb,
        int8[64,32,3,3] wc) => (float[n,64,20,20] y)
        <float s = {0.02}, uint8 z = {128}, float t = {0.004}, int8 o = {0}> {
        a = QuantizeLinear(x, s, z)
        b = QLinearConv <pads = [1,1,1,1]> (a, s, z, wb, t, o, s, z)
        c = QLinearConv <pads = [1,1,1,1], group = 2> (b, s, z, wc, t, o, s, z)
        y = DequantizeLinear(c, s, z) }"""),
    "quantised product": (21, """g (float[n,512] x, uint8[512,384] w) => (float[n,384] y)
        { a, s, z = DynamicQuantizeLinear(x) b = MatMulInteger(a, w, z)
        c = Cast <to = 1> (b) y = Mul(c, s) }"""),
    "equations": (17, """g (float[n,24,4,32] q, float[n,40,4,32] k, float[n,40,4,32] v,
        float[4,32,96] wo) => (float[n,24,96] y) {
        s = Einsum <equation = "bqhd,bkhd->bhqk"> (q, k) p = Softmax(s)
        a = Einsum <equation = "bhqk,bkhd->bqhd"> (p, v)
        y = Einsum <equation = "bqhd,hde->bqe"> (a, wo) }"""),
    "pyramid": (17, """g (float[n,16,24,20] x, float[16,16,3,3] wa, float[16,16,4,4] wb,
        float[16] ws, float[16] wt) => (float[n,16,48,40] y) <float[4] s = {1,1,2,2}> {
        a = Conv <pads = [1,1,1,1]> (x, wa) b = Resize <mode = "linear"> (a, , s)
        c = ConvTranspose <strides = [2,2], pads = [1,1,1,1]> (x, wb)
        d = Add(b, c) y = InstanceNormalization(d, ws, wt) }"""),
    "resize by one and a half": (17, """g (float[n,8,20,16] x, float[8,8,3,3] wa,
        float[8,8,3,3] wb) => (float[n,8,30,24] y) <float[4] s = {1,1,1.5,1.5}> {
        a = Conv <pads = [1,1,1,1]> (x, wa)
        b = Resize <mode = "cubic", coordinate_transformation_mode = "align_corners"> (a, , s)
        y = Conv <pads = [1,1,1,1]> (b, wb) }"""),
    "group norm": (21, """g (float[n,32,24,24] x, float[32,32,3,3] wa, float[32] ws, float[32] wt)
        => (float[n,32,24,24] y) { a = Conv <pads = [1,1,1,1]> (x, wa)
        b = GroupNormalization <num_groups = 4> (a, ws, wt) c = Sigmoid(b) y = Mul(b, c) }"""),
    "deformed convolution": (19, """g (float[n,8,12,12] x, float[18,8,3,3] wa, float[16,8,3,3] wb)
        => (float[n,16,12,12] y) { o = Conv <pads = [1,1,1,1]> (x, wa)
        y = DeformConv <pads = [1,1,1,1]> (x, wb, o) }"""),
    "largest of many": (17, """g (float[n,64,600] x, float[600,600] wa) => (float[n,64,8] y,
        int64[n,64,8] i) <int64[1] k = {8}> { a = MatMul(x, wa) y, i = TopK(a, k) }"""),
    "scatter and gather": (17, """g (float[n,300,64] x, float[64,64] wa, float[n,300,64] u,
        int64[n,300,64] i) => (float[n,300,64] y) { r = MatMul(x, wa) a = Relu(r)
        b = ScatterElements <axis = 1> (a, i, u) y = GatherElements <axis = 1> (b, i) }"""),
    "sampled": (20, """g (float[n,8,24,24] x, float[n,2,3] t, float[8,8,1,1] wa)
        => (float[n,8,16,16] y) <int64[4] s = {2,8,16,16}> {
        g = AffineGrid(t, s) a = GridSample(x, g) y = Conv(a, wa) }"""),
    "triangle": (17, """g (float[n,96,128] x, float[128,96] wa) => (float[n,96,96] y)
        <int64 a = {1}> { b = MatMul(x, wa) c = Trilu <upper = 0> (b) y = CumSum(c, a) }"""),
    "transform": (20, """g (float[n,32,64,1] x, float[2,2] wa) => (float[n,32,64,2] y)
        { a = Tanh(x) b = DFT(a) y = MatMul(b, wa) }"""),
    "narrow weights": (21, """g (float[n,24,128] x, uint8[160,8,8] w, float[1280] ws)
        => (float[n,24,160] y) { a = com.microsoft.MatMulNBits
        <K = 128, N = 160, bits = 4, block_size = 16> (x, w, ws)
        y = com.microsoft.FastGelu(a) }"""),
    "channels last": (21, """g (uint8[n,24,20,16] x, uint8[32,16,3,3] wa, uint8[64,16,3,3] wb)
        => (uint8[n,1,1,64] y) <float s = {0.02}, uint8 z = {128}, float t = {0.004}> {
        a = com.microsoft.QLinearConv <pads = [1,1,1,1], channels_last = 1>
        (x, s, z, wa, t, z, s, z)
        b = com.microsoft.NhwcMaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (a)
        c = com.microsoft.QLinearConv <pads = [1,1,1,1], group = 2, channels_last = 1>
        (b, s, z, wb, t, z, s, z)
        d = com.microsoft.QLinearAveragePool <kernel_shape = [2,2], channels_last = 1>
        (c, s, z, t, z)
        y = com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (d, t, z, s, z) }"""),
    "quantised attention": (21, """g (uint8[n,24,128] x, int8[128,384] w, float[384] wc)
        => (float[n,24,128] y) <float s = {0.02}, uint8 z = {128}, int8 o = {0}> {
        a = com.microsoft.QAttention <num_heads = 4> (x, w, wc, s, s, , z, o)
        y = com.microsoft.Gelu (a) }"""),
    "data quantised on the way": (21, """g (float[n,24,128] x, uint8[128,200] wu, float[200] wc)
        => (float[n,24,200] y) <float s = {0.02}, uint8 z = {20}> {
        y = com.microsoft.DynamicQuantizeMatMul (x, wu, s, z, wc) }"""),
    "matrices of bytes": (21, """g (uint8[n,300] x, uint8[200,300] wu, int8[200,96] wd)
        => (uint8[n,96] y) <float s = {0.02}, uint8 z = {128}, int8 o = {0}, float t = {0.4}> {
        a = com.microsoft.QGemm <transB = 1> (x, s, z, wu, s, z, , t, z)
        y = com.microsoft.QGemm (a, t, z, wd, s, o, , t, z) }"""),
    "skipped norms": (21, """g (float[n,24,128] x, float[n,24,128] k, float[128] wg, float[128] wb,
        float[128,128] wq, float[384] wc) => (float[n,24,128] y) {
        a = com.microsoft.SkipLayerNormalization(x, k, wg, wb) q = MatMul(a, wq)
        b = com.microsoft.MultiHeadAttention <num_heads = 4> (q, a, a, wc)
        y = com.microsoft.SkipSimplifiedLayerNormalization(b, a, wg) }"""),
}  # fmt: skip
"""Opset and graph; inputs whose names begin with w are weights, n is the batch."""


def net(name: str) -> bytes:
    """The model with seeded weights; indices below 8, floats around 0."""
    opset, text = NETS[name]
    header = f'<ir_version: 10, opset_import: ["" : {opset}, "com.microsoft" : 1]>'
    model = onnx.parser.parse_model(f"{header}\n{text}")
    generator = np.random.default_rng(len(text))
    weights = [value for value in model.graph.input if value.name.startswith("w")]
    for value in weights:
        kind = value.type.tensor_type
        shape = [dim.dim_value for dim in kind.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        drawn = generator.normal(0, 0.2, shape)
        drawn = (
            drawn
            if dtype.kind == "f"
            else np.abs(100 * drawn)
            if dtype.kind == "u"
            else 100 * drawn
        )
        item = numpy_helper.from_array(drawn.astype(dtype), value.name)
        model.graph.initializer.append(item)
        model.graph.input.remove(value)
    return bytes(model.SerializeToString(deterministic=True))


@pytest.mark.parametrize("name", NETS)
def test_every_strategy_computes_the_net(name: str) -> None:
    batch = BATCH if "[n," in NETS[name][1] else None
    requests = [
        RunRequest(name, strategy, "generic-4x4", batch, verify=True) for strategy in STRATEGIES
    ]
    for report in run_reports(net(name), requests):
        check_right(report)
        check_sound(report)
        notes: Any = report.contract["notes"]
        assert not [note for note in notes if "no semantics" in note]
