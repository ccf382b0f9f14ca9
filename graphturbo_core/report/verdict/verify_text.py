"""Report -> result of the verification as text, for command line, verdict row and page."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.verify_rows import FaultEntry, OutputEntry, VerifyEntry
from graphturbo_core.units import counted


def was_verified(report: Report) -> bool:
    """Whether the run was replayed."""
    return bool(_verify(report)["ran"])


def is_wrong(report: Report) -> bool:
    """Whether the replay's results differ from the model's."""
    return was_verified(report) and not _verify(report)["ok"]


def badge_text(report: Report) -> str:
    """Two words for the verdict row."""
    if not was_verified(report):
        return "not verified"
    return "verification failed" if is_wrong(report) else "verified"


def verification_text(report: Report) -> str:
    """One line: size of the replay, and the largest error or the first fault."""
    found, strategy = _verify(report), report.contract["strategy"]
    counts = (
        f"{counted(found['instructions'], 'instruction')} replayed in "
        f"{counted(found['rounds'], 'round')}"
    )
    if is_wrong(report):
        return f"{strategy}: VERIFICATION FAILED ({counts}): {_reason(found)}"
    worst = found["max_rel_error"] or 0.0
    return (
        f"{strategy}: verified against ONNX Runtime ({counts}): "
        f"{counted(len(outputs(report)), 'output')}, "
        f"largest error {worst:.2g} of an output's largest magnitude"
    )


def outputs(report: Report) -> Sequence[OutputEntry]:
    """One row per compared output."""
    return _verify(report)["outputs"]


def fault_text(report: Report) -> str:
    """The first wrong instruction with core, cycle and box; empty where none is wrong."""
    fault = _verify(report).get("fault")
    if fault is None:
        return ""
    return f"{fault['rule']}: {fault['what']} ({_place(fault)}, box {fault['box']})"


def _place(fault: FaultEntry) -> str:
    core = f"core {fault['core']}, " if fault["core"] >= 0 else ""
    return f"{core}cycle {fault['cycle']}"


def _reason(found: VerifyEntry) -> str:
    fault = found.get("fault")
    if fault is not None:
        return f"{fault['rule']}: {fault['what']}, {_place(fault)}"
    wrong = [row["name"] for row in found["outputs"] if not row["ok"]]
    return f"outputs differ and no single op does: {', '.join(wrong)}"


def _verify(report: Report) -> VerifyEntry:
    return report.contract["verify"]
