"""Llama's decoder in prefill: the whole prompt in one run, without a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from types import MappingProxyType

import onnx
from onnx import TensorProto

from sample_models.builder import Builder
from sample_models.transformer import Heads, hidden_scores, linear, merge_heads, split_heads

EPSILON = 1e-6
ROTARY_BASE = 10_000.0
PROPOSED: Mapping[str, int] = MappingProxyType({"batch": 8, "sequence": 128})
"""Our choice: short prompts, two per cluster."""


@dataclass(frozen=True, slots=True)
class LlamaSize:
    """As deep as Llama-7B, but narrow: hidden size, heads of 32 and vocabulary are our choice.

    `inner` is the paper's rule, 2/3 of four times the hidden size in whole multiples of 256.
    """

    layers: int = 32
    hidden: int = 256
    heads: int = 8
    inner: int = 768
    vocabulary: int = 32_000


@dataclass(frozen=True, slots=True)
class Shared:
    """Common inputs of all layers: cosines and sines of the positions, and the mask."""

    cosine: str
    sine: str
    mask: str


def llama(size: LlamaSize | None = None, proposed: Mapping[str, int] = PROPOSED) -> onnx.ModelProto:
    """Llama (Touvron et al., 2023, section 2.2; depth of the 7B of table 2).

    RMSNorm before attention and feed-forward, rotary embedding, SwiGLU, no biases. Written as by
    the exporter for opset 17: RMSNorm in parts (one op since opset 23), rotary embedding by halves,
    and a causal mask from `position_ids`, which padding may shift per sample.
    """
    size = size or LlamaSize()
    builder = Builder("llama")
    shape = ("batch", "sequence")
    ids = builder.input("input_ids", shape, TensorProto.INT64)
    padding = builder.input("attention_mask", shape, TensorProto.INT64)
    positions = builder.input("position_ids", shape, TensorProto.INT64)
    heads = Heads(size.hidden, size.heads)
    shared = Shared(*_rotation(builder, positions, heads), _mask(builder, padding, positions))
    table = builder.weight("embedding/weight", (size.vocabulary, size.hidden))
    x = builder.op("Gather", "embedding", (table, ids))
    for layer in range(size.layers):
        name = f"layer{layer}"
        y = _norm(builder, f"{name}/norm1", x, size.hidden)
        x = builder.op("Add", f"{name}/add1", (x, _attention(builder, name, y, heads, shared)))
        y = _norm(builder, f"{name}/norm2", x, size.hidden)
        x = builder.op("Add", f"{name}/add2", (x, _feed_forward(builder, name, y, size)))
    x = _norm(builder, "head/norm", x, size.hidden)
    logits = linear(builder, "head/linear", x, (size.hidden, size.vocabulary), has_bias=False)
    builder.output("logits", logits, (*shape, size.vocabulary))
    return builder.model(proposed)


def _norm(builder: Builder, name: str, x: str, hidden: int) -> str:
    """Root mean square normalisation (Zhang and Sennrich, 2019)."""
    y = builder.op("Pow", f"{name}/square", (x, builder.scalar(2)))
    y = builder.op("ReduceMean", f"{name}/mean", (y,), axes=(-1,), keepdims=1)
    y = builder.op("Add", f"{name}/epsilon", (y, builder.scalar(EPSILON)))
    y = builder.op("Sqrt", f"{name}/root", (y,))
    y = builder.op("Reciprocal", f"{name}/inverse", (y,))
    y = builder.op("Mul", f"{name}/scale", (x, y))
    return builder.op("Mul", name, (builder.weight(f"{name}/weight", (hidden,)), y))


def _rotation(builder: Builder, positions: str, heads: Heads) -> tuple[str, str]:
    """Cosine and sine of position times frequency, [batch, 1, rows, size of a head]."""
    half = heads.size // 2
    frequencies = [ROTARY_BASE ** (-place / half) for place in range(half)]
    vector = builder.vector("rotary/frequencies", frequencies)
    y = builder.op("Unsqueeze", "rotary/rows", (positions, builder.integers((1, 3))))
    y = builder.op("Cast", "rotary/cast", (y,), to=TensorProto.FLOAT)
    y = builder.op("Mul", "rotary/angles", (y, vector))
    y = builder.op("Concat", "rotary/halves", (y, y), axis=-1)
    return builder.op("Cos", "rotary/cosine", (y,)), builder.op("Sin", "rotary/sine", (y,))


def _mask(builder: Builder, padding: str, positions: str) -> str:
    """Mask to add to scores, [batch, 1, rows, columns]: hides padding and later positions."""
    rows = builder.op("Unsqueeze", "mask/rows", (positions, builder.integers((1, 3))))
    columns = builder.op("Unsqueeze", "mask/columns", (positions, builder.integers((1, 2))))
    is_past = builder.op("LessOrEqual", "mask/causal", (columns, rows))
    is_real = builder.op("Unsqueeze", "mask/padding", (padding, builder.integers((1, 2))))
    is_real = builder.op("Cast", "mask/cast", (is_real,), to=TensorProto.BOOL)
    return hidden_scores(builder, builder.op("And", "mask/both", (is_past, is_real)))


def _attention(builder: Builder, name: str, x: str, heads: Heads, shared: Shared) -> str:
    square = (heads.hidden, heads.hidden)
    query, key, value = (
        split_heads(
            builder, f"{name}/{part}", linear(builder, f"{name}/{part}", x, square, False), heads
        )
        for part in ("query", "key", "value")
    )
    query, key = (
        _rotated(builder, f"{name}/{part}", y, heads, shared)
        for part, y in (("query", query), ("key", key))
    )
    key = builder.op("Transpose", f"{name}/key/columns", (key,), perm=(0, 1, 3, 2))
    scores = builder.op("MatMul", f"{name}/scores", (query, key))
    scores = builder.op("Div", f"{name}/scale", (scores, builder.scalar(sqrt(heads.size))))
    scores = builder.op("Add", f"{name}/mask", (scores, shared.mask))
    scores = builder.op("Softmax", f"{name}/softmax", (scores,), axis=-1)
    context = builder.op("MatMul", f"{name}/context", (scores, value))
    context = merge_heads(builder, f"{name}/context", context, heads)
    return linear(builder, f"{name}/output", context, square, has_bias=False)


def _rotated(builder: Builder, name: str, x: str, heads: Heads, shared: Shared) -> str:
    """Rotary embedding (Su et al., 2021): x cos + (-second half, first half) sin."""
    half, last = heads.size // 2, builder.integers((-1,))
    start, middle = builder.integers((0,)), builder.integers((half,))
    end = builder.integers((heads.size,))
    first = builder.op("Slice", f"{name}/first", (x, start, middle, last))
    second = builder.op("Slice", f"{name}/second", (x, middle, end, last))
    turned = (builder.op("Neg", f"{name}/negated", (second,)), first)
    turned_x = builder.op("Concat", f"{name}/turned", turned, axis=-1)
    parts = (
        builder.op("Mul", f"{name}/cosine", (x, shared.cosine)),
        builder.op("Mul", f"{name}/sine", (turned_x, shared.sine)),
    )
    return builder.op("Add", f"{name}/rotated", parts)


def _feed_forward(builder: Builder, name: str, x: str, size: LlamaSize) -> str:
    """SwiGLU (Shazeer, 2020): (x G sigmoid(x G)) * (x U), then D."""
    wide = (size.hidden, size.inner)
    gate = linear(builder, f"{name}/gate", x, wide, has_bias=False)
    sigmoid = builder.op("Sigmoid", f"{name}/sigmoid", (gate,))
    gate = builder.op("Mul", f"{name}/swish", (gate, sigmoid))
    up = linear(builder, f"{name}/up", x, wide, has_bias=False)
    y = builder.op("Mul", f"{name}/gated", (gate, up))
    return linear(builder, f"{name}/down", y, (size.inner, size.hidden), has_bias=False)
