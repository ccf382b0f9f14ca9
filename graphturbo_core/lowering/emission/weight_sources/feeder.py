"""Weight fetches of a kernel, in the order of its stages and steps."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.emission.mover import Mover
from graphturbo_core.lowering.emission.weight_sources.chosen import WeightSources
from graphturbo_core.lowering.emission.weight_sources.lb_places import LbPlaces
from graphturbo_core.lowering.emission.weight_sources.source import Held, Wanted
from graphturbo_core.lowering.global_buffer.sites import KernelEnvironment
from graphturbo_core.lowering.instructions.code import Where
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import Operand, Stage, tensor_bytes
from graphturbo_core.lowering.tiling.weight_items import WeightItems
from graphturbo_core.lowering.tiling.weight_space import small_weights
from graphturbo_core.products.plan import Plan


class WeightFeeder:
    """Emits the fetches of one kernel's weights, one tile ahead (two ahead into GB)."""

    def __init__(
        self, plan: Plan, placement: KernelPlacement, around: KernelEnvironment, mover: Mover
    ) -> None:
        """Create the state for all stages of a kernel: slots are used in turn."""
        self._plan = plan
        self._placement = placement
        self._around = around
        self._sources = WeightSources(plan, around, mover)
        self._lb = LbPlaces(placement.weights, plan.feeding)
        self._turn = 0
        self._small: dict[tuple[str, int], int] = {}
        self._items: WeightItems | None = None
        self._held: list[Held] = []
        self._in_lb: list[dict[int, int]] = []

    def begin(self, stage: Stage, op_index: Mapping[str, int]) -> None:
        """Fetch the weights that the stage loads whole; `advance` fetches tiles."""
        self._stage = stage
        self._op_index = op_index
        self._items = self._placement.items[stage.index]
        self._held, self._in_lb = [], []
        self._lb.begin(self._items)
        self._small.clear()
        whole = small_weights(self._plan, stage)
        gb = self._around.ring.small_offset(self._turn)
        lb = self._placement.weights.small_offset(self._turn)
        if whole:
            self._turn = (self._turn + 1) % self._plan.feeding.tiles
        for tensor, (operand, box) in whole.items():
            self._whole(operand, box, gb, lb)
            size = aligned(tensor_bytes(self._plan, tensor, box))
            gb, lb = gb + size, lb + size

    def small(self, tensor: str, core: int) -> int | None:
        """The buffer of a weight loaded whole; None if the tensor is not."""
        return self._small.get((tensor, core))

    def tile(self, step: int, core: int) -> int:
        """The buffer of the tile that `core` reads in `step`."""
        assert self._items is not None
        return self._in_lb[self._items.of_step[step]][core]

    def advance(self, step: int) -> None:
        """Fetch the items that `step` needs, and the item after them into GB.

        An engine that the cores share reads its item in GB: no item is fetched beyond the one that
        `step`, itself one ahead, needs.
        """
        items = self._items
        if items is None or step >= len(items.of_step):
            return
        source = self._sources.of_tiles(self._stage, items.operand.tensor)
        is_ahead = not self._stage.is_on_cluster and self._plan.feeding.tiles_ahead > 0
        while len(self._in_lb) <= items.of_step[step]:
            number = len(self._in_lb)
            while len(self._held) <= min(number + is_ahead, len(items.items) - 1):
                self._held.append(source.bring(self._wanted(items, len(self._held))))
            if self._stage.is_on_cluster:
                self._in_lb.append(_on_cluster(self._held[number]))
                continue
            offset = self._lb.offset(items, number)
            wanted = self._wanted(items, number)
            self._in_lb.append(source.deliver(wanted, self._held[number], offset))

    def early(self, op_index: Mapping[str, int]) -> None:
        """Prefetch weights of later kernels, after all other moves: so only they wait for DRAM."""
        for number, each in enumerate(self._around.early):
            where = Where(op_index[each.op], each.layer, number)
            self._sources.retained.prefetch(where, each.retained)

    def _wanted(self, items: WeightItems, number: int) -> Wanted:
        where = self._where(items.operand, number)
        return Wanted(where, items.operand.tensor, items.items[number].boxes)

    def _where(self, operand: Operand, tile: int) -> Where:
        return Where(self._op_index[operand.op.name], self._stage.layer, tile)

    def _whole(self, operand: Operand, box: Box, gb: int, lb: int) -> None:
        source = self._sources.of_whole(self._stage, gb)
        boxes = source.whole(self._stage, operand, box)
        wanted = Wanted(self._where(operand, 0), operand.tensor, boxes)
        held = source.bring(wanted)
        is_there = self._stage.is_on_cluster
        found = _on_cluster(held) if is_there else source.deliver(wanted, held, lb)
        self._small.update({(operand.tensor, core): buffer for core, buffer in found.items()})


def _on_cluster(held: Held) -> dict[int, int]:
    """Buffers for an engine that the cores share: it reads the box in place."""
    (buffer,) = held.values()
    assert buffer is not None
    return {CLUSTER_CORE: buffer}
