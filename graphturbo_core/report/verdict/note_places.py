"""Notes of a report -> the figure of the verdict that each one is about."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.report.report import Report

VERIFIED = "verified"
"""The place beside what a replay found; all others are figures of the verdict."""
PLACES: Mapping[str, str] = {
    "have no semantics": "throughput",
    "without semantics": "throughput",
    "clusters idle": "throughput",
    "is not divided": "throughput",
    "went to DRAM": "dram",
    "went to GB": "gb",
    "streamed, as": "gb",
    "shards in the LBs": "gb",
    "runs whole": "kernels",
    "seeded random numbers": VERIFIED,
}
"""What a note says -> the figure it is about; a test holds it to the notes as they are written."""


def notes_by_place(report: Report) -> dict[str, tuple[str, ...]]:
    """The notes of each figure; those about none of them are in the page's list alone."""
    found: dict[str, tuple[str, ...]] = {}
    for note in report.contract["notes"]:
        place = next((where for words, where in PLACES.items() if words in note), "")
        if place:
            found[place] = (*found.get(place, ()), note)
    return found
