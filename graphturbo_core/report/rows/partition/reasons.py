"""Plan -> why sub-graphs were merged and why no further, as numbers beside the rules' sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypedDict

from graphturbo_core.products.plan import Decision
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.group_rows import GroupReasons
from graphturbo_core.report.rows.run_rows import piece_counts
from graphturbo_core.strategies.constraints import RULE_FORBIDDEN, RULE_FORCED
from graphturbo_core.strategies.graphturbo import grouping

Cause = Literal["block", "pieces", "refetch", "grows", "split", "cycle", "taken", "user", "other"]
CAUSES: Mapping[str, Cause] = {
    grouping.RULE_BLOCK: "block",
    grouping.RULE_COUNT: "pieces",
    grouping.RULE_EQUAL: "pieces",
    grouping.RULE_LARGEST: "pieces",
    grouping.RULE_ANY: "split",
    grouping.RULE_REFETCH: "refetch",
    grouping.RULE_GROWS: "grows",
    grouping.RULE_UNEQUAL: "grows",
    grouping.RULE_ABOVE: "grows",
    grouping.RULE_SPLIT: "split",
    grouping.RULE_CYCLE: "cycle",
    grouping.RULE_TAKEN: "taken",
    RULE_FORCED: "user",
    RULE_FORBIDDEN: "user",
}
"""The cause that a short text is chosen by, of each rule's sentence."""
MOST_REFUSALS = 3
"""Refusals listed per sub-graph, the last first and one per neighbour (our choice)."""


class ReasonRow(TypedDict):
    """Why one sub-graph was merged, or not merged with a neighbour.

    `times`: merges that made it. `fewest_pieces`, `most_pieces`: of the parts that were to merge; 0
    where not recorded. `other_layer`: a layer of the neighbour; -1 for a merge that was made.
    """

    group: int
    is_merged: bool
    cause: Cause
    times: int
    fewest_pieces: int
    most_pieces: int
    other_layer: int


def reason_rows(outcome: Outcome) -> Iterator[ReasonRow]:
    """Of each sub-graph its last merge, and its last refusals."""
    reasons = GroupReasons(outcome.plan)
    for index in range(len(outcome.plan.groups)):
        merges = reasons.merges(index)
        if merges:
            yield _row(index, merges[-1], len(merges), -1)
        refused: dict[int, Decision] = {}
        for decision in reasons.refusals(index):
            refused.setdefault(reasons.other_layer(decision, index), decision)
        for layer, decision in list(refused.items())[:MOST_REFUSALS]:
            yield _row(index, decision, 0, layer)


def _row(group: int, decision: Decision, times: int, other_layer: int) -> ReasonRow:
    counts = piece_counts(decision) or (0,)
    return {
        "group": group,
        "is_merged": decision.is_taken,
        "cause": CAUSES.get(decision.rule, "other"),
        "times": times,
        "fewest_pieces": min(counts),
        "most_pieces": max(counts),
        "other_layer": other_layer,
    }
