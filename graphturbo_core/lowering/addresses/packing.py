"""Offsets for buffers with known lifetimes: largest first or in order, as low as possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.ir.boxes import Interval
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.products.arrays import Integer
from graphturbo_core.products.program import IntArray

RETRIES = 8
"""Most repetitions of the packing, with unplaced buffers first (our choice: more gave nothing on
DenseNet-121 and the transformers)."""

REST_PARTS = (8, 32)
"""Rest times of bytes between uses, as fractions of a kernel's expected cycles: the longest with
room for each buffer, then none (our choice: without rest times, scheduling gains 1.037 and 1.393 on
the paper's rows E and I, with them 1.069 and 1.475; adding a half gains less)."""

ASKED_COLUMNS, BLOCK_COLUMNS = 5, 6
"""Columns of the input tables of `_packed`."""

UNPLACED = -1
"""Offset of a buffer without room."""

_NEVER = -(1 << 62)
"""Rest time of bytes that only steps separate."""


@dataclass(frozen=True, slots=True)
class Request:
    """A buffer to place, live from step `first` to `last`.

    `is_own`: the first of two buffers with one key.
    """

    key: str
    size_bytes: int
    first: int
    last: int
    is_own: bool = False

    @property
    def place(self) -> tuple[str, bool]:
        """Key of its place."""
        return self.key, self.is_own


@dataclass(frozen=True, slots=True)
class Taken:
    """Bytes already in use from step `first` to `last`."""

    offset: int
    size_bytes: int
    first: int
    last: int


def pack(
    requests: Sequence[Request],
    taken: Sequence[Taken],
    capacity_bytes: int,
    retries: int | None = None,
) -> tuple[dict[tuple[str, bool], int], str | None]:
    """Returns offsets by place, and the first unplaced buffer (then the offsets are partial).

    Greedy by size (our choice: first fit in order of production leaves holes, and ResNet-50's
    stage 1 no longer fits its 882 of 1,024 KiB). Ties: earlier first, then by key. If a buffer is
    unplaced, the packing is repeated with it first, up to `retries` times (None: `RETRIES`),
    unless no packing can succeed. O(requests^2), in compiled code.
    """
    order = _by_size(requests)
    asked, blocks = _tables(order, taken)
    number = {key: place for place, key in enumerate(dict.fromkeys(r.key for r in order))}
    keys = np.array([number[r.key] for r in order], dtype=np.int64)
    turn = np.arange(len(order))
    first: tuple[dict[tuple[str, bool], int], str | None] | None = None
    for _ in range(1 + (RETRIES if retries is None else retries)):
        found = _packed(asked[turn], blocks, capacity_bytes, (_NEVER,))
        if len(found) == len(order):
            return _by_place(order, turn, found), None
        failed = turn[len(found)]
        first = first or (_by_place(order, turn, found), order[failed].key)
        if _most_live_bytes(asked, blocks, capacity_bytes) > capacity_bytes:
            break
        is_first = keys[turn] == keys[failed]
        turn = np.concatenate((turn[is_first], turn[~is_first]))
    assert first is not None
    return first


def unplaced(
    requests: Sequence[Request], taken: Sequence[Taken], capacity_bytes: int
) -> tuple[str, ...]:
    """Returns the keys of all buffers without room if each other one is placed, largest first.

    O(requests^2), in compiled code.
    """
    order = _by_size(requests)
    found = _each_packed(*_tables(order, taken), capacity_bytes, (_NEVER,))
    missing = (order[row].key for row in np.flatnonzero(found == UNPLACED).tolist())
    return tuple(dict.fromkeys(missing))


def packed_in_order(requests: Sequence[Request], capacity_bytes: int) -> tuple[int | None, ...]:
    """Returns the offset of each request, in this order as low as possible; None: no room.

    O(requests^2), in compiled code.
    """
    asked = _rows(ASKED_COLUMNS, ((aligned(r.size_bytes), r.first, r.last, 0, 0) for r in requests))
    found = _each_packed(asked, _rows(BLOCK_COLUMNS, ()), capacity_bytes, (_NEVER,))
    return tuple(None if offset == UNPLACED else offset for offset in found.tolist())


def _by_place(
    order: Sequence[Request], turn: IntArray, found: IntArray
) -> dict[tuple[str, bool], int]:
    """Offsets of the placed requests, which were packed in this order."""
    placed = (order[row] for row in turn[: len(found)].tolist())
    return {r.place: offset for r, offset in zip(placed, found.tolist(), strict=True)}


def rested(
    requests: Sequence[Request],
    taken: Sequence[Taken],
    capacity_bytes: int,
    packed: Mapping[tuple[str, bool], int],
    expected: Sequence[Interval],
) -> dict[tuple[str, bool], int]:
    """Returns places as `packed`, but with bytes reused as late as room permits.

    Reused bytes serialise two layers that could overlap: the writer waits for the last reader (the
    vendor's manual). So buffers whose steps are `expected` at the same time, in cycles, or nearly
    so, get separate bytes in any order. A buffer that is live after the last step does not move:
    the next kernel must find room beside it.
    """
    steps, span = len(expected), max((end for _, end in expected), default=0)

    def used(first: int, last: int) -> Interval:
        begin = expected[first][0] if first < steps else span
        return begin, expected[last][1] if last < steps else span

    leaving = [request for request in requests if request.last >= steps]
    others = _by_size(request for request in requests if request.last < steps)
    there = [*taken, *(
        Taken(packed[r.place], aligned(r.size_bytes), r.first, r.last) for r in leaving
    )]  # fmt: skip
    blocks = _rows(
        BLOCK_COLUMNS,
        (
            (b.offset, b.offset + b.size_bytes, b.first, b.last, *used(b.first, b.last))
            for b in sorted(there, key=lambda block: block.offset)
        ),
    )
    asked = _rows(
        ASKED_COLUMNS,
        ((aligned(r.size_bytes), r.first, r.last, *used(r.first, r.last)) for r in others),
    )
    rests = (*(span // part for part in REST_PARTS), 0, _NEVER)
    for longest in range(len(rests)):
        found = _packed(asked, blocks, capacity_bytes, rests[longest:])
        if len(found) == len(others):
            return {**packed, **_by_place(others, np.arange(len(others)), found)}
    return dict(packed)


def _by_size(requests: Iterable[Request]) -> list[Request]:
    """The largest first; ties: earlier first, then by key."""
    return sorted(requests, key=lambda r: (-r.size_bytes, r.first, r.place))


def _rows(columns: int, rows: Iterable[tuple[int, ...]]) -> IntArray:
    return np.array(list(rows), dtype=np.int64).reshape(-1, columns)


def _tables(order: Sequence[Request], taken: Sequence[Taken]) -> tuple[IntArray, IntArray]:
    """The input tables of `_packed`, in this order."""
    blocks = _rows(
        BLOCK_COLUMNS,
        (
            (block.offset, block.offset + block.size_bytes, block.first, block.last, 0, 0)
            for block in sorted(taken, key=lambda block: block.offset)
        ),
    )
    asked = _rows(ASKED_COLUMNS, ((aligned(r.size_bytes), r.first, r.last, 0, 0) for r in order))
    return asked, blocks


def _packed(
    asked: IntArray, taken: IntArray, capacity_bytes: int, rests: Sequence[int]
) -> IntArray:
    """Returns offsets as `_each_packed`, up to the first unplaced row, where the packing ends."""
    offsets = _each_packed(asked, taken, capacity_bytes, rests, is_partial=False)
    unplaced = np.flatnonzero(offsets == UNPLACED)
    return offsets[: unplaced[0]] if len(unplaced) else offsets


def _most_live_bytes(asked: IntArray, taken: IntArray, capacity_bytes: int) -> int:
    """The most bytes that a step needs at least: no packing has fewer.

    Of the bytes already in use only the largest block of a step counts, as blocks may overlap, and
    only its bytes within the capacity.
    """
    steps = 2 + max(asked[:, 1:3].max(initial=0), taken[:, 3].max(initial=0))
    live = np.zeros(steps, dtype=np.int64)
    np.add.at(live, asked[:, 1], asked[:, 0])
    np.subtract.at(live, asked[:, 2] + 1, asked[:, 0])
    largest = np.zeros(steps, dtype=np.int64)
    _largest_blocks(np.minimum(taken[:, :2], capacity_bytes), taken, largest)
    return int((np.cumsum(live) + largest).max())


@compiled
def _largest_blocks(ends: IntArray, taken: IntArray, largest: IntArray) -> None:
    """Raise `largest`, bytes by step, to those between the `ends` of every block in use then."""
    for row in range(len(taken)):
        size = ends[row, 1] - ends[row, 0]
        for step in range(taken[row, 2], taken[row, 3] + 1):
            largest[step] = max(largest[step], size)


def _each_packed(
    asked: IntArray,
    taken: IntArray,
    capacity_bytes: int,
    rests: Sequence[int],
    *,
    is_partial: bool = True,
) -> IntArray:
    """Returns offsets of `asked`, each as low as possible; `UNPLACED` without room.

    Unless `is_partial`, packing ends at the first row without room.

    `asked`: size, first and last step, begin and end of its time. `taken`: begin, end, first and
    last step, begin and end of its time, sorted by begin. `rests`: rest times in cycles; each
    buffer uses the first with which it is placed.
    """
    blocks = np.concatenate((taken, np.zeros((len(asked), BLOCK_COLUMNS), dtype=np.int64)))
    times = np.array(rests, dtype=np.int64)
    return _place(asked, blocks, (len(taken), is_partial), capacity_bytes, times)


@compiled
def _place(
    asked: IntArray,
    blocks: IntArray,
    given: tuple[Integer, bool],
    capacity_bytes: int,
    rests: IntArray,
) -> IntArray:
    """Returns offsets of `asked`; `UNPLACED` without room, or after that unless `is_partial`.

    `blocks`: those in use by begin, with space for those of `asked`. `given`: number of blocks in
    use, and `is_partial`. Rows are copied by a loop: a row assignment takes seconds to compile.
    """
    used, is_partial = given
    offsets = np.full(len(asked), UNPLACED, np.int64)
    for row in range(len(asked)):
        size = asked[row, 0]
        offset: Integer = np.int64(0)
        for rest in rests:
            offset = _lowest(asked, row, blocks, used, rest)
            if offset + size <= capacity_bytes:
                break
        if offset + size > capacity_bytes:
            if is_partial:
                continue
            break
        offsets[row] = offset
        at = used
        while at > 0 and blocks[at - 1, 0] > offset:
            for column in range(BLOCK_COLUMNS):
                blocks[at, column] = blocks[at - 1, column]
            at -= 1
        blocks[at, 0], blocks[at, 1] = offset, offset + size
        for column in range(2, BLOCK_COLUMNS):
            blocks[at, column] = asked[row, column - 1]
        used += 1
    return offsets


@compiled_part
def _lowest(
    asked: IntArray, row: Integer, blocks: IntArray, used: Integer, rest: Integer
) -> Integer:
    """Returns the lowest offset at which a row intersects no block.

    Two buffers that share bytes are used in the order of their steps, for any expected cycles. The
    earlier must end, plus the rest time, before the later begins.
    """
    size, first, last = asked[row, 0], asked[row, 1], asked[row, 2]
    begin, end = asked[row, 3], asked[row, 4]
    offset = np.int64(0)
    for place in range(used):
        is_met = True
        if blocks[place, 3] < first:
            is_met = blocks[place, 5] + rest > begin
        elif blocks[place, 2] > last:
            is_met = end + rest > blocks[place, 4]
        if is_met:
            if blocks[place, 0] - offset >= size:
                break
            offset = max(offset, blocks[place, 1])
    return offset
