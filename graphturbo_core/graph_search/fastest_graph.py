"""A budget, costs of graphs -> steps to the fastest graph that the search reaches, and why.

The unchanged graph is simulated as a whole; its plan has the kernels that segments consist of.
Segments are simulated on a round of the largest size, whole graphs on all rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from graphturbo_core.frontend.passes.substitutions.graph_steps import substitutions
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.graph_search.round_costs import PlannedRounds, RoundCosts
from graphturbo_core.graph_search.search import (
    MOST_WHOLE,
    MatchCost,
    WholeGraph,
    reached_graphs,
    whole_graphs,
)
from graphturbo_core.graph_search.segment_costs import SegmentCost, SegmentCosts
from graphturbo_core.ir.graph import Graph
from graphturbo_core.option_fields import BETWEEN_STEPS
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.strategies.strategy import FoundSteps, GraphBudget

SEARCH = "search for a graph"
"""The step's name, and that of its decisions."""
REFUSED = "refused"
RULE_FASTEST = "of the graphs that are simulated as a whole, the fastest one is taken"
_MATCHES, _TAKEN, _WHOLE = range(3)
"""Phases: the unchanged graph's matches, taken graphs, graphs that are simulated as a whole."""
_PHASES, _PARTS = 3, 100
"""Each phase is as many parts of the progress (our choice: they take as long as each other)."""


@dataclass(frozen=True)
class GraphSearch:
    """A search within a budget. `tell` gets the progress: parts done, and all parts."""

    costs: RoundCosts
    budget: GraphBudget
    tell: Callable[[int, int], None]

    def __call__(self) -> FoundSteps:
        """Steps of the fastest graph; none where the unchanged one is refused."""
        unchanged = self._planned(())
        if unchanged is None:
            return FoundSteps("")
        graph, size = self.costs.largest, max(unchanged.plans)
        kernels = _kernels(unchanged.plans[size])
        changes = SegmentCosts(graph, kernels, self.costs.segment_cycles)
        taken = []
        of_graph = self._counted(changes.of)
        for each in reached_graphs(graph, unchanged.by_size[size], self.budget, of_graph):
            taken.append(each)
            if len(taken) > 1:
                self._done(_TAKEN, len(taken), self.budget.graphs)
        whole = []
        for found in whole_graphs(taken, unchanged.cycles, self._cycles):
            whole.append(found)
            self._done(_WHOLE, len(whole), MOST_WHOLE)
        best = min(whole, key=lambda found: (found.cycles is None, found.cycles or 0))
        decisions = *_change_decisions(changes.simulated, best), *self._decisions(whole, best)
        return FoundSteps(text_of(best.taken.steps), decisions)

    def _planned(self, steps: tuple[int, ...]) -> PlannedRounds | None:
        return self.costs.planned(text_of(steps), lambda cost: cost)

    def _cycles(self, steps: tuple[int, ...]) -> int | None:
        found = self._planned(steps)
        return None if found is None else found.cycles

    def _counted(self, of_graph: Callable[[Graph], MatchCost]) -> Callable[[Graph], MatchCost]:
        """These costs; the first graph's matches count for the progress."""

        def counted(graph: Graph) -> MatchCost:
            cost_of = of_graph(graph)
            if graph is not self.costs.largest:
                return cost_of
            numbers, most = count(1), len(substitutions(graph))

            def cost(match: Substitution) -> SegmentCost:
                found = cost_of(match)
                self._done(_MATCHES, next(numbers), most)
                return found

            return cost

        return counted

    def _done(self, phase: int, done: int, most: int) -> None:
        self.tell(max(1, _PARTS * phase + _PARTS * done // most), _PARTS * _PHASES)

    def _decisions(self, whole: Sequence[WholeGraph], best: WholeGraph) -> Iterator[Decision]:
        """Each graph that was simulated as a whole."""
        unchanged = whole[0].taken
        for each in whole:
            numbers: dict[str, int | float | str] = {
                "steps": len(each.taken.steps),
                "expected_gain": unchanged.cycles - each.taken.cycles,
                "cycles": REFUSED if each.cycles is None else each.cycles,
            }
            subject = (text_of(each.taken.steps) or self.budget.unchanged,)
            yield Decision(SEARCH, RULE_FASTEST, subject, each is best, numbers)


def text_of(steps: tuple[int, ...]) -> str:
    """Steps as the pass reads them."""
    return BETWEEN_STEPS.join(map(str, steps))


def _kernels(plan: Plan) -> dict[str, frozenset[str]]:
    """By op, all ops of its kernel."""
    return {op: frozenset(kernel.ops) for kernel in plan.kernels for op in kernel.ops}


def _change_decisions(simulated: Sequence[SegmentCost], best: WholeGraph) -> Iterator[Decision]:
    """Each simulated change with the cycles of its segment; taken where the graph has it."""
    for each in simulated:
        numbers: dict[str, int | float | str] = {
            **each.match.numbers,
            "cycles_before": REFUSED if each.before is None else each.before,
            "cycles": REFUSED if each.after is None else each.after,
        }
        is_taken = each in best.taken.changes
        yield Decision(SEARCH, each.match.rule, each.match.subject, is_taken, numbers)
