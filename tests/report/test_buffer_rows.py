"""Buffers of a report: derived by hand, and compared with occupancy and program of a real run."""

from __future__ import annotations

import numpy as np
import pytest

from graphturbo_core import pipeline
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.build import build_report
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.buffer_rows import neighbours, placed


def column(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_neighbours_in_address_and_time_by_hand():
    """Two spaces. In the first a [0,8) until 5; b [8,12) until 10; c [4,12) from 10; d [0,4) later.

    c takes bytes of a (needed until 5) and of b (until 10): b is the last. d takes a's first half,
    whose next owner is c all the same, for c came first.
    """
    space = column(0, 0, 0, 0, 1)
    offset, size = column(0, 8, 4, 0, 0), column(8, 4, 8, 4, 64)
    begin, end = column(0, 0, 10, 12, 3), column(5, 10, 20, 30, 9)
    before, after = neighbours(space, offset, size, begin, end)
    assert before.tolist() == [-1, -1, 1, 0, -1]
    assert after.tolist() == [2, 2, -1, -1, -1]


def test_no_buffers_have_no_neighbours():
    empty = column()
    before, after = neighbours(empty, empty, empty, empty, empty)
    assert before.tolist() == after.tolist() == []


@pytest.fixture(scope="module", params=["stcp920", "generic-4x4", "stcp920-10mib"])
def report(request: pytest.FixtureRequest) -> Report:
    asked = RunRequest("teaching-resnet", "graphturbo@16", request.param, 64)
    return run_report(load_sample("teaching-resnet"), asked)


def live_at(report: Report, cycle: int, memory: str) -> dict[int, int]:
    """Bytes of a memory's live buffers at a cycle, by core."""
    arrays, spaces = report.arrays, report.tables["spaces"]
    found: dict[int, int] = {}
    is_live = (arrays["buffer_from"] <= cycle) & (cycle < arrays["buffer_to"])
    for row in np.flatnonzero(is_live):
        space = spaces[int(arrays["buffer_space"][row])]
        if str(space["memory"]).startswith(memory):
            core = int(space["core"])
            found[core] = found.get(core, 0) + int(arrays["buffer_size_bytes"][row])
    return found


def test_the_buffers_add_up_to_the_occupancy(report: Report):
    for memory in ("LB", "GB"):
        cycles = report.arrays[f"{memory.lower()}_cycle"]
        held = report.arrays[f"{memory.lower()}_bytes"]
        for step in range(0, len(cycles), max(1, len(cycles) // 40)):
            live = live_at(report, int(cycles[step]), memory)
            assert max(live.values(), default=0) == held[step]


def test_every_buffer_lies_in_its_space_and_shares_no_byte_with_its_neighbours(report: Report):
    arrays = {name[7:]: a for name, a in report.arrays.items() if name.startswith("buffer_")}
    capacity = np.array([row["capacity_bytes"] for row in report.tables["spaces"]])
    assert (arrays["offset"] + arrays["size_bytes"] <= capacity[arrays["space"]]).all()
    assert (arrays["from"] < arrays["to"]).all()
    assert (np.diff(arrays["space"]) >= 0).all()
    for other, sooner in (("before", True), ("after", False)):
        has = np.flatnonzero(arrays[other] >= 0)
        assert len(has)
        near = arrays[other][has]
        first, second = (near, has) if sooner else (has, near)
        assert (arrays["to"][first] <= arrays["from"][second]).all()
        assert (arrays["space"][first] == arrays["space"][second]).all()
        ends = arrays["offset"] + arrays["size_bytes"]
        assert (arrays["offset"][first] < ends[second]).all()
        assert (arrays["offset"][second] < ends[first]).all()


def test_boxes_lie_in_tensors_and_ops_fill_what_they_are_said_to(report: Report):
    arrays, tensors = report.arrays, report.tables["tensors"]
    for row in range(0, len(arrays["buffer_tensor"]), 7):
        axes = int(tensors[int(arrays["buffer_tensor"][row])]["axes"])
        lo, hi = arrays["buffer_lo"][row], arrays["buffer_hi"][row]
        assert (lo[:axes] < hi[:axes]).all()
    assert arrays["buffer_op"].max() < len(report.tables["graph_nodes"])


def test_all_buffers_are_listed_and_counted(report: Report):
    counts = np.bincount(report.arrays["buffer_space"], minlength=len(report.tables["spaces"]))
    assert [row["listed"] for row in report.tables["spaces"]] == counts.tolist()
    assert all(row["listed"] == row["buffers"] for row in report.tables["spaces"])
    cores = {row["core"] for row in report.tables["spaces"]}
    assert cores >= set(range(max(int(core) for core in cores) + 1))


def test_above_the_cap_whole_cores_are_left_out(monkeypatch: pytest.MonkeyPatch):
    outcomes: list[Outcome] = []

    def keep(outcome: Outcome, *, has_pictures: bool) -> Report:
        outcomes.append(outcome)
        return build_report(outcome, has_pictures=has_pictures)

    monkeypatch.setattr(pipeline, "build_report", keep)
    asked = RunRequest("teaching-resnet", "graphturbo@16", batch=64)
    pipeline.run_report(load_sample("teaching-resnet"), asked)
    counts = [space.buffers for space in placed(outcomes[0]).spaces]
    gb, data, weight = counts[:3]
    cut = placed(outcomes[0], gb + data + weight - 1)
    assert [space.listed for space in cut.spaces] == [gb, data, *[0] * (len(counts) - 2)]
    assert [space.buffers for space in cut.spaces] == counts
    assert len(cut.row) == len(cut.before) == gb + data
    least = placed(outcomes[0], gb - 1)
    assert [space.listed for space in least.spaces[:2]] == [gb - 1, 0]
