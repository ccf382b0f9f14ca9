"""One-op models of elementwise ops, normalisations and quantisation for the property tests."""

from __future__ import annotations

from tests.semantics.cases import Case

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

CASES = (*_ELEMENTWISE, *_NORMALISATIONS)
