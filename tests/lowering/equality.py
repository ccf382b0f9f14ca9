"""Programs compared array by array: lowered alone, and after others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from graphturbo_core.errors import CapacityError
from graphturbo_core.limits import Limits
from graphturbo_core.lowering.known import KnownKernels
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Program


def arrays_of(program: Program) -> dict[str, np.ndarray]:
    tables = ((program, "program"), (program.buffers, "buffers"))
    return {
        f"{name}.{field.name}": getattr(table, field.name)
        for table, name in tables
        for field in fields(table)
        if isinstance(getattr(table, field.name), np.ndarray)
    }


def outcome(plan: Plan, limits: Limits, known: KnownKernels | None) -> Program | str:
    """The program, or what the refusal says."""
    try:
        return lower(plan, limits, known=known)
    except CapacityError as error:
        return error.line()


def check_same(pairs: Sequence[tuple[Plan, Limits]]) -> None:
    """Lowered one after the other with what the ones before left, each is what it is alone."""
    known = KnownKernels()
    for plan, limits in pairs:
        alone, found = outcome(plan, limits, None), outcome(plan, limits, known)
        if isinstance(alone, str) or isinstance(found, str):
            assert found == alone
            continue
        assert found.notes == alone.notes
        wanted = arrays_of(alone)
        for name, array in arrays_of(found).items():
            assert np.array_equal(array, wanted[name]), (plan.strategy, name)
