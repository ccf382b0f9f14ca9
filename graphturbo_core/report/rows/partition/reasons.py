"""Plan -> why sub-graphs were merged and why no further, as numbers beside the rules' sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypedDict

from graphturbo_core.products.plan import Decision
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.group_rows import GroupReasons
from graphturbo_core.report.rows.run_rows import count_of, piece_counts
from graphturbo_core.strategies.best.next_best import RULE_DIVIDED, RULE_JOINED, RULE_SPLIT
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
How = Literal["split", "divided", "joined"]
HOWS: Mapping[str, How] = {RULE_SPLIT: "split", RULE_DIVIDED: "divided", RULE_JOINED: "joined"}
MOST_REFUSALS = 3
"""Refusals listed per sub-graph, the next layers first and one per neighbour (our choice)."""


class ReasonRow(TypedDict):
    """Why one sub-graph was merged, or not merged with a neighbour.

    `times`: merges that made it. `fewest_pieces`, `most_pieces`: of the parts that were to merge; 0
    where not recorded. `other_layer`: the next layer of the other parts; -1 for a merge that was
    made. `other_parts`: how many parts a refused merge had outside the sub-graph.
    `rule`: the rule's sentence where `cause` is "other", else empty.
    """

    group: int
    is_merged: bool
    cause: Cause
    times: int
    fewest_pieces: int
    most_pieces: int
    other_layer: int
    other_parts: int
    rule: str


def reason_rows(outcome: Outcome) -> Iterator[ReasonRow]:
    """Of each sub-graph its last merge, and its refusals with the next layers."""
    reasons = GroupReasons(outcome.plan)
    for index in range(len(outcome.plan.groups)):
        merges = reasons.merges(index)
        if merges:
            yield _row(index, merges[-1], len(merges))
        refused: dict[int, Decision] = {}
        for decision in reasons.refusals(index):
            refused.setdefault(reasons.other_layer(decision, index), decision)
        for layer, decision in list(refused.items())[:MOST_REFUSALS]:
            parts = reasons.other_parts(decision, index)
            yield {**_row(index, decision, 0), "other_layer": layer, "other_parts": parts}


class NextBestRow(TypedDict):
    """What the next best decision for one sub-graph would have cost, by a search's estimate.

    `how`: its layers in another split, divided into several sub-graphs, or joined with a neighbour.
    `groups`: sub-graphs instead. `pieces`, `along`: of the first of them, as of a sub-graph's row.
    `more_cycles`: of one round.
    """

    group: int
    how: How
    groups: int
    pieces: int
    along: str
    more_cycles: int


def next_best_rows(outcome: Outcome) -> Iterator[NextBestRow]:
    """One row per sub-graph that a search says it of."""
    reasons = GroupReasons(outcome.plan)
    for index in range(len(outcome.plan.groups)):
        decision = reasons.next_best(index)
        how = HOWS.get(decision.rule) if decision else None
        if decision is not None and how is not None:
            yield {
                "group": index,
                "how": how,
                "groups": count_of(decision, "groups", 1),
                "pieces": count_of(decision, "pieces", 1),
                "along": str(decision.numbers.get("along", "")),
                "more_cycles": count_of(decision, "more_cycles", 0),
            }


def _row(group: int, decision: Decision, times: int) -> ReasonRow:
    counts = piece_counts(decision) or (0,)
    return {
        "group": group,
        "is_merged": decision.is_taken,
        "cause": CAUSES.get(decision.rule, "other"),
        "times": times,
        "fewest_pieces": min(counts),
        "most_pieces": max(counts),
        "other_layer": -1,
        "other_parts": 0,
        "rule": "" if decision.rule in CAUSES else decision.rule,
    }
