"""What is wrong with a binding that somebody wrote."""

from __future__ import annotations

import pytest

from graphturbo_core.products.plan import Binding
from graphturbo_core.strategies.steps.legal import binding_fault


@pytest.mark.parametrize(
    ("parts", "said"),
    [(0, "cut into 0 parts"), (1, ""), (2, "its op needs it whole")],
)
def test_an_axis_that_is_needed_whole_may_be_one_part(parts: int, said: str) -> None:
    binding = Binding((1,), (parts,), tuple(range(max(1, parts))))
    fault = binding_fault(binding, (4, 4), {1}, 4)
    assert said in fault
    assert bool(fault) == bool(said)
