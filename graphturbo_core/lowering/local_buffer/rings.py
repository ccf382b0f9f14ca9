"""Tile buffers of streamed tensors, used in turn: their bytes and offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.lowering.stages.stage import Stage


@dataclass(frozen=True, slots=True)
class Ring:
    """Tile buffers of a streamed operand or output, used in turn, in LB.

    For a stage on an engine that the cores share they are in GB's part for tile buffers.
    """

    offset: int
    tile_bytes: int


def ring_bytes(
    stages: Sequence[Stage], rings: Sequence[Mapping[str, int]], *, is_on_cluster: bool
) -> int:
    """Largest bytes of one turn over the stages; `rings`: bytes of a tile by stage and tensor."""
    found = (
        sum(sizes.values())
        for stage, sizes in zip(stages, rings, strict=True)
        if stage.is_on_cluster == is_on_cluster
    )
    return max(found, default=0)


def ring_offsets(
    stages: Sequence[Stage], rings: Sequence[Mapping[str, int]], turns: int, base: int
) -> dict[tuple[int, str], Ring]:
    """Offsets in LB above `base`; for a shared engine from the start of its part of GB."""
    found: dict[tuple[int, str], Ring] = {}
    for index, sizes in enumerate(rings):
        offset = 0 if stages[index].is_on_cluster else base
        for tensor, size in sorted(sizes.items()):
            found[index, tensor] = Ring(offset, size)
            offset += turns * size
    return found
