"""Dynamic program, chosen groups -> per group what the next best decision would have cost.

Its cycles are an estimate: closed forms that the simulated plans corrected. Our choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphturbo_core.products.plan import Decision
from graphturbo_core.products.split_text import along_text
from graphturbo_core.strategies.best.planned import Planned
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cuts import GroupCut

STEP = "next best"
RULE_SPLIT = "next best by an estimate: the same layers in another split"
RULE_DIVIDED = "next best by an estimate: the same layers as several sub-graphs"
RULE_JOINED = "next best by an estimate: one sub-graph with a neighbour"
Found = tuple[int, str, tuple[GroupCut, ...]]
"""More cycles than the group as it is, the rule, and the groups instead."""


def next_best(program: Planned, graph: LayerGraph, cuts: Sequence[GroupCut]) -> Iterator[Decision]:
    """The cheapest other decision for each group of a simulated plan, all else as it is.

    Groups with layers of others between theirs have none. Linear in groups times segments.
    """
    for place, cut in enumerate(cuts):
        first, end = cut.layers[0], cut.layers[-1] + 1
        if end - first != len(cut.layers):
            continue
        found = [*_instead(program, cut), *_joined(program, cuts, place)]
        if found:
            more, rule, groups = min(found, key=lambda each: each[0])
            names = [graph.layers[first].name, graph.layers[end - 1].name]
            subject = names[0] if first == end - 1 else " .. ".join(names)
            instead = groups[0]
            yield Decision(STEP, rule, (subject,), False, {
                "groups": len(groups),
                "pieces": instead.pieces,
                "along": along_text(instead.axis, instead.pieces, instead.further),
                "more_cycles": more,
            })  # fmt: skip


def _instead(program: Planned, cut: GroupCut) -> Iterator[Found]:
    """Its layers in another split, or as several groups."""
    cuts, cycles = program.between(cut.layers[0], cut.layers[-1] + 1, cut)
    if cuts:
        rule = RULE_SPLIT if len(cuts) == 1 else RULE_DIVIDED
        yield cycles - program.simulated(cut), rule, cuts


def _joined(program: Planned, cuts: Sequence[GroupCut], place: int) -> Iterator[Found]:
    """It and the group before or after it as one."""
    for one, other in ((place - 1, place), (place, place + 1)):
        if one < 0 or other == len(cuts):
            continue
        layers = (*cuts[one].layers, *cuts[other].layers)
        first, end = min(layers), max(layers) + 1
        made = program.whole(first, end) if end - first == len(layers) else None
        if made is not None:
            own = program.simulated(cuts[one]) + program.simulated(cuts[other])
            yield made[1] - own, RULE_JOINED, (made[0],)
