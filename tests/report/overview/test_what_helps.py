"""What binds a run, the chip with a quarter more of it, and the ratio at equal cluster batches."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import PROFILES_FOLDER, load_profile, parse_profile
from graphturbo_core.hardware.variation import scaled_profile
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.binding_change import (
    BOUND,
    NUMBERS,
    BindingChange,
    Tried,
    binding_changes,
    helps_text,
    tried,
)
from graphturbo_core.report.verdict.equal_batches import equal_phrase
from tests.report.overview.reports import report_of

DRAM = "cluster.dram_bandwidth_bytes_per_s"


def bound_by(resource: str) -> Report:
    """A report whose critical path lies on one resource."""
    report = report_of("tvm@2")
    return with_path({name: float(name == resource) for name in report.contract["critical_path"]})


def with_path(path: dict[str, float]) -> Report:
    """A report with this critical path."""
    report = report_of("tvm@2")
    return replace(report, contract={**report.contract, "critical_path": path})


@pytest.mark.parametrize("resource", NUMBERS)
def test_each_resource_has_a_number_of_the_chip(resource: str) -> None:
    (change,) = binding_changes(bound_by(resource))
    assert (change.key, change.factor, change.words) == NUMBERS[resource]
    assert change.key in {row["key"] for row in report_of("tvm@2").tables["chip"]}


def test_a_resource_without_a_number_has_no_change_a_name_and_the_reason() -> None:
    report = bound_by("move")
    assert {*BOUND} - {*NUMBERS} == {"move"}
    assert binding_changes(report) == ()
    why_not = "no number of this chip speeds up the move engines alone"
    assert helps_text("B", report) == f"B is bound by move engines: {why_not}"
    # What it was not tried for comes first.
    plan = "what helps is not computed for a run from a plan"
    assert helps_text("B", report, (), plan) == f"B is bound by move engines: {plan}"
    rows = tuple(row for row in report.tables["chip"] if row["key"] != DRAM)
    report = with_path({"dram": 1.0})
    report = replace(report, tables={**report.tables, "chip": rows})
    assert helps_text("A", report).endswith("no number of this chip speeds up DRAM alone")


def test_every_resource_of_the_critical_path_has_a_name() -> None:
    assert {*BOUND} == {*report_of("tvm@2").contract["critical_path"]}


def test_three_changes_are_tried_in_the_order_of_the_path_those_of_a_tenth_or_more() -> None:
    path = {"move": 0.3, "dram": 0.25, "gb": 0.1, "matrix": 0.15, "vector": 0.1, "lb": 0.1}
    keys = [change.key for change in binding_changes(with_path(path))]
    assert keys == [NUMBERS[name][0] for name in ("dram", "matrix", "gb")]
    few = {"dram": 0.86, "matrix": 0.099, "gb": 0.041}
    assert [change.key for change in binding_changes(with_path(few))] == [DRAM]


def test_a_number_that_the_chip_does_not_have_is_not_changed() -> None:
    report = with_path({"dram": 0.6, "matrix": 0.4})
    rows = tuple(row for row in report.tables["chip"] if row["key"] != DRAM)
    report = replace(report, tables={**report.tables, "chip": rows})
    assert [change.key for change in binding_changes(report)] == ["core.matrix_columns"]


IN_VAIN = "The matrix engines take 60 % of B's critical path, but"


@pytest.mark.parametrize(
    ("ratios", "text"),
    [
        ((), "B is matrix-bound"),
        ((1.18,), "B is matrix-bound: 25 % more matrix columns make B 1.18× as fast"),
        ((1.02,), "B is matrix-bound: 25 % more matrix columns make B 1.02× as fast"),
        ((1.019,), f"{IN_VAIN} 25 % more matrix columns do not help"),
        ((0.944,), f"{IN_VAIN} 25 % more matrix columns do not help"),
        (
            (1.0, 1.1),
            f"{IN_VAIN} 25 % more matrix columns do not help; "
            "25 % more DRAM bandwidth makes B 1.1× as fast",
        ),
        (
            (1.0, 1.01),
            f"{IN_VAIN} neither 25 % more matrix columns nor 25 % more DRAM bandwidth helps",
        ),
    ],
)
def test_only_a_gain_is_called_one(ratios: tuple[float, ...], text: str) -> None:
    report = with_path({"matrix": 0.6, "dram": 0.4})
    changes = binding_changes(report)
    found = [Tried(change, ratio) for change, ratio in zip(changes, ratios, strict=False)]
    assert helps_text("B", report, found) == text


def test_one_change_of_singular_words_does_not_help() -> None:
    report = with_path({"dram": 1.0})
    (change,) = binding_changes(report)
    assert helps_text("A", report, [Tried(change, 1)]) == (
        "DRAM takes 100 % of A's critical path, but 25 % more DRAM bandwidth does not help"
    )


def test_a_quarter_more_is_rounded_up_and_nothing_else_changes() -> None:
    before = load_profile("stcp920")
    after = parse_profile(scaled_profile("stcp920", None, DRAM, Fraction(5, 4)), "x.yaml")
    assert after.dram_bandwidth == before.dram_bandwidth * 5 // 4
    changed = [
        number.key
        for number, other in zip(before.numbers, after.numbers, strict=True)
        if number.value != other.value
    ]
    assert changed == [DRAM]
    few = scaled_profile("stcp920", None, "chip.clusters", Fraction(1, 3))
    assert parse_profile(few, "x.yaml").clusters == 2  # 4 / 3, rounded up


def test_an_own_profile_is_scaled_by_its_bytes() -> None:
    data = (PROFILES_FOLDER / "generic-4x4.yaml").read_bytes()
    scaled = parse_profile(scaled_profile("mine", data, DRAM, Fraction(5, 4)), "x.yaml")
    assert scaled.dram_bandwidth == load_profile("generic-4x4").dram_bandwidth * 5 // 4


def test_a_change_has_the_ratio_of_both_rates() -> None:
    before = report_of("tvm@2")
    request = RunRequest("teaching-resnet", "tvm@2", "stcp920", 64)
    more = scaled_profile("stcp920", None, DRAM, Fraction(5, 4))
    after = run_report(load_sample("teaching-resnet"), request, more)
    ratio = after.contract["throughput_per_s"] / before.contract["throughput_per_s"]
    assert 1 < ratio < 1.25
    change = BindingChange(DRAM, Fraction(5, 4), "25 % more DRAM bandwidth")
    assert tried(change, before, after) == Tried(change, pytest.approx(ratio))
    idle = replace(before, contract={**before.contract, "throughput_per_s": 0.0})
    assert tried(change, idle, after).ratio == 1


def test_the_ratio_at_equal_cluster_batches() -> None:
    a, b = report_of("tvm@2"), report_of("graphturbo@16")
    equal = report_of("tvm@16")
    ratio = b.contract["throughput_per_s"] / equal.contract["throughput_per_s"]
    assert equal_phrase(a, b, equal) == f"{ratio:.3g}× at a cluster batch of 16 for both"
    assert equal_phrase(equal, b, None) == ""
    assert "is being computed" in equal_phrase(a, b, None)
    assert equal_phrase(a, b, "TOO_LARGE").endswith("for both: TOO_LARGE")
