"""Sub-graphs in more pieces than Algorithm 1 needs: bytes of their own pieces, and why."""

from __future__ import annotations

from functools import cache

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.overview.buffer import overview_buffer
from graphturbo_core.report.report import Report
from tests.ui.unpacking import unpack

MODEL = "conformer-s"


@cache
def conformer() -> Report:
    return run_report(load_sample(MODEL), RunRequest(MODEL, "graphturbo@16", batch=64))


def test_a_raised_count_has_the_bytes_of_its_own_pieces() -> None:
    """28,672,000 bytes live: 7,168,000 in 4 pieces fit 8 LBs, but a core needs 1,158,144 then.

    A core's LB has 1 MiB for data, so there are 8 pieces: half of the bytes, in a piece and a core.
    """
    report = conformer()
    row = report.tables["raised"][0]
    group = report.tables["groups"][row["group"]]
    assert (group["pieces"], group["peak_bytes"]) == (8, 28_672_000)
    assert row == {
        "group": 5, "pieces_before": 4, "piece_bytes": 3_584_000,
        "core_bytes_before": 1_158_144, "core_bytes": 579_072,
    }  # fmt: skip


def test_the_first_screen_has_the_bytes_of_the_plans_pieces() -> None:
    report = conformer()
    header, _ = unpack(overview_buffer(report))
    (run,) = header["runs"]  # type: ignore[index,misc]
    assert [group["piece_bytes"] for group in run["groups"]][5] == 3_584_000
    assert run["raised"] == list(report.tables["raised"])
    for group in run["groups"]:
        if group["pieces"] > 1:
            assert 0 < group["piece_bytes"] < group["whole_bytes"]


def test_other_sub_graphs_have_algorithm_1s_count() -> None:
    report = conformer()
    raised = {row["group"] for row in report.tables["raised"]}
    counts = {
        (row["index"], row["axis"]): row["pieces"]
        for row in report.tables["splits"]
        if row["part"] == "sub-graph"
    }
    others = [row for row in report.tables["groups"] if row["index"] not in raised]
    assert len(others) > len(raised) > 0
    for row in others:
        if row["split_axis"] >= 0:
            assert row["pieces"] == counts[row["index"], row["split_axis"]]
