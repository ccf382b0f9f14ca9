"""What a fault may be put into, drawn with a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from graphturbo_core.products.program import InstructionKind
from tests.verify.draft import Box, Draft, Row, is_local

Kind = Callable[[Draft, Random], str | None]
"""What it did; None where the Program has nothing of the kind. Its docstring is its name."""
T = TypeVar("T")


def pick(random: Random, found: Sequence[T]) -> T | None:
    return random.choice(found) if found else None


def moves_of(draft: Draft, *kinds: InstructionKind) -> list[Row]:
    return [r for r in draft.rows if not r.is_compute and (not kinds or r.kind in kinds)]


def computes_of(draft: Draft) -> list[Row]:
    return [row for row in draft.rows if row.is_compute]


def told_of(draft: Draft, row: Row, what: str) -> str:
    return f"instruction {draft.rows.index(row)} ({row.kind.name.lower()}): {what}"


def shorter(box: Box, random: Random) -> Box | None:
    """The box without its first or last slice along one of its longer axes."""
    axis = pick(random, [place for place, (lo, hi) in enumerate(box) if hi - lo > 1])
    if axis is None:
        return None
    lo, hi = box[axis]
    cut = random.choice([(lo + 1, hi), (lo, hi - 1)])
    return (*box[:axis], cut, *box[axis + 1 :])


def shifted(box: Box, whole: Box, random: Random) -> Box | None:
    """The box moved by one inside of a larger one."""
    found = [
        (*box[:axis], (lo + by, hi + by), *box[axis + 1 :])
        for axis, ((lo, hi), (low, high)) in enumerate(zip(box, whole, strict=True))
        for by in (-1, 1)
        if low <= lo + by and hi + by <= high
    ]
    return pick(random, found)


def local_buffers(draft: Draft) -> list[int]:
    """Buffers in cores that are used."""
    used = {access.buffer for row in draft.rows for access in row.accesses}
    return [buffer for buffer in sorted(used) if is_local(draft, buffer)]
