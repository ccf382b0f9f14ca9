"""KernelPlacement and KernelEnvironment -> Setting: everything that a kernel's code depends on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

from graphturbo_core.ir.boxes import Box, corner_of
from graphturbo_core.ir.graph import Op
from graphturbo_core.lowering.global_buffer.sites import KernelEnvironment
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import Stage

Corner = tuple[int, ...]
"""Lowest index of a box along every axis."""


@dataclass(frozen=True)
class Setting:
    """A kernel with all that its code is made from.

    `others`: placements that take its own one's place where the kernel is shorter with them.
    """

    placement: KernelPlacement
    around: KernelEnvironment
    others: tuple[KernelPlacement, ...] = ()

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        """The ops of all stages, in order; one with several results once for each."""
        return tuple(op for stage in self.placement.stages for op in stage.ops)

    @cached_property
    def layers(self) -> tuple[int, ...]:
        """The layer of each stage."""
        return tuple([stage.layer for stage in self.placement.stages])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every tensor that the code may name, in an order that no name has a say in."""
        placement, around = self.placement, self.around
        own = [name for op in self.ops for name in (*op.inputs, *op.outputs) if name]
        read = [operand.tensor for stage in placement.stages for operand in stage.operands]
        shards = [shard.tensor for shard in around.shards.values()]
        early = [each.retained.tensor for each in around.early]
        inputs = [each.source.tensor for each in around.early_inputs]
        far = (*around.sources, *around.targets, *around.held, *shards, *early, *inputs)
        return tuple(dict.fromkeys((*own, *read, *placement.residents, *far)))

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The place of each of `names`."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def corners(self) -> Mapping[str, Corner]:
        """Lowest corner of the kernel's box of each activation."""
        boxes = self.placement.kernel.boxes
        return {tensor: corner_of(box) for tensor, box in boxes.items()}

    def corner(self, tensor: str) -> Corner | None:
        """Lowest corner of the kernel's box of an activation; None for a weight."""
        return self.corners.get(tensor)

    def relative(self, tensor: str, box: Box) -> Box:
        """A box seen from the kernel's corner of that tensor."""
        corner = self.corners.get(tensor)
        if corner is None or not any(corner):
            return box
        return tuple([(lo - c, hi - c) for (lo, hi), c in zip(box, corner, strict=True)])

    def relative_shares(self, stage: Stage) -> Hashable:
        """A stage's shares, so seen; stages of one cut have the same ones."""
        known = self._relative_shares
        key = id(stage.shares), self.corner(stage.output)
        if key not in known:
            shares = stage.shares.items()
            known[key] = tuple([(core, self.relative(stage.output, box)) for core, box in shares])
        return known[key]

    @cached_property
    def _relative_shares(self) -> dict[tuple[int, Corner | None], Hashable]:
        return {}
