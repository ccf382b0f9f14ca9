"""The networks of the page Learn: six convolutions and one skip, small enough to draw whole."""

from __future__ import annotations

from typing import NamedTuple

import onnx

from sample_models.builder import Builder, square_window

IMAGE_CHANNELS, SIDE = 4, 16
WINDOW = 3


class LearnLayer(NamedTuple):
    """Output channels and stride of a 3x3 convolution, and whether a ReLU follows."""

    channels: int
    stride: int
    has_relu: bool


LEARN_LAYERS = (
    LearnLayer(8, 1, True),
    LearnLayer(16, 2, True),
    LearnLayer(16, 2, True),
    LearnLayer(16, 1, True),
    LearnLayer(16, 1, True),
    LearnLayer(16, 1, False),
)
"""Between layers, KiB for 8 images in fp16: 16 in, 32, 16, 4, 4, 4, then 4 out."""
SKIP_FROM = 3
"""Layer whose result is added to the last one's."""


def learn_net(widen: int = 1, side: int = SIDE, name: str = "learn-net") -> onnx.ModelProto:
    """Six layers; `widen` multiplies the channels, so that weights outweigh what flows."""
    builder = Builder(name)
    x, channels, skip = "image", IMAGE_CHANNELS, ""
    pixels = side
    for number, layer in enumerate(LEARN_LAYERS, 1):
        outputs = layer.channels * widen
        weight = builder.weight(f"conv{number}/weight", (outputs, channels, WINDOW, WINDOW))
        x = builder.op("Conv", f"conv{number}", (x, weight), **square_window(WINDOW, layer.stride))
        if layer.has_relu:
            x = builder.relu(f"relu{number}", x)
        if number == SKIP_FROM:
            skip = x
        channels, pixels = outputs, pixels // layer.stride
    builder.input("image", ("batch", IMAGE_CHANNELS, side, side))
    added = builder.op("Add", "add", (x, skip))
    builder.output("out", added, ("batch", channels, pixels, pixels))
    _name_results_by_ops(builder)
    return builder.model({})


def learn_net_wide() -> onnx.ModelProto:
    """The same layers on a sixteenth of the pixels with four times the channels."""
    return learn_net(4, SIDE // 4, "learn-net-wide")


def _name_results_by_ops(builder: Builder) -> None:
    """`relu1` for `relu1:0`: the lecture has one name per op and result."""
    for node in builder.nodes:
        for names in (node.input, node.output):
            names[:] = [name.removesuffix(":0") for name in names]
