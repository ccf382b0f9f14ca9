"""Bytes of each LB for shards: parts of weights that one core holds for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

SHARD_ROUNDING = 32
"""Sizes of shards are rounded up to multiples of this, in bytes, like their addresses."""


def shard_part(sharded: Sequence[Mapping[str, int]], cores: int) -> int:
    """Bytes that shards need in each LB; `sharded`: per kernel in order, bytes per weight.

    The sum of the weights that are live at once, divided by the cores, plus the largest weight:
    boxes are not equal in size. Our choice.
    """
    spans: dict[str, tuple[int, int]] = {}
    for place, weights in enumerate(sharded):
        for name in weights:
            spans[name] = (spans.get(name, (place, place))[0], place)
    change = [0] * (len(sharded) + 1)
    largest = 0
    for name, (first, last) in spans.items():
        size = -(-sharded[last][name] // SHARD_ROUNDING) * SHARD_ROUNDING
        change[first] += size
        change[last + 1] -= size
        largest = max(largest, size)
    share = -(-max(accumulate(change)) // cores)
    rounded = -(-(share + largest) // SHARD_ROUNDING) * SHARD_ROUNDING
    return rounded + SHARD_ROUNDING if largest else 0
