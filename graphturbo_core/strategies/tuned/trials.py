"""Points -> cycles: each distinct plan is evaluated once, within the budget."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost
from graphturbo_core.strategies.tuned.beyond import PAID
from graphturbo_core.strategies.tuned.making import Maker, PlanDraft
from graphturbo_core.strategies.tuned.retention import paid_stays, point_before, stays_of
from graphturbo_core.strategies.tuned.space import Point

MOST_BEHIND_PERCENT = 5
"""Percent of cycles above the best plan without GB retention; slower plans are not evaluated with
retention (our choice: similar plans gain about equally)."""


@dataclass(frozen=True)
class TunedTrial:
    """Result of a point: plan None if none can be made, `spent` None if it is refused.

    `is_known`: not evaluated, since another point had the same plan or it is not worth its budget.
    `is_given`: another strategy simulated it; it uses no budget.
    """

    point: Point
    plan: Plan | None
    spent: PlanCost | None
    is_known: bool = False
    is_given: bool = False

    @property
    def cycles(self) -> int | None:
        """Cycles of the plan; None if it is refused."""
        return None if self.spent is None else self.spent.cycles


@dataclass
class Trials:
    """Evaluated points of one search, at most `budget`; refused points count."""

    maker: Maker
    cost: Cost
    budget: int
    done: list[TunedTrial] = field(default_factory=list)
    _known: dict[Hashable, TunedTrial] = field(default_factory=dict)

    @property
    def evaluated(self) -> int:
        """Number of evaluated points."""
        return sum(not trial.is_given for trial in self.done)

    @property
    def is_over(self) -> bool:
        """Whether the budget is exhausted."""
        return self.evaluated >= self.budget

    @property
    def refused(self) -> int:
        """Number of refused points."""
        return sum(trial.cycles is None for trial in self.done)

    @property
    def best(self) -> TunedTrial:
        """The first cheapest trial so far; the first of all if all are refused."""
        return min(self.done, key=lambda t: (t.cycles is None, t.cycles or 0))

    def take(self, point: Point, plan: Plan, spent: PlanCost | None) -> None:
        """Add the point of a plan that another strategy simulated."""
        trial = TunedTrial(point, plan, spent, is_given=True)
        self.done.append(trial)
        self._known[identity(plan)] = trial

    def evaluate(self, point: Point) -> TunedTrial:
        """Returns the point's plan and cycles, from the cache if the plan was evaluated before.

        With GB retention, the point without it is evaluated first, and for paying retentions also
        the point with all of them. Each is a point of its own and counts.
        """
        draft = self.maker.draft(point)
        if draft in self._known:
            return replace(self._known[draft], point=point, is_known=True)
        stays: tuple[GbRetention, ...] = ()
        if draft.staying.is_asked:
            found = self._stays(point, draft)
            if found is None:
                return TunedTrial(point, None, None, is_known=True)
            stays = found
        plan = self._made(draft, stays)
        key = draft if plan is None else identity(plan)
        if key not in self._known:
            spent = self.cost(plan) if plan is not None else None
            self._known[key] = TunedTrial(point, plan, spent)
            self.done.append(self._known[key])
            self._known[draft] = self._known[key]
            return self._known[key]
        self._known[draft] = self._known[key]
        return TunedTrial(point, plan, self._known[key].spent, is_known=True)

    def _stays(self, point: Point, draft: PlanDraft) -> tuple[GbRetention, ...] | None:
        """The retentions of a point; None if unknown or not worth an evaluation."""
        base = self.evaluate(point_before(point))
        if base.plan is None or base.spent is None or self.is_over:
            return None
        if draft.staying.rule != PAID:
            is_behind = base.spent.cycles > self._least_bare * (100 + MOST_BEHIND_PERCENT) // 100
            return None if is_behind else stays_of(draft.staying, base.plan, base.spent)
        before = self.evaluate(point_before(base.point))
        assert before.spent is not None
        return paid_stays(draft.staying, base.plan, before.spent, base.spent)

    @property
    def _least_bare(self) -> int:
        """The fewest cycles of a plan without GB retention."""
        return min(
            trial.spent.cycles
            for trial in self.done
            if trial.spent is not None and trial.plan is not None and not trial.plan.stays
        )

    def _made(self, draft: PlanDraft, stays: tuple[GbRetention, ...]) -> Plan | None:
        try:
            return self.maker.plan(draft, stays)
        except (CapacityError, PlanError):
            return None


def identity(plan: Plan) -> Hashable:
    """Key of a plan of one model: everything that lowering reads."""
    record = recorded(plan)
    return (
        plan.scheduling,
        tuple((group.ops, group.axis, group.pieces, group.further) for group in record.groups),
        tuple(
            (
                kernel.name, kernel.kept, tuple(kernel.bindings.items()),
                tuple(kernel.scopes.items()), tuple(kernel.residency.items()),
            )
            for kernel in record.kernels
        ),
        plan.stays,
        plan.cooperation,
    )  # fmt: skip
