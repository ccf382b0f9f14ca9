"""Target, cost -> Plan: a seeded search over the choices of `graphturbo`, or of `:plus`.

Over `graphturbo`'s choices it substitutes for the vendor's unpublished hand-written code. Over
those of `graphturbo:plus` it measures the quality of that strategy's choices. Our choice: large
neighbourhoods around the best point so far, since a budget of tens cannot sample a space of
hundreds of variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plus.plus import Proposal, has_idle
from graphturbo_core.strategies.steps.kernels import Cost, Target
from graphturbo_core.strategies.tuned.beyond import Beyond
from graphturbo_core.strategies.tuned.differences import STEP, differences
from graphturbo_core.strategies.tuned.making import NAME, Maker
from graphturbo_core.strategies.tuned.proposed import (
    cheapest,
    proposals,
    proposed_point,
    proposed_starts,
)
from graphturbo_core.strategies.tuned.sampler import Sampler
from graphturbo_core.strategies.tuned.space import START, Point, SearchSpace
from graphturbo_core.strategies.tuned.starts import find_starts, full_plan, other_starts
from graphturbo_core.strategies.tuned.trials import Trials, TunedTrial

MOST_KNOWN = 100
"""Known points in a row after which a search stops (our choice: its space is exhausted)."""
MOST_FREE = 4
"""Class variables that change per point (our choice: with more, most points are worse)."""
GENERAL_SHARE = 0.25
"""Probability that a whole-model decision changes instead (our choice: they are few)."""
FULL, BEYOND = "graphturbo:full", "graphturbo:plus"
"""Strategy that the best plan is compared with."""
RULE_BEST = "the cheapest point that was evaluated"


@dataclass(frozen=True)
class Tuned:
    """The search with its options: seed, and number of evaluated points.

    `is_beyond_paper`: also over the choices of `graphturbo:plus`. `has_full`: it begins with
    `graphturbo:full`'s plan; otherwise it may end above that plan's cycles.
    """

    cost: Cost
    seed: int
    evaluations: int
    is_beyond_paper: bool = False
    has_full: bool = True

    def __call__(self, target: Target) -> Plan:
        """Returns the cheapest plan; with `has_full` never slower than `graphturbo:full`'s.

        1. The starts are evaluated, `graphturbo:full`'s first. 2. In the best point, each
        whole-model decision takes each other value. 3. A few variables of the best point are
        freed, class variables weighted by their bytes, and the sampler chooses their values. This
        repeats until the budget is exhausted or too few new plans come. Identical plans are
        evaluated once. With `is_beyond_paper`, the proposals of `graphturbo:plus` replace rule 1,
        outside the budget, so the result is never slower than its plan. Rules 2 and 3 then
        alternate (our choice: the proposals cover most of rule 2).

        Raises:
            OptionError: NO_OPTUNA.
        """
        graph = layer_graph(target.semantics, relay_layers(target.semantics), target.number_format)
        named = tuple(find_starts(target))
        named = named if self.has_full else other_starts(named)
        starts = {start.name: start for start in named}
        proposed: tuple[Proposal, ...] = ()
        beyond = None
        if self.is_beyond_paper:
            proposed = proposals(target, self.cost)
            starts = {**{each.name: each for each in proposed_starts(proposed)}, **starts}
            beyond = Beyond(graph, target.hardware, has_idle(target))
        space = SearchSpace(graph, target.hardware, tuple(starts.values()), beyond)
        trials = Trials(Maker(target, space), self.cost, self.evaluations)
        walk = _SearchWalk(trials, space, Sampler((*space.general, *space.special), self.seed))
        if self.is_beyond_paper:
            walk.given(proposed)
            walk.in_turns(Random(self.seed))
            return _result_beyond(trials, self.seed, proposed)
        walk.starts()
        for _ in walk.one_at_a_time():
            pass
        walk.neighbourhoods(Random(self.seed))
        if not self.has_full:
            return _result_alone(trials, self.seed, full_plan(target))
        return _result(trials, self.seed)


@dataclass(frozen=True)
class _SearchWalk:
    """The search loop: from the best point so far to points near it."""

    trials: Trials
    space: SearchSpace
    sampler: Sampler

    @property
    def _neutral(self) -> dict[str, str]:
        return {each.name: each.values[0] for each in (*self.space.general, *self.space.special)}

    def starts(self) -> None:
        """Rule 1."""
        for start in self.space.starts:
            self._try({**self._neutral, START: start.name})

    def given(self, proposed: Sequence[Proposal]) -> None:
        """Add the proposals of `graphturbo:plus`: `:full` first, even if refused."""
        for place, each in enumerate(proposed):
            if each.spent is not None or not place:
                point = {**self._neutral, **proposed_point(each.name)}
                plan = replace(each.plan, strategy=NAME, decisions=(), notes=())
                self.trials.take(point, plan, each.spent)
                self.sampler.learn(point, self.trials.done[-1].cycles)

    def one_at_a_time(self) -> Iterator[None]:
        """Rule 2, one point per step; variables of `graphturbo:plus` come first."""
        added = {name for name, _ in self.space.beyond.of_model()} if self.space.beyond else set()
        ranked = sorted(self.space.general, key=lambda variable: variable.name not in added)
        names = ((variable.name, variable.values) for variable in ranked if variable.name != START)
        for name, value in ((name, value) for name, values in names for value in values):
            best = self.trials.best.point
            if value != best[name]:
                self._try({**best, name: value})
                yield

    def in_turns(self, random: Random) -> None:
        """Rules 2 and 3."""
        general, known = self.one_at_a_time(), 0
        while known < MOST_KNOWN and not self.trials.is_over:
            next(general, None)
            known = self._near(random, known)

    def neighbourhoods(self, random: Random) -> None:
        """Rule 3."""
        known = 0
        while known < MOST_KNOWN and not self.trials.is_over:
            known = self._near(random, known)

    def _near(self, random: Random, known: int) -> int:
        """Evaluate a point near the best; returns the number of known points in a row.

        After a known point, values are drawn at random, without those of the best point.
        """
        best, free = self.trials.best.point, self._free(random)
        point: Point
        if known:
            others = {name: [v for v in free[name] if v != best[name]] for name in free}
            point = {**best, **{name: random.choice(others[name]) for name in free}}
        else:
            fixed = {name: value for name, value in best.items() if name not in free}
            point = self.sampler.sample(fixed)
        return known + 1 if self._try(point) else 0

    def _free(self, random: Random) -> dict[str, tuple[str, ...]]:
        """Variables to change, with their values."""
        general = [each for each in self.space.general if len(each.values) > 1]
        chosen = [random.choice(general)]
        if self.space.special and random.random() >= GENERAL_SHARE:
            sizes = [each.size_bytes for each in self.space.special]
            chosen = random.choices(self.space.special, sizes, k=random.randint(1, MOST_FREE))
        return {each.name: each.values for each in chosen}

    def _try(self, point: Point) -> bool:
        """Evaluate a point within the budget; returns whether its plan was known."""
        if self.trials.is_over:
            return True
        before = len(self.trials.done)
        self.trials.evaluate(point)
        for trial in self.trials.done[before:]:
            self.sampler.learn(trial.point, trial.cycles)
        return len(self.trials.done) == before


def _result(trials: Trials, seed: int) -> Plan:
    """The best plan; its decisions record the search and the differences from the first."""
    first, best = trials.done[0], trials.best
    plan, full = best.plan, first.plan
    if plan is None or full is None:
        plan = full = trials.maker.plan(trials.maker.draft(first.point))
    said = _said(trials, seed, {})
    return replace(plan, decisions=(said, *differences(full, plan, FULL)))


def _result_alone(trials: Trials, seed: int, full: Plan) -> Plan:
    """The best plan of a search that did not begin with `graphturbo:full`'s plan."""
    best = trials.best
    plan = best.plan
    if plan is None:
        plan = trials.maker.plan(trials.maker.draft(trials.done[0].point))
    numbers: dict[str, int | float | str] = {
        "evaluated": trials.evaluated,
        "refused": trials.refused,
        "seed": seed,
        "cycles": _told(best),
    }
    said = Decision(STEP, RULE_BEST, (best.point[START],), True, numbers)
    return replace(plan, decisions=(said, *differences(full, plan, FULL)))


def _result_beyond(trials: Trials, seed: int, proposed: Sequence[Proposal]) -> Plan:
    """The best plan; its decisions record the differences from `graphturbo:plus`'s plan."""
    base = cheapest(proposed)
    numbers: dict[str, int | float | str] = {
        "tried_by_plus": len(proposed),
        "cycles_of_plus": "refused" if base.spent is None else base.spent.cycles,
    }
    plan = trials.best.plan
    assert plan is not None
    said = _said(trials, seed, numbers)
    return replace(plan, decisions=(said, *differences(base.plan, plan, BEYOND)))


def _said(trials: Trials, seed: int, further: dict[str, int | float | str]) -> Decision:
    first, best = trials.done[0], trials.best
    numbers: dict[str, int | float | str] = {
        "evaluated": trials.evaluated,
        "refused": trials.refused,
        "seed": seed,
        "cycles": _told(best),
        "cycles_of_full": _told(first),
        **further,
    }
    return Decision(STEP, RULE_BEST, (best.point[START],), True, numbers)


def _told(trial: TunedTrial) -> int | str:
    return "refused" if trial.cycles is None else trial.cycles
