"""The sentence above the first screen: its outcomes, each from contracts with known figures."""

from __future__ import annotations

from typing import Any

import pytest

from graphturbo_core.report.overview.headline import beside_text, headline, percent, times
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.equal_batches import asked_text, strategy_run
from graphturbo_core.report.verdict.verdict import COMPARED
from tests.report.overview.made import CONTRACT, made_report
from tests.report.overview.reports import report_of

MIB = 2**20
FINE = [[n] for n in range(4)]
COARSE = [[0, 1], [2, 3]]


def run(per_s: float, dram_mib: int, matrix: float, **more: Any) -> Report:
    """A coarse run of a rate, bytes over DRAM, a quarter written, and busy matrix engines."""
    groups = more.pop("groups", COARSE)
    figures = {
        "throughput_per_s": per_s,
        "dram_read_bytes": dram_mib * MIB * 3 // 4,
        "dram_write_bytes": dram_mib * MIB // 4,
        "utilization": {**CONTRACT["utilization"], "matrix": matrix},
        **more,
    }
    return made_report(groups, **figures)


def fine(per_s: float = 100, dram_mib: int = 840, matrix: float = 0.13, **more: Any) -> Report:
    return run(per_s, dram_mib, matrix, **{"groups": FINE, "strategy": "tvm@4", **more})


def test_clearly_faster_names_two_ratios() -> None:
    assert headline(fine(), run(630, 80, 0.87)) == (
        "Coarse is 6.3× faster: 10.5× less DRAM traffic, matrix engines busy 87 % instead of 13 %"
    )


def test_a_little_faster_is_only_and_names_what_moved() -> None:
    a = fine(dram_ledger={"activation": 500 * MIB, "weight_again": 40 * MIB, "input": MIB})
    b = run(140, 600, 0.2, dram_ledger={"activation": 260 * MIB, "weight_again": 60 * MIB})
    assert headline(a, b) == (
        "Coarse is only 1.40× faster: DRAM moves 240 MiB fewer activations, "
        "20 MiB more refetched weights"
    )


def test_ops_of_unknown_types_are_counted_beside_the_sentence() -> None:
    notes = [
        f"{n} op(s) of type {kind} have no semantics and run whole"
        for n, kind in ((1, "F"), (2, "G"))
    ]
    same: dict[str, Any] = {
        **dict.fromkeys(COMPARED, 1),
        "options": {},
        "plan_sha256": "",
        "edits": None,
    }
    a, b = fine(**same), run(140, 600, 0.2, notes=notes, **same)
    assert beside_text(a, b, None).endswith(
        "3 of 4 ops are of types unknown here: they run whole, and no MACs count"
    )
    one = run(140, 600, 0.2, notes=notes[:1], **same)
    assert "1 of 4 ops is of a type unknown here: it runs whole" in beside_text(a, one, None)
    assert "unknown" not in beside_text(a, run(140, 600, 0.2, notes=["g1: x"], **same), None)


def test_a_cluster_batch_that_is_larger_than_the_run_s_is_said() -> None:
    a, b = fine(cluster_batch=16), run(140, 600, 0.2, cluster_batch=16)
    a.contract["strategy"], b.contract["strategy"] = "tvm@16", "graphturbo:gb@999999"
    said = "run at 16 samples per cluster"
    pair = {"A": a, "B": b}
    assert asked_text(pair) == f"B is {said}: @999999 was asked"
    assert [strategy_run(each) for each in (a, b)] == ["tvm@16", "graphturbo:gb@16"]
    a.contract["strategy"] = "tvm@999999"
    assert asked_text(pair) == f"A and B are {said}: @999999 was asked"
    a.contract["strategy"] = "tvm@32"
    assert asked_text(pair) == f"A is {said}: @32 was asked; B is {said}: @999999 was asked"
    a.contract["strategy"] = b.contract["strategy"] = "tvm"
    assert asked_text(pair) == ""
    assert strategy_run(a) == "tvm"


def test_the_same_speed_is_as_fast() -> None:
    # Within half a per cent; without a cause in DRAM's bytes the engines are named.
    assert headline(fine(), run(100.4, 840, 0.13)) == (
        "Coarse is as fast: matrix engines busy 13 % in both"
    )
    assert "faster" in headline(fine(), run(100.6, 840, 0.13))


def test_slower_says_so_with_the_two_causes_that_grew_most() -> None:
    a = fine(dram_ledger={"activation": 500 * MIB, "halo": 2 * MIB})
    grown = {"activation": 492 * MIB, "halo": 12 * MIB, "weight_again": 30 * MIB, "spill": 8 * MIB}
    b = run(50, 1680, 0.1, dram_ledger=grown)
    told = headline(a, b)
    assert told.startswith("Coarse is 2.0× slower: 2.0× the DRAM traffic, 30 MiB more ")
    # Activations, halos and spills take each other's place: their sum.
    assert ", 10 MiB more activations" in told
    assert "spill" not in told
    # Nothing over DRAM grew: the engines.
    assert headline(fine(), run(50, 840, 0.1)).endswith("busy 10 % instead of 13 %")


def test_slower_names_what_it_saved_where_that_is_more_than_the_second_cause_that_grew() -> None:
    grown = {"weight_again": 90 * MIB, "input": 2 * MIB}
    b = run(50, 840, 0.1, dram_ledger=grown)
    saved = fine(dram_ledger={"activation": 80 * MIB, "weight_first": 9 * MIB})
    assert headline(saved, b) == (
        "Coarse is 2.0× slower: the same DRAM traffic, 90 MiB more refetched weights, "
        "80 MiB fewer activations"
    )
    little = headline(fine(dram_ledger={"activation": MIB}), b)
    assert little.endswith("90 MiB more refetched weights, 2 MiB more model inputs")


ONE = {"batch": 1, "rounds": ({"count": 1, "samples": 1, "is_drawn": True},)}


def test_busy_engines_are_those_of_the_clusters_at_work() -> None:
    """A batch of 1 keeps one of four clusters busy, unless they share it."""
    a = fine(matrix=0.05, **ONE)
    assert headline(a, run(630, 80, 0.22, **ONE)).endswith("busy 88 % instead of 20 %")
    shared = headline(a, run(630, 80, 0.24, clusters=(0, 1, 2, 3), **ONE))
    assert shared.endswith("busy 24 % instead of 20 %, on 4 clusters instead of 1")
    tied = headline(a, run(630, 80, 0.2, clusters=(0, 1, 2, 3), **ONE))
    assert tied.endswith("busy 20 % in both, on 4 clusters instead of 1")
    fewer = headline(run(100, 840, 0.2, clusters=(0, 1), **ONE), run(630, 80, 0.1, **ONE))
    assert fewer.endswith("busy 40 % instead of 20 %, on 1 cluster instead of 4")


@pytest.mark.parametrize(
    "b",
    [
        fine(630, 80, 0.87, strategy="tvm@2"),
        run(630, 80, 0.87, batch=8, strategy="tvm@2"),
        run(630, 80, 0.87, profile="other", strategy="tvm@2"),
    ],
    ids=["B is fine too", "another batch", "another chip"],
)
def test_only_a_coarse_plan_of_the_same_task_is_called_coarse(b: Report) -> None:
    assert headline(fine(), b).startswith("B, tvm@2, is 6.3× faster")


def test_one_coarse_strategy_on_both_sides_is_not_called_coarse() -> None:
    b = run(630, 80, 0.87, strategy="graphturbo@8")
    assert headline(run(100, 840, 0.13), b).startswith("B, graphturbo@8, is")


def test_dram_traffic_that_is_nearly_the_same_is_no_ratio() -> None:
    told = headline(fine(), run(200, 840, 0.5))
    assert told.startswith("Coarse is 2.0× faster: the same DRAM traffic, ")
    assert "841 MiB over DRAM" in headline(fine(), run(200, 841, 0.5))


def test_numbers_have_the_digits_that_they_need() -> None:
    ratios = {
        1.164: "1.16×",
        1.5: "1.50×",
        6.34: "6.3×",
        9.96: "10×",
        10.52: "10.5×",
        1234: "1,230×",
    }
    assert {ratio: times(ratio) for ratio in ratios} == ratios
    shares = {
        0.868: "87 %",
        0.0996: "10 %",
        0.0923: "9.2 %",
        0.004: "0.4 %",
        0.0: "0 %",
        1.0: "100 %",
    }
    assert {share: percent(share) for share in shares} == shares


def test_a_real_pair_names_the_ratios_of_its_contracts() -> None:
    a, b = report_of("tvm@16"), report_of("graphturbo@16")
    (one, two) = (r.contract["dram_read_bytes"] + r.contract["dram_write_bytes"] for r in (a, b))
    told = headline(a, b)
    assert f"{b.contract['throughput_per_s'] / a.contract['throughput_per_s']:.1f}× faster" in told
    assert f"{one / two:.1f}× less DRAM traffic" in told
    assert "slower" in headline(b, a)
