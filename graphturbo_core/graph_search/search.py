"""A graph and costs of graphs -> the steps of substitutions to the fastest graph that was found.

Source: TASO (Jia et al., SOSP 2019), section 5: the cheapest graph is taken, every substitution is
applied at every match, and a result is kept if it costs less than alpha times the best one and is
new. Here a cost is a simulation of the whole model, so a search has tens of graphs and not
thousands. Therefore successors are simulated one by one (our choice):

1. A successor waits until its expected cycles are the fewest of all that wait. They are those of
   the graph before, less the gain that an equal substitution (rule and shapes) had where it was
   last simulated; 0 if it was not. Ties: one that was not, then fewer steps, then the earlier one.
2. A graph that was simulated before, reached by other steps, is not simulated again.
3. The successors of a simulated graph wait if it costs less than alpha times the best graph before
   it.
4. The search ends when nothing waits or the budget is spent.

The unchanged graph is the first one, so the result is never slower. Nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from graphturbo_core.frontend.passes.substitutions.graph_steps import applied, substitutions
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.ir.graph import Graph
from graphturbo_core.strategies.strategy import GraphBudget

GraphCost = Callable[[tuple[int, ...], Graph], int | None]
"""Cycles of a graph, which these steps made; None where it is refused."""
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class GraphTrial:
    """One simulated substitution: all steps with it, and cycles before and after; None: refused."""

    steps: tuple[int, ...]
    match: Substitution
    cycles_before: int
    cycles: int | None


@dataclass(frozen=True, slots=True)
class SearchedGraph:
    """The steps to the fastest graph, its cycles, and all trials in their order."""

    steps: tuple[int, ...]
    cycles: int
    trials: tuple[GraphTrial, ...]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A successor: the graph before, its steps and cycles, and the match with its index."""

    graph: Graph = field(repr=False)
    steps: tuple[int, ...]
    cycles: int
    index: int
    match: Substitution


def search_graphs(
    graph: Graph, budget: GraphBudget, cost: GraphCost, tell: Callable[[int, int], None]
) -> SearchedGraph | None:
    """Returns the fastest graph of all that are simulated; None where the unchanged one is refused.

    `tell` gets the number of simulated graphs, and the most that there may be.
    """
    cycles = cost((), graph)
    tell(1, budget.graphs)
    if cycles is None:
        return None
    best: tuple[int, int, tuple[int, ...]] = cycles, 0, ()
    trials: list[GraphTrial] = []
    gains: dict[str, int] = {}
    waiting, seen = _successors(graph, (), cycles), {_signature(graph)}
    while waiting and len(trials) + 1 < budget.graphs:
        place = min(range(len(waiting)), key=lambda i: _expected(waiting[i], gains))
        chosen = waiting.pop(place)
        after, steps = applied(chosen.graph, chosen.match), (*chosen.steps, chosen.index)
        signature = _signature(after)
        if signature in seen:
            continue
        seen.add(signature)
        found = cost(steps, after)
        trials.append(GraphTrial(steps, chosen.match, chosen.cycles, found))
        tell(len(trials) + 1, budget.graphs)
        if found is None:
            continue
        gains[chosen.match.look] = chosen.cycles - found
        if found * _PERCENT < best[0] * (_PERCENT + budget.percent):
            waiting += _successors(after, steps, found)
        best = min(best, (found, len(steps), steps))
    return SearchedGraph(best[2], best[0], tuple(trials))


def _successors(graph: Graph, steps: tuple[int, ...], cycles: int) -> list[_Waiting]:
    matches = enumerate(substitutions(graph))
    return [_Waiting(graph, steps, cycles, index, match) for index, match in matches]


def _expected(waiting: _Waiting, gains: dict[str, int]) -> tuple[int, bool, int]:
    """Rule 1."""
    look = waiting.match.look
    return waiting.cycles - gains.get(look, 0), look in gains, len(waiting.steps)


def _signature(graph: Graph) -> frozenset[tuple[object, ...]]:
    """Equal for equal graphs: ops that substitutions made; all others are the same in each."""
    return frozenset(
        (op.name, op.op_type, op.inputs, op.outputs, tuple(sorted(op.attributes.items())))
        for op in graph.ops
        if op.origin
    )
