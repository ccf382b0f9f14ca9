"""KernelPlacement: tensors of a kernel in LB with their addresses, tiles and streamed tensors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from graphturbo_core.lowering.local_buffer.rings import Ring
from graphturbo_core.lowering.local_buffer.weight_part import WeightPart
from graphturbo_core.lowering.stages.stage import Cut, Shares, Stage
from graphturbo_core.lowering.stages.views import Views
from graphturbo_core.lowering.tiling.cutting import Grain, staging_sets
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.staging import Nest, StagingPlan, staging_plans
from graphturbo_core.lowering.tiling.tiling import Steps, Tiling, output_tiles
from graphturbo_core.lowering.tiling.weight_items import WeightItems
from graphturbo_core.products.plan import KernelPlan, Plan, Residency, Scope


@dataclass(frozen=True)
class Resident:
    """A tensor in LB: the same offset on every core, each core with its own box.

    `shares`: box that each core computes (empty for a loaded tensor), by its `cut`. Stages `first`
    to `last` use it. `is_inherited`: the kernel before left it here. `own`: each core's computed
    box in a separate buffer, if one box around computed and read parts would need more bytes than
    both, or if tensors have no room otherwise (our choice); None: one buffer. `direct`: stages in
    which each core reads its computed box alone. `has_tile_exchange`: only computed boxes are
    here; in other stages cores get tiles of them from each other.
    """

    tensor: str
    offset: int
    size_bytes: int
    boxes: Shares
    shares: Shares
    cut: Cut | None
    first: int
    last: int
    is_inherited: bool = False
    own: Resident | None = None
    direct: frozenset[int] = frozenset()
    has_tile_exchange: bool = False

    @property
    def made(self) -> Resident:
        """The resident that cores compute into, or that the kernel before left."""
        return self.own or self


@dataclass
class SharedValues:
    """Values of a placement that its copies share; None: not computed yet.

    `fetches`: fewest loads of streamed activations. `output_tiles`: of each stage. `template`: the
    part of the template key that follows from the placement.
    """

    fetches: int | None = None
    output_tiles: tuple[int, ...] | None = None
    template: Hashable | None = None


@dataclass(frozen=True)
class KernelPlacement:
    """A kernel's use of LB."""

    plan: Plan = field(repr=False)
    alike: StageMemo = field(repr=False, compare=False)
    kernel: KernelPlan
    grain: Grain
    stages: tuple[Stage, ...]
    tilings: tuple[Tiling, ...]
    residents: Mapping[str, Resident]
    views: Views
    rings: Mapping[tuple[int, str], Ring]
    weights: WeightPart
    kept: frozenset[str]
    spilled: frozenset[str]
    computes: int
    """Number of compute instructions."""
    cluster_ring_bytes: int = 0
    """Bytes of GB for tile buffers of the engine that the cores share."""
    shared: SharedValues = field(default_factory=SharedValues, repr=False, compare=False)
    """`replace` carries it to the copy. A copy that is not equivalent needs its own."""

    @cached_property
    def tiles(self) -> tuple[Steps, ...]:
        """Tiles of each stage; many objects, so listed only after all kernels are placed."""
        pairs = zip(self.stages, self.tilings, strict=True)
        return tuple(self.alike.tiles(stage, tiling) for stage, tiling in pairs)

    @property
    def output_tiles(self) -> tuple[int, ...]:
        """As `tiling.output_tiles`, of each stage."""
        if self.shared.output_tiles is None:
            self.shared.output_tiles = tuple(map(output_tiles, self.stages, self.tilings))
        return self.shared.output_tiles

    @cached_property
    def items(self) -> tuple[WeightItems | None, ...]:
        """The weight tiles of each stage."""
        room_bytes = self.weights.tile_bytes
        return tuple(
            self.alike.items(self.kernel, stage, tiling, room_bytes)
            for stage, tiling in zip(self.stages, self.tilings, strict=True)
        )

    @cached_property
    def staging(self) -> Mapping[int, StagingPlan]:
        """Slots between the ops of each stage that is computed, by its index."""
        nests = [
            Nest(stage, tiling, self.tiles[stage.index])
            for stage, tiling in zip(self.stages, self.tilings, strict=True)
            if stage.index not in self.views.skipped
        ]
        sets = staging_sets(self.plan, self.grain)
        return staging_plans(self.plan, nests, sets, self.alike.expected(self.stages))

    @property
    def demoted(self) -> tuple[str, ...]:
        """Weights that the plan has in LB but that are streamed without room there."""
        streamed = [i.operand.tensor for i in self.items if i is not None and not i.is_resident]
        return tuple(name for name in streamed if self.kernel.residency.get(name) is Residency.LB)

    @cached_property
    def computed(self) -> frozenset[str]:
        """Tensors that the kernel's stages write."""
        return frozenset(stage.output for stage in self.stages)

    @cached_property
    def read(self) -> frozenset[str]:
        """Tensors that the kernel's stages read."""
        return frozenset(o.tensor for stage in self.stages for o in stage.operands)

    @cached_property
    def in_place(self) -> frozenset[str]:
        """Tensors that are computed into the LB buffers from which they are read."""
        return frozenset(
            name for name, r in self.residents.items() if r.shares and not r.made.is_inherited
        ).union(self.views.maps)

    def scope(self, tensor: str) -> Scope:
        """Memory of a computed tensor that outlives its nest, spills included."""
        planned = self.kernel.scopes.get(tensor, Scope.LB)
        is_lost = tensor in self.spilled or (
            tensor in self.kernel.outputs and tensor not in self.kept
        )
        return Scope.GB if is_lost and planned is Scope.LB else planned
