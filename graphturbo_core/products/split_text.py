"""Split axes of a group as text, for reports and decisions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def along_text(axis: int, pieces: int, further: Sequence[Sequence[int]]) -> str:
    """Split axes of a group as text: `axis 0`, `axes 2 in 8 and 3 in 4`; "" for -1."""
    axes = axes_text(axis, pieces, further)
    return f"{'axes' if further else 'axis'} {axes}" if axes else ""


def axes_text(axis: int, pieces: int, further: Sequence[Sequence[int]]) -> str:
    """The axes alone: `0`, `2 in 8 and 3 in 4`; "" for -1.

    `further`: pairs of a further axis and its parts; `pieces`: product of the parts of all axes.
    """
    if not further:
        return "" if axis < 0 else str(axis)
    first = pieces // prod(parts for _, parts in further)
    return " and ".join(f"{a} in {n}" for a, n in ((axis, first), *further))
