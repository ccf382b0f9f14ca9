"""Target -> Proposals of `graphturbo:plus`, as starts and points of a search."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.strategies.graphturbo.levels import PLUS
from graphturbo_core.strategies.graphturbo.strategy import GraphTurbo
from graphturbo_core.strategies.plus.cuts import cuts_of
from graphturbo_core.strategies.plus.plus import (
    FEWER_STAYING,
    LENT,
    STAYING,
    Plus,
    Proposal,
)
from graphturbo_core.strategies.steps.kernels import Cost, Target
from graphturbo_core.strategies.tuned import beyond
from graphturbo_core.strategies.tuned.space import START, Point
from graphturbo_core.strategies.tuned.starts import Start, plain_splitter


def proposals(target: Target, cost: Cost) -> tuple[Proposal, ...]:
    """Proposals of `graphturbo:plus` with default options, `:full` first."""
    full = GraphTurbo(plain_splitter(target), level=PLUS)
    return Plus(full).proposals(target, cost)


def proposed_starts(proposed: Sequence[Proposal]) -> tuple[Start, ...]:
    """The groupings among the proposals: no GB retention, one cluster, no remote DRAM."""
    return tuple(
        Start(each.name, cuts_of(each.plan))
        for each in proposed
        if proposed_point(each.name) == {START: each.name}
    )


def proposed_point(name: str) -> Point:
    """The point of a proposal, by its name; other variables are `as is`."""
    if name in beyond.SPLITS:
        return {beyond.COOPERATION: name, beyond.LENDING: beyond.LENT}
    point: dict[str, str] = {}
    start = name.removesuffix(LENT)
    if start != name:
        point[beyond.LENDING] = beyond.LENT
    for ending, rule in ((FEWER_STAYING, beyond.PAID), (STAYING, beyond.CHOSEN)):
        if start.endswith(ending):
            start = start.removesuffix(ending)
            point[beyond.STAYS] = rule
    return {START: start, **point}


def cheapest(proposed: Sequence[Proposal]) -> Proposal:
    """The plan of `graphturbo:plus`: the first cheapest; `:full` if all are refused."""
    return min(proposed, key=lambda p: (p.spent is None, p.spent.cycles if p.spent else 0))
