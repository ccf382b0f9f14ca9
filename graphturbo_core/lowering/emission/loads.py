"""Activations of a stage: loaded whole in chunks, streamed tile by tile, or exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import (
    Box,
    divide,
    extents,
    intersect,
    is_empty,
    volume,
)
from graphturbo_core.lowering.emission.mover import Mover
from graphturbo_core.lowering.global_buffer.sites import InputFetch, KernelEnvironment, Site
from graphturbo_core.lowering.instructions.code import Where
from graphturbo_core.lowering.instructions.local_buffers import RESIDENT, SharedKey
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement, Resident
from graphturbo_core.lowering.stages.owned import own_box
from graphturbo_core.lowering.stages.reached import Reached
from graphturbo_core.lowering.stages.stage import Operand, Stage, fetched_bytes, tensor_bytes
from graphturbo_core.lowering.tiling.tiling import LoopOrder, Tile, hull_fetched, row_axes
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory

_Holder = TypeVar("_Holder", Site, int)
_Readers = tuple[str, list[Operand], bool]
"""A tensor, the operands that read it, and whether it is streamed."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    site: Site
    box: Box
    own: Box


class OperandFeeder:
    """Operand streaming: emits moves of activations to the cores, each before its first reader."""

    def __init__(
        self,
        plan: Plan,
        placement: KernelPlacement,
        around: KernelEnvironment,
        mover: Mover,
        op_index: Mapping[str, int],
    ) -> None:
        """Create the state for all stages of a kernel: tensors in LB are not loaded again."""
        self._plan = plan
        self._placement = placement
        self._around = around
        self._mover = mover
        self._op_index = op_index
        self._buffers: dict[tuple[str, int, bool], int] = {}
        self._pending: dict[tuple[str, int], list[_Chunk]] = {}
        self._exchanged: set[str] = set()
        self._tiles: dict[tuple[str, int, int], int] = {}
        self._streamed: dict[tuple[str, int], tuple[Box, int]] = {}
        self._turn: dict[tuple[str, int], int] = {}
        self._parts: dict[tuple[str, int], list[tuple[int, Box]]] = {}
        self._stage = -1
        self._reached: Reached[_Readers] | None = None

    def resident(self, tensor: str, core: int) -> int | None:
        """The LB buffer that this core's present stage reads; None if it is not resident."""
        placed = self._placement.residents.get(tensor)
        if placed is None:
            return None
        is_direct = self._stage in placed.direct
        found = placed.made if is_direct else placed
        if core not in found.boxes or (placed.has_tile_exchange and not is_direct):
            return None
        return self.held(found, core)

    def held(self, placed: Resident, core: int) -> int:
        """LB buffer of a resident tensor on one of its cores."""
        key = (placed.tensor, core, placed.own is None)
        if key not in self._buffers:
            spot = (Memory.LB_DATA, core, placed.offset)
            box, shared = placed.boxes[core], self._kept_key(placed, core)
            self._buffers[key] = self._mover.local(spot, placed.tensor, box, shared)
        return self._buffers[key]

    def _own(self, stage: Stage, operand: Operand, box: Box) -> Box:
        """The part of an operand that a box of the stage's result owns; the rest is halo."""
        shape = stage.first.output_shapes[stage.output_index]
        return own_box(operand.access, shape, intersect(box, stage.owned))

    def _kept_key(self, placed: Resident, core: int) -> SharedKey | None:
        """Key of a buffer shared with the kernel before or after."""
        key = (RESIDENT, placed.tensor, core)
        if placed.is_inherited:
            return (*key, self._around.kernel - 1)
        return (*key, self._around.kernel) if placed.tensor in self._placement.kept else None

    def begin(self, stage: Stage) -> None:
        """Queue the loads of tensors first read by this stage, and exchange shared parts."""
        self._tiles.clear()
        self._streamed.clear()
        self._parts.clear()
        self._stage = stage.index
        readers = self._find_readers(stage)
        self._reached = Reached(stage, readers, [operands for _, operands, _ in readers])
        if stage.is_on_cluster:
            return
        for operand in stage.operands:
            placed = self._placement.residents.get(operand.tensor)
            if placed is None or operand.tensor in self._exchanged:
                continue
            if stage.index in placed.direct or placed.has_tile_exchange:
                continue
            self._exchanged.add(operand.tensor)
            where = Where(self._op_index[operand.op.name], stage.layer, 0)
            if placed.made.is_inherited or not placed.shares:
                self._queue_loads(stage, operand, placed)
            if placed.shares:
                self._exchange(where, placed)

    def _find_readers(self, stage: Stage) -> list[_Readers]:
        """Per tensor, except the tiled weight: its readers, and whether it is streamed."""
        readers: dict[str, list[Operand]] = {}
        for operand in stage.operands:
            if not operand.is_tiled_weight:
                readers.setdefault(operand.tensor, []).append(operand)
        rings = self._placement.rings
        return [
            (name, found, stage.is_passing or (stage.index, name) in rings)
            for name, found in readers.items()
        ]

    def advance(self, stage: Stage, step: int, tiles: Mapping[int, Tile]) -> None:
        """Load the boxes that the tiles of `step` read and that are not in LB yet."""
        assert self._reached is not None
        needs = (
            (core, tile, *readers)
            for core, tile in tiles.items()
            for readers in self._reached.by(tile.box)
        )
        for core, tile, tensor, operands, is_streamed in needs:
            if not (is_streamed or self._pending.get((tensor, core))):
                continue
            if is_streamed and not tile.is_last and self._waits_for_last(stage, operands):
                continue
            box = hull_fetched(stage, operands, tile)
            where = Where(self._op_index[operands[0].op.name], stage.layer, step)
            if stage.is_on_cluster:
                self._find_in_gb(where, stage, operands[0], (core, box, tile))
                continue
            self._load_pending(where, tensor, core, box)
            if not is_streamed or is_empty(box):
                continue
            if len(operands) == 1 and operands[0].is_lookup:
                self._look_up(where, stage, operands[0], (core, box, tile))
            else:
                self._stream(where, stage, operands[0], (core, box, tile))

    def early(self) -> None:
        """Prefetch inputs of later kernels, after all other moves: so only they wait for DRAM."""
        for each in self._around.early_inputs:
            target = self._mover.shared(each.target)
            for number, box in enumerate(self._parts_of_fetch(each)):
                where = Where(self._op_index[each.op], each.layer, number)
                halo = self._halo_bytes(each.source.tensor, box, each.own)
                self._mover.prefetch(where, (each.source, box), target, halo_bytes=halo)

    def _parts_of_fetch(self, fetch: InputFetch) -> Iterator[Box]:
        """The box in parts of about `load_chunk_bytes`, cut along its outermost axes."""
        box = fetch.target.box
        size = tensor_bytes(self._plan, fetch.target.tensor, box)
        wanted = max(1, size // self._plan.rules.load_chunk_bytes)
        cuts = []
        for interval, extent in zip(box, extents(box), strict=True):
            parts = min(wanted, extent)
            cuts.append(divide(interval, parts))
            wanted //= parts
        return (tuple(cell) for cell in product(*cuts))

    def _waits_for_last(self, stage: Stage, operands: Sequence[Operand]) -> bool:
        """Whether a streamed tensor is fetched for the last cut of K alone.

        So is one that only the ops after the product read, if row tiles take turns at each cut.
        """
        order = self._placement.tilings[stage.index].order
        is_first = any(operand.op is stage.ops[0] for operand in operands)
        return order is LoopOrder.WEIGHTS and not is_first

    def locate(self, tensor: str, core: int, step: int, box: Box) -> tuple[int, Box]:
        """The LB buffer that this core reads in `step`, and the box in its coordinates."""
        holder, inside = self._placement.views.root(tensor, box)
        resident = self.resident(holder, core)
        return (self._tiles[tensor, core, step] if resident is None else resident), inside

    def parts(self, tensor: str, step: int, box: Box) -> list[tuple[int, Box]]:
        """Buffers outside LB with parts of a box, for a stage that works there."""
        parts = self._parts[tensor, step]
        return _with_elements((buffer, intersect(part, box)) for buffer, part in parts)

    def _find_in_gb(
        self, where: Where, stage: Stage, operand: Operand, need: tuple[int, Box, Tile]
    ) -> None:
        """Locate a box for an engine outside LB: parts in GB are read there, others fetched.

        Tensors of passing ops are read in place, also in DRAM.
        """
        core, box, tile = need
        tensor, step = operand.tensor, where.tile
        sites = self._around.sources.get(tensor, ())
        if stage.is_passing:
            found = [(self._mover.shared(site), intersect(site.box, box)) for site in sites]
            self._parts[tensor, step] = _with_elements(found)
            return
        if (stage.index, tensor) not in self._placement.rings or is_empty(box):
            return
        near = [site for site in sites if site.memory is Memory.GB]
        found = [(self._mover.shared(site), intersect(site.box, box)) for site in near]
        if any(not is_empty(intersect(s.box, box)) for s in sites if s.memory is Memory.DRAM):
            known = self._streamed.get((tensor, core))
            if known is None or known[0] != box:
                known = box, self.ring_buffer(stage, tensor, core, box)
                self._fetch(where, operand, (known[1], box), self._own(stage, operand, tile.box))
                self._streamed[tensor, core] = known
            found += [(known[1], intersect(s.box, box)) for s in sites if s.memory is Memory.DRAM]
        self._parts[tensor, step] = _with_elements(found)

    def _fetch(self, where: Where, operand: Operand, target: tuple[int, Box], own: Box) -> None:
        """Move the parts of a tile from DRAM to GB."""
        buffer, box = target
        for site in self._around.sources[operand.tensor]:
            part = intersect(site.box, box)
            if site.memory is Memory.DRAM and not is_empty(part):
                halo = self._halo_bytes(operand.tensor, part, own)
                self._mover.prefetch(where, (site, part), buffer, halo_bytes=halo)

    def ring_buffer(
        self, stage: Stage, tensor: str, core: int, box: Box, size_bytes: int | None = None
    ) -> int:
        """The next of a streamed tensor's tile buffers; by default as large as the box."""
        ring = self._placement.rings[stage.index, tensor]
        turn = self._turn.get((tensor, core), 0)
        self._turn[tensor, core] = turn + 1
        offset = ring.offset + turn % self._plan.feeding.tiles * ring.tile_bytes
        if stage.is_on_cluster:
            spot = (Memory.GB, CLUSTER_CORE, self._around.ring.tile_offset + offset)
            return self._mover.local(spot, tensor, box)
        return self._mover.local((Memory.LB_DATA, core, offset), tensor, box, size_bytes=size_bytes)

    def _queue_loads(self, stage: Stage, operand: Operand, placed: Resident) -> None:
        for core, box in placed.boxes.items():
            own = self._own(stage, operand, stage.shares.get(core, stage.box))
            sites = self._around.sources.get(operand.tensor, ())
            for site, part in _with_elements((site, intersect(site.box, box)) for site in sites):
                chunks = [_Chunk(site, b, own) for b in self._chunks(stage, operand, part)]
                self._pending.setdefault((operand.tensor, core), []).extend(chunks)

    def _chunks(self, stage: Stage, operand: Operand, box: Box) -> Iterable[Box]:
        """Cut along the axes that the stage's rows follow, outermost first.

        Whole if loads and computes alternate: a later part would overlap a compute.
        """
        if not self._plan.feeding.tiles_ahead:
            return (box,)
        size = tensor_bytes(self._plan, operand.tensor, box)
        wanted = min(self._placement.grain.tiles, max(1, size // self._plan.rules.load_chunk_bytes))
        parts = [1] * len(box)
        follows: dict[int, int] = {}
        for number, axis in enumerate(operand.access.axes):
            follows.setdefault(axis.out_axis, number)
        for out_axis in row_axes(stage):
            place = follows.get(out_axis)
            if place is not None and wanted > 1:
                parts[place] = min(wanted, extents(box)[place])
                wanted = wanted // parts[place]
        cuts = [divide(interval, count) for interval, count in zip(box, parts, strict=True)]
        return (tuple(cell) for cell in product(*cuts))

    def _load_pending(self, where: Where, tensor: str, core: int, box: Box) -> None:
        waiting = self._pending.get((tensor, core))
        if not waiting:
            return
        target = self.resident(tensor, core)
        assert target is not None
        kept: list[_Chunk] = []
        for chunk in waiting:
            if is_empty(intersect(chunk.box, box)):
                kept.append(chunk)
                continue
            halo = self._halo_bytes(tensor, chunk.box, chunk.own)
            self._mover.load(where, chunk.site, chunk.box, halo, (core, target))
        self._pending[tensor, core] = kept

    def _halo_bytes(self, tensor: str, box: Box, own: Box) -> int:
        inside = intersect(box, own)
        shared = 0 if is_empty(inside) else volume(inside)
        whole = volume(box)
        return tensor_bytes(self._plan, tensor, box) * (whole - shared) // whole

    def _stream(
        self, where: Where, stage: Stage, operand: Operand, need: tuple[int, Box, Tile]
    ) -> None:
        """Stream a tile, unless the step before read the same box."""
        core, box, tile = need
        tensor, step = operand.tensor, where.tile
        known = self._streamed.get((tensor, core))
        if known is not None and known[0] == box:
            self._tiles[tensor, core, step] = known[1]
            return
        buffer = self.ring_buffer(stage, tensor, core, box)
        placed = self._placement.residents.get(tensor)
        if placed is None:
            own = self._own(stage, operand, tile.box)
            self._load_tile(where, tensor, box, own, (core, buffer))
        else:
            self._gather(where, placed, box, (core, buffer))
        self._tiles[tensor, core, step] = buffer
        self._streamed[tensor, core] = (box, buffer)

    def _load_tile(
        self, where: Where, tensor: str, box: Box, own: Box, target: tuple[int, int]
    ) -> None:
        """Load the parts of a tile to `target`, (core, buffer), from outside LB; `own`: no halo."""
        sites = self._around.sources[tensor]
        for site, part in _with_elements((site, intersect(site.box, box)) for site in sites):
            halo = self._halo_bytes(tensor, part, own)
            self._mover.load(where, site, part, halo, target)

    def _look_up(
        self, where: Where, stage: Stage, operand: Operand, need: tuple[int, Box, Tile]
    ) -> None:
        """Fetch the table elements that a tile looks up; they differ per tile."""
        core, box, tile = need
        size = fetched_bytes(self._plan, (operand,), box, tile.box)
        buffer = self.ring_buffer(stage, operand.tensor, core, box, size)
        (site,) = self._around.sources[operand.tensor]
        self._mover.look_up(where, site, box, size, (core, buffer))
        self._tiles[operand.tensor, core, where.tile] = buffer

    def _exchange(self, where: Where, placed: Resident) -> None:
        """Each core fetches the parts of its box that other cores computed."""
        for core, box in placed.boxes.items():
            self._gather(where, placed, box, (core, self.held(placed, core)))

    def _gather(self, where: Where, placed: Resident, box: Box, target: tuple[int, int]) -> None:
        """Move the parts of a box to `target`, (core, buffer), from the cores that computed them.

        The core's own part is copied if it is in another buffer.
        """
        assert placed.cut is not None
        core, buffer = target
        source = placed.made
        parts_of = self._mover.owners(placed.cut).by_leader(box, core)
        for leader, parts in parts_of.items():
            self._mover.exchange(
                where, placed.tensor, parts, ((leader, self.held(source, leader)), target)
            )
        if core not in source.boxes or self.held(source, core) == buffer:
            return
        part = intersect(source.boxes[core], box)
        if not is_empty(part):
            self._mover.copy(where, placed.tensor, part, self.held(source, core), target)


def _with_elements(parts: Iterable[tuple[_Holder, Box]]) -> list[tuple[_Holder, Box]]:
    """The non-empty parts, each with its site or buffer."""
    return [(holder, part) for holder, part in parts if not is_empty(part)]
