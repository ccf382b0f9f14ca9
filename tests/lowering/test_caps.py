"""The cap on instructions grows with the ops of a model, so that a long chain is not refused."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.lower import lower
from tests.strategies.samples import hardware, plan_of, weighted

OPS = 12
CHAIN = "\n".join(f"t{i + 1} = Softmax <axis = 3> (t{i})" for i in range(OPS))
TEXT = f"g (float[4,1,64,96] t0) => (float[4,1,64,96] t{OPS}) {{ {CHAIN} }}"


def test_caps_of_a_large_model_follow_its_ops() -> None:
    assert DEFAULT_LIMITS.instructions(12_500) == 300_000
    assert DEFAULT_LIMITS.instructions(100_000) == 2_400_000
    assert DEFAULT_LIMITS.instructions_coarsest(50_000) == 1_200_000
    assert DEFAULT_LIMITS.instructions_coarsest(100_000) == 2_400_000
    assert DEFAULT_LIMITS.accesses(40_000) == 4_000_000
    assert DEFAULT_LIMITS.accesses(100_000) == 9_600_000


def test_a_chain_is_lowered_within_what_its_ops_allow() -> None:
    plan = plan_of(weighted(TEXT), "layerwise", hardware("generic-4x4"))
    fine = lower(plan)
    per_op = -(-len(fine.hold_cycles) // OPS)
    roomy = Limits(max_instructions=1, max_instructions_coarsest=1, instructions_per_op=per_op)
    assert len(lower(plan, roomy).hold_cycles) == len(fine.hold_cycles)
    with pytest.raises(CapacityError, match="too many instructions even with the coarsest tiles"):
        lower(plan, Limits(max_instructions=1, max_instructions_coarsest=1, instructions_per_op=2))


@pytest.mark.parametrize("strategy", ["tvm", "graphturbo:lb"])
def test_a_refusal_names_options_only_to_the_strategy_that_has_them(strategy: str) -> None:
    plan = plan_of(weighted(TEXT), strategy, hardware("generic-4x4"))
    with pytest.raises(CapacityError) as refused:
        lower(plan, Limits(max_instructions=1, max_instructions_coarsest=1, instructions_per_op=1))
    assert ("graphturbo.binding=literal" in refused.value.change) == (strategy != "tvm")
