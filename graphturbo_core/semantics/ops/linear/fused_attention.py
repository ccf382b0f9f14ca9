"""Semantics of the attention ops of ONNX Runtime's optimiser."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InnerProduct,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.linear.fused import DOMAIN
from graphturbo_core.semantics.ops.maps import Entry, broadcast_axis, same, whole, whole_tensor
from graphturbo_core.semantics.ops.view import OpView

_PACKED = 3
_TABLES = (6, 7, 8, 11, 12, 13, 14, 15)
"""Inputs that GroupQueryAttention reads for all samples: a count, cosines and sines, weights."""
_SAMPLE = ((0, 1),)
"""Samples, one by one."""


def _scores(
    view: OpView, heads: int, sizes: tuple[int, int, int], keys: int
) -> tuple[InnerProduct, InnerProduct]:
    """Products per sample and head: queries by keys, then scores by values."""
    rows, size, value_size = sizes
    score = InnerProduct(
        keys, size, (), _SAMPLE, m=rows, count=heads, row_ops=4 * keys, row_transcendentals=2 * keys
    )
    return score, InnerProduct(value_size, keys, (), _SAMPLE, m=rows, count=heads)


def _by_sample(view: OpView, place: int) -> InputAccess:
    """The whole sample; an input without sample axis is read whole."""
    name, shape, samples = view.op.inputs[place], view.shape(place), view.shape()[0]
    if not shape or shape[0] != samples:
        return whole_tensor(name, shape)
    return InputAccess(name, (same(samples, 0), *(whole(size) for size in shape[1:])))


def _apart(
    view: OpView, reads: tuple[InputAccess, ...], products: tuple[InnerProduct, ...]
) -> OpSemantics:
    """Semantics of an op that may be cut along samples only."""
    rank = max(len(shape) for shape in view.shapes_out)
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.MATRIX,
        accesses=tuple(reads if name else () for name in view.op.outputs),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        products=products,
        is_placed=True,
        uncut_axes=frozenset(range(1, rank)),
    )


def packed_attention(view: OpView) -> OpSemantics | None:
    """Attention with the projections of Q, K and V inside; a past makes it opaque.

    Weights [I, 3 H], or unequal parts by `qkv_hidden_sizes`.
    """
    return None if view.has_input(4) else _projected(view, (3, 5))


def quantised_attention(view: OpView) -> OpSemantics | None:
    """QAttention: projections of 8-bit numbers; scores of floats."""
    found = None if view.has_input(8) else _projected(view, (5,))
    if found is None:
        return None
    projected, *scores = found.products
    return replace(found, products=(replace(projected, is_of_bytes=True), *scores))


def _projected(view: OpView, by_sample: tuple[int, ...]) -> OpSemantics | None:
    """Projections, scores and their products with values; `by_sample`: per-sample inputs."""
    heads = view.integer("num_heads", 0)
    if heads < 1 or any(view.op.outputs[1:]):
        return None
    samples, rows, width = view.shape()
    total = view.shape(1)[1]
    parts = view.integers("qkv_hidden_sizes") or (total // 3,) * 3
    data = InputAccess(view.op.inputs[0], (same(samples, 0), whole(rows), whole(width)))
    rest = tuple(
        _by_sample(view, place) if place in by_sample else whole_tensor(name, view.shape(place))
        for place, name in enumerate(view.op.inputs)
        if place and name
    )
    sizes = (rows, parts[1] // heads, parts[2] // heads)
    projected = InnerProduct(total, width, (), _SAMPLE, m=rows)
    return _apart(view, (data, *rest), (projected, *_scores(view, heads, sizes, rows)))


def many_heads(view: OpView) -> OpSemantics | None:
    """MultiHeadAttention of packed Q, K and V; other layouts make it opaque.

    Queries may be cut, a head's elements not. With a past, or with key and value outputs, only
    samples may be cut.
    """
    heads = view.integer("num_heads", 0)
    is_packed = all(view.has_input(p) and len(view.shape(p)) == _PACKED for p in (0, 1, 2))
    if heads < 1 or not is_packed or any(view.op.outputs[3:]):
        return None
    if any(map(view.has_input, range(6, len(view.op.inputs)))) or any(view.op.outputs[1:]):
        return _with_past(view, heads)
    samples, rows, width = view.shape()
    keys, value_width = view.shape(1)[1], view.shape(2)[2]
    reads = [
        InputAccess(view.op.inputs[0], (same(samples, 0), same(rows, 1), whole(width))),
        _by_sample(view, 1),
        _by_sample(view, 2),
    ]
    if view.has_input(3):
        reads.append(whole_tensor(view.op.inputs[3], view.shape(3)))
    if view.has_input(4):
        reads.append(_by_sample(view, 4))
    if view.has_input(5):
        shape = view.shape(5)
        first, row = broadcast_axis(shape[0], samples, 0), broadcast_axis(shape[2], rows, 1)
        maps = (first, whole(shape[1]), row, whole(shape[3]))
        reads.append(InputAccess(view.op.inputs[5], maps))
    score = InnerProduct(
        keys,
        width // heads,
        (1,),
        _SAMPLE,
        count=heads,
        row_ops=4 * keys,
        row_transcendentals=2 * keys,
    )
    mixed = InnerProduct(value_width // heads, keys, (1,), _SAMPLE, count=heads)
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.MATRIX,
        accesses=(tuple(reads), *(() for _ in view.op.outputs[1:])),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        products=(score, mixed),
        is_placed=True,
        uncut_axes=frozenset({2}),
    )  # fmt: skip


def _with_past(view: OpView, heads: int) -> OpSemantics | None:
    """Semantics with a past; a cache larger than its contents makes the op opaque."""
    if any(map(view.has_input, range(8, len(view.op.inputs)))):
        return None
    reads = tuple(
        whole_tensor(name, view.shape(place)) if place == 3 else _by_sample(view, place)  # noqa: PLR2004 - the bias
        for place, name in enumerate(view.op.inputs)
        if name
    )
    past = view.shape(6)[2] if view.has_input(6) else 0
    (_, rows, width), (_, keys, values) = view.shape(), view.shape(2)
    sizes = (rows, width // heads, values // heads)
    return _apart(view, reads, _scores(view, heads, sizes, past + keys))


def grouped_queries(view: OpView) -> OpSemantics | None:
    """GroupQueryAttention with a cache: cut along samples only; each sample is read whole.

    Q, K and V may be concatenated in the first input. Scores are counted for the cache's capacity
    of keys.
    """
    heads, kv = view.integer("num_heads", 0), view.integer("kv_num_heads", 0)
    if heads < 1 or kv < 1 or len(view.op.outputs) < _PACKED:
        return None
    rows, width, keys = view.shape()[1], view.shape_out()[2], view.shape_out(1)[2]
    reads = tuple(
        whole_tensor(name, view.shape(place)) if place in _TABLES else _by_sample(view, place)
        for place, name in enumerate(view.op.inputs)
        if name
    )
    sizes = (rows, width // heads, view.shape_out(2)[3])
    return _apart(view, reads, _scores(view, heads, sizes, keys))


def rotary(view: OpView) -> OpSemantics:
    """RotaryEmbedding: as ONNX's, with positions second and tables whole; heads are uncut."""
    shape = view.shape()
    row = len(shape) - 2
    maps = tuple(same(size, axis) for axis, size in enumerate(shape[:-1]))
    places = view.shape(1)
    if len(places) > 1:
        at = InputAccess(view.op.inputs[1], (same(places[0], 0), same(places[1], row)))
    else:
        at = InputAccess(view.op.inputs[1], tuple(AxisMap(AxisKind.NONE, 1) for _ in places))
    tables = tuple(whole_tensor(view.op.inputs[place], view.shape(place)) for place in (2, 3))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], (*maps, whole(shape[-1]))), at, *tables),),
        output_shapes=view.shapes_out,
        ops_per_element=3,
        is_placed=True,
        uncut_axes=frozenset({len(shape) - 1}),
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    (DOMAIN, "Attention"): packed_attention,
    (DOMAIN, "QAttention"): quantised_attention,
    (DOMAIN, "MultiHeadAttention"): many_heads,
    (DOMAIN, "GroupQueryAttention"): grouped_queries,
    (DOMAIN, "RotaryEmbedding"): rotary,
}
"""(domain, op type) -> entry."""
