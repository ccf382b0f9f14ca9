"""Notes of a report -> the figure of the verdict that each one concerns."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.report.report import Report

VERIFIED = "verified"
"""The place of notes on verification; all others are figures of the verdict."""
PLACES: Mapping[str, str] = {
    "have no semantics": "throughput",
    "without semantics": "throughput",
    "indices have no numbers": "throughput",
    "clusters idle": "throughput",
    "is not divided": "throughput",
    "went to DRAM": "dram",
    "went to GB": "gb",
    "streamed, as": "gb",
    "shards in the LBs": "gb",
    "runs whole": "kernels",
    "seeded random numbers": VERIFIED,
}
"""Words in a note -> the figure that it concerns; a test compares them with the notes' texts."""


def notes_by_place(report: Report) -> dict[str, tuple[str, ...]]:
    """The notes by figure; a note that concerns none of them is left out."""
    found: dict[str, tuple[str, ...]] = {}
    for note in report.contract["notes"]:
        place = next((where for words, where in PLACES.items() if words in note), "")
        if place:
            found[place] = (*found.get(place, ()), note)
    return found
