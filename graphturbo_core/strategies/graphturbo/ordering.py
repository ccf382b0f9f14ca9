"""Instances and their needs -> InstanceOrder: depth first, so that results are read from LB.

Algorithm 3 of GraphTurbo (OSDI 2023). Tests compare it with the published order and with the
breadth-first order of figure 7.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from graphturbo_core.products.plan import ReadyStep

MAX_RECORDED = 256
"""Stack entries recorded per step (our choice: four batches of the paper's 64); all entries would
be quadratic in the instances."""


@dataclass(frozen=True)
class InstanceOrder:
    """Instance numbers in execution order, and the stack after each step, newest last.

    Of a stack of more than `MAX_RECORDED`, the newest are recorded and the number of the others.
    """

    order: tuple[int, ...]
    steps: tuple[ReadyStep, ...]


def order_instances(
    names: Sequence[str], producers: Sequence[Sequence[int]], *, is_breadth_first: bool = False
) -> InstanceOrder:
    """Run the newest entry whose producers are all done; breadth first: the oldest.

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
    """The list `ready`; `runnable` is a heap of its entries whose producers are all done.

    `sign`: -1 to take the newest entry, 1 to take the oldest.
    """

    def __init__(self, waits: list[int], sign: int) -> None:
        self.waits = waits
        self.sign = sign
        self.entries: dict[int, int] = {}
        self.runnable: list[tuple[int, int]] = []
        self._entered = 0

    def enter(self, instance: int) -> None:
        """Push a new instance; it is runnable if it waits for no producer."""
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
        """Remove and return the newest runnable entry, or the oldest."""
        _, instance = heapq.heappop(self.runnable)
        del self.entries[instance]
        return instance
