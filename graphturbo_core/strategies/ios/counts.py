"""Endings -> IosSpace: how large the search space of IOS is for one block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.strategies.ios.endings import Pruning, endings_of


@dataclass(frozen=True, slots=True)
class IosSpace:
    """Sizes of a block's search space: exact numbers."""

    width: int
    """Ops of the largest antichain: so many ops can run concurrently."""
    bound: Fraction
    """Upper bound of the pairs by the number of ops and the width: see `bound_of`."""
    states: int
    """Sets of ops that have all their predecessors. The empty set is not counted."""
    pairs: int
    """Pairs of a state and one of its endings: steps of the dynamic program."""
    schedules: int
    """Sequences of stages that run all ops. The graph without ops has one, the empty one."""


def search_space(
    edges: Iterable[tuple[int, int]],
    n: int,
    r: int | None = None,
    s: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> IosSpace:
    """Sizes of the search space of ops 0 to n - 1 with at most r ops per group, s groups per stage.

    `width`, `bound` and `states` are the same under every pruning. Time grows with the pairs.

    The last ops of a state are an antichain. The largest antichain is found so: it and its
    predecessors form a state.

    Raises:
        OptionError: BAD_OP_COUNT, BAD_EDGE, OP_CYCLE or BAD_PRUNING.
        CapacityError: TOO_MANY_OPS, BLOCK_TOO_LARGE, TOO_MANY_STATES or TOO_MANY_PAIRS.
    """
    endings = endings_of(edges, n, Pruning(r, s), limits)
    width = states = pairs = 0
    ways = defaultdict(int, {endings.full: 1})
    for state, state_endings in endings.states():
        states += 1
        pairs += len(state_endings)
        width = max(width, len(endings.last_ops(state)))
        for ending in state_endings:
            ways[state & ~ending] += ways[state]
    return IosSpace(width, bound_of(n, width), states, pairs, ways[0])


def bound_of(n: int, width: int) -> Fraction:
    """C(n/d + 2, 2)^d with n ops and width d: IOS, Ding et al., MLSys 2021.

    d chains hold all ops. In a chain of c ops, a state and what an ending leaves of it are two
    prefixes: C(c + 2, 2) choices. Chains of equal length n/d have the most; n/d is not rounded.
    Without ops the bound is 1.
    """
    if width == 0:
        return Fraction(1)
    chain = Fraction(n, width)
    return ((chain + 2) * (chain + 1) / 2) ** width
