"""The grains that lowering evaluates: fewer of them, capped, and recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphturbo_core.limits import Limits
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering.known import KnownKernels
from graphturbo_core.lowering.tiling.cutting import Grain, grains
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Program


def of_grain(patch: pytest.MonkeyPatch, *only: Grain) -> None:
    patch.setattr(lowering, "grains", lambda _: only)


def at_most(most: int) -> Limits:
    """Of coarsest tiles; finer ones are always over the cap."""
    return Limits(max_instructions=1, max_instructions_coarsest=most, instructions_per_op=1)


def in_turn(plan: Plan) -> list[Grain]:
    """The grains as they are tried: coarser ones with finer tiles for few computes first."""
    finest, *coarser = grains(plan.rules)
    return [finest, *(grain for grain in coarser for _ in range(2))]


def tries(
    patch: pytest.MonkeyPatch, seen: Callable[[], int] = lambda: 0
) -> list[tuple[Grain, int, int]]:
    """Filled as grains are tried: grain, cores that the first stage has, what `seen` says then."""
    found: list[tuple[Grain, int, int]] = []
    lowered = lowering._lowered

    def spy(whole: Plan, plan: Plan, attempt: lowering._Attempt, known: KnownKernels) -> Program:
        found.append((attempt.grain, len(attempt.stages[0][0].shares), seen()))
        return lowered(whole, plan, attempt, known)

    patch.setattr(lowering, "_lowered", spy)
    return found
