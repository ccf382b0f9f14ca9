"""MobileNet-V2."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from sample_models.builder import Builder

MOBILENET_V2_STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip
"""Expansion, channels, blocks, stride (Sandler et al., 2018, table 2)."""


def mobilenet_v2(
    stages: Sequence[tuple[int, int, int, int]] = MOBILENET_V2_STAGES,
    resolution: int = 224,
    classes: int = 1000,
) -> onnx.ModelProto:
    """MobileNet-V2, batch norm folded, ReLU6 as Clip."""
    builder = Builder("mobilenet-v2")
    builder.constant("relu6/min", 0.0)
    builder.constant("relu6/max", 6.0)
    x = builder.conv("stem/conv", "image", (3, 32), kernel=3, stride=2)
    x = _relu6(builder, "stem/relu6", x)
    channels = 32
    for stage, (expansion, outputs, blocks, first_stride) in enumerate(stages, 1):
        for block in range(1, blocks + 1):
            name = f"stage{stage}/block{block}"
            stride = first_stride if block == 1 else 1
            x = _inverted(builder, name, x, (channels, channels * expansion, outputs), stride)
            channels = outputs
    x = _relu6(builder, "head/relu6", builder.conv("head/conv", x, (channels, 1280)))
    return builder.image_model(builder.classifier(x, 1280, classes), resolution, classes)


def _relu6(builder: Builder, name: str, x: str) -> str:
    return builder.op("Clip", name, (x, "relu6/min", "relu6/max"))


def _inverted(
    builder: Builder, name: str, x: str, channels: tuple[int, int, int], stride: int
) -> str:
    """Expand 1x1, depthwise 3x3, project 1x1; added to its input where the shapes agree."""
    inputs, inner, outputs = channels
    y = x
    if inner != inputs:
        y = builder.conv(f"{name}/expand", y, (inputs, inner))
        y = _relu6(builder, f"{name}/relu6a", y)
    y = builder.conv(f"{name}/depthwise", y, (inner, inner), kernel=3, stride=stride, group=inner)
    y = _relu6(builder, f"{name}/relu6b", y)
    y = builder.conv(f"{name}/project", y, (inner, outputs))
    if stride == 1 and inputs == outputs:
        return builder.op("Add", f"{name}/add", (y, x))
    return y
