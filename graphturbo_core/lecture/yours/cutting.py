"""Report -> the sub-graph with the most pieces, and the counts that Algorithm 1 tries for it."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.group_rows import GroupRow

SAMPLE_AXIS = 0
MOST_TRIED = 8
"""Most counts of pieces in a picture (our choice)."""


@dataclass(frozen=True, slots=True)
class TriedCount:
    """A number of equal pieces, and the live bytes of one."""

    pieces: int
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class YourCut:
    """A sub-graph cut between samples, with the counts up to the taken one, and the next.

    `capacity_bytes`: what a piece may have. `layers`: number of layers.
    """

    group: str
    layers: int
    samples: int
    cores: int
    capacity_bytes: int
    whole_bytes: int
    pieces: int
    tried: tuple[TriedCount, ...]


def cut_of(report: Report) -> YourCut | None:
    """The sub-graph with the most pieces of those cut between samples alone; None: there is none.

    Pieces between samples are equal parts, so that the live bytes of each count follow from the
    whole.
    """
    capacity = {
        row["index"]: row["capacity_bytes"]
        for row in report.tables["splits"]
        if row["part"] == "sub-graph" and row["axis"] == SAMPLE_AXIS and row["possible"]
    }
    cut = [
        group
        for group in report.tables["groups"]
        if group["split_axis"] == SAMPLE_AXIS
        and group["along"] == "axis 0"
        and group["pieces"] > 1
        and group["covered_ops"] == group["ops"]
        and group["index"] in capacity
    ]
    if not cut:
        return None
    group = max(cut, key=lambda each: (each["pieces"], -each["index"]))
    return _cut(report, group, capacity[group["index"]])


def _cut(report: Report, group: GroupRow, capacity: int) -> YourCut:
    samples = next(row["samples"] for row in report.tables["rounds"] if row["is_drawn"])
    whole, pieces = group["peak_bytes"], group["pieces"]
    divisors = [count for count in range(1, samples + 1) if samples % count == 0]
    before = [count for count in divisors if count < pieces]
    after = [count for count in divisors if count > pieces][:1]
    tried = [*before[: MOST_TRIED - 2], pieces, *after]
    return YourCut(
        group=group["name"],
        layers=group["layers"],
        samples=samples,
        cores=_number(report, "cluster.cores"),
        capacity_bytes=capacity,
        whole_bytes=whole,
        pieces=pieces,
        tried=tuple(TriedCount(count, -(-whole // count)) for count in tried),
    )


def _number(report: Report, key: str) -> int:
    return int(next(row["value"] for row in report.tables["chip"] if row["key"] == key))
