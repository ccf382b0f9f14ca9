"""Layers -> blocks that can be shut, where a model has too many layers for a row each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from graphturbo_core.report.rows.partition.stages import PARTS, title_of

MOST_ROWS = 90
"""With more layers than this, all blocks but one are shut at first (our choice)."""
LONGEST = 48
"""Layers of a block, at most: it has to be readable when it is open (our choice)."""
JOINED = 20
"""Neighbours below this are one block together, where a longer one was divided, or where most
layers would be rows of their own (our choice)."""
SHORTEST = 4
"""Fewer layers are rows of their own, outside of any block (our choice)."""
MOST_BLOCKS = 90
DEEPEST = 8


class Block(NamedTuple):
    """Layers `first` to `last`, counted from 0."""

    title: str
    first: int
    last: int

    @property
    def layers(self) -> int:
        """How many layers it has."""
        return self.last - self.first + 1


def blocks(names: Sequence[str]) -> list[Block]:
    """The blocks of layers with these names; none where each layer has room for a row.

    A block is a run of one path prefix, as short a prefix as keeps it readable. Where paths say
    nothing, blocks are equal stretches.
    """
    if len(names) <= MOST_ROWS:
        return []
    paths = [tuple(part for part in PARTS.split(name) if part) for name in names]
    found = _divided(paths)
    if max(block.layers for block in found) > LONGEST or len(found) > len(names) / 2:
        count = -(-len(names) // (LONGEST // 2))
        ends = [len(names) * part // count for part in range(count + 1)]
        return [Block(f"layers {first + 1}–{end}", first, end - 1) for first, end in pairwise(ends)]
    own = sum(block.layers for block in found if block.layers < SHORTEST)
    if own > MOST_ROWS:
        found = _joined(found)
    return _fewer([block for block in found if block.layers >= SHORTEST])


def _divided(paths: Sequence[tuple[str, ...]]) -> list[Block]:
    """Runs of a prefix of one part; those too long are divided by the next part, and so on."""
    found = _runs(paths, range(len(paths)), 1)
    for depth in range(2, DEEPEST):
        found = [part for block in found for part in _parts(paths, block, depth)]
    return found


def _parts(paths: Sequence[tuple[str, ...]], block: Block, depth: int) -> Sequence[Block]:
    """A block as it is, or, where it is too long, divided by the next part of its paths."""
    if block.layers <= LONGEST:
        return [block]
    return _together(_runs(paths, range(block.first, block.last + 1), depth), block)


def _runs(paths: Sequence[tuple[str, ...]], inside: range, depth: int) -> list[Block]:
    """Neighbours whose paths begin with the same `depth` parts."""
    found = []
    for prefix, members in groupby(inside, key=lambda at: paths[at][:depth]):
        own = list(members)
        found.append(Block(title_of(prefix), own[0], own[-1]))
    return found


def _together(parts: list[Block], whole: Block) -> list[Block]:
    """Short neighbours as one block, `block 3: layer 1 – layer 5`."""
    found = _joined(parts)
    is_joined = len(found) < len(parts)
    return [b._replace(title=f"{whole.title}: {b.title}") if is_joined else b for b in found]


def _joined(parts: Sequence[Block]) -> list[Block]:
    """Short neighbours as one block each, `layer 1 – layer 5`."""
    found: list[Block] = []
    for part in parts:
        before = found[-1] if found else None
        if before and before.layers + part.layers <= JOINED:
            title = f"{before.title.split(' – ')[0]} – {part.title}"
            found[-1] = Block(title, before.first, part.last)
        else:
            found.append(part)
    return found


def _fewer(found: list[Block]) -> list[Block]:
    """At most `MOST_BLOCKS` blocks: neighbours are joined, as many as that takes."""
    step = -(-len(found) // MOST_BLOCKS)
    if step <= 1:
        return found
    return [
        Block(f"{part[0].title} – {part[-1].title}", part[0].first, part[-1].last)
        for part in (found[at : at + step] for at in range(0, len(found), step))
    ]
