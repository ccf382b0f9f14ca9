"""Hardware + TileRules -> MemoryBudget: division of the bytes of LB and GB.

Planning and lowering both use it, so that a plan that fits can be lowered.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.tile_rules import RING_TILES, TileRules

SHARD_SHARE = 2
"""Largest part (1/2) of an LB's weight part for shards (our choice: the rest is for tiles)."""


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """Bytes of each purpose, of one core's LB and of one cluster's GB.

    `lb_data_bytes`: activations. `lb_weight_bytes`: weights, shards included; both parts of a
    pooled LB are the pool. `shard_bytes`: maximum for shards. `output_ring_bytes`: in the data
    part, tiles of a result that is streamed out while its nest runs. `gb_data_bytes`: outputs and
    whole weights in GB, beside `gb_weight_ring_bytes` for tiles of streamed weights. `split_bytes`:
    live bytes of a cluster's LBs that Algorithm 1 allows per piece.
    """

    lb_data_bytes: int
    lb_weight_bytes: int
    shard_bytes: int
    output_ring_bytes: int
    gb_data_bytes: int
    gb_weight_ring_bytes: int
    split_bytes: int


def memory_budget(hardware: Hardware, rules: TileRules) -> MemoryBudget:
    """Divide a chip's LB and GB.

    A pooled LB reserves 1/`rules.pool_share` of the pool for weights. GB reserves an LB's weight
    bytes for tiles of streamed weights (our choice).
    """
    weights = hardware.lb_weight_bytes
    data = hardware.lb_data_bytes
    if hardware.is_pooled:
        weights = data // rules.pool_share
        data -= weights
    ring = min(weights, hardware.gb_bytes)
    given = hardware.split_capacity_bytes
    return MemoryBudget(
        lb_data_bytes=data,
        lb_weight_bytes=weights,
        shard_bytes=weights // SHARD_SHARE if hardware.shards_weights else 0,
        output_ring_bytes=RING_TILES * (data // rules.tile_share),
        gb_data_bytes=hardware.gb_bytes - ring,
        gb_weight_ring_bytes=ring,
        split_bytes=hardware.cores * data if given is None else given,
    )
