"""Sentences on who is the fastest and why, with critical paths made up here."""

from __future__ import annotations

import pytest

from graphturbo_core.comparison.side_by_side.time_words import (
    NamedRun,
    ranked,
    who_wins,
    why_slower,
)
from tests.comparison.runs import made_up, run_of

MIB = 2**20


def run(name: str, latency_s: float, size: int = 4, kernels: int = 1, **path: float) -> NamedRun:
    figures = made_up(
        name, latency_s, critical_path=path, dram_read_bytes=size * MIB, dram_write_bytes=0,
        kernels=kernels, rounds=1,
    ).figures  # fmt: skip
    return NamedRun(name, figures)


BEST = run("best", 2e-3)


def test_the_fastest_is_first_and_equal_ones_keep_their_order() -> None:
    runs = [run("a", 3e-3), run("b", 2e-3), run("c", 2e-3)]
    assert [each.name for each in ranked(runs)] == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (5e-3, "best is the fastest, 2.5× as fast as other"),
        (2.001e-3, "best and other are the fastest, with the same time"),
        (1e-3, "other is the fastest, 2.0× as fast as best"),
    ],
)
def test_who_wins_is_said_against_the_next_one(seconds: float, said: str) -> None:
    assert who_wins([run("last", 9e-3), BEST, run("other", seconds)]) == said


def test_all_that_are_as_fast_are_named() -> None:
    runs = [run("a", 2e-3), run("last", 9e-3), run("b", 2.005e-3), run("c", 2.001e-3)]
    assert who_wins(runs) == "a, c and b are the fastest, with the same time"


def test_nobody_wins_alone() -> None:
    assert who_wins([BEST]) == who_wins([]) == ""


FAST = run("best", 2e-3, kernels=3, matrix=1.5e-3, dram=0.5e-3)


def why(latency_s: float = 12e-3, size: int = 4, kernels: int = 3, **path: float) -> str:
    return why_slower(run("other", latency_s, size, kernels, **path), FAST)


def test_two_largest_losses_are_named_and_a_third_is_not() -> None:
    """10 ms longer: 6 of DRAM, 2.5 of GB, 1.5 of launches."""
    said = why(size=8, kernels=5, matrix=1.5e-3, dram=6.5e-3, gb=2.5e-3, launch=1.5e-3)
    assert said.endswith("It moves 8 MiB instead of 4 MiB over DRAM, in 5 kernels instead of 3.")
    assert "path 6 ms more of DRAM and 2.5 ms more of GB port. It" in said


def test_a_loss_below_a_tenth_is_not_named() -> None:
    said = why(matrix=1.5e-3, dram=0.5e-3, vector=9.2e-3, gb=0.8e-3)
    assert said.startswith(
        "10 ms longer than best: on the critical path 9.2 ms more of vector engine. It"
    )
    assert "GB port" not in said


def test_a_gain_as_large_is_named_too() -> None:
    """Without matrix engines on the path it gains 1.5 ms, more than a tenth of 10 ms."""
    said = why(dram=0.5e-3, vector=11.5e-3)
    assert "11.5 ms more of vector engine, but 1.5 ms less of matrix engine" in said


def test_where_no_cause_stands_out_none_is_named() -> None:
    keys = ("matrix", "vector", "move", "dram", "gb", "lb", "link", "latency", "launch", "barrier")
    small = {key: 0.9e-3 for key in keys}
    small["matrix"], small["dram"] = 2.4e-3, 1.4e-3
    assert why(**small).startswith("10 ms longer than best. It moves")


def test_equal_runs_have_no_loss() -> None:
    said = why(2e-3, matrix=1.5e-3)
    assert said == "as fast as best. It moves 4 MiB over DRAM, in 3 kernels."


def test_critical_paths_add_up_to_the_times_of_real_runs() -> None:
    """So the differences do, which the sentences name."""
    for name in ("layerwise@2", "tvm@2", "xla@2", "graphturbo@2"):
        found = run_of(name).figures
        assert sum(found.critical_path.values()) == pytest.approx(found.latency_s, rel=1e-6)
