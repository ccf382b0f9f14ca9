"""A run and steps of a graph -> cycles and plans of its rounds on that graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.frontend.passes.clean_up import decomposed
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Plan
from graphturbo_core.rounds import Imports, Rounds, divide, round_cycles
from graphturbo_core.run_request import RunRequest
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.strategies.options import chosen_strategy
from graphturbo_core.strategies.planning import PlanTask, plan_for, target_of
from graphturbo_core.strategies.registry import StrategySpec
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost, Target
from graphturbo_core.strategies.strategy import GraphBudget, GraphChoice, GraphRun, Strategy
from graphturbo_core.trial_cache import TrialCache


@dataclass(frozen=True)
class PlannedRounds:
    """Simulated rounds of one graph: cycles of the run; cycles and plan of a round by its size."""

    cycles: int
    by_size: Mapping[int, int]
    plans: dict[int, Plan]


@dataclass
class RoundCosts:
    """Costs of graphs in this run: cycles of the slowest cluster's rounds, each size planned."""

    imports: Imports
    request: RunRequest
    chosen: tuple[Graph, Hardware, StrategySpec]
    search: GraphBudget | GraphChoice

    @cached_property
    def graphs(self) -> Mapping[int, Graph]:
        """The unchanged graph by round size."""
        return {size: sem.graph for size, sem in self._rounds.semantics.items()}

    @cached_property
    def _rounds(self) -> Rounds:
        """Of the unchanged graph; no graph changes the division."""
        return divide(self.imports, self.request, self.chosen)

    @property
    def largest(self) -> Graph:
        """The unchanged graph of a round of the largest size."""
        return self.graphs[max(self.graphs)]

    def strategy(self, steps: str) -> Strategy:
        """The strategy on the graph after these steps."""
        return chosen_strategy(self.chosen[2], self._options(steps))

    def _options(self, steps: str) -> Mapping[str, str]:
        return {**self.request.options, self.search.option: steps or self.search.unchanged}

    def segment_cycles(self, part: GraphSemantics) -> int | None:
        """Cycles of some kernels as a model of their own; None where they are refused."""
        cost = TrialCache(self.imports.limits, self.request.max_instructions, has_trace=False).cost
        try:
            found = cost(plan_for(self.chosen[2], self._task(part, "", cost)))
        except (CapacityError, PlanError):
            return None
        return None if found is None else found.cycles

    def planned(self, steps: str, count: Callable[[Cost], Cost]) -> PlannedRounds | None:
        """Rounds of the graph after these steps; None where one is refused.

        `count`: a cost function that counts the plans of another one.
        """
        plans: dict[int, Plan] = {}
        cycles: dict[int, int] = {}
        for size, before in self.graphs.items():
            cost = count(self.cache.cost)
            try:
                plans[size] = plan_for(self.chosen[2], self.task(before, steps, cost))
                found = cost(plans[size])
            except (CapacityError, PlanError):
                found = None
            if found is None:
                return None
            cycles[size] = found.cycles
        return PlannedRounds(round_cycles(self._rounds.division, cycles), cycles, plans)

    def task(self, before: Graph, steps: str, cost: Cost) -> PlanTask:
        """Inputs of planning the graph after these steps, with a cost function."""
        return self._task(self._semantics(before, steps), steps, cost)

    def _task(self, sem: GraphSemantics, steps: str, cost: Cost) -> PlanTask:
        hardware, request = self.chosen[1], self.request
        return PlanTask(
            sem, hardware, request.dtype, self._options(steps),
            clusters=self._rounds.division.clusters_a_round, cost=cost,
        )  # fmt: skip

    def _semantics(self, before: Graph, steps: str) -> GraphSemantics:
        whole = self.imports.semantics(before)
        graph = decomposed(before, self.strategy(steps).import_passes)
        return whole if graph is before else analyse(graph, whole)

    @property
    def cache(self) -> TrialCache:
        """A new one per plan: it keeps no graph, but shares the templates of kernels."""
        most = self.request.max_instructions
        kernels = self.imports.kernels
        return TrialCache(self.imports.limits, most, has_trace=False, kernels=kernels)


@dataclass
class RoundTrials:
    """Graphs of this run for a strategy that chooses among them: `GraphTrials`.

    `plans`: by steps and round size, of the fastest graph so far.
    """

    costs: RoundCosts
    tell: Callable[[int, int], None]
    plans: dict[str, dict[int, Plan]] = field(default_factory=dict)
    _least: int | None = None
    _done: int = 0
    _most: int = 1

    @property
    def graph(self) -> Graph:
        """The unchanged graph of a round of the largest size."""
        return self.costs.largest

    def expect(self, targets: int, candidates: int) -> None:
        """Per candidate and round size: the plans of the strategy, and the chosen one again."""
        plans = self.costs.strategy("").evaluations + 1
        self._most = targets + candidates * len(self.costs.graphs) * plans

    def target(self, steps: str) -> Target:
        """A round of the largest size."""
        task = self.costs.task(self.graph, steps, self._counted(self.costs.cache.cost))
        return target_of(self.costs.strategy(steps), task)

    def run(self, steps: str) -> GraphRun | None:
        """A run on that graph; None where a round is refused."""
        simulated: list[tuple[Plan, PlanCost]] = []

        def observed(cost: Cost) -> Cost:
            counted = self._counted(cost)

            def found_cost(plan: Plan) -> PlanCost | None:
                found = counted(plan)
                if found is not None:
                    simulated.append((plan, found))
                return found

            return found_cost

        found = self.costs.planned(steps, observed)
        if found is None:
            return None
        if self._least is None or found.cycles < self._least:
            self._least, self.plans = found.cycles, {steps: found.plans}
        return GraphRun(found.cycles, tuple(simulated))

    def _counted(self, cost: Cost) -> Cost:
        def counted(plan: Plan) -> PlanCost | None:
            try:
                return cost(plan)
            finally:
                self._done += 1
                self.tell(self._done, self._most)

        return counted
