"""Two plans -> Decisions: differences of the second plan from the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from graphturbo_core.ir.boxes import volume
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Decision, Group, Plan, Scope
from graphturbo_core.products.split_text import along_text

Numbers = dict[str, int | float | str]
STEP = "search"
RULE_GROUP = "groups layers differently"
RULE_SPLIT = "splits the same layers differently"
RULE_ORDER = "runs instances in another order"
RULE_SCHEDULE = "schedules instructions across layers differently"
RULE_WEIGHTS = "has other weight residencies"
RULE_HAND_ON = "hands outputs on differently"
RULE_AXES = "cuts pieces along a second axis differently"
RULE_STAYS = "retains other weights in GB"
RULE_CLUSTERS = "shares clusters and their DRAM differently"
THAN = " than "
"""Stands before the name of the first plan's strategy."""
MAX_NAMED = 8
"""Most weights that a decision names; it also has their number (our choice)."""


def differences(first: Plan, plan: Plan, name: str) -> tuple[Decision, ...]:
    """Returns differences in groups, splits, order, schedule, weights and outputs.

    Then in second axes, GB retention and clusters. `name`: the strategy of the first plan.
    """
    word = name.rpartition(":")[2]
    found = (
        *_grouping(first, plan, word),
        *_splits(first, plan, word),
        *_order(first, plan, word),
        *_schedule(first, plan),
        *_weights(first, plan, word),
        *_handed_on(first, plan, word),
        *_axes(first, plan, word),
        *_stays(first, plan, word),
        *_clusters(first, plan, word),
    )
    return tuple(replace(each, rule=f"{each.rule}{THAN}{name}") for each in found)


def _grouping(first: Plan, plan: Plan, word: str) -> Iterator[Decision]:
    old = {layer: group for group in first.groups for layer in group.layers}
    known = {group.layers for group in first.groups}
    for group in plan.groups:
        if group.layers not in known:
            parts = tuple(dict.fromkeys(old[layer].name for layer in group.layers))
            numbers: Numbers = {
                "layers": len(group.layers),
                "first": plan.layers[group.layers[0]].name,
                "last": plan.layers[group.layers[-1]].name,
                "pieces": group.pieces,
                "axis": group.split_axis,
                f"of_{word}": ", ".join(parts),
            }
            yield Decision(STEP, RULE_GROUP, (group.name,), True, numbers)


def _splits(first: Plan, plan: Plan, word: str) -> Iterator[Decision]:
    old = {group.layers: group for group in first.groups}
    for group in plan.groups:
        was = old.get(group.layers)
        if was is not None and _cut(was) != _cut(group):
            numbers = {
                "pieces": group.pieces,
                "axis": group.split_axis,
                f"pieces_of_{word}": was.pieces,
                f"axis_of_{word}": was.split_axis,
            }
            yield Decision(STEP, RULE_SPLIT, (group.name,), True, numbers)


def _cut(group: Group) -> tuple[int, int]:
    """Axis and pieces; the axis of a single piece is ignored."""
    return (group.split_axis if group.pieces > 1 else -1, group.pieces)


def _order(first: Plan, plan: Plan, word: str) -> Iterator[Decision]:
    """A decision if equal instances have another order, or other instances no depth-first one."""
    own, old = ([kernel.name for kernel in each.kernels] for each in (plan, first))
    is_other = own != old if sorted(own) == sorted(old) else not plan.ready_steps
    if is_other:
        numbers = {"turns": _turns(plan), f"turns_of_{word}": _turns(first), "kernels": len(own)}
        yield Decision(STEP, RULE_ORDER, (own[0], own[-1]), True, numbers)


def _turns(plan: Plan) -> int:
    """Number of times that the next instance is of another group."""
    return sum(1 for _ in groupby(kernel.group for kernel in plan.kernels)) - 1


def _schedule(first: Plan, plan: Plan) -> Iterator[Decision]:
    if first.scheduling != plan.scheduling:
        said = "layer by layer" if plan.scheduling.has_fence else "across layers"
        yield Decision(STEP, RULE_SCHEDULE, (plan.strategy,), True, {"scheduled": said})


def _weights(first: Plan, plan: Plan, word: str) -> Iterator[Decision]:
    """One decision per change of residency, with the bytes of its weights."""
    old, own = _held(first), _held(plan)
    moved: dict[tuple[str, str], list[str]] = {}
    for name, held in own.items():
        if held != old[name]:
            moved.setdefault((old[name], held), []).append(name)
    tensors = plan.semantics.graph.tensors
    for (before, after), names in sorted(moved.items()):
        size = sum(tensors[name].elements * plan.element_bytes[name] for name in names)
        numbers: Numbers = {
            "weights": len(names),
            "bytes": size,
            "held": after,
            f"held_by_{word}": before,
        }
        yield Decision(STEP, RULE_WEIGHTS, tuple(names[:MAX_NAMED]), True, numbers)


def _held(plan: Plan) -> Mapping[str, str]:
    """Residency of each weight; all its kernels' residencies, if these differ."""
    words: dict[str, set[str]] = {}
    for kernel in plan.kernels:
        for name, held in kernel.residency.items():
            words.setdefault(name, set()).add(held.value)
    return {name: " or ".join(sorted(found)) for name, found in words.items()}


def _handed_on(first: Plan, plan: Plan, word: str) -> Iterator[Decision]:
    """Output bytes per memory; recorded only if the groups are the same."""
    if [group.layers for group in first.groups] != [group.layers for group in plan.groups]:
        return
    own, old = _waiting(plan), _waiting(first)
    if own != old:
        numbers = {
            **{f"bytes in {scope.value}": own[scope] for scope in Scope},
            **{f"bytes in {scope.value}, {word}": old[scope] for scope in Scope},
        }
        yield Decision(STEP, RULE_HAND_ON, (plan.strategy,), True, numbers)


def _waiting(plan: Plan) -> dict[Scope, int]:
    """Bytes of all kernels' outputs by memory."""
    found = dict.fromkeys(Scope, 0)
    for kernel in plan.kernels:
        for tensor, box in kernel.outputs.items():
            found[kernel.scopes[tensor]] += volume(box) * plan.element_bytes[tensor]
    return found


def _axes(first: Plan, plan: Plan, word: str) -> Iterator[Decision]:
    """Groups with several split axes in either plan, with their axes as text."""
    old = {group.layers: group for group in first.groups}
    for group in plan.groups:
        was = old.get(group.layers)
        before = was.further_splits if was is not None else ()
        if group.further_splits == before:
            continue
        said: Numbers = {"pieces": group.pieces, "along": _along(group)}
        if was is not None:
            said |= {f"pieces_of_{word}": was.pieces, f"along_of_{word}": _along(was)}
        yield Decision(STEP, RULE_AXES, (group.name,), True, said)


def _along(group: Group) -> str:
    return along_text(group.split_axis, group.pieces, group.further_splits) or "none"


def _stays(first: Plan, plan: Plan, word: str) -> Iterator[Decision]:
    """Weights retained for other kernels, or with other bytes; kernels by name."""
    own, old = _staying(plan), _staying(first)
    if own != old:
        names = tuple(dict.fromkeys(weight for weight, *_ in sorted(own ^ old)))
        numbers: Numbers = {"weights": len(names), **_sums(plan.stays, "")}
        said: Numbers = {**numbers, **_sums(first.stays, f"_of_{word}")}
        yield Decision(STEP, RULE_STAYS, names[:MAX_NAMED], True, said)


def _staying(plan: Plan) -> set[tuple[str, str, str, int]]:
    names = [kernel.name for kernel in plan.kernels]
    return {(s.weight, names[s.first], names[s.last], s.size_bytes) for s in plan.stays}


def _sums(stays: Sequence[GbRetention], ending: str) -> Numbers:
    size = sum(stay.size_bytes for stay in stays)
    return {f"stays{ending}": len(stays), f"bytes{ending}": size}


def _clusters(first: Plan, plan: Plan, word: str) -> Iterator[Decision]:
    own, old = clusters_text(plan), clusters_text(first)
    if own != old:
        numbers = {"clusters": own, f"clusters_of_{word}": old}
        yield Decision(STEP, RULE_CLUSTERS, (plan.strategy,), True, numbers)


def clusters_text(plan: Plan) -> str:
    """Number of working clusters, and the DRAM that weights are read through."""
    shared = plan.cooperation
    if shared is None:
        return "one works"
    also = ", weights through all clusters' DRAM" if shared.has_remote_dram else ""
    kernels = ", ".join(str(len(shared.kernels_of(cluster))) for cluster in shared.working)
    return f"{len(shared.working)} work on {kernels} kernels{also}"
