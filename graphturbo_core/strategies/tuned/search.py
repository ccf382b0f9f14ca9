"""Target, cost -> Plan: a seeded search over the space of `graphturbo`'s decisions.

It stands for the vendor's hand-written code, which was not seen. Our choice: large neighbourhoods
around the best point so far, since a budget of tens cannot sample a space of hundreds of variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from graphturbo_core.strategies.graphturbo.layer_graph import layer_graph
from graphturbo_core.strategies.kernels import Cost, Target
from graphturbo_core.strategies.plan import Decision, Plan
from graphturbo_core.strategies.relay import relay_layers
from graphturbo_core.strategies.tuned.differences import STEP, differences
from graphturbo_core.strategies.tuned.making import Maker
from graphturbo_core.strategies.tuned.sampler import Sampler
from graphturbo_core.strategies.tuned.space import START, Point, Space
from graphturbo_core.strategies.tuned.starts import find_starts
from graphturbo_core.strategies.tuned.trials import Trial, Trials

MOST_KNOWN = 100
"""After so many known points in a row a search gives up (our choice: its space is used up)."""
MOST_FREE = 4
"""Variables of classes that change at once (our choice: with more, most points are worse)."""
GENERAL_SHARE = 0.25
"""How often a decision for the whole model changes instead (our choice: they are few)."""
RULE_BEST = "the cheapest point that was evaluated"


@dataclass(frozen=True)
class Tuned:
    """The strategy with its options: the seed, and how many points it evaluates."""

    cost: Cost
    seed: int
    evaluations: int

    def __call__(self, target: Target) -> Plan:
        """The cheapest plan found; never one that costs more than `graphturbo:full`'s.

        1. The starts are evaluated, `graphturbo:full`'s own first. 2. Of the best, each decision
        for the whole model is replaced by each other value. 3. A few variables of the best point
        are freed, those of classes by the bytes that they are about, and the sampler chooses them;
        until the budget is spent or too few new plans come. Identical plans are evaluated once.

        Raises:
            OptionError: NO_OPTUNA.
        """
        graph = layer_graph(target.semantics, relay_layers(target.semantics), target.number_format)
        space = Space(graph, target.hardware, tuple(find_starts(target)))
        trials = Trials(Maker(target, space), self.cost, self.evaluations)
        walk = _Walk(trials, space, Sampler((*space.general, *space.special), self.seed))
        walk.starts()
        walk.one_at_a_time()
        walk.neighbourhoods(Random(self.seed))
        return _result(trials, self.seed)


@dataclass(frozen=True)
class _Walk:
    """From the best point so far to points near it."""

    trials: Trials
    space: Space
    sampler: Sampler

    def starts(self) -> None:
        """Rule 1."""
        neutral = {each.name: each.values[0] for each in (*self.space.general, *self.space.special)}
        for start in self.space.starts:
            self._try({**neutral, START: start.name})

    def one_at_a_time(self) -> None:
        """Rule 2."""
        for variable in self.space.general:
            for value in variable.values if variable.name != START else ():
                self._try({**self.trials.best.point, variable.name: value})

    def neighbourhoods(self, random: Random) -> None:
        """Rule 3; after a point that was known the values are drawn at random, none the best's."""
        known = 0
        while known < MOST_KNOWN and not self.trials.is_over:
            best, free = self.trials.best.point, self._free(random)
            point: Point
            if known:
                others = {name: [v for v in free[name] if v != best[name]] for name in free}
                point = {**best, **{name: random.choice(others[name]) for name in free}}
            else:
                fixed = {name: value for name, value in best.items() if name not in free}
                point = self.sampler.sample(fixed)
            known = known + 1 if self._try(point) else 0

    def _free(self, random: Random) -> dict[str, tuple[str, ...]]:
        """Variables to change, with their values."""
        chosen = [random.choice(self.space.general)]
        if self.space.special and random.random() >= GENERAL_SHARE:
            sizes = [each.size_bytes for each in self.space.special]
            chosen = random.choices(self.space.special, sizes, k=random.randint(1, MOST_FREE))
        return {each.name: each.values for each in chosen}

    def _try(self, point: Point) -> bool:
        """Evaluate a point while the budget lasts; whether its plan was known."""
        if self.trials.is_over:
            return True
        trial = self.trials.evaluate(point)
        if not trial.is_known:
            self.sampler.learn(point, trial.cycles)
        return trial.is_known


def _result(trials: Trials, seed: int) -> Plan:
    """The best plan; its decisions say what was done, and how it differs from the first."""
    first, best = trials.done[0], trials.best
    plan, full = best.plan, first.plan
    if plan is None or full is None:
        plan = full = trials.maker.plan(trials.maker.draft(first.point))
    numbers: dict[str, int | float | str] = {
        "evaluated": len(trials.done),
        "refused": trials.refused,
        "seed": seed,
        "cycles": _told(best),
        "cycles_of_full": _told(first),
    }
    said = Decision(STEP, RULE_BEST, (best.point[START],), True, numbers)
    return replace(plan, decisions=(said, *differences(full, plan)))


def _told(trial: Trial) -> int | str:
    return "refused" if trial.cycles is None else trial.cycles
