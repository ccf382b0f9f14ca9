"""Segments at random, and every way through them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from graphturbo_core.strategies.best.segment_cycles import Estimate
from graphturbo_core.strategies.best.segments import Option, Segment
from graphturbo_core.strategies.plus.cuts import GroupCut


def drawn(rng: random.Random) -> tuple[Segment, ...]:
    """All single layers of a model of up to seven, and some longer runs, in up to three splits."""
    count = rng.randint(1, 7)
    runs = [(at, at + 1) for at in range(count)]
    runs += [
        (first, last)
        for first in range(count)
        for last in range(first + 2, count + 1)
        if rng.random() < 0.6
    ]
    return tuple(
        Segment(first, last, tuple(
            Option(
                GroupCut(tuple(range(first, last)), 0, pieces),
                Estimate(rng.randint(1, 30) * (last - first), rng.randint(0, 2)),
                rng.random() < 0.5,
            )
            for pieces in range(1, rng.randint(2, 4))
        ))
        for first, last in runs
    )  # fmt: skip


def rows(segments: Sequence[Segment], first: int, last: int) -> Iterator[tuple[Option, ...]]:
    """Every row of options that has the layers from `first` on, each once."""
    if first == last:
        yield ()
    for segment in (each for each in segments if each.first == first):
        for option in segment.options:
            for rest in rows(segments, segment.last, last):
                yield (option, *rest)
