"""Conformer's encoder, for speech recognition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from types import MappingProxyType

import onnx

from sample_models.builder import Builder
from sample_models.transformer import Heads, layer_norm, linear, merge_heads, split_heads

EPSILON = 1e-5
BANDS = 80
"""Channels of the filterbank (section 3.1)."""
LONGEST = 5000
"""Most rows after subsampling with a position encoding: over three minutes (our choice)."""
PROPOSED: Mapping[str, int] = MappingProxyType({"batch": 12, "frames": 1027})
"""Batch of row J of the GraphTurbo paper's evaluation; ten seconds of speech, 256 rows."""


@dataclass(frozen=True, slots=True)
class ConformerSize:
    """Sizes of a Conformer variant; the default is Conformer-M (table 1)."""

    layers: int = 16
    hidden: int = 256
    heads: int = 4
    kernel: int = 32


CONFORMER_S = ConformerSize(hidden=144)
CONFORMER_L = ConformerSize(layers=17, hidden=512, heads=8)


def conformer(
    size: ConformerSize | None = None, proposed: Mapping[str, int] = PROPOSED
) -> onnx.ModelProto:
    """Conformer (Gulati et al., 2020, sections 2 and 3.2, table 1), without the decoder.

    Convolutions subsample to every fourth row. A half-weighted feed-forward layer precedes
    attention and follows the convolution. Attention has relative positions (Transformer-XL),
    shifted by padding and two reshapes. All utterances have equal length, so there is no mask.
    """
    size = size or ConformerSize()
    builder = Builder("conformer")
    x = builder.input("features", ("batch", "frames", BANDS))
    x = _subsampled(builder, x, size.hidden)
    positions = _positions(builder, x, size.hidden)
    heads = Heads(size.hidden, size.heads)
    for layer in range(size.layers):
        name = f"layer{layer}"
        x = _half(builder, f"{name}/ffn1", x, size.hidden)
        y = _normed(builder, f"{name}/attention", x, size.hidden)
        y = _attention(builder, f"{name}/attention", y, positions, heads)
        x = builder.op("Add", f"{name}/attention/residual", (x, y))
        y = _convolution(builder, f"{name}/conv", x, size)
        x = builder.op("Add", f"{name}/conv/residual", (x, y))
        x = _half(builder, f"{name}/ffn2", x, size.hidden)
        x = _normed(builder, name, x, size.hidden)
    builder.output("encoded", x, ("batch", "rows", size.hidden))
    return builder.model(proposed)


def _normed(builder: Builder, name: str, x: str, hidden: int) -> str:
    return layer_norm(builder, f"{name}/norm", x, hidden, EPSILON)


def _swish(builder: Builder, name: str, x: str) -> str:
    return builder.op("Mul", name, (x, builder.op("Sigmoid", f"{name}/sigmoid", (x,))))


def _half(builder: Builder, name: str, x: str, hidden: int) -> str:
    """Feed-forward layer, four times as wide, half of which is added (section 2.4)."""
    y = _normed(builder, name, x, hidden)
    y = linear(builder, f"{name}/up", y, (hidden, 4 * hidden))
    y = _swish(builder, f"{name}/swish", y)
    y = linear(builder, f"{name}/down", y, (4 * hidden, hidden))
    y = builder.op("Mul", f"{name}/half", (y, builder.scalar(0.5)))
    return builder.op("Add", f"{name}/residual", (x, y))


def _subsampled(builder: Builder, x: str, hidden: int) -> str:
    """Two 3x3 convolutions of stride 2 over rows and bands, unpadded, then a linear layer."""
    x = builder.op("Unsqueeze", "input/channel", (x, builder.integers((1,))))
    bands, inputs = BANDS, 1
    for name in ("input/conv1", "input/conv2"):
        weight = builder.weight(f"{name}/weight", (hidden, inputs, 3, 3))
        vector = builder.weight(f"{name}/bias", (hidden,))
        x = builder.op("Conv", name, (x, weight, vector), kernel_shape=(3, 3), strides=(2, 2))
        x = builder.relu(f"{name}/relu", x)
        bands, inputs = (bands - 1) // 2, hidden
    x = builder.op("Transpose", "input/turn", (x,), perm=(0, 2, 1, 3))
    x = builder.op("Reshape", "input/rows", (x, builder.integers((0, 0, hidden * bands))))
    return linear(builder, "input/linear", x, (hidden * bands, hidden))


def _positions(builder: Builder, x: str, hidden: int) -> str:
    """Encodings of the distances from rows - 1 down to 1 - rows, [1, 2 rows - 1, hidden]."""
    rows = builder.op("Shape", "positions/count", (x,), start=1, end=2)
    start = builder.op("Sub", "positions/start", (builder.integers((LONGEST,)), rows))
    end = builder.op("Add", "positions/end", (rows, builder.integers((LONGEST - 1,))))
    every = builder.weight("positions/sinusoids", (1, 2 * LONGEST - 1, hidden))
    return builder.op("Slice", "positions", (every, start, end, builder.integers((1,))))


def _attention(builder: Builder, name: str, x: str, positions: str, heads: Heads) -> str:
    """((Q + u) K^T + shifted (Q + v) P^T) / sqrt size (Dai et al., 2019, section 3.3)."""
    square = (heads.hidden, heads.hidden)
    query = linear(builder, f"{name}/query", x, square)
    query = builder.op(
        "Reshape", f"{name}/query/split", (query, builder.integers((0, 0, heads.heads, heads.size)))
    )
    with_u, with_v = (
        builder.op(
            "Transpose",
            f"{name}/{bias}/turn",
            (_biased(builder, f"{name}/{bias}", query, heads),),
            perm=(0, 2, 1, 3),
        )
        for bias in ("u", "v")
    )
    key = linear(builder, f"{name}/key", x, square)
    key = split_heads(builder, f"{name}/key", key, heads, is_key=True)
    value = split_heads(
        builder, f"{name}/value", linear(builder, f"{name}/value", x, square), heads
    )
    distance = linear(builder, f"{name}/distance", positions, square, has_bias=False)
    distance = split_heads(builder, f"{name}/distance", distance, heads, is_key=True)
    near = builder.op("MatMul", f"{name}/scores", (with_u, key))
    far = builder.op("MatMul", f"{name}/distances", (with_v, distance))
    scores = builder.op("Add", f"{name}/sum", (near, _shifted(builder, name, far, x)))
    scores = builder.op("Div", f"{name}/scale", (scores, builder.scalar(sqrt(heads.size))))
    scores = builder.op("Softmax", f"{name}/softmax", (scores,), axis=-1)
    context = builder.op("MatMul", f"{name}/context", (scores, value))
    return linear(
        builder, f"{name}/output", merge_heads(builder, f"{name}/context", context, heads), square
    )


def _biased(builder: Builder, name: str, query: str, heads: Heads) -> str:
    bias = builder.weight(f"{name}/bias", (heads.heads, heads.size))
    return builder.op("Add", name, (query, bias))


def _shifted(builder: Builder, name: str, x: str, rows_of: str) -> str:
    """[batch, heads, rows, distances] -> row i begins at distance i: [batch, heads, rows, rows].

    Pads one column of zeros in front, reshapes, drops the first row, reshapes back, and slices
    the first columns.
    """
    pads = builder.integers((0, 0, 0, 1, 0, 0, 0, 0))
    x = builder.op("Pad", f"{name}/shift/pad", (x, pads))
    rows = builder.op("Shape", f"{name}/shift/rows", (rows_of,), start=1, end=2)
    by_rows = (builder.integers((0, 0, -1)), rows)
    target = builder.op("Concat", f"{name}/shift/tall", by_rows, axis=0)
    x = builder.op("Reshape", f"{name}/shift/turn", (x, target))
    zero, last = builder.integers((0,)), builder.integers((2**31 - 1,))
    one, two, three = (builder.integers((number,)) for number in (1, 2, 3))
    x = builder.op("Slice", f"{name}/shift/drop", (x, one, last, two))
    target = builder.op(
        "Concat", f"{name}/shift/wide", (builder.integers((0, 0)), rows, builder.integers((-1,))),
        axis=0,
    )  # fmt: skip
    x = builder.op("Reshape", f"{name}/shift/back", (x, target))
    return builder.op("Slice", f"{name}/shift/take", (x, zero, rows, three))


def _convolution(builder: Builder, name: str, x: str, size: ConformerSize) -> str:
    """Pointwise with a gate, depthwise, batch norm, swish, pointwise (section 2.2)."""
    hidden = size.hidden
    y = _normed(builder, name, x, hidden)
    y = builder.op("Transpose", f"{name}/columns", (y,), perm=(0, 2, 1))
    y = _conv1d(builder, f"{name}/expand", y, (hidden, 2 * hidden))
    y, gate = builder.ops("Split", f"{name}/halves", (y,), 2, axis=1)
    y = builder.op("Mul", f"{name}/gated", (y, builder.op("Sigmoid", f"{name}/gate", (gate,))))
    y = _conv1d(builder, f"{name}/depthwise", y, (hidden, hidden), size.kernel)
    fields = ("scale", "shift", "mean", "variance")
    parameters = [builder.weight(f"{name}/batch_norm/{field}", (hidden,)) for field in fields]
    y = builder.op("BatchNormalization", f"{name}/batch_norm", (y, *parameters))
    y = _conv1d(builder, f"{name}/project", _swish(builder, f"{name}/swish", y), (hidden, hidden))
    return builder.op("Transpose", f"{name}/rows", (y,), perm=(0, 2, 1))


def _conv1d(builder: Builder, name: str, x: str, channels: tuple[int, int], kernel: int = 1) -> str:
    """Convolution over rows: of all channels where the kernel is 1, else depthwise.

    An even kernel is padded with one more row behind than in front, so the length is unchanged.
    """
    inputs, outputs = channels
    group = inputs if kernel > 1 else 1
    weight = builder.weight(f"{name}/weight", (outputs, inputs // group, kernel))
    pads = ((kernel - 1) // 2, kernel // 2)
    return builder.op(
        "Conv", name, (x, weight, builder.weight(f"{name}/bias", (outputs,))),
        kernel_shape=(kernel,), pads=pads, group=group,
    )  # fmt: skip
