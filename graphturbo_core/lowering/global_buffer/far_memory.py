"""KernelPlacements -> FarMemory: contents of GB and DRAM, with addresses and lifetimes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box, BoxIndex, full_box, hull, intersect, volume
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.global_buffer.dram import NO_REMOTE_BOXES, RemoteBoxes, dram_offsets
from graphturbo_core.lowering.global_buffer.gb_places import (
    GbPlace,
    StoredOutput,
    place_outputs,
)
from graphturbo_core.lowering.global_buffer.neighbours import (
    held_weights,
    neighbours_weights,
    with_neighbours,
)
from graphturbo_core.lowering.global_buffer.rings import rings_ahead, weight_rings
from graphturbo_core.lowering.global_buffer.shards import place_shards
from graphturbo_core.lowering.global_buffer.sites import SPILLS, KernelEnvironment, Site
from graphturbo_core.lowering.global_buffer.stays import place_stays
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import cluster_reads, tensor_bytes
from graphturbo_core.products.branches import runs_with
from graphturbo_core.products.plan import Plan, Scope
from graphturbo_core.products.program import Cause, Memory
from graphturbo_core.units import format_bytes


@dataclass(frozen=True)
class FarMemory:
    """Environment of every kernel, and the address of every shared buffer.

    `spilled`: tensors without room in GB, with the kernels that left them in DRAM, by name.
    `without_shards`: sharded weights that are streamed, at least in part, without room in LBs.
    """

    environments: tuple[KernelEnvironment, ...]
    offsets: Mapping[SharedKey, int]
    spilled: tuple[tuple[str, str], ...]
    without_shards: frozenset[str]


class _Parts:
    """Parts of one tensor that kernels store outside their LBs."""

    def __init__(self, sites: Mapping[int, Site]) -> None:
        """Index `sites` by the kernel that wrote them."""
        self.sites = sites
        self._rows = tuple(sites.items())

    @cached_property
    def _boxes(self) -> BoxIndex:
        """Of all parts; most results of a model are read by no kernel."""
        return BoxIndex([site.box for _, site in self._rows])

    def meeting(self, box: Box) -> list[tuple[int, Site]]:
        """Kernel and site of every part that intersects `box`, in order."""
        return [self._rows[place] for place in self._boxes.meeting(box)]


def place_far(
    plan: Plan, placements: Sequence[KernelPlacement], remote_inputs: RemoteBoxes = NO_REMOTE_BOXES
) -> FarMemory:
    """Returns the places of all tensors outside the LBs.

    Priority in GB: weight slots at its bottom; outputs of kernels (`gb_places`; a spill goes to
    DRAM); from its end downwards, the plan's retained weights; between them weights shared by
    adjacent kernels of a group, all of them or as many as fit.
    """
    slots = weight_rings(plan, placements)
    outputs = _outputs(plan, placements, remote_inputs.read)
    places = place_outputs(
        _while_live(outputs, runs_with(placement.kernel for placement in placements)),
        neighbours_weights(plan, placements),
        len(placements),
        (max(ring.end for ring in slots), plan.hardware.gb_bytes),
    )
    offsets: dict[SharedKey, int] = {}
    written: dict[str, dict[int, Site]] = {}
    tops = places.tops
    spilled: list[tuple[str, str]] = []
    repeated = _repeated(placements)
    for output, place in zip(outputs, places.of_output, strict=True):
        site = _site(output, place)
        kernel = placements[output.maker].kernel
        inner = output.tensor in repeated and output.tensor not in kernel.outputs
        if inner and site.memory is Memory.DRAM:
            site = site._replace(maker=SPILLS - 1 - kernel.group)
        if place is not None:
            offsets[site.key] = place.offset
        elif output.needs_gb:
            raise _halo_without_room(plan, output)
        elif output.wants_gb:
            spilled.append((output.tensor, placements[output.maker].kernel.name))
        written.setdefault(output.tensor, {})[output.maker] = site
    stays = place_stays(plan, placements, tops)
    held = held_weights(plan, placements, (tops, stays), offsets)
    stays = with_neighbours(plan, placements, (tops, stays), held)
    offsets.update(stays.offsets)
    rings = rings_ahead(plan, placements, slots, (tops, stays.floors))
    parts = {tensor: _Parts(sites) for tensor, sites in written.items()}
    shards = place_shards(plan, placements)
    blanks = (
        KernelEnvironment(
            index, {}, {}, rings[index], held[index], found,
            retained=stays.of_kernel[index], early=stays.early[index],
            early_inputs=stays.early_inputs[index],
        )
        for index, found in enumerate(shards.of_kernel)
    )  # fmt: skip
    environments = tuple(
        _with_inputs(_environment(plan, placements, blank, (parts, remote_inputs)), inputs)
        for blank, inputs in zip(blanks, stays.inputs, strict=True)
    )
    offsets.update(shards.offsets)
    offsets.update(dram_offsets(plan, environments, remote_inputs.read))
    spills = tuple(dict.fromkeys(spilled))
    return FarMemory(environments, offsets, spills, shards.without_room)


def _while_live(
    outputs: Sequence[StoredOutput], runs: Sequence[tuple[int, int]]
) -> list[StoredOutput]:
    """The outputs, live as long as any branch of the kernels that make and read them.

    `runs`: first and last of the branches that run with each.
    """
    found = []
    for own in outputs:
        maker, last = runs[own.maker][0], runs[own.last][1]
        is_same = maker == own.maker and last == own.last
        found.append(own if is_same else own._replace(maker=maker, last=last))
    return found


def _repeated(placements: Sequence[KernelPlacement]) -> frozenset[str]:
    """Tensors that kernels of several groups compute, each for itself: in DRAM each has a buffer.

    Pieces of one group compute different parts, which share a buffer.
    """
    group_of: dict[str, int] = {}
    found: set[str] = set()
    for placement in placements:
        for tensor in placement.computed:
            if group_of.setdefault(tensor, placement.kernel.group) != placement.kernel.group:
                found.add(tensor)
    return frozenset(found)


def _halo_without_room(plan: Plan, output: StoredOutput) -> CapacityError:
    """The refusal of a stored halo without room in GB: DRAM has one buffer per tensor.

    Two kernels cannot both write the same rows of it: kernels of a shared engine, and kernels whose
    outputs other clusters read at that time.
    """
    return CapacityError(
        "GB_FULL",
        f"{output.tensor!r} and its halo do not fit in GB, where its kernel reads them back",
        where=f"GB of chip {plan.hardware.name} has {format_bytes(plan.hardware.gb_bytes)}",
        change="choose a smaller batch or cluster batch, or level graphturbo:gb",
    )


def _outputs(
    plan: Plan, placements: Sequence[KernelPlacement], remote_inputs: frozenset[str]
) -> list[StoredOutput]:
    """All tensors stored outside LB, in order of production.

    `remote_inputs`: tensors that other clusters read.
    """
    names, readers = plan.semantics.graph.output_names, _Readers(plan, placements)
    return [
        output
        for index, placement in enumerate(placements)
        for output in _kernel_outputs((index, placement), names, readers, remote_inputs)
    ]


def _kernel_outputs(
    kernel: tuple[int, KernelPlacement],
    output_names: Collection[str],
    readers: _Readers,
    remote_inputs: frozenset[str],
) -> Iterator[StoredOutput]:
    """Tensors that one kernel stores outside LB, stage by stage."""
    index, placement = kernel
    in_gb, fixed = cluster_reads(placement.stages), placement.plan.fixed_in(placement.kernel)
    last_stage = {o.tensor: stage.index for stage in placement.stages for o in stage.operands}
    for stage in placement.stages:
        tensor = stage.output
        scope = placement.scope(tensor)
        if scope is Scope.LB:
            continue
        is_output = tensor in output_names
        held = placement.kernel.boxes[tensor]
        box, last, read_bytes = held, index, 0
        if tensor in placement.kernel.outputs:
            box = placement.kernel.outputs[tensor]
            last, read_bytes = readers.of(tensor, box, index)
        is_read_there = tensor in in_gb or (stage.is_on_cluster and tensor in placement.read)
        is_read_back = tensor in placement.spilled and tensor in placement.read
        is_needed = is_output or last > index or tensor not in placement.kernel.outputs
        is_needed |= (
            is_read_there or is_read_back or (scope is Scope.DRAM and tensor in remote_inputs)
        )
        is_needed |= stage.is_passing
        if not is_needed:
            continue
        held = held if is_read_there or is_read_back else box
        size_bytes = tensor_bytes(placement.plan, tensor, held)
        yield StoredOutput(
            tensor=tensor,
            box=box,
            maker=index,
            last=last,
            wants_gb=scope is Scope.GB and not is_output,
            is_graph_output=is_output,
            is_spill=tensor in placement.spilled and tensor not in placement.kernel.outputs,
            held=held,
            is_held_once=is_read_there,
            size_bytes=size_bytes,
            read_bytes=read_bytes + (size_bytes if tensor in placement.read else 0),
            stages=(stage.index, max(stage.index, last_stage.get(tensor, 0))),
            is_remote_input=tensor in remote_inputs,
            is_fixed=tensor in fixed,
        )


class _Readers:
    """Index of kernels that read a tensor they did not compute, with the box read."""

    def __init__(self, plan: Plan, placements: Sequence[KernelPlacement]) -> None:
        self._plan = plan
        self._kernels: dict[str, list[int]] = {}
        self._kept = [placement.kept for placement in placements]
        for index, placement in enumerate(placements):
            read = {o.tensor for stage in placement.stages for o in stage.operands}
            for tensor in sorted(read & placement.kernel.boxes.keys() - placement.computed):
                self._kernels.setdefault(tensor, []).append(index)
        self._read = {
            tensor: [placements[index].kernel.boxes[tensor] for index in kernels]
            for tensor, kernels in self._kernels.items()
        }
        self._boxes = {tensor: BoxIndex(boxes) for tensor, boxes in self._read.items()}

    def of(self, tensor: str, box: Box, maker: int) -> tuple[int, int]:
        """The last kernel that reads `box` of `maker`'s stored tensor, and bytes of all reads.

        `maker` and 0 if none does.
        """
        if tensor not in self._boxes:
            return maker, 0
        before = maker + 1 if tensor in self._kept[maker] else maker
        last, read_bytes = maker, 0
        for place in self._boxes[tensor].meeting(box):
            kernel = self._kernels[tensor][place]
            if kernel > before:
                part = intersect(self._read[tensor][place], box)
                last = max(last, kernel)
                read_bytes += tensor_bytes(self._plan, tensor, part)
        return last, read_bytes


def _site(output: StoredOutput, place: GbPlace | None) -> Site:
    held = output.held if output.held != output.box else None
    if place is not None:
        cause = Cause.SPILL if output.is_spill else Cause.ACTIVATION
        return Site(
            output.tensor, Memory.GB, output.box, output.maker, cause, output.is_spill, held,
            scratch=place.scratch,
        )  # fmt: skip
    is_spill = output.wants_gb or output.is_spill
    cause = Cause.SPILL if is_spill else Cause.ACTIVATION
    if output.is_graph_output:
        cause, is_spill = Cause.OUTPUT, False
    maker = SPILLS if is_spill else -1
    return Site(output.tensor, Memory.DRAM, output.box, maker, cause, is_spill, held)


def _environment(
    plan: Plan,
    placements: Sequence[KernelPlacement],
    blank: KernelEnvironment,
    left: tuple[Mapping[str, _Parts], RemoteBoxes],
) -> KernelEnvironment:
    """`blank` with the kernel's sources and targets; `left`: parts by kernels, remote inputs."""
    written, remote_inputs = left
    index = blank.kernel
    placement = placements[index]
    read = {o.tensor for s in placement.stages for o in s.operands if not o.is_tiled_weight}
    inherited = placements[index - 1].kept if index else frozenset()
    sources: dict[str, tuple[Site, ...]] = {}
    for tensor in sorted(read - (placement.in_place - cluster_reads(placement.stages))):
        found: list[Site] = []
        if tensor in written:
            found = [
                site.whole() if maker == index else site
                for maker, site in written[tensor].meeting(placement.kernel.boxes[tensor])
                if (maker == index if tensor in placement.computed else maker < index)
                and not (maker == index - 1 and tensor in inherited)
            ]
        if tensor not in placement.computed and tensor in placement.kernel.boxes:
            found += remote_inputs.meeting(tensor, placement.kernel.boxes[tensor])
        sources[tensor] = _merged(found) or _given(plan, tensor, remote_inputs.inputs)
    targets = {
        tensor: written[tensor].sites[index].whole()
        for tensor in placement.computed
        if tensor in written and index in written[tensor].sites
    }
    return replace(blank, sources=sources, targets=targets)


def _with_inputs(around: KernelEnvironment, inputs: Mapping[str, Site]) -> KernelEnvironment:
    """With these inputs of the model read in GB."""
    if not inputs:
        return around
    found = {tensor: (site,) for tensor, site in inputs.items()}
    return replace(around, sources={**around.sources, **found})


def _merged(sites: list[Site]) -> tuple[Site, ...]:
    """Sites with adjacent boxes of one DRAM buffer are merged to one site."""
    if len(sites) <= 1:
        return tuple(sites)
    by_buffer: dict[SharedKey, list[Site]] = {}
    for site in sites:
        if site.memory is Memory.DRAM:
            by_buffer.setdefault(site.key, []).append(site)
    merged = [site for site in sites if site.memory is not Memory.DRAM]
    for parts in by_buffer.values():
        box = reduce(hull, (site.box for site in parts))
        is_box = volume(box) == sum(volume(site.box) for site in parts)
        merged += [parts[0]._replace(box=box)] if is_box else parts
    return tuple(merged if len(merged) < len(sites) else sites)


def _given(plan: Plan, tensor: str, away: int) -> tuple[Site, ...]:
    """Sites of graph inputs and weights: in DRAM from the start, inputs `away` clusters on."""
    known = plan.semantics.graph.tensors[tensor]
    if known.kind is TensorKind.ACTIVATION:
        return ()
    is_input = known.kind is TensorKind.INPUT
    cause = Cause.INPUT if is_input else Cause.WEIGHT_FIRST
    whole = full_box(known.shape)
    return (Site(tensor, Memory.DRAM, whole, -1, cause, away=away if is_input else 0),)
