"""Where a kernel finds and leaves tensors outside its LBs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.instructions.local_buffers import SHARD, STAY, SharedKey
from graphturbo_core.lowering.instructions.machine import far_core
from graphturbo_core.products.program import Cause, Memory

SPILLS = -2
"""The maker of a DRAM buffer for what found no room nearer, apart from what was planned there: of
one tensor some pieces may be the one and some the other, and a buffer is one of the two."""


@dataclass(frozen=True, slots=True)
class Site:
    """A box of a tensor in GB or DRAM, and why its bytes cross.

    `maker`: the kernel that wrote it (-1: it is there from the start, or a DRAM buffer that all
    kernels share; `SPILLS`: the one of spilled pieces). `held`: the box of its buffer where that is
    larger: what the kernel that made it computed, of which others answer for the rest. `away`: in
    the DRAM of which cluster, counted from this one on (0: its own).
    """

    tensor: str
    memory: Memory
    box: Box
    maker: int
    cause: Cause
    is_spill: bool = False
    held: Box | None = None
    away: int = 0

    def whole(self) -> Site:
        """The site as the kernel that made it sees it: all of its buffer."""
        return self if self.held is None else replace(self, box=self.held)

    @property
    def key(self) -> SharedKey:
        """Identity of the buffer that holds it."""
        return (self.memory.name, self.tensor, far_core(self.away), self.maker)


@dataclass(frozen=True, slots=True)
class GbRing:
    """The weight slots that every kernel finds at the bottom of GB, and as many small regions.

    `tile_bytes`: above them, the tile buffers of the engine that the cores share. `ahead_bytes`
    from `ahead_offset` on: what a kernel finds free above all else, for weights that are fetched
    further ahead than the slots allow; of use only where instructions move across layers.
    """

    slot_bytes: int
    small_bytes: int
    tile_bytes: int = 0
    slots: int = 2
    ahead_offset: int = 0
    ahead_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        """All of it."""
        return self.tile_offset + self.tile_bytes

    @property
    def tile_offset(self) -> int:
        """Where the tile buffers begin."""
        return self.slots * (self.slot_bytes + self.small_bytes)

    @property
    def is_ahead(self) -> bool:
        """Whether a slot more than there are, at least, is free above all else."""
        return self.ahead_bytes >= (self.slots + 1) * self.slot_bytes > 0

    @property
    def turn(self) -> tuple[int, int]:
        """Offset and bytes of what streamed weights take in turn."""
        slots = (0, self.slots * self.slot_bytes)
        return (self.ahead_offset, self.ahead_bytes) if self.is_ahead else slots

    def small_offset(self, turn: int) -> int:
        """Where whole weights of a stage go, whose turn it is."""
        return self.slots * self.slot_bytes + turn * self.small_bytes


@dataclass(frozen=True, slots=True)
class ResidentWeight:
    """A weight tensor that has a place in GB from kernel `maker` on; which boxes are there already.

    Pieces of a split over channels read different boxes.
    """

    maker: int
    fetched: frozenset[Box]


@dataclass(frozen=True, slots=True)
class Shard:
    """A box of a weight in the LB of `core`, for all cores and for several kernels.

    `number` tells the boxes apart; `is_first`: this kernel is the first to use it and fetches it.
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
    """A box of a weight that stays in GB over several kernels, and as many more that are `alike`.

    `number` tells the boxes that stay apart; `is_first`: this kernel fetches it.
    """

    tensor: str
    box: Box
    alike: int
    number: int
    is_first: bool

    @property
    def key(self) -> SharedKey:
        """Identity of the buffer that holds it."""
        return (STAY, self.tensor, far_core(0), self.number)


@dataclass(frozen=True, slots=True)
class AheadFetch:
    """A box that stays, fetched by a kernel before those that read it: for that op and layer."""

    retained: RetainedBox
    op: str
    layer: int


@dataclass(frozen=True)
class KernelEnvironment:
    """Everything outside a kernel's own buffers that its code refers to.

    `kernel` is its place in order. `shards`: by tensor and box, those that it reads. `lenders`: how
    many shares of DRAM its weights are fetched from in turn, its cluster's first. `retained`: by
    tensor and box, what it reads and stays in GB; `early`: what it fetches for later kernels.
    """

    kernel: int
    sources: Mapping[str, tuple[Site, ...]]
    targets: Mapping[str, Site]
    ring: GbRing
    held: Mapping[str, ResidentWeight]
    shards: Mapping[tuple[str, Box], Shard] = field(default_factory=dict)
    lenders: int = 1
    retained: Mapping[tuple[str, Box], RetainedBox] = field(default_factory=dict)
    early: tuple[AheadFetch, ...] = ()
