"""TileSpace: room of a stage's tiles, and the memories of its operands."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphturbo_core.products.plan import Residency


@dataclass(frozen=True, slots=True)
class TileSpace:
    """Room of a stage: bytes of a core's memories, and the streamed operands by name.

    Compared without names.

    A streamed tile has at most `tile_bytes`. If even the finest cut is larger: its even share,
    `even_tile_bytes`. If that is too small: the bytes that the others leave of `ring_bytes`, the
    limit of all tiles together, with `turns` tiles per tensor.

    `in_dram`: streamed operands that are expected in DRAM, the others are in GB. `weight`: expected
    residency of the tiled weight. `weight_bytes`: bytes for it in LB.
    """

    tile_bytes: int
    even_tile_bytes: int
    ring_bytes: int
    tiles: int
    staging_sets: int
    staging_bytes: int
    weight_slot_bytes: int
    streamed: frozenset[str] = field(compare=False)
    in_dram: frozenset[str] = field(compare=False)
    weight: Residency
    weight_bytes: int
    is_output_streamed: bool
    is_wide: bool = False
    turns: int = 2
