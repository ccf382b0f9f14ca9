"""Cooperation: which cluster runs each kernel of a plan, and in which step of the chip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.boxes import BoxIndex, intersect, is_empty


@dataclass(frozen=True, slots=True)
class Cooperation:
    """Clusters that share one round; an entry a kernel in `cluster_of` and `step_of`.

    Kernels of one step run at once on different clusters; a step starts when all of the step before
    it has ended. Steps count from 0; kernels come step by step, in a step cluster by cluster.
    `is_lent`: a kernel that has its step to itself fetches weights from all clusters' DRAM in turn,
    since each has them and the others are idle.
    """

    clusters: int
    cluster_of: tuple[int, ...]
    step_of: tuple[int, ...]
    is_lent: bool = False

    def lenders(self, kernel: int) -> int:
        """From how many shares of DRAM a kernel fetches its weights."""
        is_alone = self.step_of.count(self.step_of[kernel]) == 1
        return self.clusters if self.is_lent and is_alone else 1

    def kernels_of(self, cluster: int) -> tuple[int, ...]:
        """The kernels that a cluster runs, in order."""
        return tuple(k for k, own in enumerate(self.cluster_of) if own == cluster)

    @property
    def working(self) -> tuple[int, ...]:
        """The clusters that run a kernel."""
        return tuple(sorted(set(self.cluster_of)))

    def check(self, kernels: int) -> None:
        """Steps follow one another, and a cluster runs one kernel in a step.

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
                what = f"kernel {place} at (step, cluster) {after} comes behind one at {before}"
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
    """What crosses clusters, by reader.

    `outputs` and `reads`: of each kernel, the boxes it answers for and those it needs from others.
    """
    made: dict[str, list[int]] = {}
    for kernel, boxes in enumerate(outputs):
        for tensor in boxes:
            made.setdefault(tensor, []).append(kernel)
    found = {
        tensor: BoxIndex([outputs[kernel][tensor] for kernel in kernels])
        for tensor, kernels in made.items()
    }
    handed = (
        (tensor, made[tensor][place], reader)
        for reader, boxes in enumerate(reads)
        for tensor, box in boxes.items()
        if tensor in found
        for place in found[tensor].meeting(box)
    )
    for tensor, maker, reader in handed:
        is_part = not is_empty(intersect(outputs[maker][tensor], reads[reader][tensor]))
        if is_part and cooperation.cluster_of[maker] != cooperation.cluster_of[reader]:
            yield ClusterCrossing(tensor, maker, reader)
