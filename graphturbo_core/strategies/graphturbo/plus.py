"""Target -> Plan: `graphturbo:full`, and beyond the paper what costs less by lowering's own count.

Each ingredient proposes plans; `Plus` takes the cheapest of all, `:full` on a tie, so that it is
never slower. An ingredient is a function from the target and the layers to proposals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from graphturbo_core.strategies.cooperation import Cooperation
from graphturbo_core.strategies.graphturbo.cooperating import cooperating_plans
from graphturbo_core.strategies.graphturbo.strategy import GraphTurbo
from graphturbo_core.strategies.kernels import Target
from graphturbo_core.strategies.plan import Decision, Plan

RULE_CHEAPEST = "the plan that takes the fewest cycles, graphturbo:full on a tie"


@dataclass(frozen=True)
class Proposal:
    """A plan, and the ingredient that made it."""

    name: str
    plan: Plan


@dataclass(frozen=True)
class Plus:
    """`full` is asked first; each other field switches an ingredient on.

    `has_lending`: a cluster that has a step to itself fetches weights through idle ones' DRAM too.
    """

    full: GraphTurbo
    has_cooperation: bool = True
    has_lending: bool = True

    def __call__(self, target: Target) -> Plan:
        """The cheapest proposal; `:full`'s without a cost function, or where all are refused."""
        plan, cost = self.full(target), target.cost
        others = tuple(self._proposals(target, plan)) if cost is not None else ()
        if cost is None or not others:
            return plan
        proposals = (Proposal("full", plan), *others)
        cycles = [cost(proposal.plan) for proposal in proposals]
        possible = [number for number in cycles if number is not None]
        if not possible:
            return plan
        best = cycles.index(min(possible))
        decisions = tuple(
            Decision("plus", RULE_CHEAPEST, (proposal.name,), place == best, _numbers(number))
            for place, (proposal, number) in enumerate(zip(proposals, cycles, strict=True))
        )
        chosen = proposals[best].plan
        return replace(chosen, decisions=(*plan.decisions, *decisions))

    def _proposals(self, target: Target, full: Plan) -> Iterator[Proposal]:
        if target.clusters == 1 or not target.hardware.can_cooperate:
            return
        if self.has_lending:
            kernels = len(full.kernels)
            lent = Cooperation(target.clusters, (0,) * kernels, tuple(range(kernels)), is_lent=True)
            yield Proposal("full, DRAM lent", replace(full, cooperation=lent))
        if self.has_cooperation:
            made = cooperating_plans(
                target, self.full.splitter, self.full.level.name, is_lent=self.has_lending
            )
            for name, plan in made:
                yield Proposal(name, plan)


def _numbers(cycles: int | None) -> dict[str, int | str]:
    return {"cycles": "does not fit" if cycles is None else cycles}
