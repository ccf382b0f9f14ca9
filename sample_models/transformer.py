"""Common parts of transformers, op by op as PyTorch's exporter writes them for opset 17.

LayerNormalization is one op (since opset 17), so it is one layer under Relay's rules; its parts
would be three kernels. GELU is written with Erf (Gelu is an op since opset 20). A linear layer is
MatMul and Add; its weight is stored input by output.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from onnx import TensorProto

from sample_models.builder import Builder

MASKED = -3.4028234663852886e38
"""The least float, which is added to a masked score."""


@dataclass(frozen=True, slots=True)
class Heads:
    """Width of a layer, and number of attention heads that divide it."""

    hidden: int
    heads: int

    @property
    def size(self) -> int:
        """Channels of a head."""
        return self.hidden // self.heads


def linear(
    builder: Builder, name: str, x: str, channels: tuple[int, int], has_bias: bool = True
) -> str:
    """A linear layer over the last axis."""
    weight = builder.weight(f"{name}/weight", channels)
    if not has_bias:
        return builder.op("MatMul", name, (x, weight))
    y = builder.op("MatMul", f"{name}/matmul", (x, weight))
    return builder.op("Add", name, (builder.weight(f"{name}/bias", channels[1:]), y))


def layer_norm(builder: Builder, name: str, x: str, hidden: int, epsilon: float) -> str:
    """Layer normalisation over the last axis."""
    vectors = (builder.weight(f"{name}/{field}", (hidden,)) for field in ("weight", "bias"))
    return builder.op("LayerNormalization", name, (x, *vectors), axis=-1, epsilon=epsilon)


def gelu(builder: Builder, name: str, x: str) -> str:
    """GELU: x / 2 * (1 + erf(x / sqrt 2)) (Hendrycks and Gimpel, 2016)."""
    y = builder.op("Div", f"{name}/div", (x, builder.scalar(sqrt(2))))
    y = builder.op("Erf", f"{name}/erf", (y,))
    y = builder.op("Add", f"{name}/add", (y, builder.scalar(1)))
    y = builder.op("Mul", f"{name}/mul", (x, y))
    return builder.op("Mul", f"{name}/half", (y, builder.scalar(0.5)))


def split_heads(builder: Builder, name: str, x: str, heads: Heads, is_key: bool = False) -> str:
    """[batch, rows, hidden] -> [batch, heads, rows, size]; a key's last two axes are swapped."""
    shape = builder.integers((0, 0, heads.heads, heads.size))
    y = builder.op("Reshape", f"{name}/split", (x, shape))
    return builder.op(
        "Transpose", f"{name}/turn", (y,), perm=(0, 2, 3, 1) if is_key else (0, 2, 1, 3)
    )


def merge_heads(builder: Builder, name: str, x: str, heads: Heads) -> str:
    """[batch, heads, rows, size] -> [batch, rows, hidden]."""
    y = builder.op("Transpose", f"{name}/turn", (x,), perm=(0, 2, 1, 3))
    return builder.op("Reshape", f"{name}/merge", (y, builder.integers((0, 0, heads.hidden))))


def self_attention(builder: Builder, name: str, x: str, heads: Heads, mask: str = "") -> str:
    """softmax(Q K^T / sqrt size + mask) V, then the output projection (Vaswani et al., 2017)."""
    square = (heads.hidden, heads.hidden)
    query, key, value = (
        split_heads(
            builder, f"{name}/{part}", linear(builder, f"{name}/{part}", x, square), heads,
            is_key=part == "key",
        )
        for part in ("query", "key", "value")
    )  # fmt: skip
    scores = builder.op("MatMul", f"{name}/scores", (query, key))
    scores = builder.op("Div", f"{name}/scale", (scores, builder.scalar(sqrt(heads.size))))
    if mask:
        scores = builder.op("Add", f"{name}/mask", (scores, mask))
    scores = builder.op("Softmax", f"{name}/softmax", (scores,), axis=-1)
    context = builder.op("MatMul", f"{name}/context", (scores, value))
    context = merge_heads(builder, f"{name}/context", context, heads)
    return linear(builder, f"{name}/output", context, square)


def feed_forward(builder: Builder, name: str, x: str, channels: tuple[int, int]) -> str:
    """Two linear layers with a GELU between."""
    hidden, inner = channels
    y = linear(builder, f"{name}/up", x, (hidden, inner))
    return linear(builder, f"{name}/down", gelu(builder, f"{name}/gelu", y), (inner, hidden))


def padding_mask(builder: Builder, attention_mask: str) -> str:
    """[batch, columns] of zeros and ones -> mask to add to scores, [batch, 1, 1, columns]."""
    y = builder.op("Unsqueeze", "mask/rows", (attention_mask, builder.integers((1, 2))))
    y = builder.op("Cast", "mask/cast", (y,), to=TensorProto.BOOL)
    return hidden_scores(builder, y)


def hidden_scores(builder: Builder, is_seen: str) -> str:
    """Zero at visible positions, the least float at the others."""
    return builder.op("Where", "mask/scores", (is_seen, builder.scalar(0), builder.scalar(MASKED)))
