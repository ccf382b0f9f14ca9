"""A kernel that is asked for again is not bound again, and anything that differs is."""

from __future__ import annotations

from typing import Any, cast

import pytest

from graphturbo_core.ir.boxes import Box
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.strategies.baselines.stitch_binding import StitchBinder
from graphturbo_core.strategies.steps import kernels
from graphturbo_core.strategies.steps.binding import Binder, KernelBinding

NEST = LoopNest(("a", "y"), "y")
ROWS: dict[str, Box] = {"y": ((0, 8),)}


class Binders:
    """Counts what it is asked for; every answer is another one."""

    def __init__(self, reading: Binder) -> None:
        self.asked = 0
        self.read_of = reading.read_of

    def __call__(self, *_: object) -> KernelBinding:
        self.asked += 1
        return KernelBinding({}, {})


def test_only_what_differs_is_bound_again(monkeypatch: pytest.MonkeyPatch) -> None:
    binder = Binders(Binder(4))
    bound = kernels._Bindings(cast(Any, binder), cast(Any, None))
    first = bound((NEST,), ROWS)
    assert bound((NEST,), dict(ROWS)) is first
    assert bound((NEST,), {"y": ((8, 16),)}) is first, "a piece of equal size"
    assert binder.asked == 1
    others = [
        ((LoopNest(("a", "y"), "a"),), ROWS),
        ((LoopNest(("y",), "y"),), ROWS),
        ((NEST, NEST), ROWS),
        ((NEST,), {"y": ((0, 7),)}),
        ((NEST,), {"z": ((0, 8),)}),
    ]
    for nests, boxes in others:
        assert bound(nests, boxes) is not first
    assert binder.asked == 1 + len(others)
    monkeypatch.setattr(kernels, "MOST_BOUND", 2)
    assert bound((NEST,), ROWS) is first
    bound((), ROWS)
    bound((), {})
    assert bound((), ROWS) is not first
    assert binder.asked == 3 + len(others)


def test_a_stitched_kernel_is_bound_by_place_too() -> None:
    """Its scopes follow from which part of a tensor each core reads."""
    bound = kernels._Bindings(cast(Any, Binders(StitchBinder(4))), cast(Any, None))
    first = bound((NEST,), ROWS)
    assert bound((NEST,), dict(ROWS)) is first
    assert bound((NEST,), {"y": ((8, 16),)}) is not first
