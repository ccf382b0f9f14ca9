"""Difference: what two plans or two programs have in different ways, as rows and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_ROWS = 200
"""Rows of one part that are told, and how many more there are."""
NONE = "-"
"""What stands for something that one of the two does not have."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that A and B have in different ways: in which part, what, and how each has it."""

    part: str
    subject: str
    a: str
    b: str


def capped(rows: Sequence[Difference]) -> list[Difference]:
    """The first rows of one part, and how many there are besides."""
    if len(rows) <= MAX_ROWS:
        return list(rows)
    more = f"and {len(rows) - MAX_ROWS} more"
    return [*rows[:MAX_ROWS], Difference(rows[0].part, more, "", "")]
