"""Plan: kernels in order, their ops, pieces and bindings, and the memory of each tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import CLUSTER_CORE, Hardware
from graphturbo_core.hardware.memory_budget import MemoryBudget, memory_budget
from graphturbo_core.hardware.tile_rules import DEFAULT_RULES, TileRules
from graphturbo_core.ir.boxes import Box, Interval, divide, volume
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.branches import KernelBranch, branch_fault
from graphturbo_core.products.cooperation import ClusterCrossing, Cooperation, crossings
from graphturbo_core.products.gb_retention import GbRetention, RetentionLimits, retention_fault
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.products.shards import shard_part
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding
from graphturbo_core.semantics.table import GraphSemantics


@dataclass(frozen=True, slots=True)
class Layer:
    """Ops that Relay fuses, in topological order; named after its contraction, else its last op."""

    index: int
    name: str
    ops: tuple[str, ...]


class Scope(Enum):
    """The memory that holds a tensor between its writer and its readers."""

    LB = "LB"
    GB = "GB"
    DRAM = "DRAM"

    __hash__ = object.__hash__
    """Enum's own hash runs Python code. `Residency` has this hash too."""


class Residency(Enum):
    """How a layer's weights reach the cores.

    LB: fetched once per kernel, resident in the weight part while the layer runs.
    GB: fetched once into GB, resident there while the layer runs, broadcast tile by tile. If the
    next kernel is an instance of the same group, also resident for it. STREAM: tile by tile through
    GB. If weights of such adjacent instances do not all fit GB, parts of them are retained there,
    whatever their residency.
    SHARDED: a tile that several fetches need is fetched once into the LB of one core. It is
    resident there from its first use in the round to its last. The core sends it to the others.
    """

    LB = "LB"
    GB = "GB"
    STREAM = "stream"
    SHARDED = "sharded"

    __hash__ = object.__hash__


class Binding(NamedTuple):
    """Division of a tensor over cores: nesting level k cuts `axes[k]` into `grid[k]` parts.

    `cores`: core numbers in row-major order over the grid. The vendor's nested list `[[0,1],[2,3]]`
    over axes (0, 2) is `Binding((0, 2), (2, 2), (0, 1, 2, 3))`.
    """

    axes: tuple[int, ...]
    grid: tuple[int, ...]
    cores: tuple[int, ...]

    def shares(self, box: Box) -> dict[int, Box]:
        """The part of `box` per bound core; sizes differ by at most one element per axis."""
        cuts = {axis: divide(box[axis], n) for axis, n in zip(self.axes, self.grid, strict=True)}
        cells = product(*(range(parts) for parts in self.grid))
        return {
            core: tuple(self._interval(cuts, cell, axis, whole) for axis, whole in enumerate(box))
            for core, cell in zip(self.cores, cells, strict=True)
        }

    def _interval(
        self,
        cuts: dict[int, tuple[Interval, ...]],
        cell: tuple[int, ...],
        axis: int,
        whole: Interval,
    ) -> Interval:
        return cuts[axis][cell[self.axes.index(axis)]] if axis in self.axes else whole


ON_CLUSTER = Binding((), (), (CLUSTER_CORE,))
"""Binding of results of an engine that the cores share."""


@dataclass(frozen=True)
class KernelPlan:
    """One kernel: a set of ops and the boxes it computes on one cluster.

    `boxes`: box of every activation that the kernel computes (recomputed halo included) or reads
    from outside. `outputs`: box of each output that this kernel computes (disjoint between pieces
    of a group). `scopes`: memory of every computed tensor that outlives its loop nest; for outputs,
    until they are read. `kept`: outputs that are resident in LB for the next kernel (with a scope
    other than LB, there is a copy in that memory too). `bindings`: of every computed tensor.
    `residency`: of every weight that the kernel reads. `branches`: parts of the kernel that run at
    the same time, each on its own cores, as ops of the sections in turn; empty: it has one part.
    """

    name: str
    group: int
    piece: int
    ops: tuple[str, ...]
    boxes: Mapping[str, Box]
    outputs: Mapping[str, Box]
    bindings: Mapping[str, Binding]
    scopes: Mapping[str, Scope]
    kept: frozenset[str] = frozenset()
    residency: Mapping[str, Residency] = field(default_factory=dict)
    branches: tuple[tuple[tuple[str, ...], ...], ...] = ()


@dataclass(frozen=True)
class Group:
    """A coarse sub-graph: its layers and their common split.

    `split_axis` -1: not split. `covered_ops`: n of the split quadruple. `peak_bytes`: peak of live
    activations of the cluster's share before splitting (reference, 3.1). `further_splits`: pairs of
    a further axis of the last result and its parts; `pieces`: product of the parts of all axes.
    """

    name: str
    layers: tuple[int, ...]
    ops: tuple[str, ...]
    split_axis: int
    pieces: int
    covered_ops: int
    peak_bytes: int
    further_splits: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """One merge or refusal: step, rule, subject, and the numbers that decided it."""

    step: str
    rule: str
    subject: tuple[str, ...]
    is_taken: bool
    numbers: Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True)
class ReadyStep:
    """One step of Algorithm 3: the instance that runs, and the ready stack after it (top last)."""

    run: str
    ready: tuple[str, ...]


DESCRIPTIVE_FIELDS = frozenset({"strategy", "decisions", "ready_steps", "notes"})
"""Fields of a Plan that describe how it was made; the Program does not depend on them."""


@dataclass(frozen=True)
class Plan:
    """All decisions of a strategy for one cluster's round; the graph's shapes are the round's.

    `rules`: tile sizes for lowering. `feeding`: how cores get their operands. `fixed`: tensors and
    weights whose memory a plan file fixes; lowering may not choose another. `fixed_pieces`: the
    same for pairs of a tensor and a piece, counted from 0. `cooperation`: clusters that share the
    round; None: one cluster runs all kernels in order. `stays`: GB retentions, by priority.

    `layers`: those of the undecomposed graph, with the ops of `semantics.graph` that their ops are
    decomposed to; equal for every strategy. `units`: Relay's partition of the plan's own graph,
    which lowering divides into loop nests; equal to `layers` unless the strategy decomposes ops.
    """

    strategy: str
    semantics: GraphSemantics
    hardware: Hardware
    number_format: str
    layers: tuple[Layer, ...]
    units: tuple[Layer, ...]
    groups: tuple[Group, ...]
    kernels: tuple[KernelPlan, ...]
    scheduling: Scheduling
    decisions: tuple[Decision, ...] = ()
    ready_steps: tuple[ReadyStep, ...] = ()
    notes: tuple[str, ...] = ()
    rules: TileRules = DEFAULT_RULES
    fixed: frozenset[str] = frozenset()
    fixed_pieces: frozenset[tuple[str, int]] = frozenset()
    feeding: Feeding = DEFAULT_FEEDING
    cooperation: Cooperation | None = None
    stays: tuple[GbRetention, ...] = ()

    def is_lowered_as(self, other: Plan) -> bool:
        """Whether both have the same Program: graph and all but `DESCRIPTIVE_FIELDS` are equal."""
        if self.semantics.graph is not other.semantics.graph:
            return False
        names = {each.name for each in fields(self)} - DESCRIPTIVE_FIELDS - {"semantics"}
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def fixed_in(self, kernel: KernelPlan) -> frozenset[str]:
        """Tensors and weights whose memory a plan file fixes in this kernel."""
        return self.fixed | {name for name, piece in self.fixed_pieces if piece == kernel.piece}

    @cached_property
    def layer_of_op(self) -> Mapping[str, int]:
        """The layer of every op."""
        return {op: layer.index for layer in self.layers for op in layer.ops}

    @cached_property
    def unit_of_op(self) -> Mapping[str, int]:
        """The unit of every op."""
        return {op: unit.index for unit in self.units for op in unit.ops}

    @property
    def clusters(self) -> int:
        """Clusters that the round runs on."""
        return 1 if self.cooperation is None else self.cooperation.clusters

    def cluster_of(self, kernel: int) -> int:
        """The cluster that runs a kernel, from 0."""
        return 0 if self.cooperation is None else self.cooperation.cluster_of[kernel]

    def step_of(self, kernel: int) -> int:
        """The step in which a kernel runs: its index if one cluster runs all kernels."""
        return kernel if self.cooperation is None else self.cooperation.step_of[kernel]

    def clusters_of(self, kernels: NDArray[Any]) -> NDArray[np.int64]:
        """The cluster that runs each of these kernels."""
        clusters = [self.cluster_of(kernel) for kernel in range(len(self.kernels))]
        return np.asarray(np.array(clusters, dtype=np.int64)[kernels])

    def steps_of(self, kernels: NDArray[Any]) -> NDArray[np.int64]:
        """The step of each of these kernels."""
        steps = [self.step_of(kernel) for kernel in range(len(self.kernels))]
        return np.asarray(np.array(steps, dtype=np.int64)[kernels])

    @cached_property
    def crossings(self) -> tuple[ClusterCrossing, ...]:
        """Tensors that a kernel reads and another cluster computes."""
        if self.cooperation is None:
            return ()
        outputs = [kernel.outputs for kernel in self.kernels]
        reads = [
            {name: box for name, box in kernel.boxes.items() if name not in kernel.bindings}
            for kernel in self.kernels
        ]
        return tuple(crossings(self.cooperation, outputs, reads))

    @cached_property
    def element_bytes(self) -> Mapping[str, int]:
        """Bytes of one element of each tensor in the run's number format."""
        return {
            name: element_bytes(tensor.dtype, self.number_format)
            for name, tensor in self.semantics.graph.tensors.items()
        }

    @cached_property
    def weight_bytes(self) -> Mapping[str, int]:
        """Bytes of each weight that a kernel reads."""
        tensors = self.semantics.graph.tensors
        read = {name for kernel in self.kernels for name in kernel.residency}
        return {name: tensors[name].elements * self.element_bytes[name] for name in sorted(read)}

    def inputs_of(self, kernel: KernelPlan) -> dict[str, int]:
        """Inputs of the model that a kernel reads, with the bytes that it reads of each."""
        tensors, boxes = self.semantics.graph.tensors, kernel.boxes.items()
        read = ((name, box) for name, box in boxes if tensors[name].kind is TensorKind.INPUT)
        return {name: volume(box) * self.element_bytes[name] for name, box in read}

    @cached_property
    def budget(self) -> MemoryBudget:
        """Division of LB and GB, the same for planning and lowering."""
        return memory_budget(self.hardware, self.rules)

    @cached_property
    def shard_bytes(self) -> int:
        """Bytes at the end of each LB's weight part for shards; 0 if there are none."""
        most, tensors = self.budget.shard_bytes, self.semantics.graph.tensors
        if not most:
            return 0
        sharded = [
            {
                name: tensors[name].elements * self.element_bytes[name]
                for name, residency in kernel.residency.items()
                if residency is Residency.SHARDED
            }
            for kernel in self.kernels
        ]
        return min(shard_part(sharded, self.hardware.cores), most)

    @property
    def retention_fault(self) -> str:
        """The constraint that the plan's GB retentions violate; "": none."""
        weights = self.weight_bytes
        limits = RetentionLimits(
            [{n: weights[n] for n in k.residency} | self.inputs_of(k) for k in self.kernels],
            self.hardware,
            is_alone=self.cooperation is None or len(self.cooperation.working) == 1,
            has_own_fetches=self.feeding.has_own_fetches,
        )
        return retention_fault(self.stays, limits)

    def check(self) -> None:
        """Check that each output element is computed exactly once and that every op runs.

        Raises:
            InvariantError: naming the tensor or op and the numbers.
        """
        covered: dict[str, int] = {}
        for kernel in self.kernels:
            for tensor, box in kernel.outputs.items():
                covered[tensor] = covered.get(tensor, 0) + volume(box)
        self._check_covered(covered)
        self._check_read(covered)
        ran = {op for kernel in self.kernels for op in kernel.ops}
        for op in self.semantics.graph.ops:
            if op.name not in ran:
                raise InvariantError("PLAN_OPS", f"op {op.name!r} is in no kernel")
        self._check_cooperation()
        faults = ("PLAN_BRANCH", self.branches_fault), ("PLAN_STAY", self.retention_fault)
        for code, fault in (each for each in faults if each[1]):
            raise InvariantError(code, fault)

    def branches_of(self, kernel: KernelPlan) -> tuple[KernelBranch, ...]:
        """The branches of a kernel that has several."""
        graph, found = self.semantics.graph, list[KernelBranch]()
        for sections in kernel.branches:
            ops = [graph.op_by_name[name] for section in sections for name in section]
            computed = frozenset(t for op in ops for t in op.outputs if t in kernel.bindings)
            cores = frozenset(core for t in computed for core in kernel.bindings[t].cores)
            read = frozenset(t for op in ops for t in graph.activations_in(op)) - computed
            found.append(KernelBranch(tuple(op.name for op in ops), cores, computed, read))
        return tuple(found)

    @property
    def branches_fault(self) -> str:
        """The constraint that branches of a kernel violate; "": none. Nothing may order them."""
        orders = self.scheduling.has_fence, self.cooperation, self.hardware.has_shared_matrix
        for kernel in (kernel for kernel in self.kernels if kernel.branches):
            fault = branch_fault(self.branches_of(kernel), kernel.ops)
            if any(orders) or kernel.kept or Residency.SHARDED in kernel.residency.values():
                fault = fault or "branches have no fence, shard, LB output or shared engine"
            if fault:
                return f"{kernel.name}: {fault}"
        return ""

    def _check_cooperation(self) -> None:
        """A tensor that another cluster reads is in DRAM and was computed in an earlier step."""
        if self.cooperation is None:
            return
        self.cooperation.check(len(self.kernels))
        for tensor, maker, reader in ((c.tensor, c.maker, c.reader) for c in self.crossings):
            what = f"{tensor!r} of {self.kernels[maker].name} for {self.kernels[reader].name}"
            scope = self.kernels[maker].scopes[tensor]
            if scope is not Scope.DRAM:
                raise InvariantError("PLAN_CROSSING", f"{what} is in {scope.value}, not in DRAM")
            steps = self.step_of(maker), self.step_of(reader)
            if steps[0] >= steps[1]:
                what = f"{what} is computed in step {steps[0]} and read in step {steps[1]}"
                raise InvariantError("PLAN_CROSSING", what)

    def _check_covered(self, covered: Mapping[str, int]) -> None:
        tensors = self.semantics.graph.tensors
        for tensor, elements in sorted(covered.items()):
            if elements != tensors[tensor].elements:
                what = f"kernels output {elements} elements of {tensor!r}, which has"
                raise InvariantError("PLAN_COVER", f"{what} {tensors[tensor].elements}")

    def _check_read(self, covered: Mapping[str, int]) -> None:
        """Every tensor that a kernel reads, and every graph output, is an output of a kernel."""
        graph = self.semantics.graph
        given = covered.keys() | set(graph.inputs)
        reads = ((kernel, tensor) for kernel in self.kernels for tensor in kernel.boxes)
        for kernel, tensor in reads:
            if tensor not in kernel.bindings and tensor not in given:
                raise InvariantError("PLAN_READ", f"{kernel.name} reads {tensor!r}: no source")
        for tensor in graph.outputs:
            if tensor in graph.producer and tensor not in covered:
                raise InvariantError("PLAN_OUTPUT", f"no kernel computes output {tensor!r}")
