"""One-op models of einsum, quantised products, recurrent ops and attention."""

from __future__ import annotations

from tests.semantics.op_cases.cases import Case


def _loose(name: str, text: str, opset: int = 21) -> Case:
    return Case(name, text, opset, is_tight=False)


def _einsum(equation: str, a: str, b: str, y: str) -> Case:
    return Case(
        f"einsum {equation}",
        f"g (float[{a}] a, float[{b}] b) => (float[{y}] y) "
        f'{{ y = Einsum <equation = "{equation}"> (a, b) }}',
    )


_EINSUMS = (
    _einsum("ij,jk->ik", "3,4", "4,5", "3,5"),
    _einsum("ij,jk", "3,4", "4,5", "3,5"),
    _einsum("bhqd,bhkd->bhqk", "2,2,3,4", "2,2,5,4", "2,2,3,5"),
    _einsum("bqhd,bkhd->bhqk", "2,3,2,4", "2,5,2,4", "2,2,3,5"),
    _einsum("...ij,...jk->...ik", "2,3,4", "1,4,5", "2,3,5"),
    _einsum("i,j->ij", "3", "4", "3,4"),
    _einsum("bi,bi->b", "3,4", "3,4", "3"),
    _einsum("abc,cd->abd", "2,3,4", "4,5", "2,3,5"),
    _einsum("cd,abc->abd", "4,5", "2,3,4", "2,3,5"),
    _einsum("abcd,cde->abe", "2,3,4,2", "4,2,3", "2,3,3"),
    _einsum("ab,cb->a", "2,3", "4,3", "2"),
    Case("einsum transposed", "g (float[2,3,4] a) => (float[4,2,3] y) "
         '{ y = Einsum <equation = "ijk->kij"> (a) }'),
    Case("einsum sum", "g (float[2,3,4] a) => (float[3] y) "
         '{ y = Einsum <equation = "ijk->j"> (a) }'),
    Case("einsum diagonal", "g (float[3,3] a) => (float[3] y) "
         '{ y = Einsum <equation = "ii->i"> (a) }', is_tight=False, is_opaque=True),
)  # fmt: skip

_QUANTISED = (
    _loose("quantise", "g (float[2,3,4] x) => (uint8[2,3,4] y) <float s = {0.02}, uint8 z = {3}> "
           "{ y = QuantizeLinear(x, s, z) }"),
    _loose("quantise an axis", "g (float[2,3,4] x, float[3] s) => (uint8[2,3,4] y) "
           "<uint8[3] z = {3,1,2}> { y = QuantizeLinear(x, s, z) }"),
    Case("dequantise", "g (uint8[2,4] x, float s) => (float[2,4] y) "
         "{ y = DequantizeLinear(x, s) }", 21, is_tight=False),
    _loose("dequantise an axis", "g (uint8[2,3,4] x, float[4] s, uint8[4] z) => (float[2,3,4] y) "
           "{ y = DequantizeLinear <axis = -1> (x, s, z) }"),
    _loose("dequantise blocks", "g (uint8[2,6] x, float[2,3] s) => (float[2,6] y) "
           "{ y = DequantizeLinear <axis = 1, block_size = 2> (x, s) }"),
    _loose("dequantise uneven blocks", "g (uint8[9,2] x, float[3,2] s) => (float[9,2] y) "
           "{ y = DequantizeLinear <axis = 0, block_size = 4> (x, s) }"),
    _loose("quantise by its range", "g (float[2,3] x) => (uint8[2,3] y, float s, uint8 z) "
           "{ y, s, z = DynamicQuantizeLinear(x) }"),
    _loose("convolution to integers", "g (uint8[1,2,6,6] x, uint8[3,2,3,3] w, uint8 z, uint8 v) => "
           "(int32[1,3,6,6] y) { y = ConvInteger <pads = [1,1,1,1]> (x, w, z, v) }"),
    _loose("quantised convolution", "g (uint8[1,4,6,6] x, uint8[6,2,3,3] w) => (uint8[1,6,6,6] y) "
           "<float s = {0.5}, uint8 z = {1}, float[6] v = {0.1,0.2,0.3,0.4,0.5,0.6}, "
           "uint8[6] u = {0,0,0,0,0,0}, int32[6] b = {1,2,3,4,5,6}> "
           "{ y = QLinearConv <pads = [1,1,1,1], group = 2> (x, s, z, w, v, u, s, z, b) }"),
    _loose("product to integers", "g (uint8[2,3,4] a, uint8[4,5] b, uint8 z, uint8[5] v) => "
           "(int32[2,3,5] y) { y = MatMulInteger(a, b, z, v) }"),
    _loose("quantised product", "g (uint8[3,4] a, uint8[4,5] b) => (uint8[3,5] y) "
           "<float s = {0.5}, uint8 z = {1}, float[5] v = {0.1,0.2,0.3,0.4,0.5}, "
           "uint8[5] u = {0,0,0,0,0}> { y = QLinearMatMul(a, s, z, b, v, u, s, z) }"),
    _loose("quantised product and sum", "g (uint8[2,4,3] a, uint8[5,4] b, float[5] c) => "
           "(uint8[2,3,5] y) <float s = {0.5}, uint8 z = {1}, float[5] v = {0.1,0.2,0.3,0.4,0.5}, "
           "uint8[5] u = {0,0,0,0,0}> { y = graphturbo.QLinearMatMulAdd <transA = 1, transB = 1> "
           "(a, s, z, b, v, u, s, z, c) }"),
)  # fmt: skip


def _recurrent(name: str, op: str, gates: int, attributes: str = "", more: str = "") -> Case:
    directions = 2 if "bidirectional" in attributes else 1
    outputs = [f"float[5,{directions},3,4] y", f"float[{directions},3,4] h"]
    outputs += [f"float[{directions},3,4] c"] if op == "LSTM" else []
    declared = ", float[{d},{b}] b, int32[3] l" if more else ""
    declared = declared.format(d=directions, b=8 * gates)
    names = ", ".join(item.split()[-1] for item in outputs)
    return _loose(
        name,
        f"g (float[5,3,2] x, float[{directions},{4 * gates},2] w, "
        f"float[{directions},{4 * gates},4] r{declared}) => ({', '.join(outputs)}) "
        f"{{ {names} = {op} <hidden_size = 4{attributes}> (x, w, r{more}) }}",
    )


_RECURRENT = (
    _recurrent("rnn", "RNN", 1),
    _recurrent("gru", "GRU", 3, ", linear_before_reset = 1"),
    _recurrent("lstm", "LSTM", 4),
    _recurrent("lstm with lengths", "LSTM", 4, "", ", b, l"),
    _recurrent("lstm both ways", "LSTM", 4, ', direction = "bidirectional"'),
    _recurrent("gru both ways with lengths", "GRU", 3, ', direction = "bidirectional"', ", b, l"),
    _loose("lstm last state alone", "g (float[5,3,2] x, float[1,16,2] w, float[1,16,4] r, "
           "float[1,3,4] i, float[1,3,4] j, float[1,12] p) => (float[1,3,4] h) "
           "{ , h = LSTM <hidden_size = 4> (x, w, r, , , i, j, p) }"),
)  # fmt: skip

_ATTENTION = (
    _loose("attention", "g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,5] v) => "
           "(float[2,3,4,5] y) { y = Attention(q, k, v) }", 23),
    _loose("attention with its scores", "g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,5] v, "
           "float[4,6] m) => (float[2,3,4,5] y, float[2,3,4,6] s) "
           "{ y, , , s = Attention <qk_matmul_output_mode = 2> (q, k, v, m) }", 24),
    _loose("attention causal", "g (float[2,3,4,8] q, float[2,3,4,8] k, float[2,3,4,8] v) => "
           "(float[2,3,4,8] y) { y = Attention <is_causal = 1> (q, k, v) }", 23),
    _loose("attention grouped", "g (float[2,6,4,8] q, float[2,3,6,8] k, float[2,3,6,5] v) => "
           "(float[2,6,4,5] y) { y = Attention(q, k, v) }", 23),
    _loose("attention masked", "g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, "
           "float[3,4,6] m) => (float[2,3,4,8] y) { y = Attention(q, k, v, m) }", 23),
    _loose("attention packed", "g (float[2,4,24] q, float[2,6,24] k, float[2,6,15] v, "
           "float[2,1,4,6] m) => (float[2,4,15] y) "
           "{ y = Attention <q_num_heads = 3, kv_num_heads = 3> (q, k, v, m) }", 23),
    _loose("attention packed and grouped", "g (float[2,4,32] q, float[2,6,16] k, float[2,6,10] v, "
           "float[4,4,6] m) => (float[2,4,20] y) "
           "{ y = Attention <q_num_heads = 4, kv_num_heads = 2> (q, k, v, m) }", 23),
    _loose("attention with a past", "g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,5] v, "
           "float[2,3,2,8] a, float[2,3,2,5] b) => (float[2,3,4,5] y, float[2,3,8,8] c, "
           "float[2,3,8,5] d) { y, c, d = Attention(q, k, v, , a, b) }", 23),
    _loose("attention packed with a past", "g (float[2,4,24] q, float[2,6,24] k, float[2,6,24] v, "
           "float[2,3,2,8] a, float[2,3,2,8] b) => (float[2,4,24] y, float[2,3,8,8] c, "
           "float[2,3,8,8] d, float[2,3,4,8] s) { y, c, d, s = "
           "Attention <q_num_heads = 3, kv_num_heads = 3> (q, k, v, , a, b) }", 23),
    _loose("rotary", "g (float[2,3,4,8] x, float[5,4] c, float[5,4] s, int64[2,4] p) => "
           "(float[2,3,4,8] y) { y = RotaryEmbedding(x, c, s, p) }", 23),
    _loose("rotary by place", "g (float[2,3,4,8] x, float[2,4,2] c, float[2,4,2] s) => "
           "(float[2,3,4,8] y) { y = RotaryEmbedding <rotary_embedding_dim = 4> (x, c, s) }", 23),
    _loose("rotary packed", "g (float[2,4,24] x, float[5,4] c, float[5,4] s, int64[2,4] p) => "
           "(float[2,4,24] y) { y = RotaryEmbedding <num_heads = 3, interleaved = 1> (x, c, s, p) "
           "}", 23),
)  # fmt: skip

CASES = (*_EINSUMS, *_QUANTISED, *_RECURRENT, *_ATTENTION)
