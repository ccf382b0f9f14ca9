"""Cycles of each layer and of simulated stages -> the estimated cycles of any stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphturbo_core.strategies.ios.endings import Stage


@dataclass
class StageTimes:
    """Cycles of stages of a graph: simulated where a schedule with the stage was, else estimated.

    `layer_cycles`: of each layer's kernel when one cluster runs it. `clusters`: how many run a
    stage. `known`: cycles of simulated stages.
    """

    layer_cycles: Sequence[int]
    clusters: int
    known: dict[Stage, int] = field(default_factory=dict)

    def queues(self, stage: Stage) -> list[tuple[int, ...]]:
        """The layers that each cluster runs, in order; the longest queue is the first.

        Groups are dealt out from the longest to the shortest, each to the cluster with the fewest
        cycles. Our choice: IOS has a stream per group, a chip has so many clusters.
        """
        queues: list[tuple[int, ...]] = [()] * min(self.clusters, len(stage))
        cycles = [0] * len(queues)
        for group in sorted(stage, key=lambda ops: (-self.cycles_of(ops), ops)):
            place = cycles.index(min(cycles))
            queues[place] += group
            cycles[place] += self.cycles_of(group)
        return sorted(queues, key=lambda ops: (-self.cycles_of(ops), ops))

    def steps(self, stage: Stage) -> int:
        """Steps of a stage, of which each has a kernel per cluster."""
        return max(map(len, self.queues(stage)))

    def cores_text(self, stage: Stage) -> str:
        """Cores of each branch of a stage; "": each kernel has all cores of its cluster."""
        del stage
        return ""

    def cycles_of(self, layers: Sequence[int]) -> int:
        """Cycles of these layers one after the other."""
        return sum(self.layer_cycles[layer] for layer in layers)

    def __call__(self, stage: Stage) -> int:
        """Cycles of a stage; steps of its queues wait for each other.

        The estimate leaves out that clusters read from each other's DRAM.
        """
        if stage in self.known:
            return self.known[stage]
        queues = self.queues(stage)
        return sum(
            max(self.layer_cycles[queue[step]] for queue in queues if step < len(queue))
            for step in range(self.steps(stage))
        )
