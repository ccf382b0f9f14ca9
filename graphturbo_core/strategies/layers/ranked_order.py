"""Readers and ranks -> Kahn's order, which layers and kernels share."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence


def ranked_order(readers: Sequence[Collection[int]], ranks: Sequence[int]) -> list[int]:
    """Numbers in topological order; of those that are ready, the one with the lowest rank first.

    Shorter than `readers` where some need each other. `readers`: distinct, per number.
    """
    waiting = [0] * len(readers)
    for reader in (reader for numbers in readers for reader in numbers):
        waiting[reader] += 1
    ready = [(ranks[number], number) for number, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        number = heapq.heappop(ready)[1]
        order.append(number)
        for reader in readers[number]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, (ranks[reader], reader))
    return order
