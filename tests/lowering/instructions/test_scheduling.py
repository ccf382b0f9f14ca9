"""Fence, list scheduling and double buffering of `graphturbo`: each alone, and all together."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.program import Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.verify.static.claims import wrong_claim
from tests.full import examples, paired
from tests.lowering.chips import random_chips
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, conv_nets, small_model
from tests.strategies.samples import plan_of

FENCE, LISTED = "graphturbo.fence", "graphturbo.list_scheduling"
DOUBLE, ORDER = "graphturbo.double_buffering", "graphturbo.instance_order"
ON_OFF = ("on", "off")
CASES = tuple(
    {FENCE: fence, LISTED: listed, DOUBLE: double}
    for fence, listed, double in product(ON_OFF, repeat=3)
)
ORDERS = ("depth-first", "breadth-first")


def program(model: str, level: str, options: Mapping[str, str]) -> Program:
    plan = plan_of(small_model(model), f"graphturbo:{level}", chip("tiny"), options)
    made = lower(plan)
    check_program(simulate(made))
    assert wrong_claim(made) is None
    return made


def emitted(program: Program) -> list[tuple[int, ...]]:
    """The instructions: engine, kind, op, tile and bytes, segment by segment."""
    columns = (
        program.segment, program.engine, program.kind, program.op, program.tile, program.size_bytes,
    )  # fmt: skip
    return [tuple(row) for row in np.stack(columns, axis=1).tolist()]


def test_all_eight_differ_in_their_instructions() -> None:
    found = [emitted(program("resnet", "order", options)) for options in CASES]
    assert all(one != other for place, one in enumerate(found) for other in found[:place])


@pytest.mark.parametrize(
    ("level", "options"),
    [
        ("order", {FENCE: "on", LISTED: "off", DOUBLE: "on", ORDER: "depth-first"}),
        ("full", {FENCE: "off", LISTED: "on", DOUBLE: "on", ORDER: "depth-first"}),
    ],
)
def test_levels_are_combinations(level: str, options: Mapping[str, str]) -> None:
    own = emitted(program("resnet", level, {}))
    for each in ("order", "full"):
        assert emitted(program("resnet", each, options)) == own


def test_a_fence_keeps_layers_apart_and_a_list_orders_them_inside() -> None:
    """With a fence a segment has one layer; of a list alone each segment has the same rows."""
    plain = program("resnet", "order", {})
    listed = program("resnet", "order", {LISTED: "on"})
    for each in (plain, listed):
        pairs = set(zip(each.segment.tolist(), each.layer.tolist(), strict=True))
        assert len(pairs) == each.segment.max() + 1
    assert sorted(emitted(plain)) == sorted(emitted(listed))
    assert emitted(plain) != emitted(listed)
    assert program("resnet", "order", {FENCE: "off"}).segment.max() < plain.segment.max()


def test_one_buffer_takes_less_room() -> None:
    """Weights come into one slot of the weight part where they came into two."""
    double, single = (program("resnet", "order", {DOUBLE: value}).buffers for value in ON_OFF)
    assert len(set(zip(single.memory, single.offset, strict=True))) < len(
        set(zip(double.memory, double.offset, strict=True))
    )


def _id(value: object) -> str:
    return " ".join(value.values()) if isinstance(value, dict) else str(value)


@pytest.mark.parametrize(
    ("order", "profile", "options"),
    paired(ORDERS, ["generic-4x4", "stcp920"], CASES),
    ids=_id,
)
def test_every_combination_replays(options: Mapping[str, str], profile: str, order: str) -> None:
    request = RunRequest(
        "teaching-resnet", "graphturbo:order@4", profile, 8, options={**options, ORDER: order},
        verify=True,
    )  # fmt: skip
    contract = run_report(load_sample("teaching-resnet"), request).contract
    assert contract["verify"]["ok"], contract["verify"]  # type: ignore[index]
    in_flight = contract["overlap"]["layers_in_flight"]["share"]  # type: ignore[index]
    assert (in_flight == 0) == (options[FENCE] == "on")


@given(conv_nets(), random_chips(), st.sampled_from(CASES), st.sampled_from(ORDERS))
@settings(max_examples=examples(40))
def test_sound_or_refused(
    sem: GraphSemantics, hardware: Hardware, options: Mapping[str, str], order: str
) -> None:
    plan = plan_of(sem, "graphturbo:full", hardware, {**options, ORDER: order})
    try:
        made = lower(plan)
    except CapacityError as error:
        assert error.change
        return
    check_program(simulate(made))
    assert wrong_claim(made) is None
