"""Places in closed form against the same places listed one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.report.bounds.need import model_need
from graphturbo_core.report.bounds.places import is_same, read_places, shared, united, without
from graphturbo_core.semantics.access import AxisKind, AxisMap
from graphturbo_core.semantics.table import analyse
from tests.models import graph_of

SIZES = (7, 40)
ROWS = [
    range(start, start + count * step, step)
    for start, count, step in product((0, 1, 4), (1, 2, 3, 5), (1, 2, 3, 4, 6))
]
WINDOWS = [
    AxisMap(AxisKind.WINDOW, size, 0, stride=stride, dilation=dilation, kernel=kernel, pad=pad)
    for size, stride, dilation, kernel, pad in product(
        SIZES, (1, 2, 3, 4), (1, 2, 3), (1, 2, 3, 4), (0, 2)
    )
]
OFFSETS = [
    AxisMap(AxisKind.OFFSET, size, 0, offset=offset, step=step)
    for size, offset, step in product(SIZES, (-5, 0, 3, 20), (-3, -1, 1, 2))
]
GROUPED = [
    AxisMap(AxisKind.GROUPED, size, 0, out_block=out_block, in_block=in_block)
    for size, out_block, in_block in product(SIZES, (1, 2, 3, 4), (1, 2, 3))
]
SCALED = [
    AxisMap(AxisKind.SCALED, size, 0, out_block=out, in_block=size, pad=pad)
    for size, out, pad in product(SIZES, (5, 9, 40, 61), (0, 1, 3))
]
SAME = [AxisMap(AxisKind.SAME, size, 0) for size in SIZES]


def by_definition(axis: AxisMap, at: range) -> list[int]:
    """The definition of `AxisMap`, place by place."""
    hulls = (axis.interval(((place, place + 1),)) for place in at)
    read = {place for lo, hi in hulls for place in range(lo, hi)}
    if axis.kind is AxisKind.WINDOW:
        taps = [tap * axis.dilation - axis.pad for tap in range(axis.kernel)]
        read &= {place * axis.stride + tap for place in at for tap in taps}
    return sorted(read)


@pytest.mark.parametrize(
    "axes",
    [WINDOWS, OFFSETS, GROUPED, SCALED, SAME],
    ids=["window", "offset", "grouped", "scaled", "same"],
)
def test_what_a_row_reads(axes: list[AxisMap]) -> None:
    for axis, at in product(axes, ROWS):
        found = read_places("op", axis, at)
        assert list(found) == by_definition(axis, at), (axis, at)
        assert is_same(read_places("op", axis, np.asarray(at)), found), (axis, at)


def test_two_rows_together() -> None:
    for first, second in product(ROWS, ROWS):
        found = united("op", first, second)
        assert list(found) == sorted({*first, *second}), (first, second)
        assert is_same(found, united("op", np.asarray(first), np.asarray(second)))


def test_places_of_both_and_of_one_alone() -> None:
    for first, second in product(ROWS, ROWS):
        common, rest = sorted({*first} & {*second}), sorted({*first} - {*second})
        assert list(shared("op", first, second)) == common, (first, second)
        assert list(without("op", first, second)) == rest, (first, second)
        assert list(shared("op", first, np.asarray(second))) == common, (first, second)
        assert list(without("op", np.asarray(first), second)) == rest, (first, second)


def test_rows_stay_rows_where_they_can() -> None:
    window = AxisMap(AxisKind.WINDOW, 100, 0, stride=2, kernel=3, pad=1)
    # Windows of 3 at every second place overlap: -1 .. 19, of which 0 .. 19 are there.
    assert read_places("op", window, range(10)) == range(20)
    point = AxisMap(AxisKind.WINDOW, 100, 0, stride=2)
    assert read_places("op", point, range(10)) == range(0, 19, 2)
    # Windows of 2 at every third place leave one of three out.
    gaps = read_places("op", AxisMap(AxisKind.WINDOW, 9, 0, stride=3, kernel=2), range(3))
    assert not isinstance(gaps, range)
    assert list(gaps) == [0, 1, 3, 4, 6, 7]
    assert united("op", gaps, range(2, 9, 3)) == range(9)
    assert united("op", range(0, 8, 2), range(1, 8, 2)) == range(8)
    # Rows that overlap, touch, interleave or lie in each other need no list, however long.
    assert united("op", range(2**30), range(5, 2**31)) == range(2**31)
    assert united("op", range(2**30, 2**31), range(2**30)) == range(2**31)
    assert united("op", range(0, 2**31, 2), range(1, 2**31, 2)) == range(2**31)
    assert united("op", range(0, 2**31, 6), range(0, 2**31, 3)) == range(0, 2**31, 3)


def test_no_places_read_none() -> None:
    assert read_places("op", AxisMap(AxisKind.SAME, 4, 0), range(0)) == range(0)
    assert united("op", range(0), range(3)) == range(3)


def test_an_axis_of_billions_costs_no_more_than_one_of_ten() -> None:
    # 2^33 indices would be 64 GiB.
    size = 2**33
    text = f"""flat (float[8, {size // 8}] x) => (float[{size // 2}] y)
    <int64[1] s = {{-1}}, int64[1] zero = {{0}}, int64[1] end = {{{size}}}, int64[1] two = {{2}}> {{
        a = Reshape(x, s)
        b = Slice(a, zero, end, zero, two)
        y = Relu(b)
    }}"""
    need = model_need(analyse(graph_of(text)))
    assert need.regions["b"].elements == size // 2
    assert need.touched["y"] == size // 2


def test_too_many_scattered_places_are_refused_by_name() -> None:
    axis = AxisMap(AxisKind.WINDOW, 3 * 2**23, 0, stride=3, kernel=2)
    with pytest.raises(
        CapacityError, match="'conv7' reads 16777216 unevenly spaced places"
    ) as caught:
        read_places("conv7", axis, range(2**23))
    assert caught.value.code == "NEED_TOO_SCATTERED"
    gaps = np.asarray(range(2**23))
    with pytest.raises(CapacityError, match="'add' reads 8388609 unevenly spaced places"):
        united("add", gaps, range(1))
