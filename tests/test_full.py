"""What the quicker runs look at: some of each sweep, and nothing of it is lost to the others."""

from __future__ import annotations

from itertools import product
from typing import Any

from tests.full import examples, often, paired, share_of


def test_an_eighth_of_the_examples_or_a_half_and_four_at_least() -> None:
    assert [examples(count, share_of(False, True)) for count in (400, 50, 12, 3)] == [50, 6, 4, 3]
    assert [examples(count, share_of(False, False)) for count in (400, 12, 3)] == [200, 6, 3]
    assert [examples(count, share_of(True, False)) for count in (400, 3)] == [400, 3]


def quick(cases: list[Any]) -> list[Any]:
    """The values of those cases that are not `slow`."""
    return [case.values for case in cases if not case.marks]


def test_of_a_sweep_every_pair_is_run() -> None:
    """Of 3 x 2 combinations number (i + j) mod 2 of the last axis: a z, a w; b w, b z; c z, c w."""
    found = ["".join(map(str, values)) for values in paired("abc", "xy", "zw", is_full=False)]  # type: ignore[call-overload]
    assert found == ["axz", "ayw", "bxw", "byz", "cxz", "cyw"]
    for axes in ((0, 1), (0, 2), (1, 2)):
        pairs = {tuple(values[axis] for axis in axes) for values in found}
        assert pairs == set(product(*(("abc", "xy", "zw")[axis] for axis in axes)))
    assert paired("ab", "xy", is_full=True) == list(product("ab", "xy"))


def test_what_is_looked_at_often_keeps_its_place() -> None:
    first, *others = often(("tvm", "astitch", "layerwise"), ("tvm",))
    assert first == "tvm"
    rest: list[Any] = others
    assert [case.values for case in rest] == [("astitch",), ("layerwise",)]
    assert quick(rest) == []
