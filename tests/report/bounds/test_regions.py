"""Unions of what several readers need."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.report.bounds import regions
from graphturbo_core.report.bounds.regions import joined, region_of


def test_a_union_that_is_too_long_is_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 places of 10 and 3 others: at least 4, and no longer exact."""
    first = region_of((10,), ((range(0, 4),),), 0, is_exact=True)
    second = region_of((10,), ((range(5, 8),),), 0, is_exact=True)
    whole = joined("op", (10,), first, second)
    assert (whole.elements, whole.is_exact) == (7, True)

    def too_long(*_: object) -> None:
        raise CapacityError("TOO_LONG", "too many places")

    monkeypatch.setattr(regions, "_union", too_long)
    found = joined("op", (10,), first, second)
    assert (found.elements, found.is_exact) == (4, False)
