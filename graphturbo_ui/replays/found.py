"""A report's own replay, or the kept one of its Program: figures and words of its card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.kept_replays import kept_replay, kept_text
from graphturbo_core.report.verdict.verify_text import (
    fault_text,
    is_wrong,
    outputs,
    verification_text,
    was_verified,
)

KEPT_WHERE = (
    "docs/verified.json has these replays. The checks of every change compute the Program's digest"
    " again and compare it with the kept one."
)
NEVER = "Neither the project's checks nor this server have replayed this Program."
ALL_OUTPUTS = "all outputs"
MOST_OUTPUTS = 6
"""Outputs that a card draws, those first that come closest to their tolerance (our choice)."""


@dataclass(frozen=True, slots=True)
class ReplayedOutput:
    """An output against ONNX Runtime's; both numbers are shares of its largest number.

    None where there is no such share: an output is no number, or all of ONNX Runtime's are 0.
    """

    name: str
    difference: float | None
    tolerance: float | None
    is_right: bool


@dataclass(frozen=True, slots=True)
class Replayed:
    """What is known of one run.

    `run`: A or B. `is_right`: None where nothing replayed it. `hidden`: outputs beyond those here.
    `more`: about a kept replay.
    """

    run: str
    strategy: str
    text: str
    is_right: bool | None = None
    outputs: Sequence[ReplayedOutput] = ()
    hidden: int = 0
    more: str = ""


def replay_of(run: str, report: Report) -> Replayed:
    """The report's own replay, else the kept one of exactly its Program, else none."""
    strategy = report.contract["strategy"]
    if was_verified(report):
        rows = [
            ReplayedOutput(row["name"], row["max_rel_error"], row["rel_tolerance"], row["ok"])
            for row in outputs(report)
        ]
        drawn, fault = sorted(rows, key=_closeness)[:MOST_OUTPUTS], fault_text(report)
        text = f"First wrong instruction: {fault}" if fault else verification_text(report)
        hidden = len(rows) - len(drawn)
        return Replayed(run, strategy, text, not is_wrong(report), drawn, hidden)
    kept = kept_replay(report)
    if kept is None:
        return Replayed(run, strategy, NEVER)
    difference, tolerance = kept["largest_difference"], kept["tolerance"]
    whole = ReplayedOutput(ALL_OUTPUTS, difference, tolerance, is_right=True)
    more = f"Program: sha256 {kept['program_sha256']}. {KEPT_WHERE}"
    text = f"This Program was {kept_text(kept)}."
    return Replayed(run, strategy, text, is_right=True, outputs=(whole,), more=more)


def _closeness(output: ReplayedOutput) -> tuple[bool, float]:
    """Wrong ones first, then by how much of its tolerance an output uses."""
    share = (output.difference or 0.0) / output.tolerance if output.tolerance else 0.0
    return output.is_right, -share
