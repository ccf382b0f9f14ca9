"""Text for people, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.units import (
    bytes_beside,
    format_bytes,
    format_count,
    format_percent,
    format_seconds,
    format_si,
    per_second,
    seconds_from_cycles,
)


@pytest.mark.parametrize(
    ("size", "room", "texts"),
    [
        (34816, 24576, ("34 KiB", "24 KiB")),
        (1_048_577, 1_048_576, ("1,048,577 bytes", "1,048,576 bytes")),
        (2048, 2048, ("2 KiB", "2 KiB")),
    ],
)
def test_sizes_that_are_compared_differ(size: int, room: int, texts: tuple[str, str]) -> None:
    assert bytes_beside(size, room) == texts


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1000, "1000 B"),
        (1024, "1 KiB"),
        (1310720, "1.25 MiB"),
        (10 * 2**20, "10 MiB"),
        (1023 * 1024, "1023 KiB"),
        (2**20 - 1, "1 MiB"),
        (16 * 2**30, "16 GiB"),
        (-1536, "-1.5 KiB"),
        (math.inf, "n/a"),
    ],
)
def test_format_bytes(size_bytes: float, text: str) -> None:
    assert format_bytes(size_bytes) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8400, "", "8.4 k"),
        (8460, "images/s", "8.46 kimages/s"),
        (108e9, "B/s", "108 GB/s"),
        (999.6, "", "1 k"),
        (999_600, "", "1 M"),
        (0.25, "", "0.25"),
        (0, "B/s", "0 B/s"),
        (-1064, "", "-1.06 k"),
        (math.nan, "", "n/a"),
    ],
)
def test_format_si(value: float, unit: str, text: str) -> None:
    assert format_si(value, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (2e-9, "2 ns"),
        (1.5e-6, "1.5 µs"),
        (0.0123, "12.3 ms"),
        (0.9996, "1 s"),
        (1234.5, "1234 s"),
        (1e-12, "0.001 ns"),
        (math.inf, "n/a"),
    ],
)
def test_format_seconds(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_format_count_and_percent() -> None:
    assert format_count(300_000) == "300,000"
    assert [format_percent(ratio) for ratio in (0.1234, 1, 0, math.nan)] == [
        "12.3 %",
        "100 %",
        "0 %",
        "n/a",
    ]


def test_cycles_become_seconds_and_rates() -> None:
    assert seconds_from_cycles(2_500_000, 10**9) == 0.0025
    # 64 images in 8 ms are 8,000 a second.
    assert per_second(64, 8_000_000, 10**9) == 8000
    assert per_second(64, 0, 10**9) == math.inf


@given(st.integers(0, 2**59))
def test_shown_bytes_are_within_half_a_percent(size_bytes: int) -> None:
    number, unit = format_bytes(size_bytes).split()
    power = ("B", "KiB", "MiB", "GiB", "TiB", "PiB").index(unit)
    assert float(number) * 1024**power == pytest.approx(size_bytes, rel=0.00501)
