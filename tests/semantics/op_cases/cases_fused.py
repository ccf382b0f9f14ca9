"""One-op models of what ONNX Runtime's optimiser writes; ONNX Runtime itself runs them."""

from __future__ import annotations

from tests.semantics.op_cases.cases import Case


def _fused(op: str, inputs: str, y: str, attributes: str = "", constants: str = "") -> Case:
    """Inputs as declared; `constants` are the initializers among them."""
    declared = [item.strip() for item in inputs.split(";") if item.strip()]
    names = ", ".join(item.split()[-1] if item != "-" else "" for item in declared)
    fixed = {item.split("=")[0].split()[-1] for item in constants.split(";") if item}
    given = ", ".join(i for i in declared if i != "-" and i.split()[-1] not in fixed)
    outputs = ", ".join(item.split()[-1] for item in y.split(";"))
    call = f"{op} <{attributes}>" if attributes else op
    return Case(
        f"{op} {attributes}".strip(),
        f"g ({given}) => ({y.replace(';', ',')}) "
        + (f"<{constants.replace(';', ',')}> " if constants else "")
        + f"{{ {outputs} = com.microsoft.{call} ({names}) }}",
        is_tight=False,
    )


_SCALE = "float s;uint8 z"
_FIXED = "float s = {0.5};uint8 z = {1}"
_ROWS = "float[2,3,8] x; float[2,3,8] k"

CASES = (
    _fused("Gelu", "float[2,3] x", "float[2,3] y"),
    _fused("FastGelu", "float[2,3] x; float[3] b", "float[2,3] y"),
    _fused("QuickGelu", "float[2,3] x", "float[2,3] y", "alpha = 1.7"),
    _fused("BiasGelu", "float[2,3] x; float[3] b", "float[2,3] y"),
    _fused("QLinearAdd", f"uint8[2,3] x;{_SCALE}; uint8[3] w;{_SCALE};{_SCALE}", "uint8[2,3] y",
           "", _FIXED),
    _fused("QLinearMul", f"uint8[2,3] x;{_SCALE}; uint8[2,1] w;{_SCALE};{_SCALE}", "uint8[2,3] y",
           "", _FIXED),
    _fused("QLinearSigmoid", f"uint8[2,3] x;{_SCALE};{_SCALE}", "uint8[2,3] y", "", _FIXED),
    _fused("QLinearLeakyRelu", f"uint8[2,3] x;{_SCALE};{_SCALE}", "uint8[2,3] y", "alpha = 0.1",
           _FIXED),
    _fused("QLinearSoftmax", f"uint8[2,3,4] x;{_SCALE};{_SCALE}", "uint8[2,3,4] y",
           "opset = 13, axis = -1", _FIXED),
    _fused("QLinearSoftmax", f"uint8[2,3,4] x;{_SCALE};{_SCALE}", "uint8[2,3,4] y",
           "opset = 11, axis = 1", _FIXED),
    _fused("QLinearGlobalAveragePool", f"uint8[2,3,4,4] x;{_SCALE};{_SCALE}", "uint8[2,3,1,1] y",
           "", _FIXED),
    _fused("QLinearGlobalAveragePool", f"uint8[2,4,4,3] x;{_SCALE};{_SCALE}", "uint8[2,1,1,3] y",
           "channels_last = 1", _FIXED),
    _fused("QLinearAveragePool", f"uint8[1,2,6,6] x;{_SCALE};{_SCALE}", "uint8[1,2,3,3] y",
           "kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]", _FIXED),
    _fused("QLinearAveragePool", f"uint8[1,6,5,2] x;{_SCALE}; float v; uint8 z", "uint8[1,3,3,2] y",
           "kernel_shape = [2,2], strides = [2,2], channels_last = 1, ceil_mode = 1",
           f"{_FIXED};float v = {{0.3}}"),
    _fused("NhwcMaxPool", "uint8[2,6,7,3] x", "uint8[2,3,4,3] y",
           "kernel_shape = [3,3], strides = [2,2], pads = [1,1,0,1]"),
    _fused("NhwcMaxPool", "uint8[1,5,5,2] x", "uint8[1,2,2,2] y",
           "kernel_shape = [2,2], strides = [3,3], pads = [0,0,1,1], ceil_mode = 1"),
    _fused("NhwcMaxPool", "uint8[1,7,7,2] x", "uint8[1,3,3,2] y",
           'kernel_shape = [3,2], strides = [3,3], auto_pad = "SAME_UPPER"'),
    _fused("QLinearConv", f"uint8[1,6,6,3] x;{_SCALE}; uint8[4,3,3,3] w; float[4] v; uint8 z;"
           f"{_SCALE}; int32[4] b", "uint8[1,6,6,4] y", "channels_last = 1, pads = [1,1,1,1]",
           f"{_FIXED};float[4] v = {{0.1, 0.2, 0.3, 0.4}}"),
    _fused("QLinearConv", f"uint8[1,6,5,4] x;{_SCALE}; uint8[6,2,3,1] w;{_SCALE};{_SCALE}",
           "uint8[1,2,5,6] y", "channels_last = 1, group = 2, strides = [2,1]", _FIXED),
    _fused("QLinearConv", f"uint8[1,4,6,5] x;{_SCALE}; uint8[6,4,3,3] w;{_SCALE};{_SCALE}",
           "uint8[1,6,3,5] y", 'strides = [2,1], auto_pad = "SAME_LOWER"', _FIXED),
    _fused("QLinearWhere", f"bool[3] c; uint8[2,3] x;{_SCALE}; uint8[2,1] w;{_SCALE};{_SCALE}",
           "uint8[2,3] y", "", _FIXED),
    _fused("QLinearConcat", f"{_SCALE}; uint8[2,3] x;{_SCALE}; uint8[2,2] w;{_SCALE}",
           "uint8[2,5] y", "axis = 1", _FIXED),
    _fused("QGemm", f"uint8[4,3] x;{_SCALE}; uint8[5,4] w; float[5] v; uint8[5] u; int32[5] c;"
           f"{_SCALE}", "uint8[3,5] y", "transA = 1, transB = 1",
           f"{_FIXED};uint8[5] u = {{0, 0, 1, 0, 0}};float[5] v = {{0.1, 0.2, 0.3, 0.4, 0.5}}"),
    _fused("QGemm", f"uint8[3,4] x;{_SCALE}; uint8[4,5] w;{_SCALE}", "float[3,5] y", "", _FIXED),
    _fused("QuantizeLinear", f"float[2,3] x;{_SCALE}", "uint8[2,3] y", "", _FIXED),
    _fused("DequantizeLinear", f"uint8[2,3] x;{_SCALE}", "float[2,3] y", "", _FIXED),
    _fused("SkipLayerNormalization", f"{_ROWS}; float[8] g; float[8] b; float[8] c",
           "float[2,3,8] y"),
    _fused("SkipLayerNormalization", "float[2,3,8] x; float[3,8] k; float[8] g; float[8] b",
           "float[2,3,8] y", "epsilon = 0.1"),
    _fused("SkipSimplifiedLayerNormalization", f"{_ROWS}; float[8] g", "float[2,3,8] y"),
    _fused("EmbedLayerNormalization", "int32[2,3] i; int32[2,3] t; float[5,8] w; float[4,8] p; "
           "float[2,8] u; float[8] g; float[8] b; int32[2,3] m", "float[2,3,8] y; int32[2] n"),
    _fused("FusedMatMul", "float[2,3,4] a; float[2,4,5] b", "float[2,3,5] y", "alpha = 0.5"),
    _fused("FusedMatMul", "float[2,3,4] a; float[5,4] b", "float[2,3,5] y", "transB = 1"),
    _fused("FusedMatMul", "float[2,4,3] a; float[2,5,4] b", "float[2,3,5] y",
           "transA = 1, transB = 1"),
    _fused("FusedGemm", "float[3,4] a; float[4,5] b; float[5] c", "float[3,5] y",
           'activation = "Relu"'),
    _fused("FusedConv", "float[1,2,6,6] x; float[4,2,3,3] w; float[4] b", "float[1,4,6,6] y",
           'activation = "Relu", pads = [1,1,1,1]'),
    _fused("FusedConv", "float[1,2,6,6] x; float[4,2,3,3] w; float[4] b; float[1,4,6,6] z",
           "float[1,4,6,6] y", 'activation = "Relu", pads = [1,1,1,1], kernel_shape = [3,3]'),
    _fused("MatMulIntegerToFloat", "uint8[3,4] a; uint8[4,5] b; float s; float v; uint8 z; uint8 z",
           "float[3,5] y", "", "uint8 z = {1}"),
    _fused("MatMulIntegerToFloat", "uint8[3,4] a; uint8[4,5] b; float s; float[5] v; uint8 z; "
           "uint8[5] u; float[5] c", "float[3,5] y", "", "uint8 z = {1}"),
    _fused("MatMulNBits", "float[2,3,32] a; uint8[6,2,8] b; float[12] s", "float[2,3,6] y",
           "K = 32, N = 6, bits = 4, block_size = 16"),
    _fused("MatMulNBits", "float[2,3,32] a; uint8[6,2,8] b; float[12] s; uint8[6] z",
           "float[2,3,6] y", "K = 32, N = 6, bits = 4, block_size = 16, accuracy_level = 1"),
    _fused("DynamicQuantizeLSTM", "float[5,3,2] x; uint8[1,2,16] w; uint8[1,4,16] r; "
           "float[1,32] b; -; -; -; -; float[1] s; uint8[1] z; float[1] s; uint8[1] z",
           "float[5,1,3,4] y; float[1,3,4] h; float[1,3,4] c", "hidden_size = 4",
           "uint8[1,2,16] w = {" + ",".join(str(9 * n % 256) for n in range(32)) + "};"
           "uint8[1,4,16] r = {" + ",".join(str(11 * n % 256) for n in range(64)) + "};"
           "float[1] s = {0.01};uint8[1] z = {128}"),
    _fused("Attention", "float[2,3,8] x; float[8,24] w; float[24] b", "float[2,3,8] y",
           "num_heads = 2"),
    _fused("Attention", "float[2,3,8] x; float[8,24] w; float[24] b; int32[2] m", "float[2,3,8] y",
           "num_heads = 4"),
    _fused("QAttention", "uint8[2,3,8] x; int8[8,24] w; float[24] b; float s; float v; int32[2] m;"
           " uint8 z; int8 u", "float[2,3,8] y", "num_heads = 2",
           "float s = {0.1};float v = {0.2};uint8 z = {1};int8 u = {0}"),
    _fused("QAttention", "uint8[2,3,8] x; uint8[8,24] w; float[24] b; float s; float[24] v; -;"
           " uint8 z; uint8[24] u", "float[2,3,8] y", "num_heads = 4, unidirectional = 1",
           "float s = {0.1};uint8 z = {1}"),
    _fused("MultiHeadAttention", "float[2,3,8] q; float[2,5,8] k; float[2,5,8] v; float[24] b",
           "float[2,3,8] y", "num_heads = 2"),
    _fused("MultiHeadAttention", "float[2,3,8] q; float[2,5,8] k; float[2,5,8] v; -; -; "
           "float[1,2,3,5] m", "float[2,3,8] y", "num_heads = 2, scale = 0.5"),
    _fused("MultiHeadAttention", "float[2,3,8] q; float[2,3,8] k; float[2,3,8] v",
           "float[2,3,8] y", "num_heads = 2, unidirectional = 1"),
    _fused("MultiHeadAttention", "float[2,1,8] q; float[2,1,8] k; float[2,1,8] v; float[24] b; "
           "-; -; float[2,2,4,4] p; float[2,2,4,4] r",
           "float[2,1,8] y; float[2,2,5,4] d; float[2,2,5,4] e", "num_heads = 2"),
    _fused("MultiHeadAttention", "float[2,3,8] q; float[2,3,8] k; float[2,3,8] v",
           "float[2,3,8] y; float[2,2,3,4] d; float[2,2,3,4] e",
           "num_heads = 2, unidirectional = 1"),
    _fused("GroupQueryAttention", "float[2,1,32] q; float[2,1,16] k; float[2,1,16] v; "
           "float[2,2,4,8] a; float[2,2,4,8] c; int32[2] n; int32 t",
           "float[2,1,32] y; float[2,2,4,8] d; float[2,2,4,8] e",
           "num_heads = 4, kv_num_heads = 2", "int32 t = {3}"),
    _fused("GroupQueryAttention", "float[2,3,32] q; float[2,3,16] k; float[2,3,16] v; -; -; "
           "int32[2] n; int32 t", "float[2,3,32] y; float[2,2,3,8] d; float[2,2,3,8] e",
           "num_heads = 4, kv_num_heads = 2", "int32 t = {3};int32[2] n = {2, 2}"),
    _fused("GroupQueryAttention", "float[1,1,128] q; -; -; float[1,2,4,16] a; float[1,2,4,16] c; "
           "int32[1] n; int32 t; float[8,8] i; float[8,8] j",
           "float[1,1,64] y; float[1,2,5,16] d; float[1,2,5,16] e",
           "num_heads = 4, kv_num_heads = 2, do_rotary = 1", "int32 t = {5};int32[1] n = {4}"),
    _fused("RotaryEmbedding", "float[2,3,8] x; int64[1] i; float[5,4] c; float[5,4] s",
           "float[2,3,8] y"),
    _fused("RotaryEmbedding", "float[2,2,3,8] x; int64[2,3] i; float[5,4] c; float[5,4] s",
           "float[2,2,3,8] y", "interleaved = 1"),
)  # fmt: skip
