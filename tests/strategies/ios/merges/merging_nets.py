"""Small networks whose convolutions read one input, as ONNX files with random weights."""

from __future__ import annotations

import numpy as np

from tests.models import model_bytes
from tests.strategies.ios.wired import NetworkText

BRANCHES = 5


def wide() -> bytes:
    """Five small convolutions of one input, then two large ones, each followed by another.

    On four clusters five groups are two steps, but one merged convolution is one kernel.
    """
    net = NetworkText()
    stem = net.conv("image", 32, 3, 2)
    parts = [net.conv(stem, 16) for _ in range(BRANCHES)]
    joined = net.call("Concat <axis = 1>", *parts, channels=16 * BRANCHES)
    heavy = [net.conv(joined, 32, 3) for _ in range(2)]
    ends = [net.conv(each, 32, 3) for each in heavy]
    return net.model(net.call("Concat <axis = 1>", *ends, channels=64))


def chain() -> bytes:
    """Two convolutions, of which the second reads the first."""
    net = NetworkText()
    return net.model(net.conv(net.conv("image", 8, 3, 2), 8))


INCEPTION = """g (float[N,8,12,12] x) => (float[N,14,12,12] z) {{
    {weights}
    a = Conv (x, w0) ar = Relu (a)
    b = Conv <pads = [1,1,1,1]> (x, w1) br = Relu (b)
    c = Conv <pads = [0,1,0,1]> (x, w2) cr = Relu (c)
    d = Conv <pads = [1,1,1,1]> (cr, w3)
    z = Concat <axis = 1> (ar, br, d)
}}"""
SHAPES = ((4, 8, 1, 1), (6, 8, 3, 3), (2, 8, 1, 3), (4, 2, 3, 3))


def inception() -> bytes:
    """Kernels of 1x1, 3x3 and 1x3 that read one input, the last one followed by another 3x3."""
    rng = np.random.default_rng(3)
    lines = []
    for place, shape in enumerate(SHAPES):
        numbers = ",".join(f"{value:.3f}" for value in rng.normal(size=np.prod(shape)))
        sizes = ",".join(map(str, shape))
        lines.append(f"w{place} = Constant <value = float[{sizes}] {{{numbers}}}> ()")
    return model_bytes(INCEPTION.format(weights="\n".join(lines)))
