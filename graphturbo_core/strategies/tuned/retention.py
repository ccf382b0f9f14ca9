"""Point, simulated plan -> GB retentions, recomputed for each plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.plus.gb_retention import (
    chosen_stays,
    paying_stays,
    wanted_stays,
)
from graphturbo_core.strategies.steps.kernels import PlanCost
from graphturbo_core.strategies.tuned.beyond import CHOSEN, LEAVE, LENDING, PAID, STAY, STAYS
from graphturbo_core.strategies.tuned.space import AS_IS, Point


@dataclass(frozen=True, slots=True)
class Staying:
    """A point's choice of GB retentions; by default there are none.

    `rule`: as is (none), by closed forms, or the paying ones of these. `wanted`: weights retained
    in any case, up to the room in GB; `barred`: weights never retained.
    """

    rule: str = AS_IS
    wanted: frozenset[str] = frozenset()
    barred: frozenset[str] = frozenset()

    @property
    def is_asked(self) -> bool:
        """Whether any weight may be retained."""
        return self.rule != AS_IS or bool(self.wanted)


NO_STAYS = Staying()


def staying(point: Point, classes: Sequence[int], weights: Sequence[Sequence[str]]) -> Staying:
    """Returns a point's choice; `classes` and `weights`: of each layer.

    For a weight of several layers the last layer's class decides. Without a rule, barring a weight
    has no effect.
    """
    said: dict[str, str] = {}
    for number, names in zip(classes, weights, strict=True):
        says = point.get(f"{STAYS} {number}", AS_IS)
        if says != AS_IS:
            said.update(dict.fromkeys(names, says))
    rule = point.get(STAYS, AS_IS)
    wanted = frozenset(name for name, says in said.items() if says == STAY)
    barred = frozenset(name for name, says in said.items() if says == LEAVE)
    return Staying(rule, wanted, barred if rule != AS_IS else frozenset())


def point_before(point: Point) -> Point:
    """Returns the point whose simulation determines the retentions of this one.

    For paying retentions: the point with all that the closed forms choose; else without any. It has
    no remote DRAM shares.
    """
    alone = {**point, **({LENDING: AS_IS} if LENDING in point else {})}
    if point.get(STAYS) == PAID:
        return {**alone, STAYS: CHOSEN}
    is_stay = {name for name in alone if name.partition(" ")[0] == STAYS}
    return {**alone, **dict.fromkeys(is_stay, AS_IS)}


def stays_of(asked: Staying, plan: Plan, spent: PlanCost) -> tuple[GbRetention, ...]:
    """The retentions chosen for a plan; `spent`: its cost without any."""
    if asked.rule == AS_IS:
        return wanted_stays(plan, spent, asked.wanted)
    return chosen_stays(plan, spent, asked.barred, asked.wanted)


def paid_stays(
    asked: Staying, kept: Plan, before: PlanCost, after: PlanCost
) -> tuple[GbRetention, ...]:
    """The paying and the wanted retentions; `before`, `after`: cost without and with them."""
    paid = paying_stays(kept, before.kernel_cycles, after.kernel_cycles)
    return tuple(stay for stay in kept.stays if stay in paid or stay.weight in asked.wanted)
