"""Offset allocator: buffers with lifetimes get byte addresses; live ones never share a byte."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable
from dataclasses import dataclass, field
from heapq import heappop, heappush

ALIGNMENT_BYTES = 32
"""Addresses and sizes are rounded up to this: one vector of 16 fp16 numbers (our choice)."""


def aligned(size_bytes: int) -> int:
    """`size_bytes` rounded up to the alignment."""
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


@dataclass
class OffsetAllocator:
    """First fit among what is live; requests come in order of their first step.

    A buffer is placed whole or not at all. Cost: the number of live buffers for each request.
    """

    capacity_bytes: int
    base_bytes: int = 0
    peak_bytes: int = 0
    _live: list[tuple[int, int, Hashable]] = field(default_factory=list)
    _ends: list[tuple[int, int, int, Hashable]] = field(default_factory=list)

    def expire(self, step: int) -> None:
        """Free every buffer whose last step is before `step`."""
        while self._ends and self._ends[0][0] < step:
            _, offset, size, key = heappop(self._ends)
            del self._live[bisect_left(self._live, (offset, size), key=lambda row: row[:2])]
            assert key is not None

    def place(self, key: Hashable, size_bytes: int, first: int, last: int) -> int | None:
        """The lowest offset free from step `first` to `last`; None where nothing fits."""
        self.expire(first)
        size = aligned(size_bytes)
        offset = self.base_bytes
        for start, taken, _ in self._live:
            if start - offset >= size:
                break
            offset = max(offset, start + taken)
        if offset + size > self.capacity_bytes:
            return None
        self.pin(key, offset, size_bytes, last)
        return offset

    def pin(self, key: Hashable, offset: int, size_bytes: int, last: int) -> None:
        """Take a given offset until step `last`; the caller knows that it is free."""
        size = aligned(size_bytes)
        insort(self._live, (offset, size, key), key=lambda row: row[:2])
        heappush(self._ends, (last, offset, size, key))
        self.peak_bytes = max(self.peak_bytes, offset + size)
