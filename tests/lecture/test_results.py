"""The kept results of the lecture are what the pipeline gives, and what can be worked by hand."""

from __future__ import annotations

from math import prod

import pytest

from graphturbo_core.errors import GraphTurboError, InvariantError
from graphturbo_core.hardware.memory_budget import memory_budget
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.hardware.tile_rules import DEFAULT_RULES
from graphturbo_core.lecture import results as results_module
from graphturbo_core.lecture.compute import compute_results, compute_run
from graphturbo_core.lecture.links import explore_link
from graphturbo_core.lecture.results import FILE, LectureResults, json_text, kept_results
from graphturbo_core.lecture.runs import (
    BASE_DRAM,
    BASE_GB_KIB,
    BASE_LB,
    CHIP,
    DRAM_BYTES_PER_CYCLE,
    GB_FOR_WEIGHTS,
    GB_KIB,
    KIB,
    LB_BYTES,
    RUNS,
    with_edits,
)
from graphturbo_core.lecture.step import LectureLink
from graphturbo_core.lecture.steps import lecture_steps


@pytest.fixture(name="kept")
def _kept() -> LectureResults:
    return kept_results()


@pytest.mark.parametrize("name", RUNS)
def test_a_kept_run_is_what_the_pipeline_gives(name: str, kept: LectureResults) -> None:
    assert kept.runs[name] == compute_run(RUNS[name])


def test_the_file_is_what_the_command_writes(
    kept: LectureResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network, chip and lists are computed again; the test above has the runs."""
    monkeypatch.setattr(
        "graphturbo_core.lecture.compute.compute_run", lambda run: kept.runs[run.name]
    )
    text = json_text(compute_results())
    assert text == FILE.read_text(encoding="utf-8")
    assert len(text) < results_module.MAX_BYTES


def test_the_chip_has_the_numbers_that_runs_leave_out() -> None:
    chip = load_profile(CHIP)
    assert (chip.gb_bytes, chip.lb_data_bytes) == (BASE_GB_KIB * KIB, BASE_LB)
    assert memory_budget(chip, DEFAULT_RULES).gb_weight_ring_bytes == GB_FOR_WEIGHTS
    assert chip.clusters == 1
    assert chip.dram_bandwidth == BASE_DRAM * chip.clock_hz
    assert {BASE_GB_KIB} < set(GB_KIB)
    assert {BASE_DRAM} < set(DRAM_BYTES_PER_CYCLE)
    assert {BASE_LB} < set(LB_BYTES)


def test_tensors_have_the_bytes_of_their_shapes(kept: LectureResults) -> None:
    """Channels, rows and columns of each; fp16, eight images. A weight: out x in x 3 x 3."""
    shapes = {
        "image": (4, 16, 16), "relu1": (8, 16, 16), "relu2": (16, 8, 8), "relu3": (16, 4, 4),
        "relu4": (16, 4, 4), "relu5": (16, 4, 4), "out": (16, 4, 4),
    }  # fmt: skip
    for name, shape in shapes.items():
        assert kept.tensor(name).bytes == 8 * prod(shape) * 2
    channels = (4, 8, 16, 16, 16, 16, 16)
    weights = [2 * 9 * channels[k] * channels[k + 1] for k in range(6)]
    assert [kept.tensor(f"conv{k + 1}/weight").bytes for k in range(6)] == weights
    assert kept.weight_bytes == sum(weights) == 21_312
    # 9 MACs per input channel and output element; outputs of 16, 8, 4, 4, 4 and 4 rows.
    sides = (16, 8, 4, 4, 4, 4)
    macs = [9 * channels[k] * channels[k + 1] * sides[k] ** 2 for k in range(6)]
    assert kept.macs == 8 * sum(macs)


def test_the_compulsory_bytes_and_the_lower_bound(kept: LectureResults) -> None:
    """Images, weights once, results; four bytes per cycle cross DRAM."""
    assert kept.compulsory_dram_bytes == 16_384 + 21_312 + 4_096
    assert kept.runs["full"].lower_bound_cycles == kept.compulsory_dram_bytes // 4 == 10_448


def test_bytes_of_pieces_by_hand(kept: LectureResults) -> None:
    """Image 16 KiB and relu1 32 KiB are live in the first group; four LBs of 4 KiB."""
    assert [(c.pieces, c.peak_bytes) for c in kept.candidates] == [
        (pieces, 48 * KIB // pieces) for pieces in (1, 2, 4, 8)
    ]
    assert [c.fits for c in kept.candidates] == [False, False, True, True]
    assert [c.pieces for c in kept.candidates if c.taken] == [4]
    # A core of a piece: one half of an image with a row of halo, 4 x 9 x 16; relu1 8 x 9 x 16.
    assert kept.core_part_bytes == 2 * 16 * 9 * (4 + 8)


def test_what_waits_in_gb_by_hand(kept: LectureResults) -> None:
    """A piece of g1 leaves 4 KiB, of g2 2 KiB; what the next kernel reads is not in GB."""
    depth, breadth = kept.runs["full"].kernels, kept.runs["breadth"].kernels
    assert [k.name for k in depth] == ["g1/4", "g1/3", "g2/2", "g1/2", "g1/1", "g2/1", "g3/1"]
    assert [k.parked_bytes // KIB for k in depth] == [4, 4, 2, 6, 6, 2, 0]
    assert [k.group for k in breadth] == ["g1"] * 4 + ["g2"] * 2 + ["g3"]
    assert [k.parked_bytes // KIB for k in breadth] == [4, 8, 12, 16, 10, 2, 0]
    for kernel in (*depth, *breadth):
        assert sum(each.bytes for each in kernel.parked) == kernel.parked_bytes
        assert {each.core for each in kernel.parked} <= {-1}
        assert {each.core for each in kernel.in_cores} <= {0, 1, 2, 3}


def test_traffic_and_moves_add_up(kept: LectureResults) -> None:
    for name, run in kept.runs.items():
        if not run.kernels:
            continue
        rows = [row for kernel in run.kernels for row in kernel.traffic]
        assert sum(row.bytes for row in rows) == run.dram_bytes == sum(run.dram.values()), name
        for kernel in run.kernels:
            assert sum(row.bytes for row in kernel.traffic) == kernel.dram_bytes
        moves = [move.bytes for kernel in run.kernels for move in kernel.moves]
        assert sum(moves) == run.core_to_core_bytes, name
        ends = [kernel.end for kernel in run.kernels]
        assert ends == sorted(ends)
        assert ends[-1] <= run.cycles


def test_every_run_is_at_or_above_its_lower_bound(kept: LectureResults) -> None:
    for run in kept.runs.values():
        assert run.refused or run.cycles >= run.lower_bound_cycles > 0
    assert {name for name, run in kept.runs.items() if run.refused} == {"pieces_1", "pieces_2"}


def test_engines_of_the_last_kernel_do_one_thing_at_a_time(kept: LectureResults) -> None:
    for name in ("order", "unfenced", "full"):
        run = kept.runs[name]
        by_engine: dict[str, int] = {}
        for each in run.last_kernel:
            assert each.start >= by_engine.get(each.engine, 0)
            by_engine[each.engine] = each.start + each.cycles
        assert max(by_engine.values()) <= run.kernels[-1].end - run.kernels[-1].start
        assert len(by_engine) == 4 * 3 + 1


def test_edits_take_the_place_of_a_plans_own() -> None:
    text = with_edits("schema: 1\nedits:\n  merge: []\n  axis: {}\n", {"pieces": {"conv1": 8}})
    assert text == "schema: 1\nedits:\n  pieces: {conv1: 8}\n"


def test_links_name_both_runs_and_bring_their_files(kept: LectureResults) -> None:
    plain = explore_link(LectureLink("tvm", "full", ("Why", "Memory")), kept)
    assert plain.query == (
        ("model", "learn-net"), ("chip", "learn-1x4"), ("batch", "8"), ("a", "tvm"),
        ("b", "graphturbo"), ("views", "Why"), ("views", "Memory"),
    )  # fmt: skip
    assert plain.chip is None
    assert not plain.plans
    edited = explore_link(LectureLink("rows_8", "full", ()), kept)
    assert "axis: {conv1: 2}" in edited.plans["a"]
    assert set(edited.plans) == {"a"}
    small = explore_link(LectureLink("tvm_lb1024", "full_lb1024", ()), kept)
    assert small.chip is not None
    assert b"1024" in small.chip
    options = explore_link(LectureLink("breadth", "full", ()), kept)
    assert ("set_a", "graphturbo.instance_order=breadth-first") in options.query
    for step in lecture_steps():
        explore_link(step.link, kept)


def test_a_link_of_two_chips_is_refused(kept: LectureResults) -> None:
    with pytest.raises(InvariantError, match="other models, chips or batches"):
        explore_link(LectureLink("tvm", "full_lb1024", ()), kept)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"cores": 4', '"cores": "four"', "cannot be read"),
        ('"schema": 1', '"schema": 2', "schema 2, not 1"),
        ('"cores": 4', '"kores": 4', "cannot be read"),
    ],
)
def test_a_file_of_another_form_is_refused(
    old: str, new: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    path = FILE.__class__(str(tmp_path)) / "results.json"
    path.write_text(FILE.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(results_module, "FILE", path)
    with pytest.raises(GraphTurboError, match=reason):
        results_module.kept_results.__wrapped__()


def test_a_missing_or_large_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    path = FILE.__class__(str(tmp_path)) / "none.json"
    monkeypatch.setattr(results_module, "FILE", path)
    with pytest.raises(GraphTurboError, match="cannot be read"):
        results_module.kept_results.__wrapped__()
    path.write_bytes(b" " * (results_module.MAX_BYTES + 1))
    with pytest.raises(GraphTurboError, match="1048577 bytes"):
        results_module.kept_results.__wrapped__()
