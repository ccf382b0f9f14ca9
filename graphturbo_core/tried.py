"""Plan -> what it takes, for a strategy that chooses among several; each is tried once."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.limits import Limits
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.numbering import KnownKernels
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Program
from graphturbo_core.sim.kernels.kernel_loads import kernel_loads
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.plan_files.record import SEARCHED
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost
from graphturbo_core.strategies.strategy import Strategy

MOST_KNOWN = 32
"""Plans that are remembered (our choice: what `graphturbo:plus` tries in some runs)."""


@dataclass(frozen=True)
class KnownTrial:
    """What a plan took under this cap on instructions; None: it was refused."""

    plan: Plan = field(repr=False)
    max_instructions: int | None
    spent: PlanCost | None


def spent_in(trace: Trace) -> PlanCost:
    """Cycles of a Trace, and of each kernel what it takes."""
    return PlanCost(trace.makespan, trace.kernel_cycles, kernel_loads(trace.program))


@dataclass
class Tried:
    """Plans of one round size. The first Trace of the fewest cycles is kept: it will be chosen.

    `known`: by all runs of a comparison, which adds to it; a plan that an earlier run tried and
    this one chooses is lowered anew. `keeps_trace`: not where what was tried will not do.
    `kernels`: those of all plans that were lowered.
    """

    limits: Limits
    max_instructions: int | None
    known: list[KnownTrial] = field(default_factory=list)
    keeps_trace: bool = True
    kernels: KnownKernels = field(default_factory=KnownKernels)
    _least: int | None = None
    _best: Trace | None = None

    def spent(self, plan: Plan) -> PlanCost | None:
        """What a plan takes; None where it is refused."""
        for each in self.known:
            if each.max_instructions != self.max_instructions or not each.plan.is_lowered_as(plan):
                continue
            if each.spent is not None:
                self._keep_least(each.spent.cycles, None)
            return each.spent
        try:
            trace = simulate(self._lower(plan))
        except (CapacityError, PlanError):
            self._note(plan, None)
            return None
        self._keep_least(trace.makespan, trace if self.keeps_trace else None)
        found = spent_in(trace)
        self._note(plan, found)
        return found

    def _keep_least(self, cycles: int, trace: Trace | None) -> None:
        """Any other Trace will not be chosen: it would hold memory for nothing."""
        if self._least is None or cycles < self._least:
            self._least, self._best = cycles, trace

    def note(self, trace: Trace) -> None:
        """Remember what the plan of a Trace took."""
        self._note(trace.program.plan, spent_in(trace))

    def _note(self, plan: Plan, spent: PlanCost | None) -> None:
        if len(self.known) < MOST_KNOWN:
            self.known.append(KnownTrial(plan, self.max_instructions, spent))

    def lowered(self, plan: Plan) -> Program:
        """The plan's Program: the one that is kept, where it is of this plan.

        Raises:
            CapacityError, PlanError: the plan is refused.
        """
        if (kept := self._kept(plan)) is not None:
            return replace(kept.program, plan=plan)
        return self._lower(plan)

    def _lower(self, plan: Plan) -> Program:
        most = self.max_instructions
        return lower(plan, self.limits, max_instructions=most, known=self.kernels)

    def simulated(self, program: Program) -> Trace:
        """The Program's Trace: the one that is kept, where it is of this plan."""
        kept, self._best = self._kept(program.plan), None
        return simulate(program) if kept is None else replace(kept, program=program)

    def _kept(self, plan: Plan) -> Trace | None:
        best = self._best
        return best if best is not None and best.program.plan.is_lowered_as(plan) else None


def counted_cost(tried: Tried, strategy: Strategy, tell: Callable[[int, int], None]) -> Cost:
    """Cost function of a strategy that evaluates plans: cycles of a round and of its kernels.

    `tell` gets the progress of a search: evaluations done, and the most that it makes. Plans that
    it takes over from another strategy do not count.
    """
    numbers = count(1)

    def spent(plan: Plan) -> PlanCost | None:
        try:
            return tried.spent(plan)
        finally:
            if strategy.is_search:
                gc.collect()
            if plan.strategy == SEARCHED:
                tell(next(numbers), strategy.evaluations)

    return spent
