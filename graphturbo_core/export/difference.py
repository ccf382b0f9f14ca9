"""Difference: one row of the comparison of two plans or two programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_ROWS = 200
"""Most rows listed per part; further ones are counted."""
NONE = "-"
"""Text for an entry that one of the two lacks."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of A and B: its part, its subject, and the value in each."""

    part: str
    subject: str
    a: str
    b: str


def capped(rows: Sequence[Difference]) -> list[Difference]:
    """The first rows of one part, and a row with the number of further ones."""
    if len(rows) <= MAX_ROWS:
        return list(rows)
    more = f"and {len(rows) - MAX_ROWS} more"
    return [*rows[:MAX_ROWS], Difference(rows[0].part, more, "", "")]
