"""Values of a number as somebody types them: units, ranges, and what is refused in words."""

from __future__ import annotations

import pytest

from graphturbo_core.hardware.profile import parse_profile, profile_names, profile_tree
from graphturbo_core.run_request import RunRequest
from graphturbo_core.sweep.axes import Axis, axes_of
from graphturbo_core.sweep.knobs import KNOBS, LB_KEY, exact_value_for, knobs_of, own_value
from graphturbo_core.sweep.tasks import Point, run_at
from graphturbo_core.sweep.typed_values import MOST_CHARACTERS, MOST_VALUES, ValueReader

CHIP = "generic-4x4"
TREE = profile_tree(CHIP)
MIB = 2**20


def reader(label: str, most: int | None = None, own: int | None = None) -> ValueReader:
    knob = next(each for each in KNOBS if each.label == label)
    return ValueReader(knob, own or own_value(knob, TREE) or 8, TREE, most)


@pytest.mark.parametrize(
    ("label", "text", "numbers"),
    [
        ("GB size", "1 MiB, 2 MiB, 4 MiB", (MIB, 2 * MIB, 4 * MIB)),
        ("GB size", "4,1,2", (MIB, 2 * MIB, 4 * MIB)),  # the chip's 2 MiB: its unit
        ("GB size", "512 KiB; 1mib, 2 MB", (MIB // 2, MIB, 2_000_000)),
        ("GB size", "1, 2 KiB, 3", (1024, 2048, 3 * MIB)),  # that of the next one, else of the chip
        ("DRAM bandwidth", "9, 14, 19 GB/s", (9 * 10**9, 14 * 10**9, 19 * 10**9)),
        ("DRAM bandwidth", "9.5", (9_500_000_000,)),
        ("Clock", "800 MHz, 1.2 GHz", (800_000_000, 1_200_000_000)),
        ("Batch", "8, 16, 32", (8, 16, 32)),
        ("Launch", "500, 1000 cycles", (500, 1000)),
        ("GB size", " , ", ()),
    ],
)
def test_values_with_their_units(label: str, text: str, numbers: tuple[int, ...]) -> None:
    found = reader(label).read(text)
    assert (found.numbers, found.faults) == (numbers, ())


@pytest.mark.parametrize(
    ("label", "text", "numbers", "words"),
    [
        ("GB size", "1, 4 GB/s", (MIB,), "“4 GB/s” is no value of GB size; write for instance 2 M"),
        ("Launch", "much", (), "“much” is no value of Launch; write for instance 2000 cycles"),
        ("GB size", "0, 1", (MIB,), "“0” is below 1"),
        ("GB size", "-1", (), "“-1” is below 1"),
        ("GB size", "0.1 KiB", (), "“0.1 KiB” is no whole number of bytes"),
        ("Cores", "2.5", (), "“2.5” is no whole number"),
        ("Cores", "8, 5000", (8,), "“5000” is above 4,096, the most that a profile may have"),
        ("Clock", "1 kHz", (), "“1 kHz” is below 1 MHz, the least that a profile may have"),
        ("GB size", "1 MiB, 1024 KiB", (MIB,), "“1 MiB” is given twice"),
        ("Launch", "2,000", (2,), "“000” begins with 0; write thousands without a comma"),
        ("Batch", "16, 128", (16,), "“128” is above 64, the most here"),
        ("GB size", "1," * (MOST_VALUES + 1), (), "25 values are more than 24"),
        ("GB size", "1" * (MOST_CHARACTERS + 1), (), "longer than 300 characters"),
        ("GB size", "<b>" * 50, (), "<b><b…” is no value"),
    ],
)
def test_refusals(label: str, text: str, numbers: tuple[int, ...], words: str) -> None:
    found = reader(label, most=64 if label == "Batch" else None).read(text)
    assert found.numbers == numbers
    assert len(found.faults) == 1
    assert words in found.faults[0]


def test_faults_are_in_the_order_of_the_text() -> None:
    found = reader("GB size").read("x, 1, y")
    assert [fault[:3] for fault in found.faults] == ["“x”", "“y”"]


def test_a_size_of_both_parts_is_a_multiple_of_each() -> None:
    """196,608 + 65,536 bytes of the chip; 384 KiB is 3/2 of it: 294,912 + 98,304."""
    lb = reader("LB size")
    assert lb.read("384").numbers == (384 * 1024,)
    value = exact_value_for(lb.knob, lb.own, 384 * 1024)
    assert value == "x3/2"
    _, text = run_at(RunRequest("m", profile=CHIP), Point(((LB_KEY, value),), "tvm"), TREE)
    assert parse_profile(text, CHIP).lb_bytes == 294_912 + 98_304
    odd = exact_value_for(lb.knob, lb.own, 1_000_001)
    assert axes_of([f"{LB_KEY}={odd}"], CHIP) == (Axis(LB_KEY, (odd,)),)
    _, text = run_at(RunRequest("m", profile=CHIP), Point(((LB_KEY, odd),), "tvm"), TREE)
    # both parts are rounded up, so one byte more at most
    assert parse_profile(text, CHIP).lb_bytes - 1_000_001 in (0, 1)


@pytest.mark.parametrize("chip", profile_names())
def test_the_chip_s_own_number_is_always_a_value(chip: str) -> None:
    tree = profile_tree(chip)
    for knob in knobs_of(tree):
        own = own_value(knob, tree)
        if own is not None:
            unit = {"B": "B", "B/s": "B/s", "Hz": "Hz"}.get(knob.unit, "")
            found = ValueReader(knob, own, tree).read(f"{own}{unit}")
            assert (found.numbers, found.faults) == ((own,), ()), knob.label
