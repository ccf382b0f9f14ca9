"""Every stage, state and schedule of a small graph by its definition, without the library.

Sets of ops are bit sets over the ops' numbers. Schedules are listed from their first stage on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

Edges = list[tuple[int, int]]
Number = int | Fraction


def drawn(seed: int, most: int = 9) -> tuple[Edges, int]:
    """A graph of up to `most` ops, whose numbers are not in topological order."""
    rng = random.Random(seed)
    n = rng.randint(1, most)
    numbers, density = rng.sample(range(n), n), rng.choice((0.1, 0.25, 0.4, 0.7))
    pairs = [(first, second) for second in range(n) for first in range(second)]
    return [(numbers[a], numbers[b]) for a, b in pairs if rng.random() < density], n


def members(ops: int) -> list[int]:
    return [op for op in range(ops.bit_length()) if ops >> op & 1]


class Enumeration:
    """All that a graph allows under a pruning; None is no limit."""

    def __init__(self, edges: Edges, n: int, r: int | None = None, s: int | None = None) -> None:
        self.n = n
        self.before = [0] * n
        self.after = [1 << op for op in range(n)]
        for _ in range(n):
            for producer, consumer in edges:
                self.before[consumer] |= self.before[producer] | 1 << producer
                self.after[producer] |= self.after[consumer]
        self.r, self.s = r or n, s or n
        self.stages = [ops for ops in range(1, 1 << n) if self.is_stage(ops)]
        self.states = [ops for ops in range(1 << n) if self.is_closed(ops)]

    def is_closed(self, ops: int) -> bool:
        return all(not self.before[op] & ~ops for op in members(ops))

    def is_stage(self, ops: int) -> bool:
        """Whether the ops' groups, each with all that follows its first op, share nothing."""
        groups = [self.after[op] & ops for op in members(ops) if not self.before[op] & ops]
        sizes = [group.bit_count() for group in groups]
        return sum(sizes) == ops.bit_count() and len(groups) <= self.s and max(sizes) <= self.r

    def next_stages(self, done: int) -> list[int]:
        return [ops for ops in self.stages if not ops & done and self.is_closed(ops | done)]

    def width(self) -> int:
        """Ops of the largest set in which no op is before another."""
        return max(
            ops.bit_count()
            for ops in range(1 << self.n)
            if not any(self.before[op] & ops for op in members(ops))
        )

    def pairs(self) -> int:
        return sum(len(self.next_stages(done)) for done in self.states)

    def schedules(self, done: int = 0) -> Iterator[tuple[int, ...]]:
        if done == (1 << self.n) - 1:
            yield ()
        for ops in self.next_stages(done):
            yield from ((ops, *later) for later in self.schedules(done | ops))

    def least(self, latencies: list[Number]) -> Number:
        """Least sum over all schedules; all that continue from one state are compared once."""
        costs: dict[int, Number] = {(1 << self.n) - 1: 0}
        for done in sorted(self.states, key=int.bit_count, reverse=True)[1:]:
            costs[done] = min(latencies[ops] + costs[done | ops] for ops in self.next_stages(done))
        return costs[0]

    def order(self) -> list[int]:
        """Topological order: of the ready ops the smallest number first."""
        order: list[int] = []
        while len(order) < self.n:
            done = sum(1 << op for op in order)
            order.append(
                min(
                    op for op in range(self.n) if not done >> op & 1 and not self.before[op] & ~done
                )
            )
        return order


def ops_of(stage: tuple[tuple[int, ...], ...]) -> int:
    """The ops of a stage of the library as a bit set."""
    return sum(1 << op for group in stage for op in group)
