"""Layers -> blocks that can be shut, where a model has too many layers for a row each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from graphturbo_core.report.overview.stages import PARTS, title_of

MOST_ROWS = 90
"""With more layers than this, all blocks but one are shut at first (our choice)."""
LONGEST = 48
"""Layers in one block, at most where names allow: it has to be readable when open (our choice)."""
FEWEST = 3
"""A path divides layers into blocks only where it gives at least so many (our choice)."""
DEEPEST = 6


class Block(NamedTuple):
    """Layers `first` to `last`, counted from 0."""

    title: str
    first: int
    last: int


def blocks(names: Sequence[str]) -> list[Block]:
    """The blocks of layers with these names; none where each layer has room for a row.

    The shallowest path that gives short blocks names them; without paths they are equal stretches.
    """
    if len(names) <= MOST_ROWS:
        return []
    paths = [tuple(part for part in PARTS.split(name) if part) for name in names]
    for depth in range(1, DEEPEST):
        found = _runs(paths, depth)
        longest = max(block.last - block.first + 1 for block in found)
        if len(found) >= FEWEST and longest <= LONGEST and len(found) <= len(names) / 2:
            return _within(found)
    count = -(-len(names) // (LONGEST // 2))
    ends = [len(names) * part // count for part in range(count + 1)]
    return [
        Block(f"layers {first + 1}–{end}", first, end - 1)
        for first, end in zip(ends, ends[1:], strict=False)
    ]


def _runs(paths: Sequence[tuple[str, ...]], depth: int) -> list[Block]:
    """Neighbours whose paths begin with the same `depth` parts."""
    found = []
    for prefix, members in groupby(range(len(paths)), key=lambda at: paths[at][:depth]):
        own = list(members)
        found.append(Block(title_of(prefix), own[0], own[-1]))
    return found


def _within(found: list[Block]) -> list[Block]:
    """At most `MOST_ROWS` blocks: neighbours are joined, as many as that takes."""
    step = -(-len(found) // MOST_ROWS)
    if step == 1:
        return found
    return [
        Block(f"{part[0].title} – {part[-1].title}", part[0].first, part[-1].last)
        for part in (found[at : at + step] for at in range(0, len(found), step))
    ]
