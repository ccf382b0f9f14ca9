"""TileRules: numbers for cutting and loading work, without a source; all are our choice."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.option_fields import number

RING_TILES = 2
"""Tile buffers per streamed tensor."""


@dataclass(frozen=True, slots=True)
class TileRules:
    """Granularity of lowering; each field is the option `lowering.NAME` of `--set`."""

    tile_share: int = number(16, (1, 1024), "a streamed tile has at most 1/N of an LB's data part")
    """A streamed tile has at most 1/16 of an LB's data part, so that two of them fit beside the 882
    of 1,024 KiB that ResNet-50's first stage uses."""
    tiles: int = number(4, (1, 64), "most tiles into which a core's share is cut for overlap")
    """Most tiles of a core's share, and most loads of its part of an input; moves and computes then
    overlap."""
    padding_percent: int = number(
        10, (0, 1000), "percent of matrix passes that cuts for overlap may add"
    )
    """Percent of additional matrix passes, by padding to whole passes, that such cuts may cause."""
    vector_tile_elements: int = number(
        4096, (1, 10**6), "least elements per tile of a vector stage cut for overlap"
    )
    """A vector stage is not cut below this number of elements for overlap alone."""
    load_chunk_bytes: int = number(16 * 1024, (32, 10**7), "least bytes per load cut for overlap")
    """A load is not cut below this size: 16 KiB take 64 cycles of a 256 B/cycle port."""
    small_weight_share: int = number(
        8, (3, 1024), "a weight loaded whole: up to 1/N of the weight part"
    )
    """A weight loaded whole (bias, scale) has at most 1/8 of the LB's weight part; a larger one is
    read from DRAM like an activation."""
    narrow_percent: int = number(75, (1, 1000), "percent of the array's width below which K is cut")
    """With one tile per share, K is not cut for a tile of at least this percent of the array's
    width: a narrower tile loses lanes, a cut of K doubles the instructions."""
    pool_share: int = number(5, (2, 1024), "weights have 1/N of a pooled LB")
    """Weights have 1/5 of a pooled LB: stcp920's own division, 256 KiB of 1.25 MiB."""


DEFAULT_RULES = TileRules()
