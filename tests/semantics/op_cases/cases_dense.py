"""One-op models of elementwise ops, normalisations and quantisation for the property tests."""

from __future__ import annotations

from tests.semantics.op_cases.cases import Case

_ELEMENTWISE = (
    Case("acosh", "g (float[2,3] x) => (float[2,3] y) { y = Acosh(x) }", is_tight=False),
    Case("asinh", "g (float[2,3] x) => (float[2,3] y) { y = Asinh(x) }"),
    Case("shrink", "g (float[2,3] x) => (float[2,3] y) { y = Shrink <lambd = 0.1> (x) }"),
    Case("bitwise not", "g (int32[2,3] x) => (int32[2,3] y) { y = BitwiseNot(x) }",
         is_tight=False),
    Case("bitwise or", "g (int32[2,3] x, int32[3] b) => (int32[2,3] y) { y = BitwiseOr(x, b) }",
         is_tight=False),
    Case("bit cast", "g (float[2,3] x) => (int32[2,3] y) { y = BitCast <to = 6> (x) }", 26),
    Case("swiglu", "g (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = SwiGLU(a, b) }", 28),
)  # fmt: skip

_NORMALISATIONS = (
    Case("layer norm statistics", "g (float[2,3,4] x, float[4] s) => "
         "(float[2,3,4] y, float[2,3,1] m, float[2,3,1] d) { y, m, d = LayerNormalization(x, s) }"),
    Case("rms norm as ONNX Runtime names it", "g (float[2,3,8] x, float[8] s) => "
         "(float[2,3,8] y, float[2,3,1] v) "
         "{ y, v = SimplifiedLayerNormalization <axis = -1, epsilon = 0.01> (x, s) }"),
    Case("layer norm of an operator set without it", "g (float[2,3,8] x, float[8] s, float[8] b) "
         "=> (float[2,3,8] y) { y = LayerNormalization <axis = -1> (x, s, b) }", 13),
    Case("rms norm", "g (float[2,3,4] x, float[3,4] s) => (float[2,3,4] y) "
         "{ y = RMSNormalization <axis = 1> (x, s) }", 23),
    Case("group norm", "g (float[2,6,3] x, float[6] s, float[6] b) => (float[2,6,3] y) "
         "{ y = GroupNormalization <num_groups = 2> (x, s, b) }", 21),
    Case("group norm 18", "g (float[2,6,3] x, float[2] s, float[2] b) => (float[2,6,3] y) "
         "{ y = GroupNormalization <num_groups = 2> (x, s, b) }", 18),
    Case("mean variance norm", "g (float[2,3,2,2] x) => (float[2,3,2,2] y) "
         "{ y = MeanVarianceNormalization <axes = [0,2,3]> (x) }"),
    Case("mean variance norm over channels", "g (float[2,3,4] x) => (float[2,3,4] y) "
         "{ y = MeanVarianceNormalization <axes = [1]> (x) }"),
    Case("lp norm", "g (float[2,3,4] x) => (float[2,3,4] y) "
         "{ y = LpNormalization <axis = 1, p = 1> (x) }"),
    Case("hardmax", "g (float[2,3,4] x) => (float[2,3,4] y) { y = Hardmax <axis = 1> (x) }",
         is_tight=False),
    Case("hardmax folded", "g (float[2,3,4] x) => (float[2,3,4] y) { y = Hardmax(x) }", 11,
         is_tight=False),
)  # fmt: skip

_REDUCTIONS = (
    Case("log sum exp", "g (float[2,3,4] x) => (float[2,1,4] y) <int64[1] a = {1}> "
         "{ y = ReduceLogSumExp(x, a) }"),
    Case("determinant", "g (float[2,3,3] x) => (float[2] y) { y = Det(x) }"),
    Case("lp pool", "g (float[1,2,7,7] x) => (float[1,2,4,4] y) "
         "{ y = LpPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (x) }"),
    Case("global lp pool", "g (float[2,3,4,4] x) => (float[2,3,1,1] y) { y = GlobalLpPool(x) }"),
    Case("max pool with places", "g (float[1,2,7,7] x) => (float[1,2,3,3] y, int64[1,2,3,3] i) "
         "{ y, i = MaxPool <kernel_shape = [3,3], strides = [2,2]> (x) }", is_tight=False),
    Case("loss kept", "g (float[2,3,4] x, int64[2,4] t, float[3] w) => (float[2,4] y) "
         '{ y = NegativeLogLikelihoodLoss <reduction = "none"> (x, t, w) }', is_tight=False),
    Case("loss meant", "g (float[2,3] x, int64[2] t, float[3] w) => (float y) "
         "{ y = NegativeLogLikelihoodLoss(x, t, w) }", is_tight=False),
    Case("cross entropy kept", "g (float[2,3,4] x, int64[2,4] t) => (float[2,4] y, "
         'float[2,3,4] l) { y, l = SoftmaxCrossEntropyLoss <reduction = "none"> (x, t) }',
         is_tight=False),
    Case("cross entropy summed", "g (float[2,3,4] x, int64[2,4] t) => (float y) "
         '{ y = SoftmaxCrossEntropyLoss <reduction = "sum"> (x, t) }', is_tight=False),
)  # fmt: skip

_SEQUENCES = (
    Case("fourier", "g (float[2,8,3,1] x) => (float[2,8,3,2] y) <int64 a = {1}> "
         "{ y = DFT(x, , a) }", 20, is_tight=False),
    Case("fourier one-sided", "g (float[2,8,1] x) => (float[2,5,2] y) "
         "{ y = DFT <axis = 1, onesided = 1> (x) }", 17, is_tight=False),
    Case("fourier frames", "g (float[2,20,1] x, float[8] w) => (float[2,4,8,2] y) "
         "<int64 s = {4}> { y = STFT <onesided = 0> (x, s, w) }", 17, is_tight=False),
    Case("causal convolution", "g (float[2,3,6] x, float[3,1,4] w, float[3] b, float[2,3,3] p) => "
         "(float[2,3,6] y, float[2,3,3] s) { y, s = CausalConvWithState(x, w, b, p) }", 27,
         is_tight=False),
    Case("linear attention", "g (float[2,5,8] q, float[2,5,4] k, float[2,5,6] v) => "
         "(float[2,5,12] y, float[2,1,4,6] s) { y, s = LinearAttention <q_num_heads = 2, "
         'kv_num_heads = 1, update_rule = "linear"> (q, k, v) }', 27, is_tight=False),
    Case("deformed convolution without groups", "g (float[2,4,5,5] x, float[6,4,3,3] w, "
         "float[2,18,3,3] o) => (float[2,6,3,3] y) { y = DeformConv(x, w, o) }", 19,
         is_tight=False),
    Case("deformed convolution", "g (float[1,4,5,5] x, float[6,2,3,3] w, float[1,36,3,3] o, "
         "float[6] b, float[1,18,3,3] m) => (float[1,6,3,3] y) "
         "{ y = DeformConv <group = 2, offset_group = 2> (x, w, o, b, m) }", 19, is_tight=False),
)  # fmt: skip

CASES = (*_ELEMENTWISE, *_NORMALISATIONS, *_REDUCTIONS, *_SEQUENCES)
