"""Plan -> cost, for a strategy that chooses among several plans; each is simulated once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.limits import Limits
from graphturbo_core.lowering.known import KnownKernels
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Program
from graphturbo_core.sim.kernels.kernel_loads import kernel_loads
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.plan_files.record import SEARCHED
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost
from graphturbo_core.strategies.strategy import Strategy

MOST_KNOWN = 32
"""Plans in the cache (our choice: as many as `graphturbo:plus` evaluates in some runs)."""


@dataclass(frozen=True)
class KnownTrial:
    """Cost of a plan under this cap on instructions; None where the plan is refused."""

    plan: Plan = field(repr=False)
    max_instructions: int | None
    cost: PlanCost | None


def cost_of(trace: Trace) -> PlanCost:
    """Cost of a simulated plan: cycles of its Trace, cycles and loads per kernel, instructions."""
    program = trace.program
    return PlanCost(trace.makespan, trace.kernel_cycles, kernel_loads(program), program.size)


@dataclass
class TrialCache:
    """Costs of plans of one round size, and the first Trace with the fewest cycles.

    That Trace is cached because its plan is the one that a strategy chooses. `known`: costs from
    all runs of a comparison; a plan of an earlier run that this run chooses is lowered again.
    `has_trace`: whether a Trace is cached; a replay cannot use one. `kernels`: templates of all
    lowered plans.
    """

    limits: Limits
    max_instructions: int | None
    known: list[KnownTrial] = field(default_factory=list)
    has_trace: bool = True
    kernels: KnownKernels = field(default_factory=KnownKernels)
    _least: int | None = None
    _best: Trace | None = None

    def cost(self, plan: Plan) -> PlanCost | None:
        """Cost of a plan; None where it is refused."""
        for trial in self.known:
            if trial.max_instructions != self.max_instructions:
                continue
            if not trial.plan.is_lowered_as(plan):
                continue
            if trial.cost is not None:
                self._cache_least(trial.cost.cycles, None)
            return trial.cost
        try:
            trace = simulate(self._lower(plan))
        except (CapacityError, PlanError):
            self._note(plan, None)
            return None
        self._cache_least(trace.makespan, trace if self.has_trace else None)
        cost = cost_of(trace)
        self._note(plan, cost)
        return cost

    def _cache_least(self, cycles: int, trace: Trace | None) -> None:
        """Caches the Trace if it is the fastest so far; no strategy chooses a slower one."""
        if self._least is None or cycles < self._least:
            self._least, self._best = cycles, trace

    def note(self, trace: Trace) -> None:
        """Adds the cost of a Trace's plan to the cache."""
        self._note(trace.program.plan, cost_of(trace))

    def _note(self, plan: Plan, cost: PlanCost | None) -> None:
        if len(self.known) < MOST_KNOWN:
            self.known.append(KnownTrial(plan, self.max_instructions, cost))

    def lowered(self, plan: Plan) -> Program:
        """The plan's Program, from the cache if the cached Trace is of this plan.

        Raises:
            CapacityError, PlanError: the plan is refused.
        """
        if (cached := self._cached(plan)) is not None:
            return replace(cached.program, plan=plan)
        return self._lower(plan)

    def _lower(self, plan: Plan) -> Program:
        most = self.max_instructions
        return lower(plan, self.limits, max_instructions=most, known=self.kernels)

    def simulated(self, program: Program) -> Trace:
        """The Program's Trace, from the cache if the cached Trace is of this plan."""
        cached, self._best = self._cached(program.plan), None
        return simulate(program) if cached is None else replace(cached, program=program)

    def _cached(self, plan: Plan) -> Trace | None:
        best = self._best
        return best if best is not None and best.program.plan.is_lowered_as(plan) else None


def counted_cost(cache: TrialCache, strategy: Strategy, tell: Callable[[int, int], None]) -> Cost:
    """Cost function of a strategy that evaluates plans: cycles of a round and of its kernels.

    `tell` gets the progress of a search: evaluations done, and the most that it makes. Plans that
    it takes over from another strategy do not count.
    """
    numbers = count(1)

    def cost(plan: Plan) -> PlanCost | None:
        try:
            return cache.cost(plan)
        finally:
            if strategy.evaluations and plan.strategy in (SEARCHED, strategy.label):
                tell(next(numbers), strategy.evaluations)

    return cost
