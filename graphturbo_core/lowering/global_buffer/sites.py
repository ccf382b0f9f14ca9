"""Sites of a kernel's tensors outside its LBs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.instructions.local_buffers import RETAINED, SCRATCH, SHARD, SharedKey
from graphturbo_core.lowering.instructions.machine import far_core
from graphturbo_core.products.program import Cause, Memory

SPILLS = -2
"""Maker number of the DRAM buffer for spilled pieces; below it, of the buffers of a tensor that
several groups compute, one per group. Planned pieces have another buffer: one
tensor may have both, and a buffer has one cause."""

_NAMES = tuple([memory.name for memory in Memory])
"""Names of the memories by number; an enum's own `name` runs Python code."""


class Site(NamedTuple):
    """A box of a tensor in GB or DRAM, and the cause of its bytes.

    `maker`: the kernel that wrote it (-1: present from the start, or a DRAM buffer that all kernels
    share; `SPILLS`: the buffer of spilled pieces). `held`: the box of its buffer if that is larger:
    the maker's computed box, of which other kernels own the rest. `away`: the cluster of the DRAM,
    counted from this one (0: its own). `scratch`: offset in the bytes of GB that outputs of its
    kernel use in turn; None: its bytes are its own.
    """

    tensor: str
    memory: Memory
    box: Box
    maker: int
    cause: Cause
    is_spill: bool = False
    held: Box | None = None
    away: int = 0
    scratch: int | None = None

    def whole(self) -> Site:
        """The site of its whole buffer, as for its maker."""
        return self if self.held is None else self._replace(box=self.held)

    @property
    def key(self) -> SharedKey:
        """Identity of the buffer that holds it."""
        space = _NAMES[self.memory] if self.scratch is None else SCRATCH
        return (space, self.tensor, far_core(self.away), self.maker)


@dataclass(frozen=True, slots=True)
class GbRing:
    """Weight slots of every kernel at the bottom of GB, and equally many small regions.

    `tile_bytes`: above them, tile buffers of the engine that the cores share. `ahead_bytes` from
    `ahead_offset` on: free bytes above all else, for weights fetched further ahead than the slots
    permit; used only if instructions move across layers. `base`: end of the slots of other branches
    of the kernel.
    """

    slot_bytes: int
    small_bytes: int
    tile_bytes: int = 0
    slots: int = 2
    ahead_offset: int = 0
    ahead_bytes: int = 0
    base: int = 0

    @property
    def end(self) -> int:
        """The first byte of GB above it."""
        return self.tile_offset + self.tile_bytes

    @property
    def tile_offset(self) -> int:
        """Offset of the tile buffers."""
        return self.base + self.slots * (self.slot_bytes + self.small_bytes)

    @property
    def is_ahead(self) -> bool:
        """Whether the free bytes above fit at least one more slot."""
        return self.ahead_bytes >= (self.slots + 1) * self.slot_bytes > 0

    @property
    def turn(self) -> tuple[int, int]:
        """Offset and size of the bytes that streamed weights use in turn."""
        slots = (self.base, self.slots * self.slot_bytes)
        return (self.ahead_offset, self.ahead_bytes) if self.is_ahead else slots

    def small_offset(self, turn: int) -> int:
        """Offset of the weights that a stage of this turn loads whole."""
        return self.base + self.slots * self.slot_bytes + turn * self.small_bytes


@dataclass(frozen=True, slots=True)
class ResidentWeight:
    """A weight tensor resident in GB from kernel `maker` on; `fetched`: boxes already there.

    Pieces of a split over channels read different boxes.
    """

    maker: int
    fetched: frozenset[Box]


@dataclass(frozen=True, slots=True)
class Shard:
    """A box of a weight in the LB of `core`, for all cores and for several kernels.

    `number`: identifies the box; `is_first`: this kernel is the first to use it and fetches it.
    """

    tensor: str
    box: Box
    core: int
    number: int
    is_first: bool

    @property
    def key(self) -> SharedKey:
        """Identity of the buffer that holds it."""
        return (SHARD, self.tensor, self.core, self.number)


@dataclass(frozen=True, slots=True)
class RetainedBox:
    """A weight box retained in GB over several kernels; `alike`: number of equivalent boxes.

    `number`: identifies the retained box; `is_first`: this kernel fetches it.
    """

    tensor: str
    box: Box
    alike: int
    number: int
    is_first: bool

    @property
    def key(self) -> SharedKey:
        """Identity of the buffer that holds it."""
        return (RETAINED, self.tensor, far_core(0), self.number)


@dataclass(frozen=True, slots=True)
class AheadFetch:
    """A retained box, prefetched by a kernel before its readers, for this op and layer."""

    retained: RetainedBox
    op: str
    layer: int


@dataclass(frozen=True, slots=True)
class InputFetch:
    """An input's box of a later kernel, which an earlier one prefetches for this op and layer.

    `own`: the part of it that its first reader there owns; the rest is halo.
    """

    source: Site
    target: Site
    own: Box
    op: str
    layer: int


@dataclass(frozen=True)
class KernelEnvironment:
    """All places outside a kernel's own buffers that its code refers to.

    `kernel`: its place in order. `shards`: those that it reads, by tensor and box. `dram_shares`:
    number of DRAM shares that its weights are fetched from in turn, its cluster's first.
    `retained`: retained boxes that it reads, by tensor and box; `early`: boxes that it prefetches
    for later kernels; `early_inputs`: inputs of the model that it prefetches for them.
    """

    kernel: int
    sources: Mapping[str, tuple[Site, ...]]
    targets: Mapping[str, Site]
    ring: GbRing
    held: Mapping[str, ResidentWeight]
    shards: Mapping[tuple[str, Box], Shard] = field(default_factory=dict)
    dram_shares: int = 1
    retained: Mapping[tuple[str, Box], RetainedBox] = field(default_factory=dict)
    early: tuple[AheadFetch, ...] = ()
    early_inputs: tuple[InputFetch, ...] = ()

    @property
    def has_scratch(self) -> bool:
        """Whether outputs of the kernel use bytes of GB in turn."""
        return any(site.scratch is not None for site in self.targets.values())
