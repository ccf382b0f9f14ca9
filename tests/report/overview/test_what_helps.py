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
from graphturbo_core.report.verdict.binding_change import NUMBERS, BindingChange, binding_change
from graphturbo_core.report.verdict.equal_batches import equal_phrase
from tests.report.overview.reports import report_of

DRAM = "cluster.dram_bandwidth_bytes_per_s"


def bound_by(resource: str) -> Report:
    """A report whose critical path lies on one resource."""
    report = report_of("tvm@2")
    path = {name: float(name == resource) for name in report.contract["critical_path"]}
    return replace(report, contract={**report.contract, "critical_path": path})


@pytest.mark.parametrize("resource", NUMBERS)
def test_each_resource_has_a_number_of_the_chip(resource: str) -> None:
    change = binding_change(bound_by(resource))
    assert change is not None
    assert (change.key, change.factor, change.words) == NUMBERS[resource]
    assert change.key in {row["key"] for row in report_of("tvm@2").tables["chip"]}


@pytest.mark.parametrize("resource", ["latency", "barrier", "link"])
def test_a_resource_without_a_number_has_no_change(resource: str) -> None:
    assert binding_change(bound_by(resource)) is None


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


def test_the_sentence_has_the_ratio_of_both_rates() -> None:
    before = report_of("tvm@2")
    request = RunRequest("teaching-resnet", "tvm@2", "stcp920", 64)
    more = scaled_profile("stcp920", None, DRAM, Fraction(5, 4))
    after = run_report(load_sample("teaching-resnet"), request, more)
    ratio = after.contract["throughput_per_s"] / before.contract["throughput_per_s"]
    assert 1 < ratio < 1.25
    change = BindingChange("DRAM-bound", DRAM, Fraction(5, 4), "25 % more DRAM bandwidth")
    said = change.text("B", before, after)
    assert said == f"B is DRAM-bound: 25 % more DRAM bandwidth makes it {ratio:.3g}× as fast"


def test_the_ratio_at_equal_cluster_batches() -> None:
    a, b = report_of("tvm@2"), report_of("graphturbo@16")
    equal = report_of("tvm@16")
    ratio = b.contract["throughput_per_s"] / equal.contract["throughput_per_s"]
    assert equal_phrase(a, b, equal) == f"{ratio:.3g}x at a cluster batch of 16 for both"
    assert equal_phrase(equal, b, None) == ""
    assert "is being computed" in equal_phrase(a, b, None)
    assert equal_phrase(a, b, "TOO_LARGE").endswith("for both: TOO_LARGE")
