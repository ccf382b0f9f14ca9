"""`:full`, best plan -> stretches of layers in which the paper's method decides otherwise.

Cycles are simulated ones of each plan's kernels, so the rows sum to both plans' times. Our choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from graphturbo_core.products.plan import Decision
from graphturbo_core.strategies.best.planned import any_axis
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.crossover import Timed

STEP = "paper's method"
RULE_OTHERWISE = "the paper's method decides otherwise in these layers"
OTHERS, ALL = "all other layers", "all layers"
RULE_SAME = "the paper's method has the same sub-graphs in all other layers"


def decided_otherwise(graph: LayerGraph, method: Timed, best: Timed) -> Iterator[Decision]:
    """Stretches between common ends of sub-graphs, then what is left; none for the same plan.

    Linear in the layers.
    """
    if method.plan is best.plan:
        return
    places = [
        place
        for place, both in enumerate(zip(method.is_boundary, best.is_boundary, strict=True))
        if all(both)
    ]
    left = [sum(timed.kernel_cycles) for timed in (method, best)]
    same, is_any = 0, False
    for first, end in pairwise(places):
        parts = [_Part(timed, first, end) for timed in (method, best)]
        if parts[0].cuts == parts[1].cuts:
            same += len(parts[0].cuts)
            continue
        left = [all_of_it - part.cycles for all_of_it, part in zip(left, parts, strict=True)]
        is_any = True
        names = dict.fromkeys(graph.layers[at].name for at in (first, end - 1))
        yield _decision(RULE_OTHERWISE, " .. ".join(names), parts[0].numbers, parts[1].numbers)
    if left[0] != left[1] or (is_any and any(left)):
        rest = [{"groups": same, "kernels": 0, "cycles": cycles} for cycles in left]
        yield _decision(RULE_SAME, OTHERS if is_any else ALL, *rest)


class _Part:
    """The groups of a plan within a stretch of layers."""

    def __init__(self, timed: Timed, first: int, end: int) -> None:
        within = [number for number, cut in enumerate(timed.cuts) if first <= cut.layers[0] < end]
        self.cuts = {any_axis(timed.cuts[number]) for number in within}
        self.cycles = timed.cycles_before[end] - timed.cycles_before[first]
        inside = frozenset(within)
        kernels = sum(kernel.group in inside for kernel in timed.plan.kernels)
        self.numbers = {"groups": len(within), "kernels": kernels, "cycles": self.cycles}


def _decision(rule: str, subject: str, method: dict[str, int], best: dict[str, int]) -> Decision:
    ours = {f"best_{name}": number for name, number in best.items()}
    return Decision(STEP, rule, (subject,), False, {**method, **ours})
