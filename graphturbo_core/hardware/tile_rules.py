"""TileRules: numbers by which work is cut and loaded that no source gives; all are our choice."""

from __future__ import annotations

from dataclasses import dataclass

RING_TILES = 2
"""Tiles of a streamed tensor that take turns."""


@dataclass(frozen=True, slots=True)
class TileRules:
    """How finely lowering cuts; each field is the option `lowering.NAME` of `--set`."""

    tile_share: int = 16
    """A streamed tile takes at most this part (1/16) of an LB's data part, so that two of them fit
    beside the 882 of 1,024 KiB which ResNet-50's first stage takes."""
    tiles: int = 4
    """A core's share is cut into up to so many tiles, and its part of an input is loaded in up to
    so many pieces, so that moves and computes overlap."""
    padding_percent: int = 10
    """... as long as padding to whole passes of the matrix array costs at most so much more."""
    vector_tile_elements: int = 4096
    """A vector stage is not cut below so many elements for overlap alone."""
    load_chunk_bytes: int = 16 * 1024
    """A load is not cut below this: 16 KiB take 64 cycles of a 256 B/cycle port."""
    small_weight_share: int = 8
    """A weight that comes whole (bias, scale) takes at most this part (1/8) of the weight part; a
    larger one is read from DRAM like an activation."""
    narrow_percent: int = 75
    """At one tile a share, K is not cut for a tile at least this part of the array wide: a narrower
    tile loses lanes, a cut of K doubles the instructions."""
    pool_share: int = 5
    """Of a pooled LB this part (1/5) holds weights: stcp920's own division, 256 KiB of 1.25 MiB."""


DEFAULT_RULES = TileRules()
