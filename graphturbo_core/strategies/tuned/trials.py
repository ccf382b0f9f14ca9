"""Points -> cycles: each different plan is evaluated once, until the budget is spent."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.strategies.kernels import Cost
from graphturbo_core.strategies.plan import Plan
from graphturbo_core.strategies.record import recorded
from graphturbo_core.strategies.tuned.making import Draft, Maker
from graphturbo_core.strategies.tuned.space import Point


@dataclass(frozen=True)
class Trial:
    """What came of a point: no plan where none can be made, no cycles where it is refused.

    `is_known`: another point had the same plan, so nothing was evaluated.
    """

    point: Point
    plan: Plan | None
    cycles: int | None
    is_known: bool = False


@dataclass
class Trials:
    """The points of one search that were evaluated, at most `budget`; a refused one counts."""

    maker: Maker
    cost: Cost
    budget: int
    done: list[Trial] = field(default_factory=list)
    _known: dict[Hashable, int | None] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent."""
        return len(self.done) >= self.budget

    @property
    def refused(self) -> int:
        """How many points were refused."""
        return sum(trial.cycles is None for trial in self.done)

    @property
    def best(self) -> Trial:
        """The cheapest so far, of equal ones the first; where all are refused the first of all."""
        return min(self.done, key=lambda t: (t.cycles is None, t.cycles or 0))

    def evaluate(self, point: Point) -> Trial:
        """The point's plan and its cycles, looked up where the same plan was evaluated before."""
        draft = self.maker.draft(point)
        if draft in self._known:
            return Trial(point, None, self._known[draft], is_known=True)
        plan = self._made(draft)
        key = draft if plan is None else identity(plan)
        if key in self._known:
            self._known[draft] = self._known[key]
            return Trial(point, plan, self._known[key], is_known=True)
        spent = self.cost(plan) if plan is not None else None
        trial = Trial(point, plan, None if spent is None else spent.cycles)
        self._known[key] = self._known[draft] = trial.cycles
        self.done.append(trial)
        return trial

    def _made(self, draft: Draft) -> Plan | None:
        try:
            return self.maker.plan(draft)
        except (CapacityError, PlanError):
            return None


def identity(plan: Plan) -> Hashable:
    """What tells two plans of one model apart: all that lowering reads of them."""
    record = recorded(plan)
    return (
        plan.is_scheduled_across_layers,
        tuple((group.ops, group.axis, group.pieces) for group in record.groups),
        tuple(
            (
                kernel.name, kernel.kept, tuple(kernel.bindings.items()),
                tuple(kernel.scopes.items()), tuple(kernel.residency.items()),
            )
            for kernel in record.kernels
        ),
    )  # fmt: skip
