"""Plan -> sub-graphs in more pieces than Algorithm 1 needs, with the bytes that explain it."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TypedDict

from graphturbo_core.products.plan import Decision, Group
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.run_rows import count_of
from graphturbo_core.report.rows.split_rows import own_splitter
from graphturbo_core.strategies.graphturbo.fitting import RULE_CORE
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.steps.splitting import Splitter, SubGraph


class RaisedRow(TypedDict):
    """A sub-graph that is cut into more pieces along its first axis than Algorithm 1 needs there.

    `pieces_before`: Algorithm 1's count; 0 where none fits. `piece_bytes`: peak of live activations
    of one part of the first axis at the plan's count. `core_bytes_before`, `core_bytes`: bytes of
    the fullest core at the two counts; 0 where no check of the LBs raised the count.
    """

    group: int
    pieces_before: int
    piece_bytes: int
    core_bytes_before: int
    core_bytes: int


def raised_rows(outcome: Outcome) -> Iterator[RaisedRow]:
    """One row per such sub-graph; none of strategies without Algorithm 1."""
    splitter, plan = own_splitter(outcome), outcome.plan
    if splitter is None:
        return
    graph = layer_graph(plan.semantics, plan.layers, plan.number_format)
    fits = _fits(plan.decisions)
    for index, group in enumerate(plan.groups):
        if group.split_axis < 0 or group.pieces == 1:
            continue
        part = SubGraph(graph, group.layers)
        count = group.pieces // prod(parts for _, parts in group.further_splits)
        before = _fewest(splitter, part, group)
        if count <= before:
            continue
        carry = splitter.carry(part, group.split_axis)
        core = fits.get(group.name, {})
        yield {
            "group": index,
            "pieces_before": before,
            "piece_bytes": splitter.piece_peak_bytes(part, carry, count),
            "core_bytes_before": core.get(before, 0),
            "core_bytes": core.get(count, 0),
        }


def _fewest(splitter: Splitter, part: SubGraph, group: Group) -> int:
    """Algorithm 1's count for the group's first axis; 0 where no count fits."""
    own = (split for split in splitter.splits(part) if split.axis == group.split_axis)
    return next((split.pieces for split in own), 0)


def _fits(decisions: tuple[Decision, ...]) -> dict[str, dict[int, int]]:
    """Bytes of the fullest core by count, of each group whose count was raised for them."""
    found: dict[str, dict[int, int]] = {}
    for decision in decisions:
        if decision.rule == RULE_CORE:
            counts = found.setdefault(decision.subject[0], {})
            counts[count_of(decision, "pieces", 0)] = count_of(decision, "core_bytes", 0)
    return {name: counts for name, counts in found.items() if len(counts) > 1}
