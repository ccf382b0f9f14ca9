"""docs/verified.json -> the kept replay of a report's Program, and its text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypedDict

from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.verify_text import badge_text, outputs, was_verified
from graphturbo_core.units import counted

FILE = Path(__file__).resolve().parents[3] / "docs" / "verified.json"
SHOWN_DIGITS = 12
"""Digits of a Program's digest in texts; the contract has all 64."""


class KeptReplay(TypedDict):
    """A replay that `python -m benchmarks.verified` made; CI checks the digest of its Program.

    `largest_difference` and `tolerance` are shares of the output's largest magnitude.
    """

    model: str
    profile: str
    strategy: str
    dtype: str
    batch: int
    program_sha256: str
    instructions: int
    rounds: int
    largest_difference: float
    tolerance: float
    version: str
    onnxruntime: str


@cache
def kept_replays() -> Mapping[str, KeptReplay]:
    """The kept replays by the digest of their Program; none where the file is not shipped."""
    if not FILE.is_file():
        return {}
    entries: list[KeptReplay] = json.loads(FILE.read_text(encoding="utf-8"))
    return {entry["program_sha256"]: entry for entry in entries}


def kept_replay(report: Report) -> KeptReplay | None:
    """The kept replay of exactly this report's Program, for as many samples; None without one."""
    contract = report.contract
    found = kept_replays().get(contract["program_sha256"])
    return found if found is not None and found["batch"] == contract["batch"] else None


def kept_text(kept: KeptReplay) -> str:
    """One sentence on a kept replay."""
    counts = f"{counted(kept['instructions'], 'instruction')}, {counted(kept['batch'], 'sample')}"
    return (
        f"replayed by the project's checks ({counts}): largest difference "
        f"{magnitude_text(kept['largest_difference'])} of the output's magnitude, tolerance "
        f"{magnitude_text(kept['tolerance'])}; version {kept['version']}, "
        f"ONNX Runtime {kept['onnxruntime']}, program {kept['program_sha256'][:SHOWN_DIGITS]}"
    )


def state_text(report: Report) -> str:
    """A few words for the verdict: this run's own replay, else the kept one of its Program."""
    kept = None if was_verified(report) else kept_replay(report)
    if kept is None:
        return badge_text(report)
    return f"verified by the project's checks, program {kept['program_sha256'][:SHOWN_DIGITS]}"


def largest_difference(report: Report) -> tuple[float, float]:
    """The largest difference of a replay's outputs and the smallest tolerance of one.

    Both are shares of an output's largest magnitude. A replay whose outputs have no such share is
    not kept.
    """
    rows = outputs(report)
    differences = [row["max_rel_error"] for row in rows]
    tolerances = [row["rel_tolerance"] for row in rows]
    return (
        max(number for number in differences if number is not None),
        min(number for number in tolerances if number is not None),
    )


def magnitude_text(share: float) -> str:
    """A share of a magnitude with two digits; 0 where both are equal to the last bit."""
    return f"{share:.1e}" if share else "0"
