"""A strategy's name, a model and a chip -> Plan, by a plan file if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.memory_budget import memory_budget
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.semantics.cost import placed_on
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.constraints import NO_CONSTRAINTS, PlanConstraints
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.options import chosen_strategy, tile_rules
from graphturbo_core.strategies.plan_files.edits import find_constraints
from graphturbo_core.strategies.plan_files.pinned import (
    NO_PINNED_PLAN,
    PinnedPlan,
    check_followed,
    check_no_edits,
    check_no_groups,
)
from graphturbo_core.strategies.plan_files.restore import restored_plan
from graphturbo_core.strategies.registry import StrategySpec, parse_strategy
from graphturbo_core.strategies.steps.kernels import Cost, Target
from graphturbo_core.strategies.steps.splitting import Splitter
from graphturbo_core.strategies.strategy import Strategy


@dataclass(frozen=True)
class PlanTask:
    """Inputs of planning: one cluster's round.

    `held`: constraints read from a plan file. `clusters`: clusters that may share the round, this
    one included. `cost`: simulated cycles of a plan, None where it is refused; a search needs it.
    `decisions`: those of earlier choices, first in the plan.
    """

    semantics: GraphSemantics = field(repr=False)
    hardware: Hardware
    number_format: str
    options: Mapping[str, str]
    held: PinnedPlan = NO_PINNED_PLAN
    clusters: int = 1
    cost: Cost | None = field(default=None, repr=False)
    decisions: tuple[Decision, ...] = ()


def plan_for(spec: StrategySpec, task: PlanTask) -> Plan:
    """Returns the plan of one strategy, by a plan file if there is one.

    Raises:
        OptionError: an unknown strategy or option, or a value that it does not have.
        PlanError: the plan file cannot be followed.
    """
    held = task.held
    strategy = chosen_strategy(parse_strategy(spec.text), task.options)
    target = target_of(strategy, task)
    constraints = target.constraints
    if held.record is not None and not held.is_edited:
        return restored_plan(target, strategy.frame, held.record)
    plan = strategy.plan(target)
    check_followed(plan, constraints)
    return replace(
        plan,
        decisions=(*task.decisions, *plan.decisions, *constraints.decisions()),
        fixed=constraints.fixed,
        fixed_pieces=frozenset(constraints.piece_scopes),
    )


def target_of(strategy: Strategy, task: PlanTask) -> Target:
    """Returns what a strategy plans for.

    Raises:
        PlanError: as `plan_for`.
    """
    hardware, rules = task.hardware, tile_rules(task.options)
    constraints = _constraints(task, strategy)
    return Target(
        placed_on(task.semantics, hardware, task.number_format, rules),
        hardware,
        task.number_format,
        strategy.binder(hardware.cores, constraints.bindings),
        rules,
        constraints,
        strategy.feeding,
        1 if task.held.is_edited else task.clusters,
        task.cost,
        strategy.gb_use,
    )


def _constraints(task: PlanTask, strategy: Strategy) -> PlanConstraints:
    """Constraints that the edits of a plan file mean for this strategy.

    Raises:
        PlanError: an edit names something that does not exist, or that the strategy does not do.
    """
    held, semantics = task.held, task.semantics
    if not held.is_edited:
        return NO_CONSTRAINTS
    if not strategy.follows_edits:
        check_no_edits(strategy.label)
    constraints = find_constraints(held.edits, semantics, task.hardware, relay_layers(semantics))
    if not strategy.is_ordered:
        check_no_groups(constraints, strategy.label)
    return constraints


def splitter_of(strategy: str, hardware: Hardware, options: Mapping[str, str]) -> Splitter | None:
    """Algorithm 1 with this strategy's options; None if the strategy does not split."""
    budget = memory_budget(hardware, tile_rules(options))
    return chosen_strategy(parse_strategy(strategy), options).splitter(budget)
