"""OpDag -> Endings: the states of a block, and the stages that can run last in each.

Sets of ops are integers: bit `place` stands for the op at that place of the topological order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from graphturbo_core.errors import CapacityError, OptionError
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.strategies.ios.dag import op_dag

Stage = tuple[tuple[int, ...], ...]
"""Groups in the topological order of their first ops; ops of a group in topological order."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """P(r, s) of IOS: limits of a stage. None means no limit."""

    most_ops: int | None = None
    """Ops of a group: r. IOS's default is 3."""
    most_groups: int | None = None
    """Groups of a stage: s. IOS's default is 8."""


@dataclass(frozen=True, slots=True)
class Endings:
    """States and endings of one graph under a pruning.

    1. A group is an op of the state with all its successors in the state.
    2. An ending is a union of at least one group; its groups are pairwise disjoint.
    3. A group has at most r ops; an ending has at most s groups.

    An op without successors in its state is a group of its own, which no pruning excludes. So
    every set of ops that has all its predecessors is a state: a pruning changes no state.
    """

    order: tuple[int, ...]
    downstream: tuple[int, ...]
    """Per place, the op and all its successors, direct and indirect."""
    upstream: tuple[int, ...]
    """Per place, the op and all its predecessors, direct and indirect."""
    pruning: Pruning
    limits: Limits

    @property
    def full(self) -> int:
        """The state of all ops."""
        return (1 << len(self.order)) - 1

    def of(self, state: int) -> list[int]:
        """Endings of a state, each once: two families of disjoint groups differ in their union.

        Each ending leaves a different set of ops. So a state has at most as many endings as the
        block has states, and more of them are refused before all are listed.

        Raises:
            CapacityError: TOO_MANY_STATES above `max_states` of the limits.
        """
        groups = self._groups(state)
        every_first = sum(groups)
        level, endings = [(0, every_first)], list[int]()
        most_groups = self.pruning.most_groups or len(self.order)
        while level and most_groups > 0:
            longer: list[tuple[int, int]] = []
            for union, free in level:
                longer += _with_one_more(union, free, groups)
                self._check_states(len(endings) + len(longer))
            endings += [union for union, _ in longer]
            level, most_groups = longer, most_groups - 1
        return endings

    def last_ops(self, state: int) -> list[int]:
        """Places of the ops of a state that have no successors in it."""
        return [place for place in _places(state) if self.downstream[place] & state == 1 << place]

    def _groups(self, state: int) -> dict[int, tuple[int, int]]:
        """Groups by the bit of their first op, each with the first ops of groups that it meets.

        Two groups that meet have a last op of the state in common.
        """
        most_ops = self.pruning.most_ops or len(self.order)
        last_ops = self.last_ops(state)
        groups = {}
        for place in _places(state):
            group = self.downstream[place] & state
            if group.bit_count() <= most_ops:
                meeting = (self.upstream[last] for last in last_ops if group >> last & 1)
                groups[1 << place] = (group, reduce(or_, meeting))
        return groups

    def stage(self, ending: int) -> Stage:
        """Groups of an ending as ops. They are the same in every state that has this ending."""
        groups = []
        while ending:
            first = (ending & -ending).bit_length() - 1
            group = self.downstream[first] & ending
            groups.append(tuple(self.order[place] for place in _places(group)))
            ending ^= group
        return tuple(groups)

    def states(self) -> Iterator[tuple[int, list[int]]]:
        """Each state but the empty one with its endings: most ops first, then smallest bit set.

        Raises:
            CapacityError: TOO_MANY_STATES or TOO_MANY_PAIRS above the limits.
        """
        by_size: list[list[int]] = [[] for _ in range(len(self.order) + 1)]
        by_size[-1].append(self.full)
        known, pairs = {self.full}, 0
        while len(by_size) > 1:
            for state in sorted(by_size.pop()):
                endings = self.of(state)
                pairs += len(endings)
                self._check_pairs(pairs)
                for rest in {state & ~ending for ending in endings} - known - {0}:
                    known.add(rest)
                    by_size[rest.bit_count()].append(rest)
                self._check_states(len(known))
                yield state, endings

    def _check_states(self, count: int) -> None:
        if count > self.limits.max_states:
            raise CapacityError(
                "TOO_MANY_STATES",
                f"the block has more than {self.limits.max_states} states",
                f"{len(self.order)} ops",
                "schedule parts of the block one by one (a pruning changes no state)",
            )

    def _check_pairs(self, count: int) -> None:
        if count > self.limits.max_state_endings:
            raise CapacityError(
                "TOO_MANY_PAIRS",
                f"the states have more than {self.limits.max_state_endings} endings",
                f"{len(self.order)} ops",
                "allow fewer ops per group (r) or fewer groups per stage (s)",
            )


def endings_of(
    edges: Iterable[tuple[int, int]], n: int, pruning: Pruning, limits: Limits = DEFAULT_LIMITS
) -> Endings:
    """Endings of the graph of ops 0 to n - 1.

    Raises:
        OptionError: BAD_PRUNING for a limit below 1; or as `op_dag`.
        CapacityError: BLOCK_TOO_LARGE above `max_block_ops` of `limits`.
    """
    for name, most in (("r", pruning.most_ops), ("s", pruning.most_groups)):
        if most is not None and most < 1:
            what = f"{name} is {most}, so no stage is allowed"
            raise OptionError("BAD_PRUNING", what, change="give 1 or more, or None for no limit")
    dag = op_dag(edges, n)
    if n > limits.max_block_ops:
        what = f"the block has {n} ops, more than {limits.max_block_ops}"
        raise CapacityError("BLOCK_TOO_LARGE", what, change="schedule parts of it one by one")
    downstream = _closure(dag.readers)
    upstream = [0] * n
    for place, ops in enumerate(downstream):
        for reader in _places(ops):
            upstream[reader] |= 1 << place
    return Endings(dag.order, downstream, tuple(upstream), pruning, limits)


def _closure(readers: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Per place, the op with all its successors; readers lie at later places."""
    sets = [0] * len(readers)
    for place in reversed(range(len(readers))):
        sets[place] = reduce(or_, (sets[reader] for reader in readers[place]), 1 << place)
    return tuple(sets)


def _with_one_more(
    union: int, free: int, groups: Mapping[int, tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """A union joined with each group that begins in `free`, and what is then free behind it."""
    while free:
        first = free & -free
        free ^= first
        group, meeting = groups[first]
        yield union | group, free & ~meeting


def _places(ops: int) -> Iterator[int]:
    """Places of a set, in ascending order."""
    while ops:
        lowest = ops & -ops
        yield lowest.bit_length() - 1
        ops ^= lowest
