"""Vision transformers, ViT-B/16 and ViT-L/16."""

from __future__ import annotations

from dataclasses import dataclass

import onnx

from sample_models.builder import Builder
from sample_models.transformer import Heads, feed_forward, layer_norm, self_attention

EPSILON = 1e-6
"""Epsilon of every layer normalisation, as in the authors' code."""
PROPOSED = {"batch": 32}
"""Batch of row H of the GraphTurbo paper's evaluation."""


@dataclass(frozen=True, slots=True)
class VitSize:
    """Sizes of a ViT variant; a feed-forward layer is four times as wide as the hidden size."""

    layers: int = 12
    hidden: int = 768
    heads: int = 12
    patch: int = 16
    resolution: int = 224
    classes: int = 1000


VIT_L16 = VitSize(layers=24, hidden=1024, heads=16)


def vit(size: VitSize | None = None) -> onnx.ModelProto:
    """ViT (Dosovitskiy et al., 2020, table 1: base 12 x 768, 12 heads; large 24 x 1024, 16 heads).

    A strided convolution makes patches, with a class token before them. Norms precede attention and
    feed-forward. One linear layer classifies the last class token, as after fine-tuning.
    """
    size = size or VitSize()
    builder = Builder("vit")
    image = ("batch", 3, size.resolution, size.resolution)
    x = _tokens(builder, builder.input("image", image), size)
    heads = Heads(size.hidden, size.heads)
    for layer in range(size.layers):
        name = f"layer{layer}"
        y = layer_norm(builder, f"{name}/attention/norm", x, size.hidden, EPSILON)
        y = self_attention(builder, f"{name}/attention", y, heads)
        x = builder.op("Add", f"{name}/attention/residual", (y, x))
        y = layer_norm(builder, f"{name}/ffn/norm", x, size.hidden, EPSILON)
        y = feed_forward(builder, f"{name}/ffn", y, (size.hidden, 4 * size.hidden))
        x = builder.op("Add", f"{name}/ffn/residual", (y, x))
    x = layer_norm(builder, "head/norm", x, size.hidden, EPSILON)
    x = builder.op("Gather", "head/token", (x, builder.integers(0)), axis=1)
    scores = builder.dense("head/fc", x, (size.hidden, size.classes))
    builder.output("scores", scores, ("batch", size.classes))
    return builder.model(PROPOSED)


def _tokens(builder: Builder, image: str, size: VitSize) -> str:
    """[batch, 1 + patches, hidden]: class token and patches, positions added."""
    weight = builder.weight("patches/weight", (size.hidden, 3, size.patch, size.patch))
    bias = builder.weight("patches/bias", (size.hidden,))
    extent = (size.patch, size.patch)
    x = builder.op("Conv", "patches", (image, weight, bias), kernel_shape=extent, strides=extent)
    x = builder.op("Reshape", "patches/rows", (x, builder.integers((0, size.hidden, -1))))
    x = builder.op("Transpose", "patches/turn", (x,), perm=(0, 2, 1))
    batch = builder.op("Shape", "token/batch", (image,), start=0, end=1)
    shape = builder.op("Concat", "token/shape", (batch, builder.integers((1, 1))), axis=0)
    token = builder.op(
        "Expand", "token", (builder.weight("token/weight", (1, 1, size.hidden)), shape)
    )
    x = builder.op("Concat", "tokens", (token, x), axis=1)
    rows = 1 + (size.resolution // size.patch) ** 2
    return builder.op(
        "Add", "positions", (x, builder.weight("positions/weight", (1, rows, size.hidden)))
    )
