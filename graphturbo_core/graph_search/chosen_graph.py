"""A request -> the same request with the steps to the fastest graph, and why it is that one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from graphturbo_core.graph_search.fastest_graph import SEARCH, GraphSearch
from graphturbo_core.graph_search.round_costs import RoundCosts, RoundTrials
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.recorder import Recorder
from graphturbo_core.rounds import Imports
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.registry import StrategySpec
from graphturbo_core.strategies.strategy import GraphBudget, GraphChoice


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
        steps = recorder.run(SEARCH, GraphSearch(costs, search, tell))
    else:
        trials = RoundTrials(costs, tell)
        steps = recorder.run(SEARCH, search.choose, trials)
        plans = trials.plans.get(steps.steps, {})
    options = {**request.options, search.option: steps.steps or search.unchanged}
    pinned = {size: with_decisions(plan, steps.decisions) for size, plan in plans.items()}
    return ChosenGraph(replace(request, options=options), steps.decisions, pinned)


def with_decisions(plan: Plan, decisions: tuple[Decision, ...]) -> PinnedPlan:
    """The plan for a run that does not search again, with the decisions that led to it first."""
    return PinnedPlan(recorded(replace(plan, decisions=(*decisions, *plan.decisions))))
