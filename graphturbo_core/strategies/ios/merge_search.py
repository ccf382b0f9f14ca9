"""A model on a chip -> the convolutions that levels `merge` and `both` of `ios` merge.

1. The model's layers run one after the other. This gives the cycles of each layer.
2. Each input has few sets of convolutions that can be one (`substitutions/convolution_sets.py`).
   One graph has one set of every input merged, so there are as many graphs as one input has sets at
   most. Their layers run one after the other too. This gives the cycles of each merged convolution.
3. Two candidates are planned and simulated as the level does: no merges, and the merges with the
   least cycles of layers in turn.
4. For level `both`, a third one has the merged stages of the dynamic program over stages of both
   kinds. Stages of groups have simulated cycles from step 3, or estimates. One cluster whose cores
   cannot be divided has no such stages.
5. The fastest candidate is taken, of equal ones the first. So `both` is never slower than `merge`
   or `parallel`.

Our choice: IOS measures each stage alone. Where a graph of step 2 is refused, its sets are not
merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.passes.substitutions.convolution_sets import (
    ConvolutionSet,
    convolution_sets,
)
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import Limits
from graphturbo_core.option_fields import BETWEEN_STEPS
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.strategies.ios.block_cut import block_edges, blocks
from graphturbo_core.strategies.ios.core_parts import MOST_MEASURED
from graphturbo_core.strategies.ios.endings import Pruning, Stage
from graphturbo_core.strategies.ios.merged_endings import (
    MergeLatencies,
    best_merged_schedule,
    ops_of,
)
from graphturbo_core.strategies.ios.stage_kernels import STAGE_STEP, StageKernels, merged_kernels
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.steps.kernels import PlanCost, Target
from graphturbo_core.strategies.strategy import FoundSteps, GraphRun, GraphTrials

UNCHANGED = "unchanged"
MERGE_STEP, COMPARE_STEP = "merge convolutions", "compare merges"
RULE_MERGED = "these convolutions of one input are one in the fastest graph"
RULE_SLOWER = "one convolution takes no fewer cycles than these one after the other"
RULE_OTHER_SET = "the fastest graph merges other convolutions of this input"
RULE_APART = "the fastest graph merges no convolutions of this input"
RULE_REFUSED = "a graph with these convolutions as one is refused"
RULE_FASTEST = "the fastest of these graphs is taken, of equal ones the first"
REFUSED = "refused"

InTurn = Callable[[Target, StageKernels], Sequence[int] | None]
"""Simulated cycles of each layer, one after the other; None where that is refused."""
OnParts = Callable[[Target, StageKernels], StageTimes | None]
"""Times on parts of the only cluster's cores; None where these cannot be divided."""


@dataclass(frozen=True)
class MergeableSet:
    """A set of convolutions: its step, layers, and the cycles of these one after the other.

    `cycles`: of the merged convolution; None where the graph with it is refused.
    """

    step: int
    convolutions: ConvolutionSet
    layers: tuple[int, ...]
    in_turn: int = 0
    cycles: int | None = None

    @property
    def gain(self) -> int:
        """Cycles that the merge saves; 0 where it is refused."""
        return 0 if self.cycles is None else self.in_turn - self.cycles


Merges = tuple[MergeableSet, ...]
"""Disjoint sets, in ascending order of their steps."""


@dataclass(frozen=True)
class MergeSearch:
    """Limits of stages and blocks; `on_parts`: None without stages of several groups."""

    in_turn: InTurn
    on_parts: OnParts | None
    pruning: Pruning
    limits: Limits

    def __call__(self, trials: GraphTrials) -> FoundSteps:
        """The fastest candidate; no merges where the model is refused without them."""
        target = trials.target("")
        kernels = merged_kernels(target)
        graphs = _graphs(mergeable_sets(trials.graph, kernels))
        if not graphs:
            return FoundSteps("")
        divided = MOST_MEASURED if self.on_parts and target.clusters == 1 else 0
        trials.expect(1 + len(graphs) + divided, 3 if self.on_parts else 2)
        cycles = self.in_turn(target, kernels)
        if cycles is None:
            return FoundSteps("")
        measured = [each for sets in graphs for each in self._measured(trials, sets, cycles)]
        runs = {merges: trials.run(text_of(merges)) for merges in ((), least_merges(measured))}
        times = self._times(target, kernels, cycles)
        if times is not None:
            latency = SimulatedStages(kernels, times, runs.values())
            merges = self._of_stages(kernels, latency, measured)
            if merges not in runs:
                runs[merges] = trials.run(text_of(merges))
        best = min(runs, key=lambda merges: _refused_last(runs[merges]))
        decisions = (*_set_decisions(measured, best), *_graph_decisions(runs, best))
        return FoundSteps(text_of(best), decisions)

    def _times(
        self, target: Target, kernels: StageKernels, in_turn: Sequence[int]
    ) -> StageTimes | None:
        """Times of stages on clusters, or on parts of the only one; None: no several groups."""
        if self.on_parts is None:
            return None
        if target.clusters > 1:
            return StageTimes(in_turn, target.clusters)
        return self.on_parts(target, kernels)

    def _measured(
        self, trials: GraphTrials, sets: Sequence[MergeableSet], in_turn: Sequence[int]
    ) -> Iterator[MergeableSet]:
        """The sets of one graph, with cycles."""
        target = trials.target(text_of(sets))
        kernels = merged_kernels(target)
        cycles = self.in_turn(target, kernels)
        layer_of = kernels.layer_by_origin
        for each in sets:
            found = None if cycles is None else cycles[layer_of[each.convolutions.ops[0]]]
            apart = sum(in_turn[layer] for layer in each.layers)
            yield replace(each, cycles=found, in_turn=apart)

    def _of_stages(
        self, kernels: StageKernels, latency: SimulatedStages, sets: Sequence[MergeableSet]
    ) -> Merges:
        """Merged stages of the dynamic program; in a block that is too large the best in turn."""
        edges, found = kernels.edges, list[MergeableSet]()
        for block in blocks(edges, len(kernels.graph.layers)):
            own = [each for each in sets if each.cycles is not None and each.layers[0] in block]
            try:
                found += self._of_block(block_edges(edges, block), block, latency, own)
            except CapacityError:
                found += least_merges(own)
        return tuple(sorted(found, key=lambda each: each.step))

    def _of_block(
        self,
        edges: Sequence[tuple[int, int]],
        block: Sequence[int],
        latency: SimulatedStages,
        sets: Sequence[MergeableSet],
    ) -> Iterator[MergeableSet]:
        """Merged stages of a block.

        Raises:
            CapacityError: the block is too large.
        """
        if not sets:
            return
        place = {layer: at for at, layer in enumerate(block)}
        by_ops = {tuple(sorted(place[layer] for layer in each.layers)): each for each in sets}

        def apart(stage: Stage) -> int:
            return latency(tuple(tuple(block[at] for at in group) for group in stage))

        latencies = MergeLatencies(apart, {ops: each.cycles or 0 for ops, each in by_ops.items()})
        best = best_merged_schedule(edges, len(block), latencies, self.pruning, self.limits)
        yield from (by_ops[ops_of(stage)] for stage in best.schedule.stages if stage in best.merged)


class SimulatedStages:
    """Cycles of stages of the unchanged graph: of the last simulated plan with it, or estimated.

    A stage is known by its layers: they determine its groups.
    """

    def __init__(
        self, kernels: StageKernels, times: StageTimes, runs: Iterable[GraphRun | None]
    ) -> None:
        """`runs`: on any graph; stages with merged layers do not count."""
        self._times = times
        self._known: dict[tuple[int, ...], int] = {}
        layer_of = {layer.name: layer.index for layer in kernels.graph.layers}
        simulated = (each for run in runs if run is not None for each in run.simulated)
        for plan, cost in simulated:
            for names, cycles in _stages(plan, cost):
                if layer_of.keys() >= set(names):
                    self._known[tuple(sorted(layer_of[name] for name in names))] = cycles

    def __call__(self, stage: Stage) -> int:
        """Cycles of a stage."""
        known = self._known.get(ops_of(stage))
        return self._times(stage) if known is None else known


def _stages(plan: Plan, cost: PlanCost) -> Iterator[tuple[tuple[str, ...], int]]:
    """Names of each stage's layers, and the cycles of its steps."""
    steps = [plan.step_of(number) for number in range(len(plan.kernels))]
    cycles = dict(zip(steps, cost.kernel_cycles, strict=True))
    step_of = {
        op: step for kernel, step in zip(plan.kernels, steps, strict=True) for op in kernel.ops
    }
    for each in plan.decisions:
        if each.step == STAGE_STEP:
            own = {step_of[name] for name in each.subject}
            yield each.subject, sum(cycles[step] for step in own)


def mergeable_sets(graph: Graph, kernels: StageKernels) -> list[MergeableSet]:
    """Sets of an unchanged graph whose layers are distinct and read the input of the sets alone."""
    layers, layer_of = kernels.graph, kernels.layer_by_origin
    found = []
    for step, each in enumerate(convolution_sets(graph)):
        own = tuple(sorted({layer_of[op] for op in each.ops}))
        reads = {name for layer in own for name in layers.reads[layer]}
        if len(own) == len(each.ops) and len(reads) == 1:
            found.append(MergeableSet(step, each, own))
    return found


def _graphs(sets: Sequence[MergeableSet]) -> list[list[MergeableSet]]:
    """All sets, each in one graph; a graph has at most one set of a run."""
    graphs: list[list[MergeableSet]] = []
    used: dict[int, int] = {}
    for each in sets:
        place = used.get(each.convolutions.run, 0)
        used[each.convolutions.run] = place + 1
        if place == len(graphs):
            graphs.append([])
        graphs[place].append(each)
    return graphs


def least_merges(sets: Sequence[MergeableSet]) -> Merges:
    """Disjoint sets that save most cycles; of equal ones the fewest sets, then the first ones.

    Exponential in the convolutions of a run, of which there are `MOST_IN_SET` at most.
    """
    runs: dict[int, list[MergeableSet]] = {}
    for each in sorted(sets, key=lambda each: each.step):
        if each.gain > 0:
            runs.setdefault(each.convolutions.run, []).append(each)
    return tuple(each for run in runs.values() for each in _best_of(run))


def _best_of(sets: Sequence[MergeableSet]) -> Merges:
    """The best disjoint sets of one run."""
    best: dict[frozenset[int], Merges] = {frozenset(): ()}
    for each in sets:
        for taken, family in tuple(best.items()):
            if taken.isdisjoint(each.layers):
                key, more = taken.union(each.layers), (*family, each)
                best[key] = min(best.get(key, more), more, key=_least_first)
    return min(best.values(), key=_least_first)


def _least_first(family: Merges) -> tuple[int, int, tuple[int, ...]]:
    return -sum(each.gain for each in family), len(family), tuple(each.step for each in family)


def text_of(sets: Sequence[MergeableSet]) -> str:
    """Steps of sets as the pass reads them; "" without sets."""
    return BETWEEN_STEPS.join(str(each.step) for each in sets)


def _refused_last(run: GraphRun | None) -> tuple[bool, int]:
    return (True, 0) if run is None else (False, run.cycles)


def _set_decisions(sets: Sequence[MergeableSet], chosen: Merges) -> Iterator[Decision]:
    """Each set with the cycles of the merged convolution, and of its layers in turn."""
    runs = {each.convolutions.run for each in chosen}
    for each in sorted(sets, key=lambda each: each.step):
        numbers: dict[str, int | float | str] = {
            "step": each.step,
            "cycles": REFUSED if each.cycles is None else each.cycles,
            "cycles in turn": each.in_turn,
        }
        has_other = each.convolutions.run in runs
        rule = RULE_MERGED if each in chosen else _apart_rule(each, has_other=has_other)
        yield Decision(MERGE_STEP, rule, each.convolutions.ops, each in chosen, numbers)


def _apart_rule(each: MergeableSet, *, has_other: bool) -> str:
    if each.cycles is None:
        return RULE_REFUSED
    if each.gain <= 0:
        return RULE_SLOWER
    return RULE_OTHER_SET if has_other else RULE_APART


def _graph_decisions(runs: Mapping[Merges, GraphRun | None], best: Merges) -> Iterator[Decision]:
    """Each candidate with the cycles of its run."""
    for merges, run in runs.items():
        numbers: dict[str, int | float | str] = {"cycles": REFUSED if run is None else run.cycles}
        steps = (text_of(merges) or UNCHANGED,)
        yield Decision(COMPARE_STEP, RULE_FASTEST, steps, merges == best, numbers)
