"""Two plans -> Decisions: what the second one does otherwise than `graphturbo:full`, the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from graphturbo_core.ir.boxes import volume
from graphturbo_core.strategies.plan import Decision, Group, Plan, Scope

Numbers = dict[str, int | float | str]
STEP = "search"
RULE_GROUP = "groups its layers otherwise than graphturbo:full"
RULE_SPLIT = "splits the same layers otherwise than graphturbo:full"
RULE_ORDER = "runs instances in another order than graphturbo:full"
RULE_SCHEDULE = "schedules instructions across layers otherwise than graphturbo:full"
RULE_WEIGHTS = "holds weights otherwise than graphturbo:full"
RULE_HAND_ON = "hands outputs on otherwise than graphturbo:full"
MAX_NAMED = 8
"""Weights that a decision names; how many there are it says besides (our choice)."""


def differences(full: Plan, plan: Plan) -> tuple[Decision, ...]:
    """Groups that are not in both, then other splits, order, weights, and outputs kept in LB."""
    return (
        *_grouping(full, plan),
        *_splits(full, plan),
        *_order(full, plan),
        *_schedule(full, plan),
        *_weights(full, plan),
        *_handed_on(full, plan),
    )


def _grouping(full: Plan, plan: Plan) -> Iterator[Decision]:
    old = {layer: group for group in full.groups for layer in group.layers}
    known = {group.layers for group in full.groups}
    for group in plan.groups:
        if group.layers not in known:
            parts = tuple(dict.fromkeys(old[layer].name for layer in group.layers))
            numbers: Numbers = {
                "layers": len(group.layers),
                "first": plan.layers[group.layers[0]].name,
                "last": plan.layers[group.layers[-1]].name,
                "pieces": group.pieces,
                "axis": group.split_axis,
                "of_full": ", ".join(parts),
            }
            yield Decision(STEP, RULE_GROUP, (group.name,), True, numbers)


def _splits(full: Plan, plan: Plan) -> Iterator[Decision]:
    old = {group.layers: group for group in full.groups}
    for group in plan.groups:
        was = old.get(group.layers)
        if was is not None and _cut(was) != _cut(group):
            numbers = {
                "pieces": group.pieces,
                "axis": group.split_axis,
                "pieces_of_full": was.pieces,
                "axis_of_full": was.split_axis,
            }
            yield Decision(STEP, RULE_SPLIT, (group.name,), True, numbers)


def _cut(group: Group) -> tuple[int, int]:
    """Axis and pieces; along which axis one piece would be cut does not matter."""
    return (group.split_axis if group.pieces > 1 else -1, group.pieces)


def _order(full: Plan, plan: Plan) -> Iterator[Decision]:
    """Where both have the same instances in another order, or others in no depth-first one."""
    own, old = ([kernel.name for kernel in each.kernels] for each in (plan, full))
    is_other = own != old if sorted(own) == sorted(old) else not plan.ready_steps
    if is_other:
        numbers = {"turns": _turns(plan), "turns_of_full": _turns(full), "kernels": len(own)}
        yield Decision(STEP, RULE_ORDER, (own[0], own[-1]), True, numbers)


def _turns(plan: Plan) -> int:
    """How often the next instance is of another group than the one before."""
    return sum(1 for _ in groupby(kernel.group for kernel in plan.kernels)) - 1


def _schedule(full: Plan, plan: Plan) -> Iterator[Decision]:
    if full.is_scheduled_across_layers != plan.is_scheduled_across_layers:
        said = "across layers" if plan.is_scheduled_across_layers else "layer by layer"
        yield Decision(STEP, RULE_SCHEDULE, (plan.strategy,), True, {"scheduled": said})


def _weights(full: Plan, plan: Plan) -> Iterator[Decision]:
    """One decision for each change of residency, with the bytes of the weights that it is of."""
    old, own = _held(full), _held(plan)
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
            "held_by_full": before,
        }
        yield Decision(STEP, RULE_WEIGHTS, tuple(names[:MAX_NAMED]), True, numbers)


def _held(plan: Plan) -> Mapping[str, str]:
    """Where each weight is held; in all its kernels' words, where these differ."""
    words: dict[str, set[str]] = {}
    for kernel in plan.kernels:
        for name, held in kernel.residency.items():
            words.setdefault(name, set()).add(held.value)
    return {name: " or ".join(sorted(found)) for name, found in words.items()}


def _handed_on(full: Plan, plan: Plan) -> Iterator[Decision]:
    """Outputs by where they wait, told where nothing else explains it: the groups are the same."""
    if [group.layers for group in full.groups] != [group.layers for group in plan.groups]:
        return
    own, old = _waiting(plan), _waiting(full)
    if own != old:
        numbers = {
            **{f"bytes in {scope.value}": own[scope] for scope in Scope},
            **{f"bytes in {scope.value}, full": old[scope] for scope in Scope},
        }
        yield Decision(STEP, RULE_HAND_ON, (plan.strategy,), True, numbers)


def _waiting(plan: Plan) -> dict[Scope, int]:
    """Bytes of all kernels' outputs by the memory in which they wait."""
    found = dict.fromkeys(Scope, 0)
    for kernel in plan.kernels:
        for tensor, box in kernel.outputs.items():
            found[kernel.scopes[tensor]] += volume(box) * plan.element_bytes[tensor]
    return found
