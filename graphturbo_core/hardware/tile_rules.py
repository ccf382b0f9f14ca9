"""TileRules: numbers by which work is cut and loaded that no source gives; all are our choice."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.option_fields import number

RING_TILES = 2
"""Tiles of a streamed tensor that take turns."""


@dataclass(frozen=True, slots=True)
class TileRules:
    """How finely lowering cuts; each field is the option `lowering.NAME` of `--set`."""

    tile_share: int = number(16, (1, 1024), "a streamed tile takes at most this part of an LB")
    """A streamed tile takes at most this part (1/16) of an LB's data part, so that two of them fit
    beside the 882 of 1,024 KiB which ResNet-50's first stage takes."""
    tiles: int = number(4, (1, 64), "tiles into which a core's share is cut for overlap, at most")
    """A core's share is cut into up to so many tiles, and its part of an input is loaded in up to
    so many pieces, so that moves and computes overlap."""
    padding_percent: int = number(
        10, (0, 1000), "passes of the matrix array that such cuts may add"
    )
    """... as long as padding to whole passes of the matrix array costs at most so much more."""
    vector_tile_elements: int = number(
        4096, (1, 10**6), "a vector stage is cut for overlap down to this"
    )
    """A vector stage is not cut below so many elements for overlap alone."""
    load_chunk_bytes: int = number(16 * 1024, (32, 10**7), "a load is cut for overlap down to this")
    """A load is not cut below this: 16 KiB take 64 cycles of a 256 B/cycle port."""
    small_weight_share: int = number(8, (3, 1024), "a weight of this part of an LB's comes whole")
    """A weight that comes whole (bias, scale) takes at most this part (1/8) of the weight part; a
    larger one is read from DRAM like an activation."""
    narrow_percent: int = number(75, (1, 1000), "part of the array's width below which K is cut")
    """At one tile a share, K is not cut for a tile at least this part of the array wide: a narrower
    tile loses lanes, a cut of K doubles the instructions."""
    pool_share: int = number(5, (2, 1024), "part of a pooled LB that holds weights")
    """Of a pooled LB this part (1/5) holds weights: stcp920's own division, 256 KiB of 1.25 MiB."""


DEFAULT_RULES = TileRules()
