"""Matching, Spearman's correlation with ties, sums and shares, all worked out by hand."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest

from graphturbo_core.report.measured.comparison import compared, spearman
from graphturbo_core.report.measured.matching import matched
from graphturbo_core.report.measured.table import MeasuredRow
from graphturbo_core.report.measured.texts import (
    correlation_text,
    measured_json,
    ratio_text,
    share_row,
    total_text,
    unmatched_texts,
)
from tests.report.measured.small_report import small_report


def times(**named: float) -> list[MeasuredRow]:
    return [
        MeasuredRow(name.replace("_", "/"), value, line)
        for line, (name, value) in enumerate(named.items(), 2)
    ]


def test_a_layers_name_comes_first_then_an_ops() -> None:
    rows = times(stem_conv=1, stem_relu=0.5, block_add=4, other=9)
    found = matched(rows, small_report())
    assert [(each.name, each.measured_ms, each.rows) for each in found.layers] == [
        ("stem/conv", 1.5, 2),
        ("block/conv", 4, 1),
    ]
    assert [row.name for row in found.unknown] == ["other"]
    assert found.unmeasured == ("head/fc",)


def test_a_layer_that_has_the_name_of_another_layers_op_keeps_its_rows() -> None:
    """The third layer is called `stem/relu`, which is also an op of the first."""
    report = small_report(("stem/conv", "block/conv", "stem/relu"))
    (layer,) = matched(times(stem_relu=2), report).layers
    assert (layer.index, layer.name) == (2, "stem/relu")


def test_spearman_with_ties_by_hand() -> None:
    """Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4. Less their mean of 2.5 their product is
    1.5 * 1.5 + 0 + 0 + 1.5 * 1.5 = 4.5, their squares sum to 4.5 and 5."""
    assert spearman([10, 20, 20, 30], [1, 7, 3, 9]) == pytest.approx(4.5 / sqrt(4.5 * 5))


def test_spearman_without_ties_by_hand() -> None:
    """1 - 6 * sum(d^2) / (n (n^2 - 1)): ranks 1 2 3 4 5 and 2 1 4 3 5, d^2 sums to 4."""
    assert spearman([1, 2, 3, 4, 5], [20, 10, 40, 30, 50]) == pytest.approx(1 - 6 * 4 / 120)
    assert spearman([1, 2, 3], [5, 6, 900]) == pytest.approx(1)
    assert spearman([1, 2, 3], [5, 4, -1]) == pytest.approx(-1)


def test_spearman_without_meaning() -> None:
    assert spearman([], []) is None
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 1, 1], [1, 2, 3]) is None


def test_spearman_does_not_change_with_scale_or_order() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        one, other = draw.integers(0, 6, 12).astype(float), draw.integers(0, 6, 12).astype(float)
        found = spearman(one.tolist(), other.tolist())
        assert found is not None and -1 - 1e-12 <= found <= 1 + 1e-12
        again = draw.permutation(12)
        assert spearman((3 * one[again]).tolist(), np.exp(other[again]).tolist()) == pytest.approx(
            found
        )
        assert spearman(other.tolist(), one.tolist()) == pytest.approx(found)


def test_shares_and_sums_by_hand() -> None:
    """Simulated 2, 6 and 2 ms; measured 8, 6 and 6 ms: shares 20, 60, 20 and 40, 30, 30 %."""
    found = compared(times(stem_conv=8, block_conv=6, head_fc=6), small_report())
    assert (found.simulated_ms, found.measured_ms) == (pytest.approx(10), 20)
    assert [share.ratio for share in found.shares] == [
        pytest.approx(2), pytest.approx(0.5), pytest.approx(1.5),
    ]  # fmt: skip
    assert [share.layer.index for share in found.worst(2)] == [0, 1]
    assert found.samples == 4
    assert "measured 20 ms, simulated 10 ms, 2 times (one round of 4 samples" in total_text(found)
    row = share_row(found.shares[0])
    assert (row["simulated share (%)"], row["measured share (%)"]) == (
        pytest.approx(20), pytest.approx(40),
    )  # fmt: skip
    assert row["measured share / simulated share"] == "2×"


def test_a_constant_factor_changes_nothing() -> None:
    found = compared(times(stem_conv=200, block_conv=600, head_fc=200), small_report())
    assert [share.ratio for share in found.shares] == [1, 1, 1]
    assert found.worst(3) == ()
    assert found.correlation == pytest.approx(1)


def test_times_of_zero_are_told_apart() -> None:
    report = small_report(windows_s=(0.0, 0.006, 0.0))
    found = compared(times(stem_conv=1, block_conv=3, head_fc=0), report)
    assert [share.ratio for share in found.shares] == [inf, pytest.approx(0.75), None]
    assert [ratio_text(share) for share in found.shares] == [
        "only measured", "0.75×", "no time on either side",
    ]  # fmt: skip
    assert [share.layer.index for share in found.worst(3)] == [0, 1]


def test_without_a_matched_layer_all_is_empty() -> None:
    found = compared(times(other=1), small_report())
    assert (found.shares, found.correlation) == ((), None)
    assert correlation_text(found) == "No rank correlation: 0 layers matched, 3 are needed."
    assert unmatched_texts(found)[0] == "1 row without a layer: other (line 2)."
    assert "3 layers without a time: stem/conv, block/conv, head/fc." in unmatched_texts(found)


def test_equal_times_have_no_correlation() -> None:
    found = compared(times(stem_conv=5, block_conv=5, head_fc=5), small_report())
    assert "all times of one side are equal" in correlation_text(found)


def test_long_lists_are_counted() -> None:
    rows = [MeasuredRow(f"n{place}", 1, place + 2) for place in range(12)]
    text = unmatched_texts(compared(rows, small_report()))[0]
    assert text.startswith("12 rows without a layer: n0 (line 2), ")
    assert text.endswith("n7 (line 9) and 4 more.")


def test_the_json_has_both_sides() -> None:
    found = measured_json(compared(times(stem_conv=1, stem_relu=1, x=3), small_report()))
    assert found["layers"] == [
        {"name": "stem/conv", "simulated_ms": 2.0, "measured_ms": 2, "rows": 2}
    ]
    assert (found["rows_without_layer"], found["correlation"]) == (["x"], None)
    assert found["layers_without_time"] == ["block/conv", "head/fc"]
