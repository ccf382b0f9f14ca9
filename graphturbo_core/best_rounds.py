"""A strategy that chooses the cluster batch -> the fastest of several, and its rounds' plans.

1. The cluster batches of `CLUSTER_BATCHES` are sorted by a closed form. 2. The strategy searches
the rounds of the first. It searches those of the second if its first plan is faster there than
where the fastest so far was found, or if one of these two is refused. 3. For the others its first
plan is simulated, unless the plan's lower bound says that it is slower than the fastest so far, or
the search gained `MUCH` over its first plan. 4. The fastest of all is taken. No rounds are looked
at whose own lower bound is not below the fastest so far, and no closed form is computed where that
bound is above another's. Rounds of equal size are searched once: their plan does not depend on the
others.
Our choice; the paper's cluster batches were given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.graph_search.chosen_graph import ChosenGraph, choose_graph, with_decisions
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.recorder import Recorder
from graphturbo_core.report.bounds.bounds import round_bound
from graphturbo_core.rounds import Imports, Rounds, divide, round_cycles
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.compared_batches import (
    RULE_BOUND,
    RULE_FIRST,
    RULE_GAIN,
    RULE_PLAN,
    RULE_REFUSED,
    RULE_SEARCHED,
    STEP,
    ComparedBatch,
)
from graphturbo_core.strategies.options import chosen_strategy
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.planning import PlanTask, target_of
from graphturbo_core.strategies.plus.least_cycles import least_cycles
from graphturbo_core.strategies.registry import StrategySpec
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.strategy import Strategy
from graphturbo_core.trial_cache import TrialCache

CLUSTER_BATCHES = (1, 2, 4, 8, 16, 32)
"""Samples per round that are compared (our choice)."""
MOST_SEARCHED = 2
"""Cluster batches that rule 2 looks at (our choice)."""
MUCH = 2
"""Gain of a search over its first plan, from which first plans elsewhere are not simulated (our
choice: on generic-4x4 such a plan takes a minute to lower; of three models none came near)."""
NO_CLUSTER_BATCH = "NO_CLUSTER_BATCH"
OnDone = Callable[[int, int], None]
"""Gets the number of parts that are done, and the number of all."""


@dataclass(frozen=True)
class ChosenRounds:
    """The rounds of a run, its strategy at their cluster batch, and found plans by round size.

    `request`: with the cluster batch and the graph that were chosen. `decisions`: those of the
    graph. `caches`: by round size, of what was lowered to choose them.
    """

    request: RunRequest
    spec: StrategySpec
    strategy: Strategy
    rounds: Rounds
    plans: Mapping[int, PinnedPlan]
    decisions: tuple[Decision, ...] = ()
    caches: Mapping[int, TrialCache] = field(default_factory=dict)


def rounds_of(
    imports: Imports,
    request: RunRequest,
    chosen: tuple[Graph, Hardware, StrategySpec],
    recorder: Recorder,
) -> ChosenRounds:
    """The rounds of a run; the step that chooses the cluster batch or the graph takes long.

    Raises:
        CapacityError: as `choose_rounds`.
    """
    spec = chosen[2]
    strategy = chosen_strategy(spec, request.options)
    if strategy.chooses_cluster_batch and spec.cluster_batch is None and not request.plan:
        on_done = recorder.progress(STEP)
        return recorder.run(STEP, choose_rounds, imports, request, chosen, on_done)
    found = ChosenGraph(request)
    if strategy.graph_search is not None and not request.plan:
        found = choose_graph(imports, request, (*chosen, strategy.graph_search), recorder)
        request = found.request
        strategy = chosen_strategy(spec, request.options)
        chosen = imports.whole(request), *chosen[1:]
    rounds = recorder.run("divide the batch", divide, imports, request, chosen)
    return ChosenRounds(request, spec, strategy, rounds, found.plans, found.decisions)


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
        return _chosen_at(request, spec, strategy, found[0], {})
    return _Comparison(imports, request, hardware, spec, strategy, on_done).fastest(found)


def _chosen_at(
    request: RunRequest,
    spec: StrategySpec,
    strategy: Strategy,
    rounds: Rounds,
    plans: Mapping[int, PinnedPlan],
) -> ChosenRounds:
    """With the cluster batch of these rounds as that of the strategy."""
    own = replace(spec, cluster_batch=rounds.division.cluster_batch)
    return ChosenRounds(replace(request, strategy=own.text), own, strategy, rounds, plans)


@dataclass
class _Comparison:
    """Cluster batches of one run, compared.

    `_found`: the fastest plan of a round of each size so far, and its cycles. `_searched`: sizes
    whose plan a search found.
    """

    imports: Imports
    request: RunRequest
    hardware: Hardware
    spec: StrategySpec
    strategy: Strategy
    on_done: OnDone
    _estimates: dict[int, int] = field(default_factory=dict)
    _found: dict[int, tuple[Plan, int]] = field(default_factory=dict)
    _searched: set[int] = field(default_factory=set)
    _targets: dict[int, Target] = field(default_factory=dict)
    _caches: dict[int, TrialCache] = field(default_factory=dict)

    def fastest(self, candidates: Sequence[Rounds]) -> ChosenRounds:
        """Rule 4, after the others."""
        bounds = [self._bound(each) for each in candidates]
        left_out = self._look_at(candidates, bounds)
        known = self._known(candidates)
        if not known:
            what = "no cluster batch has a plan"
            raise CapacityError(NO_CLUSTER_BATCH, what, change="choose graphturbo to see why")
        rounds = candidates[min(known)[1]]
        decisions = tuple(
            self._decision(each, rule, bound, is_taken=each is rounds)
            for each, rule, bound in zip(candidates, left_out, bounds, strict=True)
        )
        plans = {size: with_decisions(self._found[size][0], decisions) for size in rounds.semantics}
        chosen = _chosen_at(self.request, self.spec, self.strategy, rounds, plans)
        return replace(chosen, caches=self._caches)

    def _look_at(self, candidates: Sequence[Rounds], bounds: Sequence[int]) -> list[str]:
        """Rules 1 to 3; returns why each candidate has no plan, if it has none."""
        left_out = [RULE_BOUND] * len(candidates)
        left, looked_at, total = dict(enumerate(bounds)), 0, len(candidates)
        while left:
            self.on_done(total - len(left), total)
            place = self._likeliest(candidates, left)
            rounds = candidates[place]
            left_out[place] = RULE_REFUSED
            if looked_at < MOST_SEARCHED:
                is_likely = self._is_likely(candidates, rounds)
                looked_at += self._search(rounds) if is_likely else self._take_first(rounds)
            elif reason := self._reason_against(candidates, rounds):
                left_out[place] = reason
            else:
                self._take_first(rounds)
            del left[place]
            fastest = min(self._known(candidates), default=(inf, 0))[0]
            left = {place: bound for place, bound in left.items() if bound < fastest}
        return left_out

    def _decision(self, rounds: Rounds, left_out: str, bound: int, *, is_taken: bool) -> Decision:
        """What was found of a candidate; `left_out`: why it has no plan. `bound`: 0: unknown."""
        division, strategy, sizes = rounds.division, self.strategy, rounds.semantics.keys()
        closed_form, found, rule = 0, 0, left_out
        if sizes <= self._estimates.keys():
            closed_form = round_cycles(division, self._estimates)
        if known := self._known([rounds]):
            found = known[0][0]
            rule = RULE_SEARCHED if sizes <= self._searched else RULE_FIRST
        compared = ComparedBatch(
            division.cluster_batch, rule, bound, strategy.cycles_of_goal(closed_form),
            strategy.cycles_of_goal(found), is_traffic=not strategy.is_for_time,
        )  # fmt: skip
        own = replace(self.spec, cluster_batch=division.cluster_batch)
        return compared.decision(own.text, is_taken=is_taken)

    def _likeliest(self, candidates: Sequence[Rounds], bounds: Mapping[int, int]) -> int:
        """Place of the least closed form; one whose bound is above another's form has no say."""
        least: tuple[float, int] = (inf, 0)
        for place in sorted(bounds, key=lambda at: bounds[at]):
            if bounds[place] > least[0]:
                break
            rounds = candidates[place]
            cycles = {size: self._estimate(rounds, size) for size in rounds.semantics}
            least = min(least, (round_cycles(rounds.division, cycles), place))
        return least[1]

    def _bound(self, rounds: Rounds) -> int:
        """Lower bound of a candidate's cycles; 0 where none is known."""
        if not self.strategy.is_for_time:
            return 0
        clusters = rounds.division.clusters_a_round if self.hardware.can_cooperate else 1
        run = self.request.dtype, clusters
        with suppress(CapacityError):
            least = {
                size: round_bound(sem, self.hardware, run) for size, sem in rounds.semantics.items()
            }
            return round_cycles(rounds.division, least)
        return 0

    def _known(self, candidates: Sequence[Rounds]) -> list[tuple[int, int]]:
        """Cycles and place of all candidates whose rounds have plans."""
        cycles = {size: found for size, (_, found) in self._found.items()}
        return [
            (round_cycles(rounds.division, cycles), place)
            for place, rounds in enumerate(candidates)
            if rounds.semantics.keys() <= cycles.keys()
        ]

    def _estimate(self, rounds: Rounds, size: int) -> int:
        if size not in self._estimates:
            self._estimates[size] = self.strategy.estimated_cycles(self._target(rounds, size))
        return self._estimates[size]

    def _search(self, rounds: Rounds) -> bool:
        """Search the rounds of a candidate; returns whether all have a plan."""
        for size in sorted(rounds.semantics.keys() - self._found.keys()):
            with suppress(CapacityError, PlanError):
                self._take(size, self.strategy.plan(self._target(rounds, size)))
                self._searched.add(size)
        return rounds.semantics.keys() <= self._found.keys()

    def _is_likely(self, candidates: Sequence[Rounds], rounds: Rounds) -> bool:
        """Whether rule 2 has a candidate searched."""
        known = self._known(candidates)
        if not known:
            return True
        found = self._first_cycles(candidates[min(known)[1]])
        with suppress(CapacityError, PlanError):
            first = self._first_cycles(rounds)
            return not (first and found) or first < found
        return True

    def _reason_against(self, candidates: Sequence[Rounds], rounds: Rounds) -> str:
        """Why rule 3 has a candidate's first plans not simulated; empty if it has."""
        known = self._known(candidates)
        if known and self._first_cycles(candidates[min(known)[1]]) >= MUCH * min(known)[0]:
            return RULE_GAIN
        least = {}
        for size in rounds.semantics:
            if size in self._found:
                least[size] = self._found[size][1]
                continue
            try:
                least[size] = least_cycles(self._first_plan(rounds, size))
            except (CapacityError, PlanError):
                return RULE_REFUSED
        is_slower = known and round_cycles(rounds.division, least) >= min(known)[0]
        return RULE_PLAN if is_slower else ""

    def _first_cycles(self, rounds: Rounds) -> int:
        """Cycles with the first plans; 0 if one is not lowered.

        Raises:
            CapacityError, PlanError: there is no such plan; not for rounds that were searched.
        """
        found = {}
        for size in rounds.semantics:
            cost = self._cache(size).cost(self._first_plan(rounds, size))
            found[size] = self.strategy.compared_cycles(cost) if cost else 0
        return round_cycles(rounds.division, found) if all(found.values()) else 0

    def _take_first(self, rounds: Rounds) -> bool:
        """Simulate the first plans of a candidate; returns whether all have a plan."""
        for size in sorted(rounds.semantics.keys() - self._found.keys()):
            self._take(size, self._first_plan(rounds, size))
        return rounds.semantics.keys() <= self._found.keys()

    def _take(self, size: int, plan: Plan) -> None:
        cost = self._cache(size).cost(plan)
        if cost is not None:
            self._found[size] = plan, self.strategy.compared_cycles(cost)

    def _first_plan(self, rounds: Rounds, size: int) -> Plan:
        return self.strategy.first_plan(self._target(rounds, size))

    def _target(self, rounds: Rounds, size: int) -> Target:
        """What rounds of this size are planned for, the same for all plans."""
        if size not in self._targets:
            task = PlanTask(
                rounds.semantics[size], self.hardware, self.request.dtype, self.request.options,
                clusters=rounds.division.clusters_a_round, cost=self._cache(size).cost,
            )  # fmt: skip
            self._targets[size] = target_of(self.strategy, task)
        return self._targets[size]

    def _cache(self, size: int) -> TrialCache:
        if size not in self._caches:
            self._caches[size] = TrialCache(
                self.imports.limits, self.request.max_instructions, self.imports.known,
                has_trace=not self.request.verify, kernels=self.imports.kernels,
            )  # fmt: skip
        return self._caches[size]
