"""`ios`: layers in stages, whose groups run at once on different clusters or cores.

Source: "IOS: Inter-Operator Scheduler for CNN Acceleration", Ding et al., MLSys 2021, and the
authors' program. A unit is a layer of Relay: a convolution with its activation.

0. Where several clusters share a round, a group runs on a cluster. Where one cluster runs it, the
   cores of the cluster are divided among the groups (`core_parts.py`).
1. The layers are cut into blocks where a single tensor passes.
2. In each block a dynamic program finds the stages with the least sum of cycles.
3. The schedule is simulated. Its stages now have simulated cycles, and the program runs again
   until it chooses a known schedule, or `ios.trials` are spent. Then each block's fastest stages
   so far are joined and simulated.
4. Steps 2 and 3 run for each pruning up to (r, s). The fastest simulated schedule is taken, the
   sequential and the greedy one among them. Our choice: the cycles of a stage depend a little on
   the stage before it, so that the least sum is not always the fastest.
5. A pruning ends at a schedule more than 10 % slower than its fastest one or the layers in turn.
   If none of its own was faster than these, larger prunings are not tried. Our choice: there the
   estimates miss what groups cost each other, as weights that share GB, and a simulation is long.
   A pruning also ends after so many instructions in all its plans. Our choice: greedy stages of
   Inception-v3 have 16,000 on `stcp920`, 230,000 on `generic-4x4`.

Levels that merge convolutions plan a graph that was chosen before (`merging_levels.py`).

On parts of the cores the gain is small where DRAM is the limit: every result goes through it. In
Inception-v3 in turn, on `stcp920`, DRAM is busy 90 % of the time with four samples and 95 % with
16. The searched stages are 1.12 and 1.09 times as fast.

`Ios.departures` has what differs here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import ClassVar

from graphturbo_core.errors import CapacityError
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.option_fields import number
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.strategies.ios.best_stages import cheapest_stages
from graphturbo_core.strategies.ios.block_cut import (
    block_edges,
    blocks,
    fastest_by_block,
    named_in,
)
from graphturbo_core.strategies.ios.core_parts import MOST_MEASURED, core_times
from graphturbo_core.strategies.ios.endings import Endings, Pruning, Stage, endings_of
from graphturbo_core.strategies.ios.fixed_stages import GREEDY_GROUPS, greedy, sequential
from graphturbo_core.strategies.ios.merging_levels import BOTH, MERGE, MergingLevels
from graphturbo_core.strategies.ios.stage_kernels import StageKernels
from graphturbo_core.strategies.ios.stage_plans import (
    WITHOUT_FENCE,
    IosTrial,
    Made,
    StagePlans,
    cycles_of_stages,
)
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.steps.kernels import PlanCost, Target

LEVELS = MappingProxyType(
    {
        "sequential": "one layer per stage",
        "greedy": "all layers that are ready, per stage",
        "parallel": "the stages of least cycles, by dynamic programming",
        "merge": "one layer per stage, or one convolution that several have become",
        "both": "stages as in parallel, and merged convolutions; the fastest simulated graph",
    }
)
WITH_GROUPS = frozenset({"parallel", BOTH})
"""Levels whose stages may have several groups, by a search."""
MOST_LAYERS, MOST_GROUPS = 3, 8
MOST_SLOWER_PERCENT = 10
"""Of a schedule that does not end its pruning."""
REFUSED = 2**63
"""Cycles of a plan that is refused: any other one is taken before it."""
IN_TURN = (
    "ios: one cluster runs each round, and its cores cannot be divided among layers: there is one"
    " core, or the cores share a matrix engine. So layers run one after the other."
)
TOO_WIDE = "ios: {count} block(s) are too large to search: all their ready layers share a stage"
MOST_STATES = 20_000
"""Of one block (our choice: a second per schedule; the largest of Inception-v3 has 3,648 pairs)."""
Listed = tuple[Endings, Sequence[tuple[int, Sequence[int]]]]
"""Endings of a block, and its states with theirs."""


@dataclass(frozen=True, kw_only=True)
class Ios(MergingLevels):
    """Stages of layers; every result goes through DRAM."""

    name: ClassVar[str] = "ios"
    doc: ClassVar[str] = (
        "independent layers at once on different clusters or cores, in stages (IOS)"
    )
    source: ClassVar[str] = "IOS, Ding et al., MLSys 2021, and the authors' program"
    departures: ClassVar[tuple[str, ...]] = (
        "Where several clusters share a round, as with one sample, a group of a stage runs on a"
        " cluster. Elsewhere it runs on a part of the cores of one cluster. If these share a matrix"
        " engine (goya), layers run one after the other.",
        "A group has no stream of its own: where a stage has more groups than clusters, or than"
        " parts of a cluster (8 at most), some follow each other on the same cores.",
        "On parts of a cluster, a stage of several groups is one kernel, with one launch. A group's"
        " next layer may fetch weights while the layer before computes; its tensors go through"
        " DRAM, as between kernels.",
        "Cores are divided among groups by the simulated cycles of each layer on all, a half, a"
        " quarter and an eighth of the cores. Other divisions are not evaluated.",
        "Clusters that run a stage wait for each other after each layer.",
        "A stage that is in no simulated schedule has estimated cycles, from those of its layers."
        " The paper measures every stage.",
        "The fastest simulated schedule over all prunings up to (r, s) is taken, the sequential and"
        " the greedy one among them: the cycles of a stage depend a little on the one before it.",
        "A pruning ends at a schedule over 10 % slower than the layers in turn or than its own"
        " fastest, and when its plans have used up their instructions. If one ends in the first"
        " way and found nothing faster than in turn, larger prunings are not tried.",
        "Blocks with too many stages are scheduled greedily.",
        "A merged convolution is sliced in its kernel, which has the activations too; one may be a"
        " group of a stage.",
        "Convolutions are merged if the smallest common kernel, with the largest padding, is the"
        " same for all, and if all have a bias or none has.",
        "The graph is merged before its stages are searched. The fastest of three is taken: without"
        " merges, with the best ones in turn, and with those of the dynamic program.",
    )
    is_fine: ClassVar[bool] = True
    follows_edits: ClassVar[bool] = False
    levels: ClassVar[Mapping[str, str]] = LEVELS
    default_level: ClassVar[str] = "parallel"

    level: str = "parallel"
    r: int = number(MOST_LAYERS, (1, 8), "level parallel, both: most layers of a group")
    s: int = number(MOST_GROUPS, (1, 16), "level parallel, both: most groups of a stage")
    trials: int = number(8, (1, 64), "level parallel, both: most simulated schedules per pruning")
    instructions: int = number(
        500_000,
        (1, 100_000_000),
        "level parallel, both: most simulated instructions per pruning, unless its first has more",
    )
    states: int = number(
        MOST_STATES, (1, 1_000_000), "level parallel, both: most sets of layers of a searched block"
    )

    @property
    def space(self) -> tuple[Pruning, Limits]:
        """Limits of stages and blocks; endings of a state's layers are half as many again."""
        most = {"max_states": self.states, "max_state_endings": self.states * 3 // 2}
        return Pruning(self.r, self.s), replace(DEFAULT_LIMITS, **most)

    def cycles_in_turn(self, target: Target, kernels: StageKernels) -> list[int] | None:
        """Simulated cycles of each layer, one after the other; None where that is refused."""
        return IosScheduler(self, target, kernels).cycles_in_turn()

    def times_on_parts(self, target: Target, kernels: StageKernels) -> StageTimes | None:
        """Times on parts of the only cluster's cores; None where these cannot be divided."""
        return IosScheduler(self, target, kernels).times_on_parts()

    @property
    def scheduling(self) -> Scheduling:
        """No fence: it would keep layers of one stage apart. A kernel has a single layer."""
        return WITHOUT_FENCE

    @property
    def evaluations(self) -> int:
        """Most plans whose cycles are asked for; fewer where a known schedule is chosen again."""
        if self.level in ("sequential", MERGE):
            return 1
        searched = 2 + len(self.prunings()) * (self.trials + 1) if self.level in WITH_GROUPS else 0
        return MOST_MEASURED + searched

    def prunings(self) -> list[tuple[int, int]]:
        """All limits up to (r, s), of groups in powers of two."""
        powers = [2**power for power in range(1, self.s.bit_length())]
        groups = dict.fromkeys((*powers, self.s))
        return [(most, count) for count in groups for most in range(1, self.r + 1)]

    def plan(self, target: Target) -> Plan:
        """Schedule and assemble."""
        return IosScheduler(self, target, self.kernels(target)).plan()


@dataclass(frozen=True)
class IosScheduler:
    """One model for one number of clusters."""

    strategy: Ios
    target: Target
    kernels: StageKernels
    listed: dict[tuple[int, int, int], Listed | None] = field(default_factory=dict)
    """By place of a block, r and s; None where the block is too large."""
    made: dict[tuple[int, int], list[tuple[Stage, ...]]] = field(default_factory=dict)
    """Schedules that were simulated for each pruning."""

    def plan(self) -> Plan:
        """The plan of the level; with one cluster the sequential one."""
        count, edges = len(self.graph.layers), self.kernels.edges
        in_turn = self._in_turn()
        is_in_turn = self.strategy.level in ("sequential", MERGE)
        if self.target.clusters == 1 and is_in_turn:
            return in_turn
        times = self._times(in_turn)
        if times is None:
            return replace(in_turn, notes=(*in_turn.notes, IN_TURN))
        if is_in_turn:
            return self._assembled(times, sequential(edges, count))
        if self.strategy.level == "greedy":
            return self._assembled(times, greedy(edges, count))
        return self._searched(times, edges)

    @property
    def graph(self) -> LayerGraph:
        """The layers that stages consist of."""
        return self.kernels.graph

    def _in_turn(self) -> Plan:
        count = len(self.graph.layers)
        return self._assembled(StageTimes([1] * count, 1), sequential(self.kernels.edges, count))

    def cycles_in_turn(self) -> list[int] | None:
        """Simulated cycles of each layer, one after the other; None where that is refused."""
        plan = self._in_turn()
        cost = self._cost(plan)
        return None if cost is None else self._by_layer(plan, cost)

    def _times(self, in_turn: Plan) -> StageTimes | None:
        """Cycles of the layers on clusters, or on parts of the only one; None: it has no parts."""
        if self.target.clusters == 1:
            return self.times_on_parts()
        return StageTimes(self._layer_cycles(in_turn)[0], self.target.clusters)

    def times_on_parts(self) -> StageTimes | None:
        """Cycles of the layers on parts of the only cluster; None: it has no parts."""
        return core_times(self.target, self._plans.recipe, self.kernels, self._layer_cycles)

    def _layer_cycles(self, plan: Plan) -> tuple[list[int], PlanCost | None]:
        """Cycles of each layer in a plan of one kernel per step, and the plan's cost."""
        cost = self._cost(plan)
        return [1] * len(self.graph.layers) if cost is None else self._by_layer(plan, cost), cost

    def _cost(self, plan: Plan) -> PlanCost | None:
        return None if self.target.cost is None else self.target.cost(plan)

    def _by_layer(self, plan: Plan, cost: PlanCost) -> list[int]:
        """Cycles of each layer's kernel in a plan of one kernel per step."""
        found = [0] * len(self.graph.layers)
        for kernel, cycles in zip(plan.kernels, cost.kernel_cycles, strict=True):
            found[kernel.group] = cycles
        return found

    def _searched(self, times: StageTimes, edges: Sequence[tuple[int, int]]) -> Plan:
        """Steps 2 to 5 of the module's list; ties: a searched schedule, then the first."""
        tried: dict[tuple[Stage, ...], IosTrial] = {}
        count = len(self.graph.layers)
        self._try(times, (sequential(edges, count), frozenset(), 0), tried)
        if max(map(len, greedy(edges, count)), default=0) <= self.strategy.s:
            self._try(times, (greedy(edges, count), frozenset(), 0), tried)
        starts = dict(tried)
        hopeless: list[tuple[int, int]] = []
        for r, s in self.strategy.prunings():
            if any(most <= r and groups <= s for most, groups in hopeless):
                continue
            if not self._helps((r, s), times, starts, tried):
                hopeless.append((r, s))
            own = [made for at, made in self.made.items() if at[0] <= r and at[1] <= s]
            self._join(times, [*starts, *chain.from_iterable(own)], tried)
        stages = min(tried, key=lambda each: (tried[each].cycles, not tried[each].searched))
        chosen = tried[stages]
        times.known = dict(chosen.stage_cycles)
        return replace(
            chosen.plan,
            decisions=tuple(self._plans.decisions(times, stages, chosen.searched)),
            notes=(TOO_WIDE.format(count=chosen.wide),) if chosen.wide else (),
        )

    def _helps(
        self,
        pruning: tuple[int, int],
        times: StageTimes,
        starts: Mapping[tuple[Stage, ...], IosTrial],
        tried: dict[tuple[Stage, ...], IosTrial],
    ) -> bool:
        """Steps 2, 3 and 5: simulate the schedules of a pruning. False: do not try larger ones.

        Its schedules depend on `starts` and the pruning alone, whether it is tried and what is
        joined on smaller ones too, on nothing else. So a larger (r, s) with the same starts that
        has all prunings of the smaller one is never worse.
        """
        times.known = {}
        for each in starts.values():
            times.known |= each.stage_cycles
        in_turn = sequential(self.kernels.edges, len(self.graph.layers))
        first = least = starts[in_turn].cycles
        instructions = 0
        for _ in range(self.strategy.trials):
            made = self._scheduled(times, self.kernels.edges, pruning)
            is_known = made[0] in tried
            self._try(times, made, tried)
            self.made.setdefault(pruning, []).append(made[0])
            found = tried[made[0]]
            times.known |= found.stage_cycles
            least = min(least, found.cycles)
            if found.cycles * 100 > least * (100 + MOST_SLOWER_PERCENT):
                return least < first
            instructions += found.instructions
            if is_known or instructions >= self.strategy.instructions:
                break
        return True

    def _join(
        self,
        times: StageTimes,
        schedules: Sequence[tuple[Stage, ...]],
        tried: dict[tuple[Stage, ...], IosTrial],
    ) -> None:
        """Simulate the fastest stages of each block among these schedules, together."""
        found = [tried[each] for each in schedules if tried[each].cycles < REFUSED]
        parts = blocks(self.kernels.edges, len(self.graph.layers))
        stages = fastest_by_block(parts, [each.stage_cycles for each in found])
        searched = frozenset().union(*(each.searched for each in found)).intersection(stages)
        if found:
            self._try(times, (stages, searched, found[-1].wide), tried)

    def _try(self, times: StageTimes, made: Made, tried: dict[tuple[Stage, ...], IosTrial]) -> None:
        """Simulate a schedule, unless it is known; without a simulator its cycles are estimates."""
        stages, searched, wide = made
        if stages in tried:
            known = tried[stages]
            tried[stages] = replace(known, searched=known.searched | searched, wide=wide)
            return
        plan = self._assembled(times, stages)
        cost = self._cost(plan)
        if cost is None:
            own = {stage: times(stage) for stage in stages}
            cycles = sum(own.values()) if self.target.cost is None else REFUSED
            tried[stages] = IosTrial(cycles, plan, own, searched, wide)
        else:
            own = cycles_of_stages(times, plan, cost, stages)
            tried[stages] = IosTrial(cost.cycles, plan, own, searched, wide, cost.instructions)

    def _scheduled(
        self, times: StageTimes, edges: Sequence[tuple[int, int]], pruning: tuple[int, int]
    ) -> Made:
        """The best stages of each block by the cycles so far."""
        found: list[Stage] = []
        searched: set[Stage] = set()
        wide = 0
        for block_place, block in enumerate(blocks(edges, len(self.graph.layers))):
            own = block_edges(edges, block)
            listed = self._listed(block_place, own, len(block), pruning)
            if listed is None:
                wide += 1
                stages = greedy(own, len(block), min(GREEDY_GROUPS, self.strategy.s))
            else:
                stages = cheapest_stages(*listed, partial(_block_cycles, times, block)).stages
                searched |= {named_in(stage, block) for stage in stages}
            found += [named_in(stage, block) for stage in stages]
        return tuple(found), frozenset(searched), wide

    def _listed(
        self, block: int, edges: Sequence[tuple[int, int]], n: int, pruning: tuple[int, int]
    ) -> Listed | None:
        """States and endings of a block, listed once; None from the first pruning with too many."""
        r, s = pruning
        key = block, r, s
        if key in self.listed:
            return self.listed[key]
        is_wide = any(
            known is None and (at, most <= r, groups <= s) == (block, True, True)
            for (at, most, groups), known in self.listed.items()
        )
        self.listed[key] = None
        if not is_wide:
            try:
                endings = endings_of(edges, n, Pruning(r, s), self.strategy.space[1])
                self.listed[key] = endings, list(endings.states())
            except CapacityError:
                pass
        return self.listed[key]

    def _assembled(self, times: StageTimes, stages: Sequence[Stage]) -> Plan:
        """The plan of these stages."""
        decisions = tuple(self._plans.decisions(times, stages, frozenset()))
        return self._plans.plan(times, stages, decisions)

    @property
    def _plans(self) -> StagePlans:
        return StagePlans(self.target, self.kernels, self.strategy.label)


def _block_cycles(times: StageTimes, block: Sequence[int], stage: Stage) -> int:
    """Cycles of a stage of a block."""
    return times(named_in(stage, block))
