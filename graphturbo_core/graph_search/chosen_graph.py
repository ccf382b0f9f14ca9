"""A request -> the same request with the steps to the fastest graph, and why it is that one."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.frontend.passes.clean_up import SUBSTITUTE, decomposed
from graphturbo_core.graph_search.search import GraphTrial, SearchedGraph, search_graphs
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.option_fields import BETWEEN_STEPS
from graphturbo_core.products.plan import Decision
from graphturbo_core.recorder import Recorder
from graphturbo_core.rounds import Imports, Rounds, divide, round_cycles
from graphturbo_core.run_request import RunRequest
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import StrategySpec
from graphturbo_core.strategies.strategy import GraphBudget
from graphturbo_core.trial_cache import TrialCache

SEARCH = "search for a graph"
"""The step's name, and that of its decisions."""
REFUSED = "refused"


@dataclass(frozen=True)
class ChosenGraph:
    """The request with the found graph, and a decision per simulated substitution."""

    request: RunRequest
    decisions: tuple[Decision, ...] = ()


def choose_graph(
    imports: Imports,
    request: RunRequest,
    chosen: tuple[Graph, Hardware, StrategySpec, GraphBudget],
    recorder: Recorder,
) -> ChosenGraph:
    """The request with the option of the budget set; the unchanged graph where it is refused.

    `chosen`: the graph is unchanged. Steps are searched on rounds of the largest size.
    """
    budget = chosen[3]
    tell = recorder.progress(SEARCH)
    found = recorder.run(SEARCH, _search, _RoundCosts(imports, request, chosen[:3]), budget, tell)
    steps = found.steps if found is not None else ()
    options = {**request.options, budget.option: text_of(steps) or budget.unchanged}
    return ChosenGraph(replace(request, options=options), _decisions(found))


def _search(
    costs: _RoundCosts, budget: GraphBudget, tell: Callable[[int, int], None]
) -> SearchedGraph | None:
    graphs = costs.graphs
    return search_graphs(graphs[max(graphs)], budget, costs.cycles, tell)


def text_of(steps: tuple[int, ...]) -> str:
    """Steps as the pass reads them."""
    return BETWEEN_STEPS.join(map(str, steps))


def _decisions(found: SearchedGraph | None) -> tuple[Decision, ...]:
    return tuple(_decision(trial, found.steps) for trial in found.trials) if found else ()


def _decision(trial: GraphTrial, steps: tuple[int, ...]) -> Decision:
    is_taken = steps[: len(trial.steps)] == trial.steps
    cycles = REFUSED if trial.cycles is None else trial.cycles
    numbers = {
        **trial.match.numbers,
        "step": text_of(trial.steps),
        "cycles_before": trial.cycles_before,
        "cycles": cycles,
    }
    return Decision(SEARCH, trial.match.rule, trial.match.subject, is_taken, numbers)


@dataclass
class _RoundCosts:
    """Costs of graphs in this run: cycles of the slowest cluster's rounds, each size planned."""

    imports: Imports
    request: RunRequest
    chosen: tuple[Graph, Hardware, StrategySpec]

    @cached_property
    def graphs(self) -> Mapping[int, Graph]:
        """The unchanged graph by round size."""
        return {size: sem.graph for size, sem in self._rounds.semantics.items()}

    @cached_property
    def _rounds(self) -> Rounds:
        """Of the unchanged graph; no graph changes the division."""
        return divide(self.imports, self.request, self.chosen)

    def cycles(self, steps: tuple[int, ...], graph: Graph) -> int | None:
        """Cycles of the graph after these steps; None where a round is refused."""
        del graph
        found: dict[int, int] = {}
        for size, before in self.graphs.items():
            cycles = self._round(before, text_of(steps))
            gc.collect()
            if cycles is None:
                return None
            found[size] = cycles
        return round_cycles(self._rounds.division, found)

    def _round(self, before: Graph, steps: str) -> int | None:
        whole = self.imports.semantics(before)
        graph = decomposed(before, (f"{SUBSTITUTE}:{steps}",))
        semantics = whole if graph is before else analyse(graph, whole)
        try:
            cost = self._cache.cost(plan_for(self.chosen[2], self._task(semantics)))
        except (CapacityError, PlanError):
            return None
        return None if cost is None else cost.cycles

    def _task(self, semantics: GraphSemantics) -> PlanTask:
        hardware, request = self.chosen[1], self.request
        clusters = self._rounds.division.clusters_a_round
        return PlanTask(semantics, hardware, request.dtype, request.options, clusters=clusters)

    @property
    def _cache(self) -> TrialCache:
        """A new one per plan: it keeps no graph, but shares the templates of kernels."""
        most = self.request.max_instructions
        kernels = self.imports.kernels
        return TrialCache(self.imports.limits, most, has_trace=False, kernels=kernels)
