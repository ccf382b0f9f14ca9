"""Stages on one cluster: its cores divided among the groups of a stage, and their cycles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from graphturbo_core.products.plan import Decision, Group, Plan
from graphturbo_core.strategies.ios.endings import Stage
from graphturbo_core.strategies.ios.stage_kernels import StageKernels
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.steps.assemble import Recipe
from graphturbo_core.strategies.steps.branch_kernels import (
    BranchStep,
    CoreBranch,
    assemble_branches,
)
from graphturbo_core.strategies.steps.instances import instance_graph
from graphturbo_core.strategies.steps.kernels import PlanCost, Target
from graphturbo_core.strategies.steps.splitting import SubGraph

MOST_PARTS = 8
"""Parts of a cluster's cores that branches share out: most branches of a kernel (our choice: the
paper's pruning has eight groups per stage, and STCP920 has eight cores per cluster)."""
MOST_MEASURED = MOST_PARTS.bit_length()
"""Most plans that `core_times` evaluates."""


@dataclass
class CoreTimes(StageTimes):
    """Cycles of stages whose groups run at the same time on disjoint cores of one cluster.

    `clusters`: most branches of a kernel. `cores`: of the cluster. `on_parts`: of each layer, its
    cycles on 0, 1, 2 ... parts of the cores, without launch and barrier. `dram_on_parts`: likewise
    the cycles of its bytes at DRAM: fewer cores may fetch an operand more often. `overhead`: launch
    and barrier of a kernel, in cycles. `alone`: layers that need an engine or LB that all cores
    share; they run by themselves.
    """

    cores: int = 1
    on_parts: Sequence[Sequence[int]] = ()
    dram_on_parts: Sequence[Sequence[int]] = ()
    overhead: int = 0
    alone: frozenset[int] = frozenset()
    _divided: dict[Stage, tuple[int, tuple[BranchStep, ...]]] = field(default_factory=dict)

    def steps(self, stage: Stage) -> int:
        """Kernels of a stage."""
        return len(self.kernels(stage))

    def kernels(self, stage: Stage) -> tuple[BranchStep, ...]:
        """The kernels of a stage in order, each with its branches.

        1. A group alone, and a group with a layer of `alone`, is a kernel per layer on all cores.
        2. The other groups are dealt out to branches of one kernel, from the longest group to the
           shortest, each to the branch with the fewest cycles.
        3. Cores go to the branch that then is the longest, part after part; ties: to the one with
           the fewest parts.
        4. The number of branches is that of the fewest estimated cycles; ties: the fewest branches.
        """
        if stage not in self._divided:
            self._divided[stage] = self._divide(stage)
        return self._divided[stage][1]

    def __call__(self, stage: Stage) -> int:
        """Cycles of a stage: simulated, or those of its kernels one after the other."""
        if stage in self.known:
            return self.known[stage]
        self.kernels(stage)
        return self._divided[stage][0]

    def cores_text(self, stage: Stage) -> str:
        """Cores of each branch, as in "5 + 3"; "" for a stage without branches."""
        shared = [step for step in self.kernels(stage) if len(step) > 1]
        return " + ".join(str(len(branch.cores)) for step in shared for branch in step)

    def _divide(self, stage: Stage) -> tuple[int, tuple[BranchStep, ...]]:
        shared = [group for group in stage if self.alone.isdisjoint(group)]
        if len(shared) == 1:
            shared = []
        layers = [layer for group in stage if group not in shared for layer in group]
        cycles, kernels = self.cycles_of(layers), tuple(map(self._whole, layers))
        if not shared:
            return cycles, kernels
        counts = range(2, min(self.clusters, len(shared)) + 1)
        most, step = min((self._branches(shared, n) for n in counts), key=lambda found: found[0])
        return cycles + most, (*kernels, step)

    def _whole(self, layer: int) -> BranchStep:
        return (CoreBranch((layer,), tuple(range(self.cores))),)

    def _branches(self, groups: Sequence[tuple[int, ...]], count: int) -> tuple[int, BranchStep]:
        """Estimated cycles of a kernel with so many branches, and its branches.

        DRAM serves one branch at a time: the kernel takes at least all its bytes' cycles.
        """
        queues = replace(self, clusters=count).queues(tuple(groups))
        parts = [1] * count
        cycles = [self._cycles(queue, 1) for queue in queues]
        for _ in range(self.clusters - count):
            longest = max(range(count), key=lambda at: (cycles[at], -parts[at]))
            parts[longest] += 1
            cycles[longest] = self._cycles(queues[longest], parts[longest])
        moved = sum(
            self.dram_on_parts[layer][own]
            for queue, own in zip(queues, parts, strict=True)
            for layer in queue
        )
        ends = accumulate(parts, initial=0)
        cores = pairwise(end * self.cores // self.clusters for end in ends)
        step = tuple(
            CoreBranch(queue, tuple(range(*own))) for queue, own in zip(queues, cores, strict=True)
        )
        return self.overhead + max(*cycles, moved), step

    def _cycles(self, layers: Sequence[int], parts: int) -> int:
        """Cycles of layers on some parts of the cores, one after the other, without launches."""
        return sum(self.on_parts[layer][parts] for layer in layers)


def core_times(
    target: Target,
    recipe: Recipe,
    layers: StageKernels,
    cycles_of: Callable[[Plan], tuple[Sequence[int], PlanCost | None]],
) -> CoreTimes | None:
    """The times of a cluster's cores; None if its branches could not run at the same time.

    `cycles_of`: cycles of each layer by a plan with a kernel per layer, and the plan's cost. Plans
    on all, a half, a quarter and an eighth of the cores are evaluated.
    """
    cores = target.hardware.cores
    parts = min(MOST_PARTS, cores)
    if parts == 1 or target.hardware.has_shared_matrix:
        return None
    instances = instance_graph(target.semantics, layers.sections)
    count_of_layers = len(layers.sections)
    simulated: dict[int, Sequence[int]] = {}
    at_dram: dict[int, Sequence[int]] = {}
    for count in sorted({parts, *(parts >> shift for shift in range(1, parts.bit_length()))}):
        used = tuple(range(count * cores // parts))
        steps = [(CoreBranch((layer,), used),) for layer in range(count_of_layers)]
        simulated[count], cost = cycles_of(assemble_branches(target, recipe, instances, steps))
        loads = cost.loads if cost else ()
        at_dram[count] = [load.dram_cycles for load in loads] or [0] * count_of_layers
    chip, sem = target.hardware, target.semantics
    overhead = 0 if target.cost is None else chip.launch_cycles + chip.barrier_cycles
    counts = tuple(simulated)
    cycles_of_layers = zip(*simulated.values(), strict=True)
    return CoreTimes(
        simulated[parts],
        parts,
        cores=cores,
        on_parts=[_by_parts(counts, cycles, overhead) for cycles in cycles_of_layers],
        dram_on_parts=[_by_parts(counts, cycles) for cycles in zip(*at_dram.values(), strict=True)],
        overhead=overhead,
        alone=frozenset(
            layer.index
            for layer in layers.graph.layers
            if not (sem.cluster_ops | sem.passing_ops).isdisjoint(layer.ops)
        ),
    )


def _by_parts(counts: Sequence[int], cycles: Sequence[int], overhead: int = 0) -> list[int]:
    """A layer's cycles without `overhead` on 0, 1, 2 ... parts, by those on rising `counts`.

    Between two counts they follow a + b / parts (our choice: work that is divided, and the rest).
    The entry of 0 parts is not used.
    """
    own = [max(0, each - overhead) for each in cycles]
    found = [0] * counts[0] + [own[0]]
    for (low, high), (few, many) in zip(pairwise(counts), pairwise(own), strict=True):
        found += [
            few + (many - few) * high * (parts - low) // (parts * (high - low))
            for parts in range(low + 1, high + 1)
        ]
    return found


def assembled_on_cores(
    target: Target, recipe: Recipe, layers: StageKernels, kernels: Sequence[BranchStep]
) -> Plan:
    """The plan of these kernels; `recipe.groups` are made of their layers."""
    instances = instance_graph(target.semantics, layers.sections)
    groups = tuple(_groups(layers, kernels))
    return assemble_branches(target, replace(recipe, groups=groups), instances, kernels)


def _groups(layers: StageKernels, kernels: Sequence[BranchStep]) -> Iterator[Group]:
    """A group per kernel, its ops in the order of the layers."""
    order = {op: at for at, op in enumerate(op for unit in layers.units for op in unit.ops)}
    for number, step in enumerate(kernels, 1):
        places = [place for branch in step for place in branch.sections]
        own = [layers.groups[place] for place in places]
        owned = tuple(dict.fromkeys(layer for group in own for layer in group.layers))
        ops = tuple(sorted((op for group in own for op in group.ops), key=order.__getitem__))
        peak_bytes = SubGraph(layers.graph, tuple(sorted(places))).whole_peak_bytes
        yield Group(f"g{number}", owned, ops, -1, 1, 0, peak_bytes)


def with_cores(decision: Decision, text: str) -> Decision:
    """The decision with the cores of each branch."""
    return replace(decision, numbers={**decision.numbers, "cores": text}) if text else decision
