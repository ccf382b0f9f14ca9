"""OffsetAllocator: byte addresses for buffers with lifetimes; live ones never share a byte."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from heapq import heappop, heappush

ALIGNMENT_BYTES = 32
"""Alignment of addresses and sizes in bytes: one vector of 16 fp16 numbers (our choice)."""


def aligned(size_bytes: int) -> int:
    """`size_bytes` rounded up to the alignment."""
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


@dataclass
class OffsetAllocator:
    """First-fit allocator; requests come in order of their first step.

    A buffer is placed whole or not at all. O(gaps) per request.
    """

    capacity_bytes: int
    base_bytes: int = 0
    peak_bytes: int = 0
    _gaps: list[tuple[int, int]] = field(default_factory=list)
    _ends: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Mark all bytes above the base as free."""
        self._gaps.append((self.base_bytes, self.capacity_bytes))

    def expire(self, step: int) -> None:
        """Free every buffer whose last step is before `step`."""
        while self._ends and self._ends[0][0] < step:
            _, offset, size = heappop(self._ends)
            self._free(offset, offset + size)

    def _free(self, start: int, end: int) -> None:
        """Add a gap, joined with adjacent gaps."""
        place = bisect_left(self._gaps, (start, end))
        if place < len(self._gaps) and self._gaps[place][0] == end:
            end = self._gaps.pop(place)[1]
        if place and self._gaps[place - 1][1] == start:
            start = self._gaps.pop(place - 1)[0]
            place -= 1
        self._gaps.insert(place, (start, end))

    def place(self, size_bytes: int, first: int, last: int) -> int | None:
        """The lowest offset free from step `first` to `last`; None if nothing fits."""
        self.expire(first)
        size = aligned(size_bytes)
        if not size:
            return self.base_bytes if self.base_bytes <= self.capacity_bytes else None
        offset = next((start for start, end in self._gaps if end - start >= size), None)
        if offset is not None:
            self.pin(offset, size_bytes, last)
        return offset

    def pin(self, offset: int, size_bytes: int, last: int) -> None:
        """Reserve a given offset until step `last`; the caller guarantees that it is free."""
        end = offset + aligned(size_bytes)
        place = bisect_right(self._gaps, offset, key=lambda gap: gap[0]) - 1
        start, stop = self._gaps.pop(place)
        parts = ((start, offset), (end, stop))
        self._gaps[place:place] = [(lo, hi) for lo, hi in parts if lo < hi]
        heappush(self._ends, (last, offset, end - offset))
        self.peak_bytes = max(self.peak_bytes, end)
