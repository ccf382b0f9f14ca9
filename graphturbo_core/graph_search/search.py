"""A graph and costs of changed segments -> the graphs that a search reaches, with expected cycles.

Source: TASO (Jia et al., SOSP 2019), section 5, and the budget of IOS's comparison with it.

1. The cheapest graph that waits is taken. Ties: fewer steps, then the order of the matches. A seed
   that is not 0 draws that order instead.
2. Every match of every rule is applied to it. The cost of a result is that of the graph, plus the
   change of the match's segment (`segment_costs.py`).
3. A result waits if it is new and costs less than alpha times the cheapest graph taken so far.
   Graphs of the same matches are equal, whatever their order.
4. The search ends when nothing waits that rule 3 accepts, or when the budget of taken graphs is
   spent.
5. The cheapest few taken graphs are simulated as a whole, the unchanged graph first. The fastest
   one is the result, of equal ones the first. So the result is never slower than the unchanged
   graph. Our choice: TASO takes the graph of least cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from random import Random

from graphturbo_core.frontend.passes.substitutions.graph_steps import applied, substitutions
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.graph_search.segment_costs import SegmentCost
from graphturbo_core.ir.graph import Graph, Tensor
from graphturbo_core.strategies.strategy import GraphBudget

MOST_WHOLE = 4
"""Graphs that are simulated as a whole, the unchanged one included (our choice: a simulation takes
seconds, and the costs of segments leave out little)."""
_PERCENT = 100

MatchCost = Callable[[Substitution], SegmentCost]
"""Cost of the changed segment of a match in one graph."""
WholeCost = Callable[[tuple[int, ...]], int | None]
"""Simulated cycles of the graph after these steps; None where it is refused."""


@dataclass(frozen=True, slots=True)
class TakenGraph:
    """A graph that the search took: its steps, expected cycles, and the changes that led to it."""

    steps: tuple[int, ...] = ()
    cycles: int = 0
    changes: tuple[SegmentCost, ...] = ()


@dataclass(frozen=True, slots=True)
class WholeGraph:
    """A graph that was simulated as a whole; None: refused."""

    taken: TakenGraph
    cycles: int | None


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A result of a match that is not applied: the graph before, and all matches, in any order."""

    graph: Graph = field(repr=False)
    match: Substitution
    taken: TakenGraph
    matches: frozenset[int]


@dataclass
class _Queue:
    """Waiting graphs, the cheapest first: rules 1 and 3."""

    seed: int
    _heap: list[tuple[int, int, float, int, _Waiting]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Starts the sequence of random numbers."""
        self._random = Random(self.seed)
        self._numbers = count()

    def add(self, waiting: _Waiting) -> None:
        """Let a graph wait."""
        taken, drawn = waiting.taken, self._random.random() if self.seed else 0.0
        entry = taken.cycles, len(taken.steps), drawn, next(self._numbers), waiting
        heappush(self._heap, entry)

    def take(self) -> _Waiting | None:
        """The cheapest graph; None where nothing waits."""
        return heappop(self._heap)[-1] if self._heap else None


def reached_graphs(
    graph: Graph, cycles: int, budget: GraphBudget, costs: Callable[[Graph], MatchCost]
) -> Iterator[TakenGraph]:
    """Yields the taken graphs in order, the unchanged one first, as soon as each is known.

    `cycles`: of the unchanged graph. Quasi-linear in taken graphs times their matches.
    """
    queue = _Queue(budget.seed)
    numbers: dict[tuple[object, ...], int] = {}
    seen = {frozenset[int]()}
    taken, matches, least = TakenGraph(cycles=cycles), frozenset[int](), cycles
    for number in count(1):
        yield taken
        if number == budget.graphs:
            return
        least, cost_of = min(least, taken.cycles), costs(graph)
        for index, match in enumerate(substitutions(graph)):
            key = match.rule, match.ops, match.kernel, match.pads, match.groups
            after = matches | {numbers.setdefault(key, len(numbers))}
            cost = cost_of(match) if after not in seen else None
            if cost is None or cost.change is None:
                continue
            expected = taken.cycles + cost.change
            if _is_accepted(expected, least, budget):
                seen.add(after)
                found = TakenGraph((*taken.steps, index), expected, (*taken.changes, cost))
                queue.add(_Waiting(graph, match, found, after))
        waiting = queue.take()
        if waiting is None or not _is_accepted(waiting.taken.cycles, least, budget):
            return
        graph = _without_numbers(applied(waiting.graph, waiting.match), waiting.graph)
        taken, matches = waiting.taken, waiting.matches


def _without_numbers(graph: Graph, before: Graph) -> Graph:
    """Drops numbers and parts of the weights that a rule made: no cost depends on them.

    A thousand graphs would have a thousand copies of them.
    """
    made = {
        name: Tensor(name, tensor.shape, tensor.dtype, tensor.kind)
        for name, tensor in graph.tensors.items()
        if name not in before.tensors
    }
    return replace(graph, tensors={**graph.tensors, **made})


def _is_accepted(cycles: int, least: int, budget: GraphBudget) -> bool:
    """Rule 3."""
    return cycles * _PERCENT < least * (_PERCENT + budget.percent)


def whole_graphs(taken: list[TakenGraph], cycles: int, whole: WholeCost) -> Iterator[WholeGraph]:
    """Yields the graphs of rule 5 with simulated cycles, the unchanged one first.

    `cycles`: simulated ones of the unchanged graph, which is the first taken one.
    """
    yield WholeGraph(taken[0], cycles)
    cheapest = sorted(taken[1:], key=lambda each: (each.cycles, len(each.steps)))
    for each in cheapest[: MOST_WHOLE - 1]:
        yield WholeGraph(each, whole(each.steps))
