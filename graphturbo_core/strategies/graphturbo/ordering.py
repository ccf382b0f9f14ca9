"""Instances and their needs -> InstanceOrder: depth first, so that results are used while near.

Algorithm 3 of GraphTurbo (OSDI 2023); its published order is a test, and so is the breadth-first
one that the paper sets beside it (figure 7).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from graphturbo_core.products.plan import ReadyStep

MAX_RECORDED = 256
"""Entries of a stack that are recorded for each step (our choice: four batches of the paper's 64);
all of them would be the square of the instances."""


@dataclass(frozen=True)
class InstanceOrder:
    """Instance numbers in the order they run, and the stack after each step, newest last.

    Of a stack of more than `MAX_RECORDED` the newest are recorded, and how many lie below them.
    """

    order: tuple[int, ...]
    steps: tuple[ReadyStep, ...]


def order_instances(
    names: Sequence[str], producers: Sequence[Sequence[int]], *, is_breadth_first: bool = False
) -> InstanceOrder:
    """Always run the newest ready entry whose producers are all done; breadth first the oldest.

    Instances are numbered in topological order of groups, then by piece; those that enter the
    stack together enter in that order, so that the highest piece runs first (reference, 3.3).
    An instance enters once, when its first producer is done. O((n + needs) log n).
    """
    consumers: list[list[int]] = [[] for _ in names]
    for instance, needed in enumerate(producers):
        for producer in needed:
            consumers[producer].append(instance)
    waits = [len(needed) for needed in producers]
    stack = _Stack(waits, 1 if is_breadth_first else -1)
    for instance, count in enumerate(waits):
        if count == 0:
            stack.enter(instance)
    order: list[int] = []
    steps: list[ReadyStep] = []
    while stack.runnable:
        instance = stack.take()
        order.append(instance)
        for consumer in consumers[instance]:
            waits[consumer] -= 1
            stack.enter(consumer)
        steps.append(ReadyStep(names[instance], stack.recorded(names)))
    return InstanceOrder(tuple(order), tuple(steps))


def ready_steps_of(
    names: Sequence[str],
    producers: Sequence[Sequence[int]],
    order: Sequence[int],
    *,
    is_breadth_first: bool = False,
) -> tuple[ReadyStep, ...]:
    """The algorithm's steps where it gives this order; none for any other order."""
    found = order_instances(names, producers, is_breadth_first=is_breadth_first)
    return found.steps if found.order == tuple(order) else ()


class _Stack:
    """The list `ready`; `runnable` is a heap of its entries with nothing to wait for.

    `sign`: -1 where the newest entry is taken, 1 where the oldest is.
    """

    def __init__(self, waits: list[int], sign: int) -> None:
        self.waits = waits
        self.sign = sign
        self.entries: dict[int, int] = {}
        self.runnable: list[tuple[int, int]] = []
        self._entered = 0

    def enter(self, instance: int) -> None:
        """Push an instance that is not there yet; note it where it waits for nothing now."""
        if instance not in self.entries:
            self.entries[instance] = self._entered
            self._entered += 1
        if self.waits[instance] == 0:
            heapq.heappush(self.runnable, (self.sign * self.entries[instance], instance))

    def recorded(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of the entries, newest last."""
        newest = [names[entry] for entry in islice(reversed(self.entries), MAX_RECORDED)]
        below = len(self.entries) - len(newest)
        return (*([f"{below} more"] if below else []), *reversed(newest))

    def take(self) -> int:
        """Remove and give the newest runnable entry, or the oldest."""
        _, instance = heapq.heappop(self.runnable)
        del self.entries[instance]
        return instance
