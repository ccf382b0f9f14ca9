"""Best plan so far -> the same plan with inputs of the model in GB before their kernels begin.

Instances of the first group read a part of the input each. Cores wait for it at the begin of each
of these kernels, while DRAM is idle later in the kernel (our choice: the kernel before prefetches
it; the paper names prefetches of weights alone).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.plus.gb_retention import paying_stays
from graphturbo_core.strategies.plus.plus import PlusTrials
from graphturbo_core.strategies.steps.kernels import Target

EARLY, FEWER_EARLY = ", inputs prefetched", ", fewer inputs prefetched"
"""Suffixes of the names of such plans."""


def early_inputs(_: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
    """The cheapest so far with inputs prefetched, then with the paying prefetches alone."""
    best = trials.best
    stays = input_stays(best.plan)
    if best.spent is None or not stays:
        return
    early = replace(best.plan, stays=(*best.plan.stays, *stays))
    yield f"{best.name}{EARLY}", early
    spent = trials.done[-1].spent
    if trials.done[-1].plan is not early or spent is None:
        return
    alone = replace(early, stays=stays)
    paid = paying_stays(alone, best.spent.kernel_cycles, spent.kernel_cycles)
    if paid and paid != stays:
        yield f"{best.name}{FEWER_EARLY}", replace(early, stays=(*best.plan.stays, *paid))


def input_stays(plan: Plan) -> tuple[GbRetention, ...]:
    """What each kernel but the first reads of inputs, in GB from the kernel before it.

    As far as GB has bytes for these and the retained weights together.
    """
    if plan.cooperation is not None or not plan.hardware.has_gb or plan.feeding.has_own_fetches:
        return ()
    left = [plan.hardware.gb_bytes] * len(plan.kernels)
    for stay in plan.stays:
        for place in range(stay.first, stay.last + 1):
            left[place] -= stay.size_bytes
    found = []
    for place, (before, kernel) in enumerate(pairwise(plan.kernels)):
        for name, size in sorted(plan.inputs_of(kernel).items()):
            if before.branches or kernel.branches or size > min(left[place : place + 2]):
                continue
            found.append(GbRetention(name, place, place + 1, size))
            left[place] -= size
            left[place + 1] -= size
    return tuple(found)
