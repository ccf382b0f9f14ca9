"""OpDag -> stages without a search: the schedules that IOS is compared with."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from graphturbo_core.strategies.ios.dag import op_dag
from graphturbo_core.strategies.ios.endings import Stage

GREEDY_GROUPS = 10
"""Most ops that `greedy` puts into a stage."""


def sequential(edges: Iterable[tuple[int, int]], n: int) -> tuple[Stage, ...]:
    """One op per stage, in topological order. It lies inside every pruning."""
    return tuple(((op,),) for op in op_dag(edges, n).order)


def greedy(
    edges: Iterable[tuple[int, int]], n: int, most_groups: int = GREEDY_GROUPS
) -> tuple[Stage, ...]:
    """All ready ops per stage, at most `most_groups`, each a group of its own.

    Of more ready ops, those earliest in topological order run first; the others stay ready. The
    schedule lies inside every pruning that allows as many groups as its largest stage has.
    """
    dag = op_dag(edges, n)
    waiting = [0] * n
    for readers in dag.readers:
        for reader in readers:
            waiting[reader] += 1
    ready, stages = list(dag.sources), []
    while ready:
        places = [heapq.heappop(ready) for _ in range(min(len(ready), most_groups))]
        stages.append(tuple((dag.order[place],) for place in places))
        for reader in (reader for place in places for reader in dag.readers[place]):
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, reader)
    return tuple(stages)
