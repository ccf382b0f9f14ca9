"""Target, cost -> Plan: a seeded search over the decisions of `graphturbo`, or of `:plus`.

Among `graphturbo`'s it stands for the vendor's hand-written code, which was not seen; among those
of `graphturbo:plus` it says how good that strategy's own choices are. Our choice: large
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
"""After so many known points in a row a search gives up (our choice: its space is used up)."""
MOST_FREE = 4
"""Variables of classes that change at once (our choice: with more, most points are worse)."""
GENERAL_SHARE = 0.25
"""How often a decision for the whole model changes instead (our choice: they are few)."""
FULL, BEYOND = "graphturbo:full", "graphturbo:plus"
"""What a plan that was found is held against."""
RULE_BEST = "the cheapest point that was evaluated"


@dataclass(frozen=True)
class Tuned:
    """The strategy with its options: the seed, and how many points it evaluates.

    `is_beyond_paper`: over the decisions of `graphturbo:plus` too. `has_full`: it begins with
    `graphturbo:full`'s plan; where not, it may end above that plan's cycles.
    """

    cost: Cost
    seed: int
    evaluations: int
    is_beyond_paper: bool = False
    has_full: bool = True

    def __call__(self, target: Target) -> Plan:
        """The cheapest plan found; with `has_full` never dearer than `graphturbo:full`'s.

        1. The starts are evaluated, `graphturbo:full`'s own first. 2. Of the best, each decision
        for the whole model is replaced by each other value. 3. A few variables of the best point
        are freed, those of classes by the bytes that they are about, and the sampler chooses them;
        until the budget is spent or too few new plans come. Identical plans are evaluated once.
        Over the decisions of `graphturbo:plus` its proposals stand in the place of rule 1, so that
        nothing costs more than its plan, and cost no budget; rules 2 and 3 take turns (our choice:
        the proposals have tried most of what rule 2 does).

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
    """From the best point so far to points near it."""

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
        """What `graphturbo:plus` had simulated: `:full` first, though it be refused."""
        for place, each in enumerate(proposed):
            if each.spent is not None or not place:
                point = {**self._neutral, **proposed_point(each.name)}
                plan = replace(each.plan, strategy=NAME, decisions=(), notes=())
                self.trials.take(point, plan, each.spent)
                self.sampler.learn(point, self.trials.done[-1].cycles)

    def one_at_a_time(self) -> Iterator[None]:
        """Rule 2, a point each time; what `graphturbo:plus` adds comes first."""
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
        """A point near the best, after so many known ones; so many there are then.

        After one that was known the values are drawn at random, none the best's.
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
        """Evaluate a point while the budget lasts; whether no new plan came of it."""
        if self.trials.is_over:
            return True
        before = len(self.trials.done)
        self.trials.evaluate(point)
        for trial in self.trials.done[before:]:
            self.sampler.learn(trial.point, trial.cycles)
        return len(self.trials.done) == before


def _result(trials: Trials, seed: int) -> Plan:
    """The best plan; its decisions say what was done, and how it differs from the first."""
    first, best = trials.done[0], trials.best
    plan, full = best.plan, first.plan
    if plan is None or full is None:
        plan = full = trials.maker.plan(trials.maker.draft(first.point))
    said = _said(trials, seed, {})
    return replace(plan, decisions=(said, *differences(full, plan, FULL)))


def _result_alone(trials: Trials, seed: int, full: Plan) -> Plan:
    """The best plan of a search that did not begin with `graphturbo:full`'s."""
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
    """The best plan; its decisions say how it differs from that of `graphturbo:plus`."""
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
