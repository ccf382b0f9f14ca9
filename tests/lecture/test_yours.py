"""Steps of the lecture on other models: their numbers are those of reports, or worked by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.lecture.pictured import parked
from graphturbo_core.lecture.results import kept_results
from graphturbo_core.lecture.runs import BREADTH, CHIP, IMAGES, MODEL
from graphturbo_core.lecture.yours.cutting import TriedCount, cut_of
from graphturbo_core.lecture.yours.traffic import MOST_COLUMNS, traffic_of
from graphturbo_core.lecture.yours.waiting import MOST_KERNELS, is_listed, order_of
from graphturbo_core.pipeline import run_report
from graphturbo_core.report.report import Report
from graphturbo_core.run_request import RunRequest

KEPT = kept_results()
BLOCKS = ("teaching-resnet", "generic-4x4", 16)
"""Model, chip and batch with four clusters."""


@cache
def report_of(strategy: str, model: str, chip: str, batch: int, order: str = "") -> Report:
    options = dict(BREADTH) if order else {}
    request = RunRequest(model, strategy, chip, batch, options=options)
    return run_report(load_sample(model), request)


def lesson_report(strategy: str, order: str = "") -> Report:
    return report_of(strategy, MODEL, CHIP, IMAGES, order)


@pytest.mark.parametrize(("strategy", "run"), [("tvm", "tvm"), ("graphturbo", "full")])
def test_the_lesson_s_own_network_gives_its_kept_traffic(strategy: str, run: str) -> None:
    found, kept = traffic_of(lesson_report(strategy)), KEPT.runs[run]
    assert (found.dram_bytes, found.causes) == (kept.dram_bytes, dict(kept.dram))
    assert found.needed_bytes == KEPT.compulsory_dram_bytes
    assert found.between_bytes == kept.dram.get("activation", 0)
    assert (found.samples, found.kernels) == (IMAGES, len(kept.kernels))
    for pile, kernel in zip(found.piles, kept.kernels, strict=True):
        for way, sizes in (("read", pile.reads), ("write", pile.writes)):
            expected = Counter[str]()
            for each in kernel.traffic:
                expected[each.cause] += each.bytes if each.way == way else 0
            assert sizes == {cause: size for cause, size in expected.items() if size}
    names = [pile.layer for pile in found.piles]
    assert names == [k.layers[0] if len(k.layers) == 1 else "" for k in kept.kernels]


@pytest.mark.parametrize("strategy", ["tvm", "graphturbo"])
def test_piles_of_many_kernels_have_all_bytes_of_one_cluster(strategy: str) -> None:
    report = report_of(strategy, *BLOCKS)
    found, contract = traffic_of(report), report.contract
    assert contract["rounds"] == 1
    assert found.dram_bytes * 4 == contract["dram_read_bytes"] + contract["dram_write_bytes"]
    kernels = [number for pile in found.piles for number in range(pile.first, pile.last + 1)]
    assert kernels == list(range(1, contract["kernels"] + 1))
    assert len(found.piles) == min(MOST_COLUMNS, contract["kernels"])
    sums = Counter[str]()
    for pile in found.piles:
        sums.update(pile.reads)
        sums.update(pile.writes)
    assert dict(sums) == found.causes


def test_the_lesson_s_group_is_cut_as_kept() -> None:
    """48 KiB into LBs of 16 KiB: 1 and 2 pieces do not fit, 4 do, 8 would too."""
    found = cut_of(lesson_report("graphturbo"))
    assert found is not None
    assert (found.group, found.layers, found.samples, found.cores) == ("g1", 2, 8, 4)
    assert (found.whole_bytes, found.capacity_bytes, found.pieces) == (49_152, 16_384, 4)
    assert found.tried == tuple(TriedCount(n, 49_152 // n) for n in (1, 2, 4, 8))
    assert [(each.pieces, each.peak_bytes) for each in found.tried] == [
        (each.pieces, each.peak_bytes) for each in KEPT.candidates
    ]


def test_a_strategy_that_cuts_nothing_has_no_such_group() -> None:
    assert cut_of(lesson_report("tvm")) is None


def test_a_group_that_is_cut_between_rows_is_not_taken() -> None:
    """Its pieces share rows: their bytes do not follow from the whole."""
    report = lesson_report("graphturbo")
    rows = [{**row, "split_axis": 2, "along": "axis 2"} for row in report.tables["groups"]]
    assert cut_of(replace(report, tables={**report.tables, "groups": rows})) is None


@pytest.mark.parametrize(("order", "run"), [("", "full"), ("breadth-first", "breadth")])
def test_the_lesson_s_kernels_leave_in_gb_what_is_kept(order: str, run: str) -> None:
    found, kept = order_of(lesson_report("graphturbo", order)), KEPT.runs[run]
    assert [each.waiting_bytes for each in found.kernels] == [k.parked_bytes for k in kept.kernels]
    assert [each.name for each in found.kernels] == [kernel.name for kernel in kept.kernels]
    assert [(each.start, each.end) for each in found.kernels] == [
        (kernel.start, kernel.end) for kernel in kept.kernels
    ]
    assert found.gb_bytes == KEPT.gb_bytes
    assert found.peak_bytes == max(kernel.parked_bytes for kernel in kept.kernels)


def test_what_waits_is_the_sum_of_the_buffers_in_use() -> None:
    report = report_of("graphturbo", *BLOCKS)
    for kernel in order_of(report).kernels:
        assert kernel.waiting_bytes == sum(p.bytes for p in parked(report, kernel.end, "GB"))


def test_a_report_with_hidden_buffers_or_many_kernels_has_no_picture() -> None:
    report = lesson_report("graphturbo")
    assert is_listed(report)
    spaces = [{**row, "listed": row["buffers"] - 1} for row in report.tables["spaces"]]
    assert not is_listed(replace(report, tables={**report.tables, "spaces": spaces}))
    many = report.tables["kernels"] * MOST_KERNELS
    assert not is_listed(replace(report, tables={**report.tables, "kernels": many}))
