"""The weights of a stage: DRAM -> GB once, GB -> LBs broadcast, slot after slot.

Without a GB: DRAM -> LBs broadcast; a shard DRAM -> one LB once, from there to the LBs. Where a
plan has each core fetch its own: DRAM -> LB, once a core.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box, full_box
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.emission.mover import Mover, Targets
from graphturbo_core.lowering.emission.own_weights import fetch_own, own_needs
from graphturbo_core.lowering.global_buffer.sites import Site, StayingBox, Surroundings
from graphturbo_core.lowering.instructions.code import Where
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.fetches import Fetch, whole_fetch
from graphturbo_core.lowering.stages.stage import Operand, Stage, tensor_bytes
from graphturbo_core.lowering.tiling.weight_items import WeightItems
from graphturbo_core.lowering.tiling.weight_space import fetches_own, small_weights
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, Memory


class WeightFeeder:
    """Emits the fetches of one kernel's weights, one tile ahead (two ahead into GB)."""

    def __init__(
        self, plan: Plan, placement: KernelPlacement, around: Surroundings, mover: Mover
    ) -> None:
        """State runs over the kernel's stages: slots are taken in turn."""
        self._plan = plan
        self._placement = placement
        self._part = placement.weights
        self._around = around
        self._mover = mover
        self._lb_end = 0
        self._lb_start = 0
        self._lent = 0
        self._turn = 0
        self._gb_end = 0
        self._held_boxes: set[tuple[str, Box]] = set()
        self._staying: set[SharedKey] = set()
        self._small: dict[tuple[str, int], int] = {}
        self._is_ahead = True
        self._items: WeightItems | None = None
        self._filled: set[SharedKey] = set()
        self._in_gb: list[dict[Box, int | None]] = []
        self._in_lb: list[dict[int, int]] = []

    def begin(self, stage: Stage, op_index: Mapping[str, int]) -> None:
        """Fetch the stage's whole weights; its tiles come with `advance`."""
        self._stage = stage
        self._items = self._placement.items[stage.index]
        self._in_gb, self._in_lb = [], []
        if self._items is not None and self._items.is_resident:
            self._lb_start = self._take(self._items.size_bytes)
        self._op_index = op_index
        self._small.clear()
        whole = small_weights(self._plan, stage)
        gb = self._around.ring.small_offset(self._turn)
        lb = self._part.small_offset(self._turn)
        if whole:
            self._turn = (self._turn + 1) % self._plan.feeding.tiles
        self._is_ahead = not stage.is_on_cluster and self._plan.feeding.tiles_ahead > 0
        for tensor, (operand, box) in whole.items():
            self._whole(operand, box, gb, lb)
            size = aligned(tensor_bytes(self._plan, tensor, box))
            gb, lb = gb + size, lb + size

    def small(self, tensor: str, core: int) -> int | None:
        """The buffer of a whole weight, None if the tensor does not come whole."""
        return self._small.get((tensor, core))

    def tile(self, step: int, core: int) -> int:
        """The buffer of the tile that `core` reads in `step`."""
        assert self._items is not None
        return self._in_lb[self._items.of_step[step]][core]

    def advance(self, step: int) -> None:
        """Fetch all that `step` needs, and the item after that into GB.

        The engine that the cores share reads its item there: none is fetched beyond the one that
        `step`, itself one ahead, needs.
        """
        items = self._items
        if items is None or step >= len(items.of_step):
            return
        while len(self._in_lb) <= items.of_step[step]:
            number = len(self._in_lb)
            while len(self._in_gb) <= min(number + self._is_ahead, len(items.items) - 1):
                self._in_gb.append(self._fetch(items, len(self._in_gb)))
            self._in_lb.append(self._broadcast(items, number))

    def _where(self, operand: Operand, tile: int) -> Where:
        return Where(self._op_index[operand.op.name], self._stage.layer, tile)

    def _site(self, tensor: str) -> Site:
        shape = self._plan.semantics.graph.tensors[tensor].shape
        return Site(tensor, Memory.DRAM, full_box(shape), -1, Cause.WEIGHT_FIRST)

    def _lent_site(self, tensor: str) -> Site:
        """Where the next fetch finds the weight: in the DRAM of each lender in turn."""
        away = self._lent % self._around.lenders
        self._lent += 1
        return replace(self._site(tensor), away=away)

    def _whole(self, operand: Operand, box: Box, gb: int, lb: int) -> None:
        tensor, where = operand.tensor, self._where(operand, 0)
        if fetches_own(self._plan, self._stage):
            own = own_needs(self._stage, operand).values()
            found = fetch_own(self._mover, where, self._site(tensor), own, lb)
            self._small.update({(tensor, core): buffer for core, buffer in found.items()})
            return
        fetch = whole_fetch(self._stage, box)
        source = self._shard(where, tensor, box, fetch.alike)
        if self._plan.hardware.has_gb:
            source = self._mover.local((Memory.GB, -1, gb), tensor, box)
            self._mover.prefetch(where, (self._lent_site(tensor), box), source)
        if self._stage.is_on_cluster and source is not None:
            self._small[tensor, CLUSTER_CORE] = source
            return
        found = self._send(where, (tensor, box), source, (fetch, lb))
        self._small.update({(tensor, core): buffer for core, buffer in found.items()})

    def _shard(self, where: Where, tensor: str, box: Box, alike: int) -> int | None:
        """The buffer of the LB that holds the box, filled at its first use; None: none does."""
        shard = self._around.shards.get((tensor, box))
        if shard is None:
            return None
        buffer = self._mover.shard(shard, alike)
        if shard.is_first and shard.key not in self._filled:
            self._filled.add(shard.key)
            targets = Targets({shard.core: buffer}, 1, alike)
            self._mover.broadcast(where, self._site(tensor), box, None, targets)
        return buffer

    def _send(
        self,
        where: Where,
        what: tuple[str, Box],
        source: int | None,
        fetched: tuple[Fetch, int],
    ) -> dict[int, int]:
        """A box from `source` (None: DRAM) -> its buffer at an offset in each LB, by core.

        The core whose LB holds it as a shard reads it there; one that stands for others gets it as
        they do.
        """
        fetch, offset = fetched
        shard = self._around.shards.get(what)
        holder, served = None, len(fetch.needers[0])
        if shard is not None:
            served -= shard.core in fetch.needers[0]
            is_alone = self._mover.machine.classes.sizes.get(shard.core) == 1
            holder = (shard.core, shard.box) if is_alone or not served else None
        found = {
            core: self._mover.local((Memory.LB_WEIGHT, core, offset), what[0], box)
            for core, box in fetch.targets.items()
            if (core, box) != holder
        }
        targets = Targets(found, served, fetch.alike)
        if shard is None or source is None:
            self._mover.broadcast(where, self._site(what[0]), what[1], source, targets)
            return found
        if found:
            self._mover.spread(where, shard, source, targets)
        is_held = holder is not None and holder in fetch.targets.items()
        return found | ({shard.core: source} if is_held else {})

    def _fetch(self, items: WeightItems, number: int) -> dict[Box, int | None]:
        """DRAM -> GB for one item: into the next slot, or into the tensor's own place.

        Without a GB: the shards that hold it, filled. Nothing where cores fetch their own.
        """
        tensor = items.operand.tensor
        held = self._around.held.get(tensor)
        boxes = {box: fetch.alike for box, fetch in items.items[number].boxes.items()}
        where = self._where(items.operand, number)
        if fetches_own(self._plan, self._stage):
            return dict.fromkeys(boxes)
        if not self._plan.hardware.has_gb:
            return {box: self._shard(where, tensor, box, boxes[box]) for box in boxes}
        if held is not None:
            site = Site(tensor, Memory.GB, self._site(tensor).box, held.maker, Cause.WEIGHT_FIRST)
            target = self._mover.shared(site)
            for box, alike in boxes.items():
                if box not in held.fetched and (tensor, box) not in self._held_boxes:
                    self._held_boxes.add((tensor, box))
                    self._mover.prefetch(where, (self._lent_site(tensor), box), target, alike=alike)
            return dict.fromkeys(boxes, target)
        found: dict[Box, int | None] = {}
        stays = self._around.stays
        for box in [box for box in boxes if (tensor, box) in stays]:
            found[box] = self._stay(where, stays[tensor, box])
            del boxes[box]
        sizes = {
            box: alike * aligned(tensor_bytes(self._plan, tensor, box))
            for box, alike in boxes.items()
        }
        offset = self._turn_offset(sum(sizes.values())) if sizes else 0
        for box, size in sizes.items():
            buffer = self._mover.local((Memory.GB, -1, offset), tensor, box, size_bytes=size)
            found[box] = buffer
            site = self._lent_site(tensor)
            self._mover.prefetch(where, (site, box), buffer, alike=boxes[box])
            offset += size
        return found

    def _stay(self, where: Where, staying: StayingBox) -> int:
        """The buffer of a box that stays, filled by the kernel that is to fetch it."""
        size = staying.alike * aligned(tensor_bytes(self._plan, staying.tensor, staying.box))
        buffer = self._mover.local(
            (Memory.GB, -1, 0), staying.tensor, staying.box, staying.key, size
        )
        if staying.is_first and staying.key not in self._staying:
            self._staying.add(staying.key)
            what = self._lent_site(staying.tensor), staying.box
            self._mover.prefetch(where, what, buffer, alike=staying.alike)
        return buffer

    def early(self, op_index: Mapping[str, int]) -> None:
        """Fetch what later kernels read: behind all else, so that it waits where DRAM is busy."""
        for number, each in enumerate(self._around.early):
            self._stay(Where(op_index[each.op], each.layer, number), each.staying)

    def _turn_offset(self, size_bytes: int) -> int:
        """Where in GB an item goes: after the one before, from the start where no room is left.

        In two slots each takes a whole one, so that it only waits for the last item but one.
        """
        ring = self._around.ring
        base, room = ring.turn
        taken = size_bytes if ring.is_ahead else ring.slot_bytes
        if self._gb_end + taken > room:
            self._gb_end = 0
        self._gb_end += taken
        return base + self._gb_end - taken

    def _broadcast(self, items: WeightItems, number: int) -> dict[int, int]:
        tensor = items.operand.tensor
        if self._stage.is_on_cluster:
            (buffer,) = self._in_gb[number].values()
            assert buffer is not None
            return {CLUSTER_CORE: buffer}
        where = self._where(items.operand, number)
        offset = self._part.base + self._offset(items, number)
        if fetches_own(self._plan, self._stage):
            wanted = items.items[number].boxes.values()
            return fetch_own(self._mover, where, self._site(tensor), wanted, offset)
        found: dict[int, int] = {}
        for box, fetch in items.items[number].boxes.items():
            source = self._in_gb[number][box]
            found.update(self._send(where, (tensor, box), source, (fetch, offset)))
        return found

    def _offset(self, items: WeightItems, number: int) -> int:
        """Where in the weight part an item goes: its own place, or the next slot."""
        if items.is_resident:
            return self._lb_start + items.offsets[number]
        slot = self._part.slot_bytes
        self._lb_end = -(-self._lb_end // slot) * slot
        return self._take(slot)

    def _take(self, size_bytes: int) -> int:
        """Bytes after those taken last, so that what is fetched ahead need not wait for them.

        The same bytes each time where nothing is fetched ahead.
        """
        if not self._plan.feeding.tiles_ahead or self._lb_end + size_bytes > self._part.tile_bytes:
            self._lb_end = 0
        self._lb_end += size_bytes
        return self._lb_end - size_bytes
