"""Which tensors of a kernel without room in LB are given up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.lowering.local_buffer import place_kernel as placing
from graphturbo_core.lowering.local_buffer.giving_up import SINGLE_ATTEMPTS
from graphturbo_core.products.program import Program
from graphturbo_core.sim.simulate import simulate
from tests.lowering.nets import chip, lowered_with_placements, plan_of
from tests.lowering.replay import replay
from tests.strategies.samples import weighted

POOLS = 6


def residual() -> str:
    """Poolings in a row, whose result is added to the model's input: that is live all the time."""
    pool = "MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]>"
    lines = "".join(f" a{n + 1} = {pool} (a{n})" for n in range(POOLS))
    shape = "float[1,8,32,16]"
    return f"g ({shape} x) => ({shape} y) {{ a0 = {pool} (x) {lines} y = Add (a{POOLS}, x) }}"


def given_up_in(lb_data_bytes: int) -> tuple[list[str], Program]:
    """Tensors of the one kernel that have no place in an LB of this size, and its program."""
    plan = plan_of(weighted(residual()), "graphturbo@1", chip("tiny"))
    plan = replace(plan, hardware=replace(plan.hardware, lb_data_bytes=lb_data_bytes))
    program, (placement,) = lowered_with_placements(plan)
    replay(simulate(program))
    return sorted(placement.spilled), program


@pytest.mark.parametrize(
    ("lb_data_bytes", "given_up"),
    [
        pytest.param(6144, [], id="all have room"),
        pytest.param(5120, ["x"], id="all but the input"),
        pytest.param(4608, ["a2", "x"], id="one more"),
    ],
)
def test_what_waits_longest_gives_way_to_what_is_used_at_once(
    lb_data_bytes: int, given_up: list[str]
) -> None:
    assert given_up_in(lb_data_bytes)[0] == given_up


def test_a_third_of_the_bytes_is_moved_where_it_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The input is read twice instead of once; else four of the tensors between go through GB."""
    _, program = given_up_in(5120)
    monkeypatch.setattr(placing, "SEVERAL", SINGLE_ATTEMPTS + 1)
    others, usual = given_up_in(5120)
    assert others == ["a1", "a2", "a3", "a4"]
    assert 3 * int(program.size_bytes.sum()) < int(usual.size_bytes.sum())


def test_the_usual_choice_is_kept_where_as_much_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    assert given_up_in(3584)[0] == ["a1", "a3", "a5", "x"]
    monkeypatch.setattr(placing, "SEVERAL", SINGLE_ATTEMPTS + 1)
    assert given_up_in(3584)[0] == ["a1", "a3", "a5", "x"]
