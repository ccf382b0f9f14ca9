"""Whatever a person edits: a plan that holds to it, from record to Trace, or a refusal by name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan, Residency, Scope
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.plan_files.edits import EditedCuts, Edits, with_groups
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from tests.full import examples
from tests.strategies.samples import sample_plan

MODEL, BATCH = "teaching-resnet", 16
GRAPH = sample_plan(MODEL, BATCH, "tvm", "generic-4x4").semantics.graph
OPS = st.sampled_from([op.name for op in GRAPH.ops])
TENSORS = st.sampled_from([name for op in GRAPH.ops for name in op.outputs])
WEIGHTED = st.sampled_from([op.name for op in GRAPH.ops if GRAPH.weights_in(op)])
GROUPS = OPS | st.sampled_from(["g1", "g2"])
SCOPES = st.sampled_from(list(Scope))
CUTS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([1, 2, 4])), max_size=2).map(
    lambda cuts: EditedCuts(tuple(a for a, _ in cuts), tuple(n for _, n in cuts))
)


def some(
    keys: st.SearchStrategy[str], values: st.SearchStrategy[object]
) -> st.SearchStrategy[dict[str, object]]:
    return st.dictionaries(keys, values, max_size=2)


PLACES = {
    "binding": some(TENSORS, CUTS),
    "scope": some(TENSORS, SCOPES | st.dictionaries(st.integers(1, 2), SCOPES, min_size=1)),
    "residency": some(WEIGHTED, st.sampled_from(list(Residency))),
}
SETS = st.lists(st.lists(GROUPS, min_size=2, max_size=2, unique=True).map(tuple), max_size=2)
SHAPES = {
    "merge": SETS.map(tuple),
    "keep_apart": SETS.map(tuple),
    "pieces": some(GROUPS, st.sampled_from([1, 2, 3, 4, 16])),
    "axis": some(GROUPS, st.integers(0, 3)),
}


def held_to(strategy: str, chip: str, held: PinnedPlan) -> Plan:
    base = sample_plan(MODEL, BATCH, strategy, chip)
    task = PlanTask(base.semantics, base.hardware, "fp16", {}, held)
    return plan_for(parse_strategy(strategy), task)


@pytest.mark.parametrize("chip", ["generic-4x4", "stcp920", "goya"])
@pytest.mark.parametrize("strategy", ["tvm", "astitch", "graphturbo"])
@settings(max_examples=examples(20))
@given(data=st.data())
def test_edits_are_followed_or_refused(strategy: str, chip: str, data: st.DataObject) -> None:
    kinds = {**PLACES, **(SHAPES if strategy == "graphturbo" else {})}
    base = recorded(sample_plan(MODEL, BATCH, strategy, chip))
    edits = with_groups(Edits(**data.draw(st.fixed_dictionaries(kinds))), base.ops_of_groups)
    try:
        plan = held_to(strategy, chip, PinnedPlan(base, edits))
        plan.check()
        trace = simulate(lower(plan))
    except (PlanError, CapacityError) as error:
        assert error.code.startswith("PLAN_"), error.line()
        return
    trace.check()
    again = held_to(strategy, chip, PinnedPlan(recorded(plan)))
    assert again == replace(plan, fixed=frozenset(), fixed_pieces=frozenset())
