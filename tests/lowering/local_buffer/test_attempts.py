"""Placement of an op with many inputs: first one tensor is given up at a time, then all."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphturbo_core.lowering.local_buffer import place_kernel as placing
from graphturbo_core.lowering.local_buffer.place_kernel import SINGLE_ATTEMPTS
from graphturbo_core.lowering.lower import lower
from graphturbo_core.semantics.table import analyse
from graphturbo_core.sim.simulate import simulate
from tests.lowering.nets import chip, plan_of
from tests.lowering.replay import replay
from tests.models import graph_of


def joined(count: int) -> str:
    """Sigmoids of so many inputs, concatenated."""
    names = range(count)
    given = ", ".join(f"float[1,2,8,16] x{name}" for name in names)
    lines = "\n".join(f"  a{name} = Sigmoid (x{name})" for name in names)
    read = ", ".join(f"a{name}" for name in names)
    return f"""
g ({given}) => (float[1,{2 * count},8,16] y) {{
{lines}
  y = Concat<axis=1> ({read})
}}
"""


def attempts_of(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The most attempts to place a kernel of such a graph, whose schedule is replayed."""
    numbers = Counter[int]()
    kernels: list[object] = []
    attempt = placing._attempt

    def counted(*given: Any) -> object:
        kernels.append(given[0])  # kept, so that no other kernel gets its id
        numbers[id(given[0])] += 1
        return attempt(*given)

    plan = plan_of(analyse(graph_of(joined(count))), "tvm", chip("tiny"))
    with monkeypatch.context() as patch:
        patch.setattr(placing, "_attempt", counted)
        program = lower(plan)
    replay(simulate(program))
    return max(numbers.values())


def test_many_tensors_without_room_are_given_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bounded = attempts_of(3 * SINGLE_ATTEMPTS, monkeypatch)
    assert SINGLE_ATTEMPTS < bounded < SINGLE_ATTEMPTS + 10
    monkeypatch.setattr(placing, "SINGLE_ATTEMPTS", 10**6)
    assert attempts_of(3 * SINGLE_ATTEMPTS, monkeypatch) > 2 * SINGLE_ATTEMPTS
