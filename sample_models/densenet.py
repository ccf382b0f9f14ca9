"""DenseNet-121, -169 and -201."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from sample_models.builder import Builder, square_window

DENSENET121_BLOCKS = (6, 12, 24, 16)
DENSENET169_BLOCKS = (6, 12, 32, 32)
DENSENET201_BLOCKS = (6, 12, 48, 32)
DENSENET_GROWTH = 32


def densenet(
    blocks: Sequence[int] = DENSENET121_BLOCKS, resolution: int = 224, classes: int = 1000
) -> onnx.ModelProto:
    """DenseNet (Huang et al., 2016, table 1); batch norms are not folded, as each precedes a ReLU.

    The model's number counts layers with weights: two per layer of a block, the stem, three
    transitions and the classifier.
    """
    builder = Builder(f"densenet-{2 * sum(blocks) + len(blocks) + 1}")
    channels = 2 * DENSENET_GROWTH
    x = _bare_conv(builder, "stem/conv", "image", (3, channels), kernel=7, stride=2)
    x = builder.op(
        "MaxPool", "stem/pool", (_norm(builder, "stem", x, channels),), **square_window(3, 2)
    )
    for stage, count in enumerate(blocks, 1):
        for layer in range(1, count + 1):
            x = _dense_layer(builder, f"block{stage}/layer{layer}", x, channels)
            channels += DENSENET_GROWTH
        if stage < len(blocks):
            x = _transition(builder, f"transition{stage}", x, channels)
            channels //= 2
    x = _norm(builder, "head", x, channels)
    return builder.image_model(builder.classifier(x, channels, classes), resolution, classes)


def _norm(builder: Builder, name: str, x: str, channels: int) -> str:
    """Batch norm in inference form, then ReLU."""
    fields = ("scale", "shift", "mean", "variance")
    parameters = [builder.weight(f"{name}/norm/{field}", (channels,)) for field in fields]
    return builder.relu(
        f"{name}/relu", builder.op("BatchNormalization", f"{name}/norm", (x, *parameters))
    )


def _bare_conv(
    builder: Builder, name: str, x: str, channels: tuple[int, int], **window: int
) -> str:
    """A convolution without bias; `window` may give kernel and stride (1 by default)."""
    kernel, stride = window.get("kernel", 1), window.get("stride", 1)
    weight = builder.weight(f"{name}/weight", (channels[1], channels[0], kernel, kernel))
    return builder.op("Conv", name, (x, weight), **square_window(kernel, stride))


def _dense_layer(builder: Builder, name: str, x: str, channels: int) -> str:
    inner = 4 * DENSENET_GROWTH
    y = _norm(builder, f"{name}/a", x, channels)
    y = _bare_conv(builder, f"{name}/conv1", y, (channels, inner))
    y = _norm(builder, f"{name}/b", y, inner)
    y = _bare_conv(builder, f"{name}/conv2", y, (inner, DENSENET_GROWTH), kernel=3)
    return builder.op("Concat", f"{name}/concat", (x, y), axis=1)


def _transition(builder: Builder, name: str, x: str, channels: int) -> str:
    y = _norm(builder, name, x, channels)
    y = _bare_conv(builder, f"{name}/conv", y, (channels, channels // 2))
    return builder.op("AveragePool", f"{name}/pool", (y,), kernel_shape=(2, 2), strides=(2, 2))
