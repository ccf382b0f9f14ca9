"""Endings and the latency of each stage -> IosSchedule: the stages of least total latency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from graphturbo_core.strategies.ios.endings import Endings, Pruning, Stage, endings_of


@dataclass(frozen=True, slots=True)
class IosSchedule:
    """Stages in order of execution, and the sum of their latencies."""

    total: int | Fraction
    stages: tuple[Stage, ...]


def best_schedule(
    edges: Iterable[tuple[int, int]],
    n: int,
    latency: Callable[[Stage], int | Fraction],
    r: int | None = None,
    s: int | None = None,
) -> IosSchedule:
    """The schedule of least total latency of ops 0 to n - 1.

    `latency` is called once per different stage. A group has at most r ops, a stage at most s
    groups.

    1. The cost of a state is that of all stages after it. The full state costs 0.
    2. cost[S without E] is the least of cost[S] + latency(E), over all states S and endings E.
    3. Of equal costs, the one of fewest stages is taken.
    4. Then the first stage decides, then the second, and so on. Of two stages the one is taken
       that lacks the last op, in topological order, in which they differ. Our choice.

    Source: IOS, Ding et al., MLSys 2021. The paper's recursion adds up the stages before a state,
    not those after it; the least sum is the same. This direction needs one pass over the states.

    Raises:
        OptionError: BAD_OP_COUNT, BAD_EDGE, OP_CYCLE or BAD_PRUNING.
        CapacityError: TOO_MANY_OPS, BLOCK_TOO_LARGE, TOO_MANY_STATES or TOO_MANY_PAIRS.
    """
    endings = endings_of(edges, n, Pruning(r, s))
    return cheapest_stages(endings, endings.states(), latency)


def cheapest_stages(
    endings: Endings,
    states: Iterable[tuple[int, Sequence[int]]],
    latency: Callable[[Stage], int | Fraction],
) -> IosSchedule:
    """`best_schedule` of listed states, which a caller may keep for other latencies."""
    latencies: dict[int, int | Fraction] = {}
    costs: dict[int, tuple[int | Fraction, int, int]] = {endings.full: (0, 0, 0)}
    for state, state_endings in states:
        cost, stages, _ = costs[state]
        for ending in state_endings:
            if ending not in latencies:
                latencies[ending] = latency(endings.stage(ending))
            rest = state & ~ending
            after = (cost + latencies[ending], stages + 1, ending)
            if rest not in costs or after < costs[rest]:
                costs[rest] = after
    run, schedule = 0, []
    while run != endings.full:
        ending = costs[run][2]
        schedule.append(endings.stage(ending))
        run |= ending
    return IosSchedule(costs[0][0], tuple(schedule))
