"""Offsets for a kernel's buffers whose lifetimes are known: largest first, as low as it fits."""

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
"""How often buffers are packed anew with those first that found no place (our choice: measured on
DenseNet-121 and the transformers, more found nothing more)."""

REST_PARTS = (8, 32)
"""For which parts of a kernel's expected cycles bytes rest between their uses: of each buffer the
longest that it finds room with, then none (our choice: without any rest, what scheduling gains on
the paper's rows E and I is 1.037 and 1.393, not 1.061 and 1.473; a half before them gains less)."""

ASKED_COLUMNS, BLOCK_COLUMNS = 5, 6
"""Columns of the tables that `_packed` takes."""

_NEVER = -(1 << 62)
"""The rest of bytes that only steps keep apart."""


@dataclass(frozen=True, slots=True)
class Request:
    """A buffer that wants a place from step `first` to `last`.

    `is_own`: of one key's two buffers the one that is there first.
    """

    key: str
    size_bytes: int
    first: int
    last: int
    is_own: bool = False

    @property
    def place(self) -> tuple[str, bool]:
        """What tells its place from others'."""
        return self.key, self.is_own


@dataclass(frozen=True, slots=True)
class Taken:
    """Bytes that are given away already from step `first` to `last`."""

    offset: int
    size_bytes: int
    first: int
    last: int


def pack(
    requests: Sequence[Request],
    taken: Sequence[Taken],
    capacity_bytes: int,
    retries: int = RETRIES,
) -> tuple[dict[tuple[str, bool], int], str | None]:
    """Offsets by place, and the first buffer that finds none (then the offsets are partial).

    Greedy by size (our choice: in order of production, first fit leaves holes that cost ResNet-50's
    stage 1 its 882 of 1,024 KiB). Ties: earlier first, then by key. Where one finds no place, all
    of that is done again with it before the others, a few times: what is hard to place goes first.
    Cost: requests squared, in compiled code.
    """
    order = _by_size(requests)
    blocks = _rows(
        BLOCK_COLUMNS,
        (
            (block.offset, block.offset + block.size_bytes, block.first, block.last, 0, 0)
            for block in sorted(taken, key=lambda block: block.offset)
        ),
    )
    asked = _rows(ASKED_COLUMNS, ((aligned(r.size_bytes), r.first, r.last, 0, 0) for r in order))
    number = {key: place for place, key in enumerate(dict.fromkeys(r.key for r in order))}
    keys = np.array([number[r.key] for r in order], dtype=np.int64)
    turn = np.arange(len(order))
    first: tuple[dict[tuple[str, bool], int], str | None] | None = None
    for _ in range(1 + retries):
        found = _packed(asked[turn], blocks, capacity_bytes, (_NEVER,))
        if len(found) == len(order):
            return _by_place(order, turn, found), None
        failed = turn[len(found)]
        first = first or (_by_place(order, turn, found), order[failed].key)
        is_first = keys[turn] == keys[failed]
        turn = np.concatenate((turn[is_first], turn[~is_first]))
    assert first is not None
    return first


def _by_place(
    order: Sequence[Request], turn: IntArray, found: IntArray
) -> dict[tuple[str, bool], int]:
    """The offsets of those that found a place, which came in this turn."""
    placed = (order[row] for row in turn[: len(found)].tolist())
    return {r.place: offset for r, offset in zip(placed, found.tolist(), strict=True)}


def rested(
    requests: Sequence[Request],
    taken: Sequence[Taken],
    capacity_bytes: int,
    packed: Mapping[tuple[str, bool], int],
    expected: Sequence[Interval],
) -> dict[tuple[str, bool], int]:
    """The places of `packed`, but bytes are used again as late as there is room for.

    Bytes that are used again while a layer could still run beside another tie the two together:
    what writes them waits for what read them (the vendor's manual says so). So buffers are kept
    apart whose steps are `expected` at the same time, in cycles, or nearly so, whatever their
    order. What is still there after the last step stays where it is: the kernel that finds it there
    must find room beside it.
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


def _packed(
    asked: IntArray, taken: IntArray, capacity_bytes: int, rests: Sequence[int]
) -> IntArray:
    """Offsets of what is asked, each as low as it fits, up to the first that does not.

    `asked`: size, first and last step, begin and end of its time. `taken`: begin, end, first and
    last step, begin and end of its time, by begin. `rests`: for how many cycles bytes rest between
    their uses; of each buffer the first with which it finds a place.
    """
    blocks = np.concatenate((taken, np.zeros((len(asked), BLOCK_COLUMNS), dtype=np.int64)))
    return _place(asked, blocks, len(taken), capacity_bytes, np.array(rests, dtype=np.int64))


@compiled
def _place(
    asked: IntArray, blocks: IntArray, used: Integer, capacity_bytes: int, rests: IntArray
) -> IntArray:
    """The offsets of what is asked, up to the first that finds no place.

    `blocks`: what is `used` by begin, and room for what is asked. By a loop: to assign a row takes
    seconds to compile.
    """
    offsets = np.zeros(len(asked), np.int64)
    for row in range(len(asked)):
        size = asked[row, 0]
        offset: Integer = np.int64(0)
        for rest in rests:
            offset = _lowest(asked, row, blocks, used, rest)
            if offset + size <= capacity_bytes:
                break
        if offset + size > capacity_bytes:
            return offsets[:row]
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
    """The lowest offset at which a row meets no block.

    Two that share bytes are used in the order of their steps, whatever cycles are expected: the
    earlier is to be done with them, and they are to rest, before the later begins.
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
