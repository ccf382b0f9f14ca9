"""KernelPlan -> Stages: the loop nests of a kernel in order, their shares and operands."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box, extents, hull, is_empty, volume, with_interval
from graphturbo_core.ir.graph import Op, TensorKind
from graphturbo_core.lowering.stages.classes import CoreClasses
from graphturbo_core.lowering.stages.owned import owned_boxes
from graphturbo_core.products.plan import Binding, KernelPlan, Plan
from graphturbo_core.semantics.access import Contraction, InputAccess, OpSemantics, Reads, reads_of
from graphturbo_core.semantics.nests import LoopNest, loop_nests, nest_slots

CHANNEL_AXIS = 1
"""ONNX lays images out as (batch, channel, height, width)."""

Shares = Mapping[int, Box]
"""Core id -> box."""


class Cut(NamedTuple):
    """A box and its division over all cores of a cluster, unsimulated ones included."""

    binding: Binding
    box: Box


@dataclass(frozen=True)
class Operand:
    """A tensor that a stage reads from outside its loop nest, with the reading op and access."""

    op: Op
    access: InputAccess
    is_weight: bool
    is_tiled_weight: bool
    """The contraction's own weight: it is streamed by tile; other weights are loaded whole."""
    is_reduced_data: bool
    """The contraction's data: it is cut with K."""

    @cached_property
    def tensor(self) -> str:
        """Name of the tensor read."""
        return self.access.tensor

    @cached_property
    def reads(self) -> Reads:
        """Its boxes by boxes of the op's output."""
        return reads_of(self.access.axes)

    @property
    def is_lookup(self) -> bool:
        """Whether a tile fetches only the elements that it looks up in a table of weights."""
        return self.is_weight and self.access.is_lookup


@dataclass(frozen=True)
class Stage:
    """One loop nest of a kernel for one output: the same tiles run through all of its ops.

    `owned`: the part of `box` that its kernel owns (`owned_boxes`). `shares`: of the simulated
    cores. `binding` divides `box` over all cores. `classes`: the simulated core of each (None: all
    are simulated).
    """

    index: int
    layer: int
    ops: tuple[Op, ...]
    first: OpSemantics
    output: str
    output_index: int
    operands: tuple[Operand, ...]
    box: Box
    binding: Binding
    shares: Shares
    slots: int
    owned: Box
    classes: CoreClasses | None = None
    is_passing: bool = False
    """Whether it is an op larger than an LB, whose bytes stream through one."""

    @cached_property
    def cut(self) -> Cut:
        """Its box and the division over the cores."""
        return Cut(self.binding, self.box)

    @cached_property
    def share_sizes(self) -> tuple[tuple[tuple[int, ...], int], ...]:
        """Distinct share sizes with their counts: few for any number of cores."""
        counts: dict[tuple[int, ...], int] = {}
        for share in self.shares.values():
            sizes = extents(share)
            counts[sizes] = counts.get(sizes, 0) + 1
        return tuple(counts.items())

    @cached_property
    def places(self) -> Mapping[str, tuple[int, ...]]:
        """Positions of the operands that read each tensor."""
        found: dict[str, list[int]] = {}
        for place, operand in enumerate(self.operands):
            found.setdefault(operand.tensor, []).append(place)
        return {tensor: tuple(places) for tensor, places in found.items()}

    @property
    def all_cores(self) -> tuple[int, ...]:
        """The cores that have a share, simulated or not."""
        return tuple(self.shares if self.classes is None else used_shares(self.cut))

    @cached_property
    def is_on_cluster(self) -> bool:
        """Whether it reads and writes memories outside LB.

        An engine that the cores share works in GB; an op larger than an LB in GB and DRAM.
        """
        return CLUSTER_CORE in self.shares

    @property
    def contraction(self) -> Contraction | None:
        """The nest's contraction, if its first op is one."""
        return self.first.contraction

    @property
    def is_of_computed(self) -> bool:
        """Whether both operands of its product are computed: no weight is streamed by tile."""
        return self.contraction is not None and self.tile_weight() is None

    def tile_weight(self) -> Operand | None:
        """The operand whose tiles are streamed, if any."""
        for operand in self.operands:
            if operand.is_tiled_weight:
                return operand
        return None


def tensor_bytes(plan: Plan, tensor: str, box: Box) -> int:
    """Bytes of a box of a tensor in the run's number format.

    Channels (axis 1) of activations with axes beyond (batch, channel) are padded to multiples of
    the profile's `channel_padding`.
    """
    padding = plan.hardware.channel_padding
    may_be_padded = padding > 1 and len(box) > CHANNEL_AXIS + 1 and not is_empty(box)
    if may_be_padded and plan.semantics.graph.tensors[tensor].kind is not TensorKind.WEIGHT:
        lo, hi = box[CHANNEL_AXIS]
        box = with_interval(box, CHANNEL_AXIS, (lo, lo - (lo - hi) // padding * padding))
    return volume(box) * plan.element_bytes[tensor]


def fetched_bytes(plan: Plan, readers: Sequence[Operand], box: Box, tile: Box) -> int:
    """Returns the bytes fetched to LB of a box that operands of one tensor read for a tile.

    For lookups alone: one element per element of the tile, or the whole box if that is less.
    """
    size = tensor_bytes(plan, readers[0].tensor, box)
    if len(readers) > 1 or not readers[0].is_lookup:
        return size
    return min(size, volume(tile) * bytes_per_element(plan, readers[0].tensor))


def bytes_per_element(plan: Plan, tensor: str) -> int:
    """Bytes of one element of a tensor in the run's number format."""
    return plan.element_bytes[tensor]


class KernelStages:
    """The stages of a plan's kernels; pieces of a group share all that is independent of boxes."""

    def __init__(self, plan: Plan, layer_of: Mapping[str, int]) -> None:
        """`layer_of`: the layer of each op."""
        self._plan, self._layer_of = plan, layer_of
        self._nests: dict[Hashable, tuple[_NestResult, ...]] = {}

    def of(self, kernel: KernelPlan) -> tuple[Stage, ...]:
        """The kernel's stages, layer after layer."""
        key = kernel.ops, tuple(kernel.outputs), tuple(kernel.boxes)
        nests = self._nests.get(key)
        if nests is None:
            nests = self._nests[key] = tuple(_nest_results(self._plan, kernel, self._layer_of))
        owned = owned_boxes(self._plan, kernel)
        used = [n for n in nests if len(n.ops) > 1 or not is_empty(kernel.boxes[n.output])]
        return tuple(
            [_stage(kernel, nest, index, owned[nest.output]) for index, nest in enumerate(used)]
        )


class _NestResult(NamedTuple):
    """Fields of a stage that are independent of its box."""

    layer: int
    ops: tuple[Op, ...]
    first: OpSemantics
    output: str
    output_index: int
    operands: tuple[Operand, ...]
    slots: int
    is_passing: bool


def _nest_results(
    plan: Plan, kernel: KernelPlan, layer_of: Mapping[str, int]
) -> Iterator[_NestResult]:
    """The results of the kernel's loop nests, layer after layer."""
    by_layer: dict[int, list[str]] = {}
    for name in kernel.ops:
        by_layer.setdefault(layer_of[name], []).append(name)
    for layer, ops in sorted(by_layer.items()):
        outlives = partial(_outlives, plan, kernel, frozenset(ops))
        for nest in loop_nests(plan.semantics, ops, outlives):
            results = plan.semantics.graph.op_by_name[nest.ops[0]].outputs
            for output in results if len(nest.ops) == 1 else (nest.output,):
                if output in kernel.boxes:
                    yield _nest_result(plan, nest, output, layer)


def _outlives(plan: Plan, kernel: KernelPlan, inside: frozenset[str], tensor: str) -> bool:
    readers = plan.semantics.graph.consumers[tensor]
    return tensor in kernel.outputs or any(op.name not in inside for op in readers)


def _nest_result(plan: Plan, nest: LoopNest, output: str, layer: int) -> _NestResult:
    ops = tuple(plan.semantics.graph.op_by_name[name] for name in nest.ops)
    output_index = ops[0].outputs.index(output) if len(ops) == 1 else 0
    return _NestResult(
        layer=layer,
        ops=ops,
        first=plan.semantics.by_op[ops[0].name],
        output=output,
        output_index=output_index,
        operands=_operands(plan, ops, output_index),
        slots=nest_slots(plan.semantics, LoopNest(nest.ops, output)),
        is_passing=ops[0].name in plan.semantics.passing_ops,
    )


def _stage(kernel: KernelPlan, nest: _NestResult, index: int, owned: Box) -> Stage:
    box, binding = kernel.boxes[nest.output], kernel.bindings[nest.output]
    return Stage(
        index=index,
        layer=nest.layer,
        ops=nest.ops,
        first=nest.first,
        output=nest.output,
        output_index=nest.output_index,
        operands=nest.operands,
        box=box,
        binding=binding,
        shares=used_shares(Cut(binding, box)),
        slots=nest.slots,
        owned=owned,
        is_passing=nest.is_passing,
    )


@lru_cache(maxsize=512)
def used_shares(cut: Cut) -> Shares:
    """The non-empty shares; memoised by cut.

    An entry for 1,216 cores takes 130 KB: 64 MiB in total.
    """
    shares = cut.binding.shares(cut.box).items()
    found = {core: share for core, share in shares if not is_empty(share)}
    return MappingProxyType(found)


def _operands(plan: Plan, ops: tuple[Op, ...], output_index: int) -> tuple[Operand, ...]:
    graph = plan.semantics.graph
    inside = {name for op in ops for name in op.outputs}
    found: list[Operand] = []
    for op in ops:
        semantics = plan.semantics.by_op[op.name]
        contraction = semantics.contraction
        accesses = semantics.accesses[output_index if op is ops[0] else 0]
        outside = (access for access in accesses if access.tensor not in inside)
        for access in outside:
            is_weight = graph.tensors[access.tensor].kind is TensorKind.WEIGHT
            is_contracted = contraction is not None and access.tensor == contraction.weight
            is_data = contraction is not None and access.tensor == contraction.data
            found.append(Operand(op, access, is_weight, is_weight and is_contracted, is_data))
    return tuple(found)


def needs(stage: Stage, operand: Operand) -> dict[int, Box]:
    """The box of the operand that each core of the stage needs for its share."""
    boxes = {core: operand.reads.box(share) for core, share in stage.shares.items()}
    return {core: box for core, box in boxes.items() if not is_empty(box)}


def cut_reduced(
    operand: Operand, contraction: Contraction | None, box: Box, k: tuple[int, int]
) -> Box:
    """The operand's box for a cut [k0, k1) of the contraction's reduced axis."""
    if contraction is None or not contraction.is_cut_over_k:
        return box
    if operand.is_tiled_weight or operand.tensor == contraction.weight:
        axis = contraction.weight_reduce_axis
    elif operand.is_reduced_data:
        axis = contraction.data_reduce_axis
    else:
        return box
    return with_interval(box, axis, k)


def merge_needs(known: dict[int, Box], more: Mapping[int, Box]) -> None:
    """Widen `known` per core to the hull with `more`."""
    for core, box in more.items():
        known[core] = hull(known[core], box) if core in known else box


def holdings(stages: tuple[Stage, ...]) -> dict[str, dict[int, Box]]:
    """Per activation read in the kernel: hull of the needs of each core's stages."""
    found: dict[str, dict[int, Box]] = {}
    merged: set[Hashable] = set()
    for stage, operand in stage_operands(core_stages(stages)):
        its = operand.tensor, operand.reads, id(stage.shares)  # equal needs change nothing
        if not operand.is_weight and its not in merged:
            merged.add(its)
            merge_needs(found.setdefault(operand.tensor, {}), needs(stage, operand))
    return found


def stage_operands(stages: tuple[Stage, ...]) -> Iterator[tuple[Stage, Operand]]:
    """Every operand of these stages in order, each with its stage."""
    return ((stage, operand) for stage in stages for operand in stage.operands)


def core_stages(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """The stages that run on cores, from LB."""
    return tuple(stage for stage in stages if not stage.is_on_cluster)


def cluster_reads(stages: tuple[Stage, ...]) -> frozenset[str]:
    """Tensors that a shared engine reads from GB."""
    return frozenset(o.tensor for s in stages if s.is_on_cluster for o in s.operands)


def largest_bytes(plan: Plan, tensor: str, boxes: Mapping[int, Box]) -> int:
    """Bytes of the largest box over the cores."""
    return max((tensor_bytes(plan, tensor, box) for box in boxes.values()), default=0)
