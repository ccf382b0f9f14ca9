"""A request -> the same request with the steps to the fastest graph, and why it is that one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from graphturbo_core.graph_search.round_costs import RoundCosts, RoundTrials
from graphturbo_core.graph_search.search import GraphTrial, SearchedGraph, search_graphs
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.option_fields import BETWEEN_STEPS
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.recorder import Recorder
from graphturbo_core.rounds import Imports
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.registry import StrategySpec
from graphturbo_core.strategies.strategy import FoundSteps, GraphBudget, GraphChoice

SEARCH = "search for a graph"
"""The step's name, and that of its decisions."""
REFUSED = "refused"


@dataclass(frozen=True)
class ChosenGraph:
    """The request with the found graph, the decisions that led to it, and plans by round size.

    `plans`: where the search made those of the run; they have the decisions too.
    """

    request: RunRequest
    decisions: tuple[Decision, ...] = ()
    plans: Mapping[int, PinnedPlan] = field(default_factory=dict)


def choose_graph(
    imports: Imports,
    request: RunRequest,
    chosen: tuple[Graph, Hardware, StrategySpec, GraphBudget | GraphChoice],
    recorder: Recorder,
) -> ChosenGraph:
    """The request with the option of the budget set; the unchanged graph where it is refused.

    `chosen`: the graph is unchanged. Steps are searched on rounds of the largest size.
    """
    search, tell = chosen[3], recorder.progress(SEARCH)
    costs = RoundCosts(imports, request, chosen[:3], search)
    plans: dict[int, Plan] = {}
    if isinstance(search, GraphBudget):
        steps = recorder.run(SEARCH, _search, costs, search, tell)
    else:
        trials = RoundTrials(costs, tell)
        steps = recorder.run(SEARCH, search.choose, trials)
        plans = trials.plans.get(steps.steps, {})
    options = {**request.options, search.option: steps.steps or search.unchanged}
    pinned = {size: _pinned(plan, steps.decisions) for size, plan in plans.items()}
    return ChosenGraph(replace(request, options=options), steps.decisions, pinned)


def _pinned(plan: Plan, decisions: tuple[Decision, ...]) -> PinnedPlan:
    return PinnedPlan(recorded(replace(plan, decisions=(*decisions, *plan.decisions))))


def _search(costs: RoundCosts, budget: GraphBudget, tell: Callable[[int, int], None]) -> FoundSteps:
    def cycles(steps: tuple[int, ...], graph: Graph) -> int | None:
        del graph
        return costs.cycles(text_of(steps))

    found = search_graphs(costs.largest, budget, cycles, tell)
    return FoundSteps(text_of(found.steps) if found else "", _decisions(found))


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
