"""Residual networks: three variants of ResNet-50, and a small one for teaching."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from sample_models.builder import Builder, square_window

RESNET50_BLOCKS = (3, 4, 6, 3)
RESNET_EXPANSION = 4
VARIANTS = ("v1", "v15", "slim")


def resnet(
    variant: str,
    blocks: Sequence[int] = RESNET50_BLOCKS,
    width: int = 64,
    resolution: int = 224,
    classes: int = 1000,
) -> onnx.ModelProto:
    """A bottleneck ResNet with batch norm folded (He et al., 2015, table 1).

    Place of the stride: `v1` in the first 1x1 and `v15` in the first 3x3 of each stage from the
    second; `slim` in the 3x3 of the last block of every stage but the last, as in TF-slim's
    resnet_v1.
    """
    assert variant in VARIANTS
    builder = Builder(f"resnet-{variant}")
    x = builder.conv("stem/conv", "image", (3, width), kernel=7, stride=2)
    x = builder.op("MaxPool", "stem/pool", (builder.relu("stem/relu", x),), **square_window(3, 2))
    channels = width
    for stage, count in enumerate(blocks, 1):
        inner = width * 2 ** (stage - 1)
        for block in range(1, count + 1):
            strides = _strides(variant, (stage, block), (len(blocks), count))
            name = f"stage{stage}/block{block}"
            x = _bottleneck(builder, name, x, (channels, inner), strides)
            channels = inner * RESNET_EXPANSION
    return builder.image_model(builder.classifier(x, channels, classes), resolution, classes)


def _strides(variant: str, at: tuple[int, int], last: tuple[int, int]) -> tuple[int, int]:
    """Strides of a block's first 1x1 and of its 3x3."""
    (stage, block), (stages, blocks) = at, last
    if variant == "slim":
        return (1, 2) if block == blocks and stage < stages else (1, 1)
    if block > 1 or stage == 1:
        return (1, 1)
    return (2, 1) if variant == "v1" else (1, 2)


def _bottleneck(
    builder: Builder, name: str, x: str, channels: tuple[int, int], strides: tuple[int, int]
) -> str:
    """1x1, 3x3, 1x1 and the shortcut; an identity shortcut is subsampled in a strided block."""
    inputs, inner = channels
    outputs = inner * RESNET_EXPANSION
    stride = strides[0] * strides[1]
    shortcut = x
    if inputs != outputs:
        shortcut = builder.conv(f"{name}/shortcut", x, (inputs, outputs), stride=stride)
    elif stride > 1:
        shortcut = builder.op("MaxPool", f"{name}/subsample", (x,), **square_window(1, stride))
    y = builder.conv(f"{name}/conv1", x, (inputs, inner), stride=strides[0])
    y = builder.relu(f"{name}/relu1", y)
    y = builder.conv(f"{name}/conv2", y, (inner, inner), kernel=3, stride=strides[1])
    y = builder.relu(f"{name}/relu2", y)
    y = builder.conv(f"{name}/conv3", y, (inner, outputs))
    return builder.relu(f"{name}/relu3", builder.op("Add", f"{name}/add", (y, shortcut)))


def teaching_resnet(
    stages: int = 2, blocks: int = 2, width: int = 16, resolution: int = 32, classes: int = 10
) -> onnx.ModelProto:
    """A small residual network of two-convolution blocks, as in He et al. for CIFAR-10."""
    builder = Builder("teaching-resnet")
    x = builder.relu("stem/relu", builder.conv("stem/conv", "image", (3, width), kernel=3))
    channels = width
    for stage in range(1, stages + 1):
        outputs = width * 2 ** (stage - 1)
        for block in range(1, blocks + 1):
            stride = 2 if block == 1 and stage > 1 else 1
            x = _basic_block(builder, f"stage{stage}/block{block}", x, (channels, outputs), stride)
            channels = outputs
    return builder.image_model(builder.classifier(x, channels, classes), resolution, classes)


def _basic_block(
    builder: Builder, name: str, x: str, channels: tuple[int, int], stride: int
) -> str:
    inputs, outputs = channels
    shortcut = x
    if inputs != outputs or stride > 1:
        shortcut = builder.conv(f"{name}/shortcut", x, channels, stride=stride)
    y = builder.conv(f"{name}/conv1", x, channels, kernel=3, stride=stride)
    y = builder.relu(f"{name}/relu1", y)
    y = builder.conv(f"{name}/conv2", y, (outputs, outputs), kernel=3)
    return builder.relu(f"{name}/relu2", builder.op("Add", f"{name}/add", (y, shortcut)))
