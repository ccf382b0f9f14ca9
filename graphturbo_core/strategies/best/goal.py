"""PlanCost -> PlanCost by what a search minimises: time, or traffic of DRAM.

For traffic, a plan's and a kernel's cycles are replaced by a weighted sum, so that every part of
the search that compares cycles compares traffic. Our choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost

WEIGHT = 1024
"""A cycle of DRAM counts as this many; as many cycles of time count as one (our choice: of equal
traffic, the least time)."""


@dataclass(frozen=True, slots=True)
class Minimised:
    """What a search minimises."""

    goal: Literal["time", "dram"] = "time"

    @property
    def is_time(self) -> bool:
        """Whether cycles are as simulated."""
        return self.goal == "time"

    def cycles(self, cycles: int, dram_cycles: int) -> int:
        """Cycles that are compared; `dram_cycles`: those in which DRAM's bandwidth is used."""
        return cycles if self.is_time else dram_cycles * WEIGHT + cycles // WEIGHT

    def of_goal(self, compared: int) -> int:
        """Cycles of time or of DRAM, of cycles that are compared."""
        return compared if self.is_time else compared // WEIGHT

    def cost(self, cost: PlanCost) -> PlanCost:
        """A plan's cost in cycles that are compared."""
        if self.is_time:
            return cost
        dram = [usage.dram_cycles for usage in cost.loads]
        kernels = zip(cost.kernel_cycles, dram, strict=True)
        return replace(
            cost,
            cycles=self.cycles(cost.cycles, sum(dram)),
            kernel_cycles=tuple(self.cycles(took, moved) for took, moved in kernels),
        )

    def cost_function(self, cost: Cost | None) -> Cost | None:
        """The cost function of a search."""
        return cost if cost is None or self.is_time else _compared(cost, self)


TIME = Minimised()
TRAFFIC = Minimised("dram")


def _compared(cost: Cost, minimised: Minimised) -> Callable[[Plan], PlanCost | None]:
    def compared(plan: Plan) -> PlanCost | None:
        found = cost(plan)
        return None if found is None else minimised.cost(found)

    return compared
