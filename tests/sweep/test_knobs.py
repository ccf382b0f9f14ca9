"""Numbers that can be varied by name, on every shipped chip."""

from __future__ import annotations

from fractions import Fraction

import pytest

from graphturbo_core.errors import ProfileError
from graphturbo_core.hardware.profile import parse_profile, profile_names, profile_tree
from graphturbo_core.run_request import RunRequest
from graphturbo_core.sweep.axes import Axis, axes_of, numbers_at, value_at
from graphturbo_core.sweep.knobs import KNOBS, LB_KEY, knobs_of, number_for, own_value, value_for
from graphturbo_core.sweep.knobs import text_of as knob_text
from graphturbo_core.sweep.tasks import Point, run_at

LB = next(knob for knob in KNOBS if knob.key == LB_KEY)


@pytest.mark.parametrize("chip", profile_names())
def test_every_knob_of_a_chip_gives_a_chip(chip: str) -> None:
    """Twice of each number, or half where less is better, is a profile that is read."""
    tree = profile_tree(chip)
    found = knobs_of(tree)
    assert len(found) >= 12
    for knob in found:
        if knob.is_run:
            continue
        own = own_value(knob, tree)
        assert own is not None
        value = value_for(knob, own, Fraction(1, 2) if knob.is_cost else Fraction(2))
        _, text = run_at(RunRequest("m", profile=chip), Point(((knob.key, value),), "tvm"), tree)
        changed = parse_profile(text, chip)
        numbers = {number.key: number.value for number in changed.numbers}
        for key, number in numbers_at(tree, knob.key, value).items():
            assert numbers[key] == number != value_at(tree, key)


def test_a_chip_without_gb_has_no_knob_for_it() -> None:
    labels = {knob.label for knob in knobs_of(profile_tree("ipu-gc2"))}
    assert "GB size" not in labels and "LB size" in labels


def test_lb_is_both_parts_or_the_pool() -> None:
    assert own_value(LB, profile_tree("generic-4x4")) == 196608 + 65536
    assert own_value(LB, profile_tree("ascend910")) == parse_profile_lb("ascend910")


def parse_profile_lb(chip: str) -> int:
    _, text = run_at(RunRequest("m"), Point((), "tvm"), profile_tree(chip))
    return parse_profile(text, chip).lb_bytes


def test_a_multiple_is_of_each_keys_own_number_and_rounded_up() -> None:
    tree = {"core": {"lb_data_bytes": {"value": 10}, "lb_weight_bytes": {"value": 3}}}
    assert numbers_at(tree, LB_KEY, "x1/2") == {"core.lb_data_bytes": 5, "core.lb_weight_bytes": 2}
    assert numbers_at(tree, LB_KEY, 7) == {"core.lb_data_bytes": 7, "core.lb_weight_bytes": 7}
    assert numbers_at(tree, "core.none", "x2") == {"core.none": "x2"}
    assert value_for(LB, 13, Fraction(3, 4)) == "x3/4"
    assert number_for(LB, 13, "x3/4") == 10


def test_multiples_on_the_command_line() -> None:
    (axis,) = axes_of([f"{LB_KEY}=x0.5,x1,x3/2"], "generic-4x4")
    assert axis == Axis(LB_KEY, ("x0.5", "x1", "x3/2"))


def test_a_multiple_of_what_is_no_number_is_refused_by_name() -> None:
    tree = profile_tree("generic-4x4")
    point = Point((("core.matrix_model", "x2"),), "tvm")
    _, text = run_at(RunRequest("m"), point, tree)
    with pytest.raises(ProfileError, match=r"core\.matrix_model"):
        parse_profile(text, "generic-4x4")


@pytest.mark.parametrize(
    ("label", "number", "text"),
    [("GB size", 2**21, "2 MiB"), ("DRAM bandwidth", 27e9, "27 GB/s"), ("Clock", 1e9, "1 GHz"),
     ("Launch", 2000, "2,000 cycles"), ("Cores", 8, "8")],
)  # fmt: skip
def test_texts(label: str, number: float, text: str) -> None:
    knob = next(each for each in KNOBS if each.label == label)
    assert knob_text(knob, number) == text
