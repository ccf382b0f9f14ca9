"""Plan of a search -> the cluster batches that it compared, each with its lower bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypedDict

from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.run_rows import count_of
from graphturbo_core.strategies.compared_batches import (
    CYCLES,
    DRAM_CYCLES,
    RULE_BOUND,
    RULE_FIRST,
    RULE_SEARCHED,
    RULE_SLOW,
    STEP,
)

Look = Literal["searched", "first plan", "hopeless", "bound"]
LOOKS: Mapping[str, Look] = {
    RULE_SEARCHED: "searched", RULE_FIRST: "first plan", RULE_SLOW: "hopeless", RULE_BOUND: "bound",
}  # fmt: skip


class ComparedBatchRow(TypedDict):
    """What a search found of one cluster batch, in cycles of the cluster that takes longest.

    `look`: it was searched, or its first plan alone was simulated; or no plan was, since its first
    plan is hopeless, or since its bound is not below the fastest. `least_cycles`: no schedule with
    it takes fewer; 0: unknown. `cycles`: of the fastest simulated plan; 0: none. `is_traffic`: they
    are cycles of DRAM.
    """

    cluster_batch: int
    look: Look
    least_cycles: int
    closed_form_cycles: int
    cycles: int
    is_traffic: bool
    is_taken: bool


def compared_batch_rows(outcome: Outcome) -> Iterator[ComparedBatchRow]:
    """The smallest cluster batch first; none where the run names one."""
    for decision in outcome.plan.decisions:
        look = LOOKS.get(decision.rule)
        if decision.step != STEP or look is None:
            continue
        is_traffic = DRAM_CYCLES in decision.numbers
        yield {
            "cluster_batch": count_of(decision, "cluster_batch", 0),
            "look": look,
            "least_cycles": count_of(decision, "at_least", 0),
            "closed_form_cycles": count_of(decision, "closed_form", 0),
            "cycles": count_of(decision, DRAM_CYCLES if is_traffic else CYCLES, 0),
            "is_traffic": is_traffic,
            "is_taken": decision.is_taken,
        }
