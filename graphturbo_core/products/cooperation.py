"""Cooperation: cluster and step of each kernel of a cluster-parallel plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.boxes import BoxIndex, intersect, is_empty


@dataclass(frozen=True, slots=True)
class Cooperation:
    """Clusters that share one round; `cluster_of` and `step_of` have one entry per kernel.

    Kernels of one step run on different clusters at the same time. A step starts when all kernels
    of the step before it have ended. Steps count from 0. Kernels are sorted by step, then cluster.
    `has_remote_dram`: a kernel that is alone in its step fetches weights from the DRAM of all
    clusters in turn. Every DRAM share has them, and the other clusters are idle.
    """

    clusters: int
    cluster_of: tuple[int, ...]
    step_of: tuple[int, ...]
    has_remote_dram: bool = False

    def dram_shares(self, kernel: int) -> int:
        """Number of DRAM shares that a kernel fetches its weights from."""
        is_alone = self.step_of.count(self.step_of[kernel]) == 1
        return self.clusters if self.has_remote_dram and is_alone else 1

    def kernels_of(self, cluster: int) -> tuple[int, ...]:
        """The kernels that a cluster runs, in order."""
        return tuple(k for k, runner in enumerate(self.cluster_of) if runner == cluster)

    @property
    def working(self) -> tuple[int, ...]:
        """The clusters that run a kernel."""
        return tuple(sorted(set(self.cluster_of)))

    def check(self, kernels: int) -> None:
        """Check that steps are consecutive and a cluster runs one kernel per step.

        Raises:
            InvariantError: naming the kernel and the numbers.
        """
        sizes = (kernels, len(self.cluster_of), len(self.step_of))
        if len(set(sizes)) != 1:
            raise InvariantError("PLAN_STEPS", f"kernels, clusters and steps: {sizes} entries")
        places = list(zip(self.step_of, self.cluster_of, strict=True))
        for place, (step, cluster) in enumerate(places):
            if not 0 <= cluster < self.clusters:
                what = f"kernel {place} runs on cluster {cluster} of {self.clusters}"
                raise InvariantError("PLAN_CLUSTER", what)
            if not place and step:
                raise InvariantError("PLAN_STEPS", f"the first step is {step}, not 0")
        for place, (before, after) in enumerate(pairwise(places), 1):
            if after <= before or after[0] > before[0] + 1:
                what = f"kernel {place} at (step, cluster) {after} follows one at {before}"
                raise InvariantError("PLAN_STEPS", what)


@dataclass(frozen=True, slots=True)
class ClusterCrossing:
    """A tensor that kernel `maker` computes on one cluster and `reader` reads on another."""

    tensor: str
    maker: int
    reader: int


Boxes = Mapping[str, tuple[tuple[int, int], ...]]


def crossings(
    cooperation: Cooperation, outputs: Sequence[Boxes], reads: Sequence[Boxes]
) -> Iterator[ClusterCrossing]:
    """Tensors that cross from one cluster to another, sorted by reader.

    `outputs` and `reads`: per kernel, the boxes of its outputs and of its inputs.
    """
    makers: dict[str, list[int]] = {}
    for kernel, boxes in enumerate(outputs):
        for tensor in boxes:
            makers.setdefault(tensor, []).append(kernel)
    index = {
        tensor: BoxIndex([outputs[kernel][tensor] for kernel in kernels])
        for tensor, kernels in makers.items()
    }
    candidates = (
        (tensor, makers[tensor][place], reader)
        for reader, boxes in enumerate(reads)
        for tensor, box in boxes.items()
        if tensor in index
        for place in index[tensor].meeting(box)
    )
    for tensor, maker, reader in candidates:
        is_part = not is_empty(intersect(outputs[maker][tensor], reads[reader][tensor]))
        if is_part and cooperation.cluster_of[maker] != cooperation.cluster_of[reader]:
            yield ClusterCrossing(tensor, maker, reader)
