"""Random graphs on random chips whose cores are divided: sound, or refused by name."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.lower import lower
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from tests.full import examples
from tests.lowering.chips import bare, random_chips, sharing
from tests.lowering.counting import check_program
from tests.lowering.nets import plan_of
from tests.semantics.random_graphs import random_graphs
from tests.strategies.samples import with_weights

EXAMPLES = 40
CHIPS = st.one_of(
    random_chips(), st.sampled_from([bare(), sharing(), sharing("tiny", cores=6), bare("tiny")])
)
"""Without a GB too."""


@given(random_graphs(), CHIPS, st.booleans())
@settings(max_examples=examples(EXAMPLES))
def test_sound_or_refused(sem: GraphSemantics, chip: Hardware, has_weights: bool) -> None:
    """Without a simulator each layer counts one cycle, so that independent ones run at once."""
    plan = plan_of(with_weights(sem) if has_weights else sem, "ios", replace(chip, clusters=1))
    assume(any(kernel.branches for kernel in plan.kernels))
    event(f"{max(len(kernel.branches) for kernel in plan.kernels)} branches")
    try:
        program = lower(plan)
    except CapacityError as error:
        assert error.change
        return
    check_program(simulate(program))
