"""DLRM, a recommender: multilayer perceptrons, embedding tables, and products of their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx
from onnx import TensorProto

from sample_models.builder import Builder

PROPOSED = {"batch": 1024}
"""Batch of row F of the GraphTurbo paper's evaluation."""


@dataclass(frozen=True, slots=True)
class DlrmSize:
    """Widths of both perceptrons, inputs left out, and rows and columns of the tables."""

    bottom: tuple[int, ...]
    top: tuple[int, ...]
    rows: tuple[int, ...]
    columns: int
    dense: int = 13


CRITEO_KAGGLE = DlrmSize(
    bottom=(512, 256, 64, 16),
    top=(512, 256, 1),
    rows=(
        1460, 583, 10131227, 2202608, 305, 24, 12517, 633, 3, 93145, 5683, 8351593, 3194, 27,
        14992, 5461306, 10, 5652, 2173, 4, 7046547, 18, 15, 286181, 105, 142572,
    ),
    columns=16,
)  # fmt: skip
"""The model of the DLRM paper's own experiment (section 5; `dlrm_s_criteo_kaggle` of its code)."""

CRITEO_TERABYTE = DlrmSize(
    bottom=(512, 256, 128),
    top=(1024, 1024, 512, 256, 1),
    rows=(
        39884406, 39043, 17289, 7420, 20263, 3, 7120, 1543, 63, 38532951, 2953546, 403346, 10,
        2208, 11938, 155, 4, 976, 14, 39979771, 25641295, 39664984, 585935, 12972, 108, 36,
    ),
    columns=128,
)  # fmt: skip
"""MLPerf's (indices below 40 million). Its tables take 48 GB at two bytes a number, which no
cluster of a chip here holds: a run is refused, so this is no sample."""


def dlrm(size: DlrmSize = CRITEO_KAGGLE) -> onnx.ModelProto:
    """DLRM (Naumov et al., 2019, figure 1), with one index a categorical feature as Criteo has.

    A bag of one index is a Gather. The products of all pairs are the lower triangle of one matrix,
    picked from its rows laid end to end.
    """
    builder = Builder("dlrm")
    dense = builder.input("dense", ("batch", size.dense))
    ids = builder.input("categories", ("batch", len(size.rows)), TensorProto.INT64)
    x = _perceptron(builder, "bottom", dense, (size.dense, *size.bottom))
    vectors = [builder.op("Unsqueeze", "bottom/vector", (x, builder.integers((1,))))]
    columns = builder.ops("Split", "tables/columns", (ids,), len(size.rows), axis=1)
    for number, (rows, column) in enumerate(zip(size.rows, columns, strict=True)):
        table = builder.weight(f"tables/{number}/weight", (rows, size.columns))
        vectors.append(builder.op("Gather", f"tables/{number}", (table, column)))
    pairs = _pairs(builder, vectors)
    x = builder.op("Concat", "pairs/dense", (x, pairs), axis=1)
    count = len(vectors) * (len(vectors) - 1) // 2
    x = _perceptron(builder, "top", x, (size.columns + count, *size.top), is_last_linear=True)
    builder.output("scores", builder.op("Sigmoid", "top/sigmoid", (x,)), ("batch", 1))
    return builder.model(PROPOSED)


def _perceptron(
    builder: Builder, name: str, x: str, widths: Sequence[int], is_last_linear: bool = False
) -> str:
    """Fully connected layers with a ReLU after each, after the last one unless it is linear."""
    last = len(widths) - 1
    for place in range(1, len(widths)):
        channels = (widths[place - 1], widths[place])
        x = builder.dense(f"{name}/fc{place}", x, channels)
        if place < last or not is_last_linear:
            x = builder.relu(f"{name}/relu{place}", x)
    return x


def _pairs(builder: Builder, vectors: Sequence[str]) -> str:
    """Inner products of all pairs of vectors, [batch, pairs]; `vectors` are [batch, 1, columns]."""
    count = len(vectors)
    rows = builder.op("Concat", "pairs/rows", vectors, axis=1)
    turned = builder.op("Transpose", "pairs/turn", (rows,), perm=(0, 2, 1))
    products = builder.op("MatMul", "pairs/products", (rows, turned))
    flat = builder.op("Reshape", "pairs/flat", (products, builder.integers((0, count * count))))
    places = [row * count + column for row in range(count) for column in range(row)]
    return builder.op(
        "Gather", "pairs/triangle", (flat, builder.integers(places, "pairs/places")), axis=1
    )
