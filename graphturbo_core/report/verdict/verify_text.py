"""What was verified, in words: for the command line, the verdict row and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from graphturbo_core.report.report import Json, Report
from graphturbo_core.units import counted


def was_verified(report: Report) -> bool:
    """Whether the run was replayed."""
    return bool(_verify(report)["ran"])


def is_wrong(report: Report) -> bool:
    """Whether the run was replayed and does not compute what its model says."""
    return was_verified(report) and not _verify(report)["ok"]


def badge_text(report: Report) -> str:
    """Two words for the verdict row."""
    if not was_verified(report):
        return "not verified"
    return "verification failed" if is_wrong(report) else "verified"


def verification_text(report: Report) -> str:
    """One line: what was replayed, how far the outputs are apart, or what is wrong first."""
    found, strategy = _verify(report), report.contract["strategy"]
    counts = (
        f"{counted(cast(int, found['instructions']), 'instruction')} replayed in "
        f"{counted(cast(int, found['rounds']), 'round')}"
    )
    if is_wrong(report):
        return f"{strategy}: VERIFICATION FAILED ({counts}): {_reason(found)}"
    worst = cast("float | None", found["max_rel_error"]) or 0.0
    return (
        f"{strategy}: verified against ONNX Runtime ({counts}): "
        f"{counted(len(outputs(report)), 'output')}, "
        f"largest error {worst:.2g} of an output's largest magnitude"
    )


def outputs(report: Report) -> Sequence[Json]:
    """A row for every output compared."""
    return cast("Sequence[Json]", _verify(report)["outputs"])


def fault_text(report: Report) -> str:
    """The first instruction that is wrong, with core, cycle and box; empty where none is."""
    fault = cast("Json | None", _verify(report).get("fault"))
    if fault is None:
        return ""
    where = f"core {fault['core']}, cycle {fault['cycle']}, box {fault['box']}"
    return f"{fault['rule']}: {fault['what']} ({where})"


def _reason(found: Json) -> str:
    fault = cast("Json | None", found.get("fault"))
    if fault is not None:
        return f"{fault['rule']}: {fault['what']}, core {fault['core']}, cycle {fault['cycle']}"
    wrong = [str(row["name"]) for row in cast("Sequence[Json]", found["outputs"]) if not row["ok"]]
    return f"outputs differ and no single op does: {', '.join(wrong)}"


def _verify(report: Report) -> Mapping[str, object]:
    return cast("Mapping[str, object]", report.contract["verify"])
