"""Random networks on random chips: every Program is sound, or refused by name."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.lower import lower
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from tests.full import examples
from tests.lowering.chips import random_chips
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, conv_nets, plan_of

EXAMPLES = 40


@given(conv_nets(), random_chips(), st.sampled_from(STRATEGIES))
@settings(max_examples=examples(EXAMPLES))
def test_sound_or_refused(sem: GraphSemantics, hardware: Hardware, strategy: str) -> None:
    plan = plan_of(sem, strategy, hardware)
    try:
        program = lower(plan)
    except CapacityError as error:
        assert error.change
        return
    check_program(simulate(program))
