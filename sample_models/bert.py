"""BERT's encoder with its pooler, base and large."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import onnx
from onnx import TensorProto

from sample_models.builder import Builder
from sample_models.transformer import (
    Heads,
    feed_forward,
    layer_norm,
    padding_mask,
    self_attention,
)

EPSILON = 1e-12
"""Epsilon of every layer normalisation, as in the authors' code."""
PROPOSED: Mapping[str, int] = MappingProxyType({"batch": 32, "sequence": 128})
"""Batch and length of row B of the GraphTurbo paper's evaluation (BERT-128)."""


@dataclass(frozen=True, slots=True)
class BertSize:
    """Sizes of a BERT variant; a feed-forward layer is four times as wide as the hidden size."""

    layers: int = 12
    hidden: int = 768
    heads: int = 12
    vocabulary: int = 30_522
    positions: int = 512


BERT_LARGE = BertSize(layers=24, hidden=1024, heads=16)


def bert(size: BertSize | None = None, proposed: Mapping[str, int] = PROPOSED) -> onnx.ModelProto:
    """BERT (Devlin et al., 2018, section 3: base L=12 H=768 A=12, large L=24 H=1024 A=16).

    The uncased vocabulary; norms come after the residual sums. `attention_mask` hides padding.
    """
    size = size or BertSize()
    builder = Builder("bert")
    shape = ("batch", "sequence")
    ids = builder.input("input_ids", shape, TensorProto.INT64)
    mask = builder.input("attention_mask", shape, TensorProto.INT64)
    types = builder.input("token_type_ids", shape, TensorProto.INT64)
    x = _embeddings(builder, (ids, types), size)
    scores_mask = padding_mask(builder, mask)
    heads = Heads(size.hidden, size.heads)
    for layer in range(size.layers):
        name = f"layer{layer}"
        y = self_attention(builder, f"{name}/attention", x, heads, scores_mask)
        x = _sum_and_norm(builder, f"{name}/attention", (y, x), size)
        y = feed_forward(builder, f"{name}/ffn", x, (size.hidden, 4 * size.hidden))
        x = _sum_and_norm(builder, f"{name}/ffn", (y, x), size)
    first = builder.op("Gather", "pooler/first", (x, builder.integers(0)), axis=1)
    pooled = builder.op(
        "Tanh", "pooler/tanh", (builder.dense("pooler/dense", first, (size.hidden, size.hidden)),)
    )
    builder.output("last_hidden_state", x, (*shape, size.hidden))
    builder.output("pooler_output", pooled, ("batch", size.hidden))
    return builder.model(proposed)


def _sum_and_norm(builder: Builder, name: str, pair: tuple[str, str], size: BertSize) -> str:
    x = builder.op("Add", f"{name}/residual", pair)
    return layer_norm(builder, f"{name}/norm", x, size.hidden, EPSILON)


def _embeddings(builder: Builder, inputs: tuple[str, str], size: BertSize) -> str:
    """Normalised sum of word, type and position embeddings."""
    ids, types = inputs
    table = builder.weight("embeddings/word/weight", (size.vocabulary, size.hidden))
    x = builder.op("Gather", "embeddings/word", (table, ids))
    table = builder.weight("embeddings/type/weight", (2, size.hidden))
    y = builder.op("Gather", "embeddings/type", (table, types))
    x = builder.op("Add", "embeddings/add_type", (x, y))
    y = _positions(builder, ids, size)
    x = builder.op("Add", "embeddings/add_position", (x, y))
    return layer_norm(builder, "embeddings/norm", x, size.hidden, EPSILON)


def _positions(builder: Builder, ids: str, size: BertSize) -> str:
    """The first rows of the position table, one per column."""
    everywhere = builder.integers((range(size.positions),), "embeddings/position_ids")
    shape = builder.op("Shape", "embeddings/shape", (ids,), start=1, end=2)
    parts = (everywhere, builder.integers((0,)), shape, builder.integers((1,)))
    rows = builder.op("Slice", "embeddings/positions", parts)
    table = builder.weight("embeddings/position/weight", (size.positions, size.hidden))
    return builder.op("Gather", "embeddings/position", (table, rows))
