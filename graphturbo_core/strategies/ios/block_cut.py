"""OpDag -> blocks: the graph cut where a single tensor passes. IOS schedules block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from graphturbo_core.strategies.ios.dag import OpDag, op_dag
from graphturbo_core.strategies.ios.endings import Stage


def blocks(edges: Iterable[tuple[int, int]], n: int) -> tuple[tuple[int, ...], ...]:
    """Ops of each block in topological order; blocks in order of execution. Linear time.

    1. A block ends with an op that every path goes through: only its result passes to later ops.
    2. Ops that would be blocks of one op and follow each other form one block, a chain.

    Rule 2 is how the authors' models cut a network: the stem of Inception-v3 is one block. A stage
    can hold several ops of a chain, so the best schedule is never worse by this rule.
    """
    dag = op_dag(edges, n)
    parts = [dag.order[first:last] for first, last in pairwise(dict.fromkeys((0, *_cuts(dag), n)))]
    runs = groupby(parts, key=lambda part: len(part) == 1)
    joined: list[tuple[int, ...]] = []
    for is_chain, run in runs:
        joined += [tuple(op for (op,) in run)] if is_chain else run
    return tuple(joined)


def block_edges(edges: Iterable[tuple[int, int]], block: Sequence[int]) -> list[tuple[int, int]]:
    """Edges within a block, whose ops are numbered from 0 in the block's order."""
    place = {op: at for at, op in enumerate(block)}
    return [(place[a], place[b]) for a, b in edges if a in place and b in place]


def named_in(stage: Stage, block: Sequence[int]) -> Stage:
    """A stage of a block, with the graph's layers."""
    return tuple(tuple(block[at] for at in group) for group in stage)


def fastest_by_block(
    parts: Sequence[Sequence[int]], schedules: Iterable[Mapping[Stage, int]]
) -> tuple[Stage, ...]:
    """Each block's stages from the schedule that runs the block in the fewest cycles.

    Schedules are their stages in order, with cycles; no stage is in two blocks. Ties: the first.
    """
    block_of = {op: place for place, block in enumerate(parts) for op in block}
    fastest: dict[int, tuple[int, list[Stage]]] = {}
    for schedule in schedules:
        by_block: dict[int, list[Stage]] = {}
        for stage in schedule:
            by_block.setdefault(block_of[stage[0][0]], []).append(stage)
        for place, stages in by_block.items():
            cycles = sum(schedule[stage] for stage in stages)
            if place not in fastest or cycles < fastest[place][0]:
                fastest[place] = cycles, stages
    return tuple(stage for place in sorted(fastest) for stage in fastest[place][1])


def _cuts(dag: OpDag) -> Iterator[int]:
    """Places just behind the ops that every path goes through.

    Paths avoid an op only where an edge leads from an earlier place to a later one. A result of the
    graph counts as read behind the last op, an op without predecessors as read before the first.
    """
    farthest = max(dag.sources, default=0)
    for place, readers in enumerate(dag.readers):
        if farthest <= place:
            yield place + 1
        farthest = max(farthest, readers[-1] if readers else len(dag.order))
