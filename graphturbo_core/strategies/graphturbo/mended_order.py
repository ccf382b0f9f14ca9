"""Topological order that is repaired after a contraction, not recomputed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise


class MendedOrder:
    """Ranks of parts: every part ranks below its readers.

    A contraction visits only the parts between the contracted ones in the order.
    """

    def __init__(self, order: Iterable[int]) -> None:
        """Parts in a topological order."""
        parts = tuple(order)
        self._rank = {part: place for place, part in enumerate(parts)}
        self._next = dict(zip(parts, (*parts[1:], -1), strict=True))
        self._before = dict(zip(parts, (-1, *parts[:-1]), strict=True))

    def __getitem__(self, part: int) -> int:
        """The rank of a part."""
        return self._rank[part]

    def contract(
        self, parts: Sequence[int], merged: int, readers: Mapping[int, Collection[int]]
    ) -> None:
        """Replace the parts by `merged`; their predecessors rank before it, the others after.

        `readers`: of each part before the contraction.
        """
        inside = set(parts)
        window = self._window(inside)
        leading = set(inside)
        for part in reversed(window):
            if not leading.isdisjoint(readers[part]):
                leading.add(part)
        order = [part for part in window if part in leading and part not in inside]
        order += [merged, *(part for part in window if part not in leading)]
        ranks = [self._rank.pop(part) for part in window]
        self._rank.update(zip(order, ranks, strict=False))
        self._relink(window, order)

    def _window(self, inside: set[int]) -> list[int]:
        """All parts from the first to the last of these."""
        part = min(inside, key=lambda part: self._rank[part])
        window, missing = [], len(inside)
        while missing:
            window.append(part)
            missing -= part in inside
            part = self._next[part]
        return window

    def _relink(self, window: Sequence[int], order: Sequence[int]) -> None:
        before, after = self._before[window[0]], self._next[window[-1]]
        chain = (before, *order, after)
        for left, right in pairwise(chain):
            if left >= 0:
                self._next[left] = right
            if right >= 0:
                self._before[right] = left
