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
    """Widths of both perceptrons without inputs, and rows and columns of the tables.

    `lookups`: rows of a table that a query sums. `has_products`: the top's inputs are the inner
    products of all pairs of vectors, else the concatenated vectors.
    """

    bottom: tuple[int, ...]
    top: tuple[int, ...]
    rows: tuple[int, ...]
    columns: int
    dense: int = 13
    lookups: int = 1
    has_products: bool = True


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

RANDOM_DATA = DlrmSize(
    bottom=(512, 64), top=(1024, 1024, 1024, 1), rows=(10**6,) * 8, columns=64, dense=512,
    lookups=100,
)  # fmt: skip
"""The model that the DLRM paper profiles on one device, with random data (section 5); only its
code has the number of rows per lookup (`dlrm_s_benchmark`)."""

RM1 = DlrmSize(
    bottom=(64, 32), top=(256, 64, 1), rows=(4_000_000,) * 8, columns=32, dense=128, lookups=80,
    has_products=False,
)  # fmt: skip
RM2 = DlrmSize(
    bottom=(128, 64), top=(128, 64, 1), rows=(500_000,) * 32, columns=64, dense=256, lookups=120,
    has_products=False,
)  # fmt: skip
RM3 = DlrmSize(
    bottom=(1024, 256, 32), top=(512, 256, 1), rows=(2_000_000,) * 10, columns=32, dense=2560,
    lookups=20, has_products=False,
)  # fmt: skip
"""Three kinds of recommenders of a data centre (RMC1 to RMC3 of Gupta et al., 2020a, who give
proportions), in the sizes of DeepRecSys (Gupta et al., 2020b; `dlrm_rm1` to `dlrm_rm3` of its
code)."""

CRITEO_TERABYTE = DlrmSize(
    bottom=(512, 256, 128),
    top=(1024, 1024, 512, 256, 1),
    rows=(
        39884406, 39043, 17289, 7420, 20263, 3, 7120, 1543, 63, 38532951, 2953546, 403346, 10,
        2208, 11938, 155, 4, 976, 14, 39979771, 25641295, 39664984, 585935, 12972, 108, 36,
    ),
    columns=128,
)  # fmt: skip
"""MLPerf's (indices below 40 million). Its tables have 48 GB at two bytes per number, more than
any cluster's DRAM here: a run is refused, so this is no sample."""


def dlrm(size: DlrmSize = CRITEO_KAGGLE) -> onnx.ModelProto:
    """DLRM (Naumov et al., 2019, figure 1).

    A table's rows are gathered and summed, as exporters write an embedding bag. With one index per
    feature, as in Criteo, a bag is a Gather.
    """
    builder = Builder("dlrm")
    dense = builder.input("dense", ("batch", size.dense))
    x = _perceptron(builder, "bottom", dense, (size.dense, *size.bottom))
    vectors = [builder.op("Unsqueeze", "bottom/vector", (x, builder.integers((1,))))]
    vectors += _bags(builder, size)
    if size.has_products:
        parts = [x, _pairs(builder, vectors)]
        x = builder.op("Concat", "pairs/dense", parts, axis=1)
        width = size.columns + len(vectors) * (len(vectors) - 1) // 2
    else:
        rows = builder.op("Concat", "vectors", vectors, axis=1)
        width = len(vectors) * size.columns
        x = builder.op("Reshape", "vectors/flat", (rows, builder.integers((0, width))))
    x = _perceptron(builder, "top", x, (width, *size.top), is_last_linear=True)
    builder.output("scores", builder.op("Sigmoid", "top/sigmoid", (x,)), ("batch", 1))
    return builder.model(PROPOSED)


def _bags(builder: Builder, size: DlrmSize) -> list[str]:
    """Per table, the sum of the looked-up rows, [batch, 1, columns]."""
    tables, one = len(size.rows), size.lookups == 1
    shape = ("batch", tables) if one else ("batch", tables, size.lookups)
    ids = builder.input("categories", shape, TensorProto.INT64)
    columns = builder.ops("Split", "tables/columns", (ids,), tables, axis=1)
    vectors = []
    for number, (rows, column) in enumerate(zip(size.rows, columns, strict=True)):
        table = builder.weight(f"tables/{number}/weight", (rows, size.columns))
        found = builder.op("Gather", f"tables/{number}", (table, column))
        if not one:
            axes = (found, builder.integers((2,)))
            found = builder.op("ReduceSum", f"tables/{number}/sum", axes, keepdims=0)
        vectors.append(found)
    return vectors


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
