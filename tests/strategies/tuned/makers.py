"""Makers of points of the search, and costs of plans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.semantics.cost import placed_on
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.kernels.kernel_loads import kernel_loads
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.plus.cuts import GroupCut
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import PlanCost, Target
from graphturbo_core.strategies.tuned.beyond import Beyond
from graphturbo_core.strategies.tuned.making import Maker
from graphturbo_core.strategies.tuned.space import SearchSpace
from graphturbo_core.strategies.tuned.starts import Start
from graphturbo_core.verify.replay.replay import replay as replay_numbers
from graphturbo_core.verify.replay.script import Script
from graphturbo_core.verify.single_op import OpRunner, load_runtime
from tests.lowering.nets import chip
from tests.lowering.replay import replay

TUNED = parse_strategy("tuned")


def made_up(plan: Plan) -> PlanCost:
    """100, less 10 each for two groups, for these in 4 and 1 pieces, and for w2 streamed."""
    pieces = [group.pieces for group in plan.groups]
    is_streamed = plan.kernels[-1].residency["w2"] is Residency.STREAM
    saved = 10 * (len(pieces) == 2) + 10 * (pieces == [4, 1]) + 10 * is_streamed
    return PlanCost(100 - saved, ())


def made(
    sem: GraphSemantics, profile: str, *cuts: GroupCut, clusters: int = 1, **changes: int
) -> Maker:
    """The makers of points whose one start has these groups."""
    own = replace(chip(profile), **changes)
    target = Target(
        placed_on(sem, own, "fp16"), own, "fp16", Binder(own.cores, plain_by_kind),
        clusters=clusters,
    )  # fmt: skip
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    beyond = Beyond(graph, own, clusters > 1 and own.can_cooperate)
    return Maker(target, SearchSpace(graph, own, (Start("given", cuts),), beyond))


def spent(plan: Plan) -> PlanCost:
    trace = simulate(lower(plan))
    return PlanCost(trace.makespan, trace.kernel_cycles, kernel_loads(trace.program))


def checked(maker: Maker, plan: Plan) -> None:
    """It is a plan that its record gives again, and it replays."""
    plan.check()
    trace = simulate(lower(plan))
    trace.check()
    if plan.clusters == 1:
        replay(trace)
    else:
        replayed_on_numbers(trace)
    if plan.cooperation is None:
        task = PlanTask(plan.semantics, plan.hardware, "fp16", {}, PinnedPlan(recorded(plan)))
        assert plan_for(parse_strategy("tuned"), task) == plan
    assert plan.strategy == "tuned"
    assert maker.target.semantics is plan.semantics


def replayed_on_numbers(trace: Trace) -> None:
    """Clusters that share, as their Program says, and as numpy has it."""
    random, tensors = np.random.default_rng(0), trace.program.plan.semantics.graph.tensors
    given = {
        name: random.integers(-4, 5, tensors[name].shape).astype(np.float32)
        for name in ("x", "w", "v")
    }
    found = replay_numbers(Script(trace), given, OpRunner(load_runtime()))
    wanted = np.maximum(given["x"] @ given["w"], 0) @ given["v"]
    np.testing.assert_allclose(found["z"], wanted, rtol=1e-5)


def variables(maker: Maker) -> dict[str, tuple[str, ...]]:
    space = maker.space
    return {each.name: each.values for each in (*space.general, *space.special)}


BY_RULE = {"stays": "by closed forms"}
