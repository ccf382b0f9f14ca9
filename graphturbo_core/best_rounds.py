"""A strategy that chooses the cluster batch -> the fastest of several, and its rounds' plans.

1. For each cluster batch of `CLUSTER_BATCHES`, the strategy's quick plans of its rounds are
simulated. 2. The strategy searches the rounds of the fastest `MOST_SEARCHED`. 3. The fastest of
these is taken. Rounds of equal size are searched once: their plan does not depend on the others.
Our choice; the paper's cluster batches were given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphturbo_core.errors import CapacityError, InvariantError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Plan
from graphturbo_core.recorder import Recorder
from graphturbo_core.rounds import Imports, Rounds, divide
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.options import chosen_strategy
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for, target_of
from graphturbo_core.strategies.registry import StrategySpec
from graphturbo_core.strategies.steps.batching import Division
from graphturbo_core.strategies.strategy import Strategy
from graphturbo_core.trial_cache import TrialCache

CLUSTER_BATCHES = (1, 2, 4, 8, 16, 32)
"""Samples per round that are compared (our choice)."""
MOST_SEARCHED = 2
OnDone = Callable[[int, int], None]
"""Gets the number of parts that are done, and the number of all."""
CHOOSE = "choose the cluster batch"
"""The step's name."""


@dataclass(frozen=True)
class ChosenRounds:
    """The rounds of a run, its strategy at their cluster batch, and found plans by round size."""

    spec: StrategySpec
    strategy: Strategy
    rounds: Rounds
    plans: Mapping[int, PinnedPlan]


def rounds_of(
    imports: Imports,
    request: RunRequest,
    chosen: tuple[Graph, Hardware, StrategySpec],
    recorder: Recorder,
) -> ChosenRounds:
    """The rounds of a run; the step of a strategy that chooses the cluster batch takes long.

    Raises:
        CapacityError: as `choose_rounds`.
    """
    spec = chosen[2]
    strategy = chosen_strategy(spec, request.options)
    if strategy.chooses_cluster_batch and spec.cluster_batch is None and not request.plan:
        on_done = recorder.progress(CHOOSE)
        return recorder.run(CHOOSE, choose_rounds, imports, request, chosen, on_done)
    rounds = recorder.run("divide the batch", divide, imports, request, chosen)
    return ChosenRounds(spec, strategy, rounds, {})


def choose_rounds(
    imports: Imports,
    request: RunRequest,
    chosen: tuple[Graph, Hardware, StrategySpec],
    on_done: OnDone,
) -> ChosenRounds:
    """Returns the fastest rounds; without plans where the batch has one division only.

    Raises:
        CapacityError: NO_CLUSTER_BATCH: every cluster batch is refused.
    """
    graph, hardware, spec = chosen
    strategy = chosen_strategy(spec, request.options)
    candidates: dict[object, Rounds] = {}
    for size in CLUSTER_BATCHES:
        own = replace(spec, cluster_batch=size)
        rounds = divide(imports, request, (graph, hardware, own))
        candidates.setdefault(rounds.division.shares, rounds)
    found = tuple(candidates.values())
    if len(found) == 1:
        return ChosenRounds(_at(spec, found[0]), strategy, found[0], {})
    return _Comparison(imports, request, hardware, spec, strategy, on_done).fastest(found)


def round_cycles(division: Division, cycles: Mapping[int, int]) -> int:
    """Cycles of the cluster that takes longest, by those of one round of each size."""
    return max(
        sum(cycles[size] * count for size, count in share.rounds) for share in division.shares
    )


def _at(spec: StrategySpec, rounds: Rounds) -> StrategySpec:
    return replace(spec, cluster_batch=rounds.division.cluster_batch)


@dataclass
class _Comparison:
    """Cluster batches of one run, compared. A round of each size is evaluated once."""

    imports: Imports
    request: RunRequest
    hardware: Hardware
    spec: StrategySpec
    strategy: Strategy
    on_done: OnDone
    _quick: dict[int, int | None] = field(default_factory=dict)
    _searched: dict[int, tuple[Plan, int]] = field(default_factory=dict)
    _caches: dict[int, TrialCache] = field(default_factory=dict)

    def fastest(self, candidates: Sequence[Rounds]) -> ChosenRounds:
        """The three rules of the file."""
        parts = len(candidates) + MOST_SEARCHED
        quick = []
        for place, rounds in enumerate(candidates):
            self.on_done(place, parts)
            cycles = {size: self._quick_cycles(rounds, size) for size in rounds.semantics}
            known = {size: each for size, each in cycles.items() if each is not None}
            if len(known) == len(cycles):
                quick.append((round_cycles(rounds.division, known), place))
        if not quick:
            what = "no cluster batch has a plan"
            raise CapacityError("NO_CLUSTER_BATCH", what, change="choose graphturbo to see why")
        searched = []
        for number, (_, place) in enumerate(sorted(quick)[:MOST_SEARCHED]):
            self.on_done(len(candidates) + number, parts)
            rounds = candidates[place]
            found = {size: self._search(rounds, size)[1] for size in rounds.semantics}
            searched.append((round_cycles(rounds.division, found), place))
        rounds = candidates[min(searched)[1]]
        plans = {size: PinnedPlan(recorded(self._searched[size][0])) for size in rounds.semantics}
        return ChosenRounds(_at(self.spec, rounds), self.strategy, rounds, plans)

    def _quick_cycles(self, rounds: Rounds, size: int) -> int | None:
        """Cycles of the fastest quick plan of a round; None where all are refused."""
        if size not in self._quick:
            target = target_of(self.strategy, self._task(rounds, size))
            costs = map(self._cache(size).cost, self.strategy.quick_plans(target))
            self._quick[size] = min((each.cycles for each in costs if each), default=None)
        return self._quick[size]

    def _search(self, rounds: Rounds, size: int) -> tuple[Plan, int]:
        """The strategy's plan of a round, and its cycles."""
        if size not in self._searched:
            cache = self._cache(size)
            plan = plan_for(self.spec, self._task(rounds, size))
            cost = cache.cost(plan)
            if cost is None:
                raise InvariantError("BEST_REFUSED", f"the plan of a round of {size} is refused")
            self._searched[size] = plan, cost.cycles
        return self._searched[size]

    def _task(self, rounds: Rounds, size: int) -> PlanTask:
        return PlanTask(
            rounds.semantics[size], self.hardware, self.request.dtype, self.request.options,
            clusters=rounds.division.clusters_a_round, cost=self._cache(size).cost,
        )  # fmt: skip

    def _cache(self, size: int) -> TrialCache:
        if size not in self._caches:
            self._caches[size] = TrialCache(
                self.imports.limits, self.request.max_instructions, self.imports.known,
                has_trace=False, kernels=self.imports.kernels,
            )  # fmt: skip
        return self._caches[size]
