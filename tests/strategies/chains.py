"""Texts of small chains of layers, and cuts of them."""

from __future__ import annotations

from graphturbo_core.strategies.plus.cuts import GroupCut

PUBLISHED = "a8 a7 b4 a6 a5 b3 c2 a4 a3 b2 a2 a1 b1 c1 d1"
"""The order of instances in the paper's example: four layers of 8, 4, 2 and 1 instances."""

POINTWISE = """g (float[4,8,8,8] x, float[16,8,1,1] v, float[8,16,1,1] w) => (float[4,8,8,8] z) {
    y = Conv(x, v)
    z = Conv(y, w) }"""
"""At 2 bytes: x and z 4 * 8 * 64 * 2 = 4,096, y 8,192. Peak: x + y = y + z = 12,288."""

HALO = """g (float[1,8,8,8] x, float[8,8,3,3] v, float[8,8,3,3] w) => (float[1,8,8,8] z) {
    y = Conv <pads = [1,1,1,1]> (x, v)
    z = Conv <pads = [1,1,1,1]> (y, w) }"""
"""A row of x, y or z takes 8 * 8 * 2 = 128 bytes, each tensor 1,024."""


def feed_forward(inner: int, tokens: int = 128) -> str:
    """Two products and a residual, as in a transformer: 8 texts of so many tokens."""
    return f"""g (float[8,{tokens},768] x, float[768,{inner}] w, float[{inner},768] v)
      => (float[8,{tokens},768] z)
    {{ y = MatMul (x, w) r = Relu (y) m = MatMul (r, v) z = Add (m, x) }}"""


NARROW = "g (float[1,64] x, float[64,512] w) => (float[1,512] y) { y = MatMul (x, w) }"

PART = 768 * 3072 * 2
"""Bytes of w, and of v: 4,718,592. r has 6,291,456, and GB has no room for both."""

PAIR = """g (float[1,4,8,8] x, float[4,4,3,3] w0, float[4,4,3,3] w1) => (float[1,4,8,8] z)
{ y = Conv <pads = [1,1,1,1]> (x, w0) r = Relu (y)
  c = Conv <pads = [1,1,1,1]> (r, w1) z = Relu (c) }"""
"""Two layers; a place of a result takes 4 channels x 9 = 36 products."""

LARGE = """g (float[1,16,32,32] x, float[16,16,3,3] w0, float[16,16,3,3] w1)
  => (float[1,16,32,32] z)
{ y = Conv <pads = [1,1,1,1]> (x, w0) r = Relu (y)
  c = Conv <pads = [1,1,1,1]> (r, w1) z = Relu (c) }"""

RESIDUAL = """g (float[2,8,32,32] x, float[8,8,3,3] w0, float[8,8,3,3] w1) => (float[2,8,32,32] z)
{ y = Conv <pads = [1,1,1,1]> (x, w0) r = Relu (y)
  c = Conv <pads = [1,1,1,1]> (r, w1) d = Add (c, x) z = Relu (d) }"""

PRODUCTS = """g (float[2,64,64] x, float[64,128] w, float[128,64] v) => (float[2,64,64] z)
{ a = MatMul (x, w) b = Relu (a) c = MatMul (b, v) z = Add (c, x) }"""

BOTH = (0, 1)
"""The layers of a cut over two layers."""


def crossed(first: int, rows: int, second: int, columns: int, layers: tuple[int, ...]) -> GroupCut:
    """A cut along two axes: `rows` along the first one, `columns` along the second."""
    return GroupCut(layers, first, rows * columns, ((second, columns),))


QUARTERS = crossed(2, 2, 3, 2, BOTH)

HEAVY_WEIGHTS = """g (float[1,512] x, float[512,4096] w, float[4096,64] v) => (float[1,64] z)
{ y = MatMul (x, w) r = Relu (y) z = MatMul (r, v) }"""
"""w has 4 MiB, v 512 KiB: DRAM binds, and a split over columns reads a quarter of w a cluster."""

FEED_FORWARD = """g (float[8,128,768] x, float[768,3072] w, float[3072,768] v)
  => (float[8,128,768] z) { y = MatMul (x, w) r = Relu (y) m = MatMul (r, v) z = Add (m, x) }"""
"""`:full` fetches v once for each of two pieces: 174,763 cycles (test_fewer_pieces.py)."""

TWO_FEED_FORWARDS = """g (float[8,128,768] x, float[768,3072] w, float[3072,768] v,
       float[768,3072] s, float[3072,768] t) => (float[8,128,768] z)
{ y = MatMul (x, w) r = Relu (y) m = MatMul (r, v) a = Add (m, x)
  b = MatMul (a, s) c = Relu (b) d = MatMul (c, t) z = Add (d, a) }"""
"""Four layers."""

CHAIN = """
net (float[8, 16] x, float[16, 32] w1, float[32, 64] w2) => (float[8, 64] y) {
  m = MatMul(x, w1)
  y = MatMul(m, w2)
}
"""

SOFTMAX_PRODUCTS = """g (float[512,1024] x, float[1024,512] w, float[512,256] v)
  => (float[512,256] y)
{ a = Softmax (x) b = MatMul (a, w) c = Softmax (b) y = MatMul (c, v) }"""
"""Four layers, each of a class of its own; w and v are 1 MiB and 256 KiB."""
