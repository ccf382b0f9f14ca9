"""Edges between numbered ops -> OpDag: a topological order and the direct successors."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphturbo_core.errors import CapacityError, OptionError
from graphturbo_core.limits import DEFAULT_LIMITS

_SHOWN_IN_CYCLE = 8
"""Ops of a cycle that a refusal shows; the others are counted."""


@dataclass(frozen=True, slots=True)
class OpDag:
    """A directed acyclic graph. The place of an op is its position in `order`."""

    order: tuple[int, ...]
    """Ops in topological order. Of the ready ops the smallest number comes first."""
    readers: tuple[tuple[int, ...], ...]
    """Per place, the places of the op's direct successors, in ascending order."""

    @property
    def sources(self) -> tuple[int, ...]:
        """Places of the ops without predecessors, in ascending order."""
        read = {reader for readers in self.readers for reader in readers}
        return tuple(place for place in range(len(self.order)) if place not in read)


def op_dag(edges: Iterable[tuple[int, int]], n: int) -> OpDag:
    """The graph of ops 0 to n - 1. Neither order nor repetition of `edges` changes it.

    Raises:
        OptionError: BAD_OP_COUNT for n < 0; BAD_EDGE for an op out of range; OP_CYCLE.
        CapacityError: TOO_MANY_OPS above `max_ops` of `Limits`.
    """
    if n < 0:
        raise OptionError("BAD_OP_COUNT", f"the number of ops is {n}", change="give 0 or more")
    if n > DEFAULT_LIMITS.max_ops:
        what = f"the graph has {n} ops, more than {DEFAULT_LIMITS.max_ops}"
        raise CapacityError("TOO_MANY_OPS", what, change="give a smaller graph")
    readers = _direct_readers(edges, n)
    order = _topological(readers)
    if len(order) < n:
        raise _cycle(readers, set(order))
    place_of = {op: place for place, op in enumerate(order)}
    placed = (tuple(sorted(place_of[reader] for reader in readers[op])) for op in order)
    return OpDag(order, tuple(placed))


def _direct_readers(edges: Iterable[tuple[int, int]], n: int) -> list[set[int]]:
    readers: list[set[int]] = [set() for _ in range(n)]
    for producer, consumer in edges:
        for op in (producer, consumer):
            if not 0 <= op < n:
                what = f"op {op} does not exist in a graph of {n} ops"
                where = f"edge ({producer}, {consumer})"
                raise OptionError("BAD_EDGE", what, where, "number the ops from 0 to n - 1")
        readers[producer].add(consumer)
    return readers


def _topological(readers: Sequence[set[int]]) -> tuple[int, ...]:
    """Kahn's algorithm with a heap; ops of cycles and behind them are missing."""
    waiting = [0] * len(readers)
    for consumers in readers:
        for consumer in consumers:
            waiting[consumer] += 1
    ready = [op for op, count in enumerate(waiting) if count == 0]
    order = []
    while ready:
        op = heapq.heappop(ready)
        order.append(op)
        for consumer in readers[op]:
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                heapq.heappush(ready, consumer)
    return tuple(order)


def _cycle(readers: Sequence[set[int]], ordered: set[int]) -> OptionError:
    """The refusal of a cycle. Every op without a place reads another one without a place."""
    producer_of: dict[int, int] = {}
    for op in sorted(set(range(len(readers))) - ordered, reverse=True):
        producer_of.update(dict.fromkeys(readers[op], op))
    op, seen = min(producer_of), dict[int, int]()
    while op not in seen:
        seen[op] = len(seen)
        op = producer_of[op]
    members = list(seen)[seen[op] :][::-1]
    first = members.index(min(members))
    cycle = (*members[first:], *members[:first])
    shown = [str(member) for member in cycle[:_SHOWN_IN_CYCLE]]
    more = [f"{len(cycle) - len(shown)} more"] if len(cycle) > len(shown) else []
    return OptionError(
        "OP_CYCLE",
        f"the graph has a cycle of {len(cycle)} ops",
        " -> ".join([*shown, *more, str(cycle[0])]),
        "remove the edge that leads back",
        cycle=cycle,
    )
