"""Addresses: worked by hand, and against maps of bytes."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.ir.boxes import Interval
from graphturbo_core.lowering.addresses import packing
from graphturbo_core.lowering.addresses.allocator import OffsetAllocator, aligned
from graphturbo_core.lowering.addresses.packing import Request, Taken, pack, rested, unplaced

UNIT = 32


@pytest.mark.parametrize(("size", "rounded"), [(0, 0), (1, 32), (32, 32), (33, 64)])
def test_sizes_are_rounded_up(size: int, rounded: int) -> None:
    assert aligned(size) == rounded


def test_first_fit_by_hand() -> None:
    """Capacity 160. `a` [0, 64) to step 1, `b` [64, 96) to step 3, `c` [96, 160) to step 2.

    At step 2 `a` is gone: `d` of 32 takes its first half, `e` of 32 the second. At step 3 `c` is
    gone: `f` of 64 takes [96, 160). `g` finds nothing until step 4, where all but `f` is free:
    [0, 96) holds 96 bytes and not 97.
    """
    allocator = OffsetAllocator(160)
    assert allocator.place(64, 0, 1) == 0
    assert allocator.place(20, 0, 3) == 64
    assert allocator.place(64, 1, 2) == 96
    assert allocator.place(1, 1, 1) is None
    assert allocator.place(32, 2, 3) == 0
    assert allocator.place(32, 2, 3) == 32
    assert allocator.place(64, 3, 9) == 96
    assert allocator.place(1, 3, 3) is None
    assert allocator.place(97, 4, 4) is None
    assert allocator.place(96, 4, 4) == 0
    assert allocator.peak_bytes == 160


def test_last_step_is_still_live() -> None:
    allocator = OffsetAllocator(64)
    assert allocator.place(32, 0, 5) == 0
    assert allocator.place(32, 5, 5) == 32
    assert allocator.place(32, 6, 6) == 0


def test_base_and_pinned_bytes_are_left_alone() -> None:
    """[0, 64) belongs to others, [96, 128) is pinned: 32 bytes before it, the rest behind."""
    allocator = OffsetAllocator(256, base_bytes=64)
    allocator.pin(96, 32, 3)
    assert allocator.place(64, 0, 3) == 128
    assert allocator.place(32, 0, 3) == 64
    assert allocator.place(128, 4, 4) == 64
    assert allocator.peak_bytes == 192


requests = st.lists(
    st.tuples(st.integers(0, 140), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=25
)


@given(requests, st.integers(0, 10), st.integers(0, 2))
def test_no_shared_byte_and_nothing_refused_that_fits(
    sizes: list[tuple[int, int, int]], capacity_units: int, base_units: int
) -> None:
    capacity, base = capacity_units * UNIT, base_units * UNIT
    allocator = OffsetAllocator(capacity, base)
    placed: list[tuple[int, int, int]] = []
    step = 0
    for size, later, length in sizes:
        step += later
        busy = np.zeros(capacity_units, dtype=np.bool_)
        busy[:base_units] = True
        for offset, units, last in placed:
            if last >= step:
                assert not busy[offset : offset + units].any()
                busy[offset : offset + units] = True
        units = -(-size // UNIT)
        free = [
            start
            for start in range(base_units, capacity_units - units + 1)
            if not busy[start : start + units].any()
        ]
        found = allocator.place(size, step, step + length)
        if units:
            assert found == (free[0] * UNIT if free else None)
        if found is not None:
            assert base <= found
            assert found + units * UNIT <= capacity
            placed.append((found // UNIT, units, step + length))


def _placed(offsets: dict[str, int]) -> dict[tuple[str, bool], int]:
    return {(key, False): offset for key, offset in offsets.items()}


def test_packing_by_hand() -> None:
    """Capacity 128, largest first: `a` takes [0, 64). `b` (48, rounded to 64) lives beside it:
    [64, 128). `c` lives with `b` alone: [0, 32). `d` lives with `b` and `c`: [32, 64).
    """
    wanted = [Request("d", 32, 2, 3), Request("c", 32, 2, 2), Request("b", 48, 1, 2)]
    wanted.append(Request("a", 64, 0, 1))
    assert pack(wanted, (), 128) == (_placed({"a": 0, "b": 64, "c": 0, "d": 32}), None)


def test_packing_names_what_does_not_fit() -> None:
    taken = [Taken(32, 32, 0, 1)]
    wanted = [Request("x", 64, 0, 0), Request("y", 32, 2, 2)]
    assert pack(wanted, taken, 96) == ({}, "x")
    assert pack(wanted, taken, 128) == (_placed({"x": 64, "y": 0}), None)


@pytest.mark.parametrize(
    ("sizes", "taken", "packings"),
    [
        ([64, 64], [], 1),  # 128 bytes of 96 in each step
        ([64], [Taken(0, 64, 1, 1)], 1),  # with the block of step 1
        ([64], [Taken(32, 32, 0, 0)], 2),  # 96 bytes would do, but the block lies between
        ([64], [Taken(32, 32, 0, 0), Taken(80, 64, 0, 0)], 2),  # 16 of the last block's bytes count
    ],
)
def test_packing_is_repeated_only_where_another_may_succeed(
    sizes: list[int], taken: list[Taken], packings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10,000 tensors that need ten times the bytes of LB are packed once per attempt, not 9 times.

    All tensors live in steps 0 and 1, capacity 96.
    """
    calls, packed = [], packing._packed
    monkeypatch.setattr(packing, "_packed", lambda *given: calls.append(1) or packed(*given))
    wanted = [Request(str(place), size, 0, 1) for place, size in enumerate(sizes)]
    assert pack(wanted, taken, 96, retries=1)[1] is not None
    assert len(calls) == packings


def test_all_without_room_beside_those_placed() -> None:
    requests = [Request("a", 256, 0, 2), Request("b", 192, 0, 2), Request("c", 128, 0, 2)]
    requests += [Request("d", 192, 3, 4), Request("b", 128, 1, 2, is_own=True)]
    assert unplaced(requests, [Taken(0, 128, 0, 2)], 512) == ("b",)
    assert unplaced(requests, [Taken(0, 128, 0, 4)], 320) == ("a", "c", "b")
    assert unplaced(requests, [], 1024) == ()


def test_packing_ends_at_the_first_buffer_without_room() -> None:
    """`a` takes all 64 bytes; `b` has no room. Only `packed_in_order` goes on to `c`."""
    rows = np.array([[64, 0, 1, 0, 0], [64, 0, 0, 0, 0], [32, 2, 2, 0, 0]])
    none = np.zeros((0, packing.BLOCK_COLUMNS), dtype=np.int64)
    for is_partial, last in ((False, packing.UNPLACED), (True, 0)):
        found = packing._each_packed(rows, none, 64, (0,), is_partial=is_partial)
        assert found.tolist() == [0, packing.UNPLACED, last]


spans = st.tuples(st.integers(1, 120), st.integers(0, 4), st.integers(0, 3))


@given(st.lists(spans, max_size=14), st.lists(spans, max_size=2), st.integers(1, 12))
def test_packing_shares_no_byte_and_refuses_only_what_has_no_gap(
    sizes: list[tuple[int, int, int]], others: list[tuple[int, int, int]], capacity_units: int
) -> None:
    steps = 9
    busy = np.zeros((steps, 64), dtype=np.bool_)
    taken, offset = [], 0
    for size, first, length in others:
        taken.append(Taken(offset * UNIT, aligned(size), first, first + length))
        units = aligned(size) // UNIT
        busy[first : first + length + 1, offset : offset + units] = True
        offset += units
    wanted = [
        Request(f"r{n:02}", size, first, first + length)
        for n, (size, first, length) in enumerate(sizes)
    ]
    offsets, failed = pack(wanted, taken, capacity_units * UNIT)
    for request in sorted(wanted, key=lambda r: (-r.size_bytes, r.first, r.key)):
        units = aligned(request.size_bytes) // UNIT
        begin = offsets.get(request.place, 0) // UNIT
        row = busy[request.first : request.last + 1]
        if failed is None:
            assert not row[:, begin : begin + units].any() and begin + units <= capacity_units
        else:
            sums = row.any(axis=0)
            starts = range(capacity_units - units + 1)
            free = [start for start in starts if not sums[start : start + units].any()]
            if request.key == failed:
                assert not free
                return
            begin = free[0]
        row[:, begin : begin + units] = True
    assert failed is None


def test_what_finds_no_place_goes_first() -> None:
    """Capacity 128. By size `c` takes [0, 96) in steps 0 to 1, `b` [0, 96) in step 3, `a` [96, 128)
    in steps 1 to 2; `d`, steps 2 to 3, finds [0, 96) in step 2 and [96, 128) in step 3: nothing.
    First of all it takes [0, 32), `c` [0, 96), `b` [32, 128) and `a` [96, 128).
    """
    wanted = [Request("a", 32, 1, 2), Request("b", 96, 3, 3), Request("c", 96, 0, 1)]
    wanted.append(Request("d", 32, 2, 3))
    assert pack(wanted, (), 128) == (_placed({"d": 0, "c": 0, "b": 32, "a": 96}), None)


def in_turn(*cycles: int) -> list[Interval]:
    """Steps of so many cycles, one behind the other."""
    return list(pairwise(accumulate(cycles, initial=0)))


def test_bytes_rest_as_long_as_there_is_room() -> None:
    """Three of 64 in turn, all at 0. Of 960 cycles bytes are to rest 120: `a`'s have when `c`
    comes, not when `b` does. Where `b` is short, 100 cycles, `c` comes too soon: with 192 bytes it
    has its own, with 128 it takes `a`'s, which rest 100 cycles, more than 30.
    """
    wanted = [Request(name, 64, step, step) for step, name in enumerate("abc")]
    packed, _ = pack(wanted, (), 128)
    assert packed == _placed({"a": 0, "b": 0, "c": 0})
    assert rested(wanted, (), 64, packed, in_turn(320, 320, 320)) == packed
    apart = _placed({"a": 0, "b": 64, "c": 0})
    assert rested(wanted, (), 128, packed, in_turn(320, 320, 320)) == apart
    assert rested(wanted, (), 192, packed, in_turn(320, 320, 320)) == apart
    assert rested(wanted, (), 128, packed, in_turn(430, 100, 430)) == apart
    three = _placed({"a": 0, "b": 64, "c": 128})
    assert rested(wanted, (), 192, packed, in_turn(430, 100, 430)) == three


def test_each_buffer_rests_for_itself() -> None:
    """160 bytes. `a`, the largest, comes first in order of size; `b` finds room behind it, and what
    is left is too little for `c`: it takes `b`'s bytes, which rest 200 of 1,600 cycles by then.
    """
    wanted = [Request("a", 96, 0, 0), Request("b", 64, 1, 1), Request("c", 64, 3, 3)]
    packed, _ = pack(wanted, (), 160)
    times = [(0, 1000), (1000, 1200), (1200, 1400), (1400, 1600)]
    assert rested(wanted, (), 160, packed, times) == _placed({"a": 0, "b": 96, "c": 0})
    times = [(0, 1300), (1000, 1200), (1200, 1400), (1400, 1600)]
    assert rested(wanted, (), 160, packed, times) == _placed({"a": 0, "b": 96, "c": 96})


def test_what_is_expected_at_once_shares_no_bytes() -> None:
    """`c` comes behind `b` and is expected beside `a`, before `b`: in `b`'s bytes it would wait for
    it. Where there is no room for three it lies where it lay.
    """
    wanted = [Request(name, 64, step, step) for step, name in enumerate("abc")]
    packed, _ = pack(wanted, (), 192)
    times = [(0, 100), (100, 200), (0, 100)]
    assert rested(wanted, (), 192, packed, times) == _placed({"a": 0, "b": 64, "c": 128})
    assert rested(wanted, (), 128, packed, times) == _placed({"a": 0, "b": 64, "c": 0})


def test_what_leaves_the_kernel_keeps_its_place() -> None:
    """`k` is there at the end, at 0 as packed; `a`, which lay there before, goes behind it."""
    wanted = [Request("a", 64, 0, 0), Request("k", 32, 1, 2)]
    packed, _ = pack(wanted, (), 96)
    assert packed == _placed({"a": 0, "k": 0})
    assert rested(wanted, (), 96, packed, in_turn(50, 50)) == _placed({"a": 32, "k": 0})


def test_given_bytes_rest_too() -> None:
    """[0, 64) is another's until step 0 ends, at 30 of 160 cycles; `a` comes at 30, `b` at 60."""
    wanted = [Request("a", 32, 1, 1), Request("b", 32, 2, 2)]
    taken = [Taken(0, 64, 0, 0)]
    packed, _ = pack(wanted, taken, 128)
    assert packed == _placed({"a": 0, "b": 0})
    found = rested(wanted, taken, 128, packed, in_turn(30, 30, 100))
    assert found == _placed({"a": 64, "b": 0})


def test_bytes_rest_from_their_last_step_on() -> None:
    """`a` is there for steps 0 and 1, until 900 of 1,000 cycles: `b` follows at once."""
    wanted = [Request("a", 64, 0, 1), Request("b", 64, 2, 2)]
    packed, _ = pack(wanted, (), 128)
    found = rested(wanted, (), 128, packed, in_turn(100, 800, 100))
    assert found == _placed({"a": 0, "b": 64})


def test_a_short_rest_is_better_than_none() -> None:
    """`c` comes at 500 of 960 cycles, when `a` ends; `b`'s bytes have rested 40 by then."""
    wanted = [Request(name, 64, step, step) for step, name in enumerate("abc")]
    packed, _ = pack(wanted, (), 128)
    found = rested(wanted, (), 128, packed, [(0, 500), (0, 460), (500, 960)])
    assert found == _placed({"a": 0, "b": 64, "c": 64})


def test_where_resting_leaves_no_room_all_rest_for_less() -> None:
    """128 bytes: `b` behind `a`, so that these rest, leaves none for `c`, which meets both."""
    wanted = [Request("a", 64, 0, 0), Request("b", 64, 1, 1), Request("c", 32, 0, 1)]
    packed, _ = pack(wanted, (), 128)
    found = rested(wanted, (), 128, {**packed, ("c", False): 96}, in_turn(500, 500))
    assert found == _placed({"a": 0, "b": 0, "c": 64})


lives = st.tuples(st.integers(1, 100), st.integers(0, 4), st.integers(0, 5))


times = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), min_size=5, max_size=5)


@given(st.lists(lives, min_size=1, max_size=12), st.integers(1, 12), times)
def test_what_rests_shares_no_byte_either(
    wanted: list[tuple[int, int, int]], units: int, times: list[Interval]
) -> None:
    requests = [
        Request(str(place), size, first, min(5, first + length))
        for place, (size, first, length) in enumerate(wanted)
    ]
    taken = [Taken(0, UNIT, 0, 1)]
    packed, failed = pack(requests, taken, units * UNIT)
    if failed is not None:
        return
    expected = [(begin, begin + cycles) for begin, cycles in times]
    found = rested(requests, taken, units * UNIT, packed, expected)
    busy = np.zeros((6, units * UNIT), dtype=np.int64)
    busy[0:2, :UNIT] += 1
    for request in requests:
        offset, size = found[request.place], aligned(request.size_bytes)
        assert offset + size <= units * UNIT
        busy[request.first : request.last + 1, offset : offset + size] += 1
        assert request.last < 5 or offset == packed[request.place]
    assert busy.max() <= 1
