"""Two plan files, or two program listings -> Differences; Differences -> text."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.errors import PlanError
from graphturbo_core.export.difference import Difference
from graphturbo_core.export.plan_diff import plan_differences
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.export.program_diff import program_differences
from graphturbo_core.export.program_text import LISTING
from graphturbo_core.plain_yaml import shown

NO_DIFFERENCE = "no difference"


def differences(a: str, b: str, names: tuple[str, str]) -> list[Difference]:
    """Differences of two plan files, or of two listings of programs.

    Raises:
        PlanError: PLAN_KINDS, one is a plan and one a program; or a file cannot be read.
    """
    is_listing = [text.startswith(LISTING) for text in (a, b)]
    if is_listing[0] != is_listing[1]:
        plan = names[is_listing.index(False)]
        what = f"{shown(plan)} is no program, the other file is one"
        raise PlanError("PLAN_KINDS", what, "", "give two plans or two programs")
    if is_listing[0]:
        return program_differences(a, b)
    files = [read_plan(text.encode(), name) for text, name in zip((a, b), names, strict=True)]
    return plan_differences(files[0], files[1])


def difference_text(rows: Sequence[Difference]) -> str:
    """Text of the rows: one line each below the name of its part."""
    lines: list[str] = []
    part = ""
    for row in rows:
        if row.part != part:
            part = row.part
            lines.append(f"{part}:")
        change = f": {row.a} -> {row.b}" if row.a or row.b else ""
        lines.append(f"  {row.subject}{change}")
    return "\n".join(lines) or NO_DIFFERENCE
