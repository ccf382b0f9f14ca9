"""The verdict: figures, their change, and the sentence, from numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.alone import Alone, alone
from graphturbo_core.report.verdict.equal_batches import strategy_at
from graphturbo_core.report.verdict.note_places import VERIFIED, alike, notes_by_place
from graphturbo_core.report.verdict.verdict import (
    binding_text,
    busiest_kind,
    change_text,
    differences,
    pair_text,
    sentence,
    verdict_rows,
)
from graphturbo_core.report.verdict.verify_text import badge_text
from graphturbo_ui.figures.accounting import stall_figure
from tests.report.overview.reports import report_of
from tests.ui.synthetic import synthetic_report

STALLS = {"busy": 0.0, "data": 0.0, "address": 0.0, "channel": 0.0, "barrier": 0.0, "idle": 0.0}


def with_figures(**figures: object) -> Report:
    report = synthetic_report()
    return replace(report, contract={**report.contract, **figures})


def in_flight(share: float) -> dict[str, object]:
    return {"layers_in_flight": {"share": share}}


def stalls(**kinds: dict[str, float]) -> dict[str, dict[str, float]]:
    return {
        kind: {**STALLS, "idle": 1.0, **kinds.get(kind, {})}
        for kind in ("matrix", "vector", "move", "dma")
    }


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (100.0, 795.0, "7.95×"),
        (100.0, 112.0, "+12 %"),
        (100.0, 25.0, "-75 %"),
        (100.0, 100.4, "the same"),
        (0.0, 3.0, "none in A"),
        (0.0, 0.0, "the same"),
    ],
)
def test_change_against_a(first: float, second: float, text: str):
    assert change_text(first, second) == text


def test_figures_say_which_way_is_better():
    a = with_figures(throughput_per_s=1000.0, kernels=60, rounds=8, dram_read_bytes=2**30)
    b = with_figures(throughput_per_s=8000.0, kernels=19, rounds=1, dram_read_bytes=2**32)
    rows = {row.key: row for row in verdict_rows(a, b)}
    throughput, kernels, dram = rows["throughput"], rows["kernels"], rows["dram"]
    assert (throughput.a, throughput.b, throughput.change) == ("1,000", "8,000", "8×")
    assert (throughput.is_better, throughput.arrow) == (True, "up")
    assert (kernels.a, kernels.b) == ("480", "19")  # 60 a round in 8 rounds
    assert (kernels.is_better, kernels.arrow) == (True, "down")
    assert dram.is_better is False
    assert rows["matrix"].is_better is None
    assert rows["matrix"].change == "the same"


def of_one_sample(matrix: float, **more: object) -> Report:
    """A batch of 1 on a chip of 4 clusters, three of which are idle."""
    used = {"matrix": matrix, "vector": 0.0, "move": 0.0, "dma": 0.0}
    report = with_figures(batch=1, utilization=used, **more)
    row = {**report.tables["rounds"][0], "samples": 1, "count": 1}
    return replace(report, tables={**report.tables, "rounds": (row,)})


def test_the_matrix_figure_says_of_which_clusters_it_is_where_some_are_idle():
    # busy shares of all 4 clusters; of the one that has the sample they are four times as large
    a, b = of_one_sample(0.05), of_one_sample(0.22)
    (row,) = (row for row in verdict_rows(a, b) if row.key == "matrix")
    assert (row.label, row.a, row.b) == ("Matrix busy, of all 4 clusters", "5 %", "22 %")
    assert row.note == (
        "Of the clusters that have samples, as on the first screen: "
        "A 20 % (1 of 4), B 88 % (1 of 4)."
    )
    (alone_row,) = (row for row in verdict_rows(b, None) if row.key == "matrix")
    assert alone_row.note.endswith("first screen: 88 % (1 of 4).")
    (mixed,) = (row for row in verdict_rows(with_figures(), b) if row.key == "matrix")
    assert mixed.note.endswith("screen: A 50 % (4 of 4), B 88 % (1 of 4).")
    assert {row.note for row in verdict_rows(a, b) if row.key != "matrix"} == {""}
    (all_used,) = (row for row in verdict_rows(with_figures(), None) if row.key == "matrix")
    assert (all_used.label, all_used.note) == ("Matrix busy", "")


def test_the_sentence_says_of_which_clusters_the_engines_are_where_some_are_idle():
    busy = stalls(matrix={"busy": 0.22, "data": 0.03, "idle": 0.75})
    report = of_one_sample(0.22, stalls=busy)
    assert binding_text(report).endswith(
        "Its busiest engines, the matrix engines of all 4 clusters, work 22 % of the time and wait "
        "75 % of it with nothing left to do (3 of 4 clusters have no samples)"
    )
    title = stall_figure(report, with_figures()).layout.xaxis.title.text
    assert title == "makespan (%), mean of all engines of all 4 clusters"
    assert stall_figure(with_figures()).layout.xaxis.title.text.endswith("mean of all engines")


def test_a_alone_has_no_change():
    assert {(row.b, row.change, row.is_better) for row in verdict_rows(with_figures(), None)} == {
        ("", "", None)
    }


def with_spans(report: Report, *spans: tuple[int, int, int]) -> Report:
    """The report with these instructions alone: engine, start and end cycle of each."""
    engine, start, end = (np.array(column) for column in zip(*spans, strict=True))
    return replace(report, arrays={"engine": engine, "start": start, "hold": end - start})


# Engines of the made-up report: 0 matrix, 1 vector, 2 move of core 0, 3 to 5 of core 1, 6 DMA.
# DMA works 0..60 and 80..100; the matrix engines of both cores 20..30 and 90..100. Of the 100
# cycles DMA is alone in 0..20, 30..60 and 80..90: 60, of which 45 lie in the kernel of g1, 0..55.
SPANS = ((6, 0, 60), (6, 80, 100), (0, 20, 30), (3, 90, 100))
KERNELS = (("g1", 0, 55), ("g2", 55, 100))


def kernels(*rows: tuple[str, int, int]) -> tuple[dict[str, object], ...]:
    return tuple({"group": g, "start_cycle": s, "end_cycle": e} for g, s, e in rows)


def test_an_engine_kind_alone_at_work_is_told_with_its_place():
    busy = stalls(dma={"busy": 0.8, "data": 0.2, "idle": 0.0})
    report = with_spans(with_figures(stalls=busy), *SPANS)
    report = replace(report, tables={**report.tables, "kernels": kernels(*KERNELS)})
    assert alone(report, "dma") == Alone(0.6, "g1", 0.75)
    assert alone(report, "vector") == Alone(0.0, "", 0.0)
    assert binding_text(report) == (
        "is DRAM-bound (90 % of its critical path goes to DRAM). Its busiest engines, the system "
        "DMAs, work 80 % of the time; for 60 % of the time they work alone, most of all in "
        "sub-graph 1 (75 % of it)"
    )
    named = binding_text(report, {"g1": "the stem", "g2": "the head"})
    assert named.endswith("in the stem (75 % of it)")
    _, why = sentence(report, report, None, ({"g1": "layers 1 to 4"}, {"g1": "the stem"}))
    assert "in the stem (75 % of it). A is" in why
    assert why.endswith("in layers 1 to 4 (75 % of it).")


def test_two_kernels_of_a_group_count_together():
    rows = kernels(("g2", 0, 20), ("g1", 20, 55), ("g2", 55, 100))
    report = with_spans(with_figures(), *SPANS)
    found = alone(replace(report, tables={**report.tables, "kernels": rows}), "dma")
    assert (found.group, found.group_share) == ("g2", pytest.approx(35 / 60))


def test_the_critical_path_names_what_binds_and_the_share_is_that_of_the_engines():
    busy = stalls(dma={"busy": 0.71, "data": 0.29, "idle": 0.0})
    path = {"dram": 1.5, "launch": 3.5}
    report = with_spans(with_figures(stalls=busy, critical_path=path), (6, 0, 71), (0, 0, 100))
    assert binding_text(report) == (
        "is launch-bound (70 % of its critical path goes to kernel launches). Its busiest engines, "
        "the system DMAs, work 71 % of the time"
    )


def test_the_busiest_engine_is_named_not_the_least_idle_one():
    """The matrix engines are never idle and wait most of the time; the vector engines work more."""
    report = with_figures(
        stalls=stalls(
            matrix={"busy": 0.3, "data": 0.7, "idle": 0.0},
            vector={"busy": 0.4, "data": 0.2, "idle": 0.4},
        )
    )
    assert busiest_kind(report) == "vector"
    assert "Its busiest engines, the vector engines, work 40 % of the time" in binding_text(report)


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        ("data", "for data"),
        ("address", "for buffer space to be free"),
        ("channel", "for a shared channel"),
        ("barrier", "at launches and barriers between kernels"),
        ("idle", "with nothing left to do"),
    ],
)
def test_each_wait_has_its_own_words(wait: str, words: str):
    report = with_figures(stalls=stalls(dma={"busy": 0.3, "idle": 0.1, wait: 0.6}))
    assert binding_text(report).endswith(f"wait 60 % of it {words}")


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("activation", "activations passed from kernel to kernel"),
        ("weight_again", "refetched weights"),
        ("weight_first", "weights"),
        ("halo", "refetched overlapping rows"),
        ("spill", "tensors that did not fit"),
        ("input", "model inputs"),
        ("output", "model outputs"),
    ],
)
def test_each_cause_that_shrank_most_has_its_own_words(cause: str, words: str):
    names = ("activation", "weight_again", "weight_first", "halo", "spill", "input", "output")
    many = {name: 2**21 for name in names} | {cause: 3 * 2**30}
    few = {name: 2**20 for name in names}
    a = with_figures(throughput_per_s=1.0, dram_read_bytes=2**32, dram_ledger=many)
    b = with_figures(throughput_per_s=3.0, dram_read_bytes=2**30, dram_ledger=few)
    outcome, _ = sentence(a, b)
    assert f"(3 GiB less for {words})" in outcome


def test_unequal_cluster_batches_are_told_with_the_ratio_at_equal_ones():
    a = with_figures(throughput_per_s=1000.0, cluster_batch=2, strategy="tvm@2")
    b = with_figures(throughput_per_s=9440.0, cluster_batch=16, strategy="graphturbo@16")
    equal = with_figures(throughput_per_s=2000.0, cluster_batch=16, strategy="tvm@16")
    head = "B is 9.44× as fast as A (cluster batches of 2 and 16; "
    assert sentence(a, b, equal)[0].startswith(f"{head}at 16 for both it is 4.72×)")
    assert sentence(a, b)[0].startswith(f"{head}the ratio at equal ones is being computed)")
    refused = sentence(a, b, "TOO_MANY_INSTRUCTIONS")[0]
    assert refused.startswith(f"{head}A cannot run at 16: TOO_MANY_INSTRUCTIONS)")
    own = with_figures(throughput_per_s=2000.0, cluster_batch=16, strategy="tvm@16")
    assert sentence(a, own)[0].startswith("B is 2× as fast as A")
    assert "cluster batches" not in sentence(a, own)[0], "nothing but the batch differs"
    assert sentence(equal, b)[0].startswith("B is 4.72× as fast as A")
    assert "cluster batches" not in sentence(equal, b)[0]
    assert pair_text(a, b, equal) == (
        "graphturbo@16 is 9.44x as fast as tvm@2 (cluster batches of 2 and 16; at 16 for both it "
        "is 4.72x)"
    )
    assert strategy_at("graphturbo:order@2", 16) == "graphturbo:order@16"
    assert strategy_at("tvm", 4) == "tvm@4"


def test_where_no_engine_is_mostly_busy_the_longest_wait_is_named():
    report = with_figures(stalls=stalls(matrix={"busy": 0.3, "barrier": 0.6, "idle": 0.1}))
    assert binding_text(report) == (
        "is DRAM-bound (90 % of its critical path goes to DRAM). Its busiest engines, the matrix "
        "engines, work 30 % of the time and wait 60 % of it at launches and barriers between "
        "kernels"
    )


def test_the_sentence_names_what_changed():
    ledger = {"activation": 3 * 2**30, "input": 2**20}
    a = with_figures(
        throughput_per_s=1000.0,
        kernels=60,
        rounds=8,
        dram_read_bytes=4 * 2**30,
        dram_write_bytes=0,
        dram_ledger=ledger,
        overlap=in_flight(0.0),
    )
    b = with_figures(
        throughput_per_s=7950.0,
        kernels=19,
        rounds=1,
        dram_read_bytes=2**30,
        dram_write_bytes=0,
        dram_ledger={**ledger, "activation": 0},
        overlap=in_flight(0.17),
    )
    outcome, _ = sentence(a, b)
    assert outcome == (
        "B is 7.95× as fast as A: it moves 1 GiB over DRAM instead of 4 GiB (3 GiB less for "
        "activations passed from kernel to kernel), launches 19 kernels instead of 480, has two "
        "or more layers in flight 17 % of the time instead of 0 %."
    )


def test_a_loser_is_called_one():
    outcome, _ = sentence(with_figures(throughput_per_s=100.0), with_figures(throughput_per_s=40.0))
    assert outcome == "B reaches 0.4× of A's throughput."


def test_what_speaks_against_the_outcome_is_no_reason_for_it():
    few = {"kernels": 10, "rounds": 1, "overlap": in_flight(0.0)}
    many = {"kernels": 20, "rounds": 1, "overlap": in_flight(0.5)}
    slow, fast = {"throughput_per_s": 100.0}, {"throughput_per_s": 200.0}
    overlap = "has two or more layers in flight 50 % of the time instead of 0 %"
    won, _ = sentence(with_figures(**few, **slow), with_figures(**many, **fast))
    assert won == (
        f"B is 2× as fast as A: it {overlap}, although it launches 20 kernels instead of 10."
    )
    lost, _ = sentence(with_figures(**few, **fast), with_figures(**many, **slow))
    assert lost == (
        "B reaches 0.5× of A's throughput: it launches 20 kernels instead of 10, although it "
        f"{overlap}."
    )
    tied, _ = sentence(with_figures(**few, **slow), with_figures(**many, **slow))
    assert tied == f"B is as fast as A, although it launches 20 kernels instead of 10, {overlap}."


def test_equal_runs_have_no_reason():
    assert sentence(with_figures(), with_figures())[0] == "B is as fast as A."


def test_options_and_edits_are_differences():
    options = {"graphturbo.peak": "true", "lowering.tiles": "4"}
    a = with_figures(options={"lowering.tiles": "4"})
    b = with_figures(options={**options, "graphturbo.peak": "literal", "plan": "0123456789abcdef"})
    assert differences(a, with_figures(options=options)) == ()
    assert differences(a, b) == (
        "option graphturbo.peak (true against literal)",
        "edits of the plan",
    )
    c = with_figures(options={"lowering.tiles": "8"})
    assert differences(a, c) == ("option lowering.tiles (4 against 8)",)
    d = with_figures(options={"lowering.tiles": "4", "max_instructions": "4000000"})
    assert differences(a, d) == ("instructions allowed (none against 4000000)",)


def test_every_kind_of_note_has_the_figure_that_it_is_about():
    """The words of the notes as the steps write them."""
    notes = {
        "2 op(s) of type Foo have no semantics and run whole: 12 % of the bytes, none of": (
            "throughput"
        ),
        "3 tensors of kernels did not fit in LB and went to GB": "gb",
        "3 tensors of kernels did not fit in LB and went to DRAM": "dram",
        "1 tensors did not fit in GB and went to DRAM": "dram",
        "streamed, as their place in LB was too small: 4 weights": "gb",
        "verified with seeded random numbers for 9 weights without their own": VERIFIED,
        "2 of 4 clusters idle: the batch is 2": "throughput",
    }
    for note, place in notes.items():
        assert notes_by_place(with_figures(notes=[note])) == {place: (note,)}
    assert notes_by_place(with_figures(notes=["batch rescaled from 1 to 8"])) == {}


def test_notes_that_say_the_same_are_together():
    whole = "no axis of it can be split so that a piece fits; it runs whole"
    notes = [f"B: g1: {whole}", "A: rescaled", f"A: g1: {whole}", f"B: g2: {whole}", "B: rescaled"]
    assert alike(notes) == [
        (notes[0], notes[3]), (notes[1],), (notes[2],), (notes[4],),
    ]  # fmt: skip
    assert alike([]) == []
    shapes = [f"B: a{n}/x: shapes of Own{n} taken from the file: 't{n}' [{n}, 64]" for n in (1, 2)]
    other = "B: a1/x: its shape is not known"
    assert alike([shapes[0], other, shapes[1]]) == [tuple(shapes), (other,)]


def test_differences_besides_the_strategy():
    a = with_figures(strategy="tvm@2", cluster_batch=2, profile="stcp920")
    b = with_figures(strategy="graphturbo@16", cluster_batch=16, profile="generic-4x4")
    assert differences(a, b) == (
        "chip (stcp920 against generic-4x4)",
        "samples per cluster at once (2 against 16)",
    )
    assert differences(a, a) == ()


@pytest.mark.parametrize(
    ("verify", "text"),
    [
        ({"ran": False}, "not verified"),
        ({"ran": True, "ok": True}, "verified"),
        ({"ran": True, "ok": False}, "verification failed"),
    ],
)
def test_verification(verify: dict[str, bool], text: str):
    assert badge_text(with_figures(verify=verify)) == text


def test_throughput_is_of_what_the_model_takes() -> None:
    """ResNet takes images, a language model samples: as the first screen names them."""
    assert verdict_rows(report_of("tvm@2"), None)[0].label == "Throughput (images/s)"
    assert verdict_rows(with_figures(), None)[0].label == "Throughput (samples/s)"
