"""Runs of layers and their cost, alone or split over clusters: closed forms, our choice.

A kernel takes its launch and barrier, and the longer of two: the DRAM cycles of its weights, and
its work divided evenly over the cores. A tensor that crosses clusters is written to the writer's
DRAM. Each reader reads it once through that cluster's share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from graphturbo_core.ir.boxes import (
    Box,
    extents,
    full_box,
    intersect,
    is_empty,
    part_of,
    volume,
    with_interval,
)
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.layers.carry import Carry, carry_axis
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.piece_work import Boxes, piece_work
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import Splitter, SubGraph

ALONE = -1
"""Axis value of a run that one cluster computes."""
LONGEST_RUN = 6
"""Most layers of a split run (our choice: halos grow with every window)."""
AXES = (1, 2)
"""Candidate axes: channels and rows of images, rows and columns of texts."""
MOST_ROUNDS = 16
"""Most pieces of a split run per cluster."""


@dataclass(frozen=True)
class Run:
    """Layers [first, last) as one section; `axis`: cut over clusters, or ALONE.

    `cycles`: estimate of the kernel; without launch and barrier where one cluster runs it, since
    its neighbours may be in the same kernel. `needs`: boxes that each cluster reads from other
    runs.
    """

    first: int
    last: int
    axis: int
    section: Section
    cycles: int
    needs: tuple[Boxes, ...] = field(repr=False)


@dataclass(frozen=True)
class Runs:
    """Cost of runs of layers on this chip; `has_remote_dram`: see `Cooperation`."""

    target: Target
    graph: LayerGraph
    splitter: Splitter
    has_remote_dram: bool = False

    @property
    def count(self) -> int:
        """Number of layers."""
        return len(self.graph.layers)

    @property
    def kernel_cycles(self) -> int:
        """Launch and barrier cycles of a kernel."""
        return self.target.hardware.launch_cycles + self.target.hardware.barrier_cycles

    @cached_property
    def ending(self) -> tuple[tuple[Run, ...], ...]:
        """The runs that end before each layer: the single layer, then all that can be split."""
        return tuple(tuple(self._ending(last)) for last in range(self.count + 1))

    def _ending(self, last: int) -> Iterator[Run]:
        if last:
            yield self._alone[last - 1]
        for first in range(last - 1, max(-1, last - 1 - LONGEST_RUN), -1):
            part = SubGraph(self.graph, tuple(range(first, last)))
            carried = [found for axis in AXES if (found := self._split(part, axis)) is not None]
            if not carried:
                return
            yield from carried

    @cached_property
    def _alone(self) -> tuple[Run, ...]:
        """Each layer as a part of a kernel that one cluster runs alone."""
        found = []
        for at in range(self.count):
            section = section_of(SubGraph(self.graph, (at,)), "", None, 1)
            cycles, needs = self._piece(section, 0, self._shares)
            found.append(Run(at, at + 1, ALONE, section, cycles, (needs,)))
        return tuple(found)

    @property
    def _shares(self) -> int:
        """DRAM shares that one cluster reads at a time: at most its DMA engines."""
        chip = self.target.hardware
        return min(self.target.clusters, chip.dma_engines) if self.has_remote_dram else 1

    def _split(self, part: SubGraph, axis: int) -> Run | None:
        """The run split along an axis of its last result; None if it cannot be split."""
        carry = self.carried(part, axis)
        if carry is None:
            return None
        clusters = self.target.clusters
        section = section_of(part, "", carry, clusters)
        pieces = [self._piece(section, piece) for piece in range(clusters)]
        cycles = max(own for own, _ in pieces) + self.kernel_cycles
        needs = tuple(boxes for _, boxes in pieces)
        return Run(part.layers[0], part.layers[-1] + 1, axis, section, cycles, needs)

    def carried(self, part: SubGraph, axis: int) -> Carry | None:
        """Carry of an axis of the last result, if it splits every result; else None."""
        tensors = self.target.semantics.graph.tensors
        if not part.outputs or axis >= len(tensors[part.outputs[-1]].shape):
            return None
        carry = carry_axis(self.graph, part.ops, part.outputs[-1], axis)
        if not carry.is_complete or any(name not in carry.axis_of for name in part.outputs):
            return None
        sizes = [tensors[name].shape[carry.axis_of[name]] for name in part.outputs]
        return carry if min(sizes) >= self.target.clusters else None

    def pieces_of(self, part: SubGraph, carry: Carry) -> int:
        """Pieces of a split run: per cluster the least power of 2 with fitting pieces."""
        pieces = self.target.clusters
        tensors = self.target.semantics.graph.tensors
        size = min(tensors[name].shape[carry.axis_of[name]] for name in part.outputs)
        most = min(size, pieces * MOST_ROUNDS)
        while (
            self.splitter.piece_peak_bytes(part, carry, pieces) > self.splitter.capacity_bytes
            and 2 * pieces <= most
        ):
            pieces *= 2
        return pieces

    def _piece(self, section: Section, piece: int, shares: int = 1) -> tuple[int, Boxes]:
        """Cycles of one piece that reads weights through `shares` DRAM shares, and its reads."""
        own = piece_work(self.target, section, piece)
        computed = own.cycles(self.target.hardware.cores)
        chip = self.target.hardware
        fetch = chip.transfer_cycles(own.weight_bytes(self.target), chip.dram_bandwidth)
        return max(fetch // shares, computed), own.activations

    def crossing_cycles(self, before: int, run: Run) -> int:
        """Returns the cycles to write and read the tensors that cross clusters.

        All inputs of the run count as written by a run split along `before`. Graph inputs are in
        cluster 0's DRAM.
        """
        chip, width = self.target.hardware, self.target.element_bytes
        clusters = self.target.clusters
        served, stored = [0] * clusters, [0] * clusters
        for name in run.needs[0]:
            parts = self._parts(name, before)
            for cluster, part in parts.items():
                read = sum(
                    self._common(part, needs[name])
                    for reader, needs in enumerate(run.needs)
                    if reader != cluster
                )
                served[cluster] += read * width[name]
                stored[cluster] += volume(part) * width[name] if read else 0
        moved = max(map(sum, zip(served, stored, strict=True)))
        return chip.transfer_cycles(moved, chip.dram_bandwidth)

    @staticmethod
    def _common(part: Box, box: Box) -> int:
        both = intersect(part, box)
        return 0 if is_empty(both) else volume(both)

    def _parts(self, name: str, axis: int) -> dict[int, Box]:
        """The part of a tensor in each cluster's DRAM."""
        tensor = self.target.semantics.graph.tensors[name]
        whole = full_box(tensor.shape)
        is_cut = axis != ALONE and tensor.kind is TensorKind.ACTIVATION and axis < len(whole)
        if not is_cut or extents(whole)[axis] < self.target.clusters:
            return {0: whole}
        clusters = self.target.clusters
        return {
            cluster: with_interval(whole, axis, part_of(whole[axis], clusters, cluster))
            for cluster in range(clusters)
        }
