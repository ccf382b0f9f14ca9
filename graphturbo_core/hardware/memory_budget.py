"""Hardware + TileRules -> MemoryBudget: how the bytes of LB and GB are divided.

Planning judges splits, places and residencies by it, and lowering allots by it, so that a plan that
fits is one that can be lowered.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.tile_rules import RING_TILES, TileRules

SHARD_SHARE = 2
"""Shards of weights take at most this part (1/2) of an LB's weight part: our choice, the rest is
for the tiles in use."""


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """Bytes of each purpose, of one core's LB and of one cluster's GB.

    `lb_data_bytes`: activations. `lb_weight_bytes`: weights, shards among them; the data part and
    the weight part of a pooled LB are the pool. `shard_bytes`: at most so many hold weights for
    other cores. `output_ring_bytes`: of the data part, what a result takes that is streamed out
    while its nest runs. `gb_data_bytes`: outputs and whole weights in GB, beside
    `gb_weight_ring_bytes` for the tiles of streamed weights. `split_bytes`: live bytes of a
    cluster's LBs that Algorithm 1 allows a piece.
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

    A pooled LB gives `rules.pool_share` of the pool to weights. GB keeps as many bytes free for
    tiles of streamed weights as an LB has for weights (our choice).
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
