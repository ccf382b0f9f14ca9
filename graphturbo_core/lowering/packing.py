"""Offsets for a kernel's buffers whose lifetimes are known: largest first, as low as it fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graphturbo_core.compiled import compiled
from graphturbo_core.lowering.allocator import aligned
from graphturbo_core.lowering.arrays import Integer
from graphturbo_core.lowering.program import IntArray

RETRIES = 8
"""How often buffers are packed anew with those first that found no place (our choice: measured on
DenseNet-121 and the transformers, more found nothing more)."""

REST_STEPS = (8, 4, 2, 1)
"""For how many steps bytes rest after their last use, the first that has room (our choice)."""


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
    order = sorted(requests, key=lambda r: (-r.size_bytes, r.first, r.place))
    blocks = _rows(
        (block.offset, block.offset + block.size_bytes, block.first, block.last)
        for block in sorted(taken, key=lambda block: block.offset)
    )
    asked = _rows((aligned(r.size_bytes), r.first, r.last, 0) for r in order)
    number = {key: place for place, key in enumerate(dict.fromkeys(r.key for r in order))}
    keys = np.array([number[r.key] for r in order], dtype=np.int64)
    turn = np.arange(len(order))
    first: tuple[dict[tuple[str, bool], int], str | None] | None = None
    for _ in range(1 + retries):
        found = _packed(asked[turn], blocks, capacity_bytes)
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
    steps: int,
) -> dict[tuple[str, bool], int]:
    """The places of `packed`, but bytes are used again as late as there is room for.

    Bytes that are used again at once tie two layers together: what writes them waits for what read
    them (the vendor's manual says so). What is still there at step `steps`, the end, stays where it
    is: the kernel that finds it there must find room beside it.
    """
    leaving = [request for request in requests if request.last >= steps]
    others = [request for request in requests if request.last < steps]
    blocks = [*taken, *(
        Taken(packed[r.place], aligned(r.size_bytes), r.first, r.last) for r in leaving
    )]  # fmt: skip
    for rest in (steps, *(rest for rest in REST_STEPS if rest < steps)):
        longer = [replace(r, last=min(r.last + rest, steps)) for r in others]
        found, failed = pack(longer, blocks, capacity_bytes, retries=0)
        if failed is None:
            return {**packed, **found}
    return dict(packed)


def _rows(rows: Iterable[tuple[int, int, int, int]]) -> IntArray:
    return np.array(list(rows), dtype=np.int64).reshape(-1, 4)


def _packed(asked: IntArray, taken: IntArray, capacity_bytes: int) -> IntArray:
    """Offsets of what is asked, each as low as it fits, up to the first that does not.

    `asked`: size, first and last step a row. `taken`: begin, end, first and last step, by begin.
    """
    blocks = np.concatenate((taken, np.zeros_like(asked)))
    offsets = np.zeros(len(asked), dtype=np.int64)
    return offsets[: _place(asked, blocks, len(taken), capacity_bytes, offsets)]


@compiled
def _place(
    asked: IntArray, blocks: IntArray, used: Integer, capacity_bytes: int, offsets: IntArray
) -> int:
    """The offsets of what is asked; how many find a place before the first that does not.

    `blocks`: what is `used` by begin, and room for what is asked. By a loop: to assign a row takes
    seconds to compile.
    """
    for row in range(len(asked)):
        size, first, last = asked[row, 0], asked[row, 1], asked[row, 2]
        offset = np.int64(0)
        for place in range(used):
            if blocks[place, 2] <= last and blocks[place, 3] >= first:
                if blocks[place, 0] - offset >= size:
                    break
                offset = max(offset, blocks[place, 1])
        if offset + size > capacity_bytes:
            return row
        offsets[row] = offset
        at = used
        while at > 0 and blocks[at - 1, 0] > offset:
            for column in range(4):
                blocks[at, column] = blocks[at - 1, column]
            at -= 1
        blocks[at, 0], blocks[at, 1] = offset, offset + size
        blocks[at, 2], blocks[at, 3] = first, last
        used += 1
    return len(asked)
