"""Plans of `graphturbo:plus` and `graphturbo:full` with the cycles they take."""

from __future__ import annotations

from functools import cache

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost, Target
from tests.strategies.chains import HEAVY_WEIGHTS
from tests.strategies.samples import hardware, plan_of, weighted


@cache
def made(text: str) -> tuple[Target, LayerGraph, Plan]:
    sem, chip = weighted(text), hardware()
    target = Target(sem, chip, "fp16", Binder(chip.cores, plain_by_kind))
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    return target, graph, plan_of(sem, "graphturbo:full", chip)


def spent(plan: Plan) -> PlanCost:
    trace = simulate(lower(plan))
    return PlanCost(trace.makespan, trace.kernel_cycles)


def plus(
    sem: GraphSemantics,
    chip: Hardware,
    count: Cost | None = spent,
    clusters: int = 4,
    **options: str,
) -> Plan:
    given = {name.replace("_", "."): value for name, value in options.items()}
    task = PlanTask(sem, chip, "fp16", given, clusters=clusters, cost=count)
    plan = plan_for(parse_strategy("graphturbo:plus"), task)
    plan.check()
    return plan


@cache
def heavy() -> GraphSemantics:
    return weighted(HEAVY_WEIGHTS)
