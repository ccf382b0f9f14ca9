"""Instances -> bound kernels: Algorithm 4, with each core's shares, reads and LB contents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.memory_budget import MemoryBudget, memory_budget
from graphturbo_core.hardware.tile_rules import DEFAULT_RULES, TileRules
from graphturbo_core.ir.boxes import Box, hull
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding
from graphturbo_core.semantics.fit import KernelHold, core_needs, holding_boxes, nest_reads
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.constraints import NO_CONSTRAINTS, PlanConstraints
from graphturbo_core.strategies.steps.binding import Binder, KernelBinding
from graphturbo_core.strategies.steps.instances import Instance, InstanceGraph

_ValueT = TypeVar("_ValueT")


@dataclass(frozen=True, slots=True)
class KernelUsage:
    """Resources that one kernel uses: DRAM cycles, and cycles of a core's busiest engine.

    `gb_bytes`: end of the occupied GB while it runs, without weights that only this kernel uses.
    """

    dram_cycles: int
    core_cycles: int
    gb_bytes: int


@dataclass(frozen=True, slots=True)
class PlanCost:
    """Cost of a plan: cycles of a round and of each kernel, launch and barrier included.

    In a cluster-parallel plan each kernel has the cycles of its step. `loads`: per kernel; empty if
    not measured. `instructions`: of the simulated Program; the time to simulate grows with them.
    """

    cycles: int
    kernel_cycles: tuple[int, ...]
    loads: tuple[KernelUsage, ...] = ()
    instructions: int = 0


Cost = Callable[[Plan], PlanCost | None]
"""Cost function: lowers and simulates a plan; None if the plan is refused."""


@dataclass(frozen=True, slots=True)
class GbUse:
    """Use of GB where the paper is silent or differs.

    `is_reserved`: outputs and whole weights leave a weight part of GB free for two tiles of
    streamed weights (our choice). `has_conflicts`: a tensor inside a kernel whose readers bind it
    differently is in GB; else it is in LB, and cores exchange it.
    """

    is_reserved: bool = True
    has_conflicts: bool = True


DEFAULT_GB_USE = GbUse()


MOST_BOUND = 256
"""Cached kernel bindings: a group is bound when it is fitted, and again when it is placed (our
choice: more than most models have groups)."""


class _Bindings:
    """Cache of the latest kernels' bindings, by their nests and what a binder reads of boxes."""

    def __init__(self, binder: Binder, semantics: GraphSemantics) -> None:
        self._binder, self._semantics = binder, semantics
        self._known: dict[tuple[object, ...], KernelBinding] = {}

    def __call__(self, nests: tuple[LoopNest, ...], boxes: Mapping[str, Box]) -> KernelBinding:
        key = tuple([(nest.ops, nest.output) for nest in nests]), self._binder.read_of(boxes)
        found = self._known.pop(key, None)
        if found is None:
            found = self._binder(self._semantics, nests, boxes)
            if len(self._known) >= MOST_BOUND:
                del self._known[next(iter(self._known))]
        self._known[key] = found
        return found


class OnceValues:
    """Values that a strategy computes once for all its plans of a target."""

    def __init__(self) -> None:
        """Start without values."""
        self._known: dict[tuple[Callable[..., object], Hashable], object] = {}

    def get(
        self, function: Callable[..., _ValueT], key: Hashable, make: Callable[[], _ValueT]
    ) -> _ValueT:
        """Value for a key: `make` computes it once, by `function`, whose results have one type."""
        if (function, key) not in self._known:
            self._known[function, key] = make()
        return cast(_ValueT, self._known[function, key])


@dataclass(frozen=True)
class Target:
    """Inputs of planning: model, chip, and settings for all kernels of a plan.

    `clusters`: number of clusters that may share the round. `cost`: cost function, for a strategy
    that evaluates several plans; None if not available. `once`: what a strategy computes once for
    all its plans.
    """

    semantics: GraphSemantics = field(repr=False)
    hardware: Hardware = field(repr=False)
    number_format: str
    binder: Binder
    rules: TileRules = DEFAULT_RULES
    constraints: PlanConstraints = NO_CONSTRAINTS
    feeding: Feeding = DEFAULT_FEEDING
    clusters: int = 1
    cost: Cost | None = field(default=None, repr=False, compare=False)
    gb_use: GbUse = DEFAULT_GB_USE
    once: OnceValues = field(default_factory=OnceValues, repr=False, compare=False)

    @cached_property
    def bound(self) -> Callable[[tuple[LoopNest, ...], Mapping[str, Box]], KernelBinding]:
        """Algorithm 4 for a kernel's nests and boxes, cached."""
        return _Bindings(self.binder, self.semantics)

    @cached_property
    def budget(self) -> MemoryBudget:
        """Division of LB and GB, the same in planning and lowering."""
        return memory_budget(self.hardware, self.rules)

    @property
    def gb_room_bytes(self) -> int:
        """Bytes of GB for outputs and whole weights."""
        return self.budget.gb_data_bytes if self.gb_use.is_reserved else self.hardware.gb_bytes

    @cached_property
    def element_bytes(self) -> Mapping[str, int]:
        """Bytes of one element of each tensor."""
        return {
            name: element_bytes(tensor.dtype, self.number_format)
            for name, tensor in self.semantics.graph.tensors.items()
        }


@dataclass(frozen=True)
class BoundKernel:
    """An instance with its bindings, before core numbers are chosen (`redistribution.py`)."""

    target: Target = field(repr=False)
    instance: Instance
    nests: tuple[LoopNest, ...]
    binding: KernelBinding

    def shares(self, tensor: str) -> dict[int, Box]:
        """The box of a computed tensor that each core owns."""
        return self.binding.bindings[tensor].shares(self.instance.boxes[tensor])

    def needs(self, tensor: str) -> dict[int, Box]:
        """The box of an input that each core reads into its LB."""
        sem = self.target.semantics
        held: dict[int, Box] = {}
        for nest in self.nests:
            if nest.is_on_cluster(sem) or tensor not in nest_reads(sem, nest):
                continue
            for core, box in core_needs(sem, nest, self._nest_shares(nest))[tensor].items():
                held[core] = hull(held[core], box) if core in held else box
        return held

    def _nest_shares(self, nest: LoopNest) -> dict[str, dict[int, Box]]:
        outputs = self.target.semantics.graph.op_by_name[nest.ops[-1]].outputs
        return {tensor: self.shares(tensor) for tensor in outputs if tensor in self.instance.boxes}

    @cached_property
    def is_pinned(self) -> bool:
        """Whether a plan file fixes cores of this kernel: then its core numbers do not change."""
        return not self.target.binder.fixed.keys().isdisjoint(self.binding.bindings)

    @cached_property
    def hold(self) -> KernelHold:
        """Tensors in the LBs while the kernel runs."""
        boxes = self.instance.boxes
        cuts = {t: (own, boxes[t]) for t, own in self.binding.bindings.items() if t in boxes}
        divided = {cut: cut[0].shares(cut[1]) for cut in set(cuts.values())}
        shares = {tensor: divided[cut] for tensor, cut in cuts.items()}
        return KernelHold(
            self.target.semantics,
            self.nests,
            holding_boxes(self.target.semantics, self.nests, shares),
            self.target.element_bytes,
            self.target.budget.output_ring_bytes,
        )


def bind_instance(target: Target, instance: Instance, nests: tuple[LoopNest, ...]) -> BoundKernel:
    """Apply Algorithm 4 to one instance."""
    binding = target.bound(nests, instance.boxes)
    return BoundKernel(target, instance, nests, binding)


def bind_instances(target: Target, graph: InstanceGraph) -> tuple[BoundKernel, ...]:
    """Apply Algorithm 4 to every instance; a section's nests are computed once."""
    nests = [section.nests(target.semantics) for section in graph.sections]
    return tuple(
        bind_instance(target, instance, nests[instance.section]) for instance in graph.instances
    )
