"""Semantics of attention and rotary embeddings: heads, samples and queries are independent."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InnerProduct,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import Entry, Shape, broadcast_axis, same, whole
from graphturbo_core.semantics.ops.view import OpView

QUERY, KEY, VALUE, MASK, PAST_KEY, PAST_VALUE, LENGTHS = range(7)
PACKED = 3
"""Rank of [batch, sequence, heads x size]; else it is [batch, heads, sequence, size]."""


@dataclass(frozen=True, slots=True)
class Heads:
    """Sizes of an attention: heads of queries and keys, elements per head, number of keys."""

    query: int
    kv: int
    size: int
    value_size: int
    keys: int
    past: int

    @property
    def shared(self) -> int:
        """Query heads per key head."""
        return self.query // self.kv


@dataclass(frozen=True, slots=True)
class InputPlace:
    """Output axes of sample, head and query; a head spans `block` elements of its axis."""

    head: int
    row: int
    block: int


def heads_of(view: OpView) -> Heads | None:
    """The head sizes; None if the heads of a packed input are missing or do not fit."""
    shape, keys, values = view.shape(QUERY), view.shape(KEY), view.shape(VALUE)
    past = view.shape(PAST_KEY)[2] if view.has_input(PAST_KEY) else 0
    if len(shape) != PACKED:
        query, kv = shape[1], keys[1]
        sizes, count = (shape[3], values[3]), keys[2]
    else:
        query, kv = view.integer("q_num_heads", 0), view.integer("kv_num_heads", 0)
        if query < 1 or kv < 1 or shape[2] % query or values[2] % kv:
            return None
        sizes, count = (shape[2] // query, values[2] // kv), keys[1]
    if query % kv:
        return None
    return Heads(query, kv, *sizes, count + past, past)


def attention(view: OpView) -> OpSemantics | None:
    """Attention of opset 23 on: Q, K, V packed or by heads, a mask, a past, and their outputs.

    1. A sample's head needs its queries, and all keys and values of its key head.
    2. Work per result element is counted densely, masked or not.
    3. Key and value outputs are past and present, concatenated.
    """
    heads = heads_of(view)
    if heads is None:
        return None
    is_packed = len(view.shape(QUERY)) == PACKED
    rank = len(view.shape_out())
    own = InputPlace(2, 1, heads.value_size) if is_packed else InputPlace(1, 2, 1)
    apart = InputPlace(1, 2, 1)
    reads = [_attended(view, heads, own)]
    for index, name in enumerate(view.op.outputs[1:], 1):
        if not name:
            reads.append(())
        elif index == len((QUERY, KEY, VALUE)):
            reads.append(_attended(view, heads, apart, has_values=False))
        else:
            reads.append(_handed_on(view, index, heads))
    is_placed = any(view.integer(name, -1) > (0 if name == "is_causal" else -1) for name in _BANDS)
    score = 4 * heads.keys
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.MATRIX,
        accesses=tuple(reads),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        products=(
            InnerProduct(
                heads.keys, heads.size, (own.row,), ((0, 1), (own.head, own.block)),
                row_ops=score, row_transcendentals=2 * heads.keys,
            ),
            InnerProduct(
                heads.value_size, heads.keys, (own.row,), ((0, 1), (own.head, own.block))
            ),
        ),
        is_placed=is_placed or is_packed,
        uncut_axes=frozenset() if is_packed else frozenset({rank - 1}),
    )  # fmt: skip


_BANDS = ("is_causal", "left_window_size", "right_window_size")
"""Inputs and attributes with which a query's position matters."""


def _attended(
    view: OpView, heads: Heads, place: InputPlace, has_values: bool = True
) -> tuple[InputAccess, ...]:
    reads = [
        InputAccess(
            view.op.inputs[QUERY], _rows(view.shape(QUERY), place, (place.block, heads.size))
        ),
        _columns(view, KEY, place, heads),
    ]
    if has_values:
        reads.append(_columns(view, VALUE, place, heads))
    if view.has_input(MASK):
        reads.append(_mask(view, view.shape(MASK), place, heads))
    for past in (PAST_KEY, PAST_VALUE):
        if view.has_input(past) and (has_values or past == PAST_KEY):
            reads.append(_columns(view, past, place, heads))
    if view.has_input(LENGTHS):
        reads.append(InputAccess(view.op.inputs[LENGTHS], (same(view.shape(LENGTHS)[0], 0),)))
    return tuple(reads)


def _rows(shape: Shape, place: InputPlace, blocks: tuple[int, int]) -> tuple[AxisMap, ...]:
    """Queries: [N, S, H x D] or [N, H, S, D]."""
    out_block, in_block = blocks
    if len(shape) == PACKED:
        head = AxisMap(
            AxisKind.GROUPED, shape[2], place.head, out_block=out_block, in_block=in_block
        )
        return (same(shape[0], 0), same(shape[1], place.row), head)
    return (
        same(shape[0], 0),
        same(shape[1], place.head),
        same(shape[2], place.row),
        whole(shape[3]),
    )


def _columns(view: OpView, index: int, place: InputPlace, heads: Heads) -> InputAccess:
    """All keys or values of the key heads of the result's heads."""
    shape = view.shape(index)
    block = place.block * heads.shared
    if len(shape) == PACKED:
        in_block = shape[2] // heads.kv
        head = AxisMap(AxisKind.GROUPED, shape[2], place.head, out_block=block, in_block=in_block)
        return InputAccess(view.op.inputs[index], (same(shape[0], 0), whole(shape[1]), head))
    head = (
        same(shape[1], place.head)
        if block == 1
        else AxisMap(AxisKind.GROUPED, shape[1], place.head, out_block=block)
    )
    return InputAccess(
        view.op.inputs[index], (same(shape[0], 0), head, whole(shape[2]), whole(shape[3]))
    )


def _mask(view: OpView, shape: Shape, place: InputPlace, heads: Heads) -> InputAccess:
    """Broadcast against [N, H, S, T] and aligned at T, which is read whole."""
    rows = view.shape_out()[place.row]
    full = ((0, view.shape()[0]), (place.head, heads.query), (place.row, rows))
    maps = []
    for axis, size in enumerate(shape[:-1], len(full) + 1 - len(shape)):
        out_axis, out_size = full[axis]
        found = broadcast_axis(size, out_size, out_axis)
        if axis == 1 and size > 1 and place.block > 1:
            found = AxisMap(AxisKind.GROUPED, size, out_axis, out_block=place.block)
        maps.append(found)
    return InputAccess(view.op.inputs[MASK], (*maps, whole(shape[-1])))


def _handed_on(view: OpView, index: int, heads: Heads) -> tuple[InputAccess, ...]:
    """Keys (output 1) or values (output 2) by head: past, then present."""
    shape = view.shape(index)
    row = AxisMap(AxisKind.OFFSET, shape[1 if len(shape) == PACKED else 2], 2, offset=-heads.past)
    if len(shape) == PACKED:
        head = AxisMap(AxisKind.GROUPED, shape[2], 1, in_block=shape[2] // heads.kv)
        reads = [InputAccess(view.op.inputs[index], (same(shape[0], 0), row, head))]
    else:
        maps = (same(shape[0], 0), same(shape[1], 1), row, same(shape[3], 3))
        reads = [InputAccess(view.op.inputs[index], maps)]
    past = PAST_KEY if index == KEY else PAST_VALUE
    if view.has_input(past):
        size = view.shape(past)
        before = (
            same(size[0], 0),
            same(size[1], 1),
            AxisMap(AxisKind.OFFSET, size[2], 2),
            same(size[3], 3),
        )
        reads.append(InputAccess(view.op.inputs[past], before))
    return tuple(reads)


def rotary(view: OpView) -> OpSemantics | None:
    """RotaryEmbedding: rotates pairs of a head's elements by the angles of their position.

    Two products and a sum per element. If positions are data, angles of all positions are read;
    else those of the samples and rows.
    """
    shape = view.shape()
    reads: tuple[AxisMap, ...]
    if len(shape) != PACKED:
        row, reads = 2, (same(shape[0], 0), same(shape[1], 1), same(shape[2], 2), whole(shape[3]))
    else:
        count = view.integer("num_heads", 0)
        if count < 1 or shape[2] % count:
            return None
        size = shape[2] // count
        head = AxisMap(AxisKind.GROUPED, shape[2], 2, out_block=size, in_block=size)
        row, reads = 1, (same(shape[0], 0), same(shape[1], 1), head)
    angles = tuple(_angles(view, place, row) for place in (1, 2, 3) if view.has_input(place))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], reads), *angles),),
        output_shapes=view.shapes_out,
        ops_per_element=3,
        is_placed=len(shape) == PACKED,
        uncut_axes=frozenset() if len(shape) == PACKED else frozenset({3}),
    )


def _angles(view: OpView, place: int, row: int) -> InputAccess:
    """Positions [N, S] and angles [N, S, R / 2] follow; a table [P, R / 2] is read whole."""
    shape = view.shape(place)
    is_table = place < MASK and view.has_input(MASK)
    if is_table:
        return InputAccess(view.op.inputs[place], tuple(whole(size) for size in shape))
    out = view.shape_out()
    maps = (broadcast_axis(shape[0], out[0], 0), broadcast_axis(shape[1], out[row], row))
    return InputAccess(view.op.inputs[place], (*maps, *(whole(size) for size in shape[2:])))


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Attention"): attention,
    ("", "RotaryEmbedding"): rotary,
}
