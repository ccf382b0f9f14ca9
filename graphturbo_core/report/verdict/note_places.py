"""Notes of a report -> the figure of the verdict that each one concerns, and which are alike."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
UNKNOWN = re.compile(r"(\d+) op\(s\) of type .* have no semantics")
"""How a note on ops without semantics begins."""
VARYING = re.compile(
    r"""
    ^[^ ]*:[ ]          # the op before a colon
    | '[^']*'           # a quoted name
    | \[[^\]]*\]        # a shape
    | [^ ]*[\d.][^ ]*   # a word with a digit or a dot: a number, a path
    """,
    re.VERBOSE,
)
"""What notes of one subject differ in."""


def notes_by_place(report: Report) -> dict[str, tuple[str, ...]]:
    """The notes by figure; a note that concerns none of them is left out."""
    found: dict[str, tuple[str, ...]] = {}
    for note in report.contract["notes"]:
        place = PLACES.get(_words(note), "")
        if place:
            found[place] = (*found.get(place, ()), note)
    return found


def alike(notes: Sequence[str]) -> list[tuple[str, ...]]:
    """Notes that say the same of several things together, in order of the first of each.

    They have the words of a place in common, else all words after a name but further names, and
    the run before the first colon.
    """
    found: dict[object, list[str]] = {}
    for note in notes:
        run, _, said = note.partition(": ")
        if run not in {"A", "B", "A and B"}:
            run, said = "", note
        words = _words(said) or VARYING.sub("", said)
        found.setdefault((run, words), []).append(note)
    return [tuple(own) for own in found.values()]


def unknown_ops(report: Report) -> int:
    """Number of ops without semantics, from the notes, which count them by type."""
    return sum(int(found[1]) for note in report.contract["notes"] if (found := UNKNOWN.match(note)))


def _words(note: str) -> str:
    """The words of `PLACES` in a note; empty if it has none."""
    return next((words for words in PLACES if words in note), "")
