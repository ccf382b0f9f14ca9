"""Segment, split -> cycles: closed form that counts overflow of LB and refetched weights.

Our choice. It ranks splits before any is simulated. `plus`'s closed form (section_cycles.py) leaves
out overflow, since it is asked for pieces that fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import prod

from graphturbo_core.ir.boxes import volume
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.plan import Scope
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.piece_work import Boxes, PieceWork, PieceWorks
from graphturbo_core.strategies.plus.second_axis import CarriedAxis, piece_bytes
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import SubGraph

GB_QUARTERS = 3
"""Quarters of GB for weights that remain and for overflow (our choice: the rest is for tiles)."""
WAITING_PART = 2
"""A tensor between segments waits in GB if it needs at most this part of it (our choice)."""
OVERFLOW_STEPS = (0, 1, 3, 8)
"""Upper ends of the classes of overflow, in capacities of LB (our choice)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Closed-form cycles, and the class of overflow: 0 where all pieces fit LB.

    `dram_cycles`: those in which DRAM's bandwidth is used.
    """

    cycles: int
    overflow_class: int
    dram_cycles: int = 0


@dataclass(frozen=True, slots=True)
class _Overflow:
    """Bytes per piece that LB has no room for, by where they wait, and weights refetched for it."""

    gb_bytes: int
    dram_bytes: int
    refetched_bytes: int


@dataclass(frozen=True)
class Split:
    """A segment with parts per axis; whole without one."""

    part: SubGraph
    axes: tuple[tuple[CarriedAxis, int], ...] = ()

    @property
    def pieces(self) -> int:
        """Product of all parts."""
        return prod(parts for _, parts in self.axes)

    @property
    def section(self) -> Section:
        """Its pieces."""
        carry = self.axes[0][0].carry if self.axes else None
        further = [(axis.carry, parts) for axis, parts in self.axes[1:]]
        return section_of(self.part, "", carry, self.pieces, further)

    def live_bytes(self) -> tuple[int, ...]:
        """Live activations of the largest piece, layer by layer."""
        share = partial(piece_bytes, [(axis.sizes, axis.extents(n)) for axis, n in self.axes])
        return self.part.live_bytes(share)


@dataclass(frozen=True)
class SegmentCycles:
    """The closed form for one chip and model."""

    target: Target

    def __call__(self, split: Split) -> Estimate:
        """Returns the cycles of all pieces, each counted as the middle one.

        A tensor between segments waits in GB if it needs at most half of GB. Overflow waits in GB
        while that has room, then in DRAM, and is moved twice. Weights are fetched once if they fit
        GB or there is one piece, else by each piece. Compute, GB and DRAM overlap.
        Linear in the ops.
        """
        chip, section = self.target.hardware, split.section
        work = self._works(section, section.middle)
        outputs = section.piece_outputs(self.target.semantics, section.middle)
        whole = work.weight_bytes(self.target, split.pieces)
        is_resident = split.pieces == 1 or whole <= self._gb_room
        beside = whole if is_resident and split.pieces > 1 else 0
        over = self._overflow(split, self._gb_room - beside)
        moved = self._boundary_bytes(work, outputs)
        weights = work.weight_bytes(self.target)
        moved[Scope.GB] += weights + 2 * over.gb_bytes
        moved[Scope.DRAM] += 2 * over.dram_bytes + over.refetched_bytes
        moved[Scope.DRAM] += 0 if is_resident else weights
        once = chip.transfer_cycles(whole, chip.dram_bandwidth) if is_resident else 0
        dram = chip.transfer_cycles(moved[Scope.DRAM], chip.dram_bandwidth)
        gb = chip.transfer_cycles(moved[Scope.GB], chip.gb_bandwidth) if chip.gb_bytes else 0
        inside = max(work.engine_cycles(chip), gb)
        through_dram = split.pieces * dram + once
        longest = max(split.pieces * inside, through_dram)
        cycles = split.pieces * (chip.launch_cycles + chip.barrier_cycles) + longest
        moves = 2 * (over.gb_bytes + over.dram_bytes)
        steps = (0, *(step * self._capacity_bytes for step in OVERFLOW_STEPS[1:]))
        return Estimate(cycles, sum(moves > step for step in steps), through_dram)

    @cached_property
    def _works(self) -> PieceWorks:
        return PieceWorks(self.target)

    @cached_property
    def _gb_room(self) -> int:
        return self.target.hardware.gb_bytes * GB_QUARTERS // 4

    @cached_property
    def _capacity_bytes(self) -> int:
        """Bytes of activations in a cluster's LBs."""
        return self.target.budget.lb_data_bytes * self.target.hardware.cores

    @cached_property
    def _tile_bytes(self) -> int:
        """Bytes of weights in a cluster's LBs at a time."""
        return max(1, self.target.budget.lb_weight_bytes) * self.target.hardware.cores

    def _overflow(self, split: Split, gb_room: int) -> _Overflow:
        """Overflow of one piece.

        A layer whose overflow exceeds GB's room runs in tiles. It refetches its weights for each
        tile of rows, or its activations for each tile of weights, whichever is less.
        """
        capacity, room = self._capacity_bytes, max(0, gb_room)
        in_gb = in_dram = refetched = 0
        live = split.live_bytes()
        over = tuple(max(0, size - capacity) for size in live)
        for layer, size, (before, now) in zip(
            split.part.layers, live, pairwise((0, *over)), strict=True
        ):
            new = max(0, now - before)
            waits = min(new, room - in_gb)
            in_gb, in_dram = in_gb + waits, in_dram + new - waits
            weights = self._layer_weights(split.part.graph, layer) if now > room or in_dram else 0
            if weights and now:
                by_rows = weights * -(-now // capacity)
                refetched += min(by_rows, size * (-(-weights // self._tile_bytes) - 1))
        return _Overflow(in_gb, in_dram, refetched)

    def _boundary_bytes(self, work: PieceWork, outputs: Boxes) -> dict[Scope, int]:
        """Bytes of a piece's inputs and results, by where they wait."""
        moved = dict.fromkeys(Scope, 0)
        for boxes in (work.activations, outputs):
            for name in boxes:
                moved[self._waits_in(name)] += self._bytes({name: boxes[name]})
        return moved

    def _bytes(self, boxes: Boxes) -> int:
        width = self.target.element_bytes
        return sum(volume(box) * width[name] for name, box in boxes.items())

    def _whole_bytes(self, name: str) -> int:
        return self.target.semantics.graph.tensors[name].elements * self.target.element_bytes[name]

    def _waits_in(self, tensor: str) -> Scope:
        graph = self.target.semantics.graph
        is_outside = tensor in graph.output_names or tensor in graph.inputs
        holds = self._whole_bytes(tensor) * WAITING_PART <= self.target.hardware.gb_bytes
        return Scope.GB if holds and not is_outside else Scope.DRAM

    def _layer_weights(self, graph: LayerGraph, layer: int) -> int:
        """Bytes of a layer's weights, biases included; of tables each tile fetches its own rows."""
        if layer not in self._known_weights:
            model = self.target.semantics.graph
            read = {
                name
                for op in graph.layers[layer].ops
                for name in model.op_by_name[op].inputs
                if name
                and model.tensors[name].kind is TensorKind.WEIGHT
                and name not in self.target.semantics.lookups
            }
            self._known_weights[layer] = sum(map(self._whole_bytes, read))
        return self._known_weights[layer]

    @cached_property
    def _known_weights(self) -> dict[int, int]:
        return {}
