"""Best plan so far -> the same plan with other feedings, which is taken if it is faster.

Groupings are compared with two tile buffers and each depthwise tile on the cheaper engine: one more
evaluation of the best of them costs little (our choice).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.cost import is_divisible
from graphturbo_core.semantics.feeding import MOST_TILES
from graphturbo_core.strategies.plus.plus import PlusTrials
from graphturbo_core.strategies.steps.kernels import Target

BUFFERED = ", three tile buffers"
DIVIDED = ", depthwise work divided"
"""Suffixes of the names of such plans."""


def buffered(_: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
    """The cheapest so far with one more tile buffer per streamed tensor.

    Tiles are smaller then, and arrive further ahead: that pays where weights are waited for, not
    where activations lose their room in LB.
    """
    best = trials.best
    feeding = replace(best.plan.feeding, tiles=MOST_TILES)
    yield f"{best.name}{BUFFERED}", replace(best.plan, feeding=feeding)


def divided(target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
    """The cheapest so far, its depthwise work divided over both engines of a core."""
    best, semantics = trials.best, target.semantics.by_op.values()
    feeding = replace(best.plan.feeding, divides_depthwise=True)
    if any(is_divisible(each, target.hardware, feeding) for each in semantics):
        yield f"{best.name}{DIVIDED}", replace(best.plan, feeding=feeding)
