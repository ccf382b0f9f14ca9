"""Plan of a search -> the cluster batches that it compared, each with its lower bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypedDict

from graphturbo_core.products.plan import Decision
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.run_rows import count_of
from graphturbo_core.strategies import compared_batches

Status = Literal["searched", "first plan", "refused", "gain", "plan bound", "bound"]
STATUSES: Mapping[str, Status] = {
    compared_batches.RULE_SEARCHED: "searched",
    compared_batches.RULE_FIRST: "first plan",
    compared_batches.RULE_REFUSED: "refused",
    compared_batches.RULE_GAIN: "gain",
    compared_batches.RULE_PLAN: "plan bound",
    compared_batches.RULE_BOUND: "bound",
}
MOST_ROWS = 32
"""More than a search compares; a plan file may have any number."""


class ComparedBatchRow(TypedDict):
    """What a search found of one cluster batch, in cycles of the cluster that takes longest.

    `status`: it was searched, or its first plan alone was simulated; it was refused; or nothing was
    simulated, since the search gained much elsewhere, or since the bound of its first plan, or its
    own, is not below the fastest. `least_cycles`: no schedule of this graph with this cluster batch
    takes fewer; 0: unknown. `cycles`: of the fastest simulated plan; 0: none. `is_traffic`: they
    are cycles of DRAM.
    """

    cluster_batch: int
    status: Status
    least_cycles: int
    closed_form_cycles: int
    cycles: int
    is_traffic: bool
    is_taken: bool


def compared_batch_rows(outcome: Outcome) -> Iterator[ComparedBatchRow]:
    """The smallest cluster batch first, each once; none where the run names one."""
    found: dict[int, ComparedBatchRow] = {}
    for decision in outcome.plan.decisions:
        status = STATUSES.get(decision.rule)
        if decision.step == compared_batches.STEP and status is not None:
            row = _row(decision, status)
            found.setdefault(row["cluster_batch"], row)
    yield from list(found.values())[:MOST_ROWS]


def _row(decision: Decision, status: Status) -> ComparedBatchRow:
    """Numbers below 0, which only a changed plan file has, count as unknown."""

    def figure(name: str) -> int:
        return max(0, count_of(decision, name, 0))

    is_traffic = compared_batches.DRAM_CYCLES in decision.numbers
    counted = compared_batches.DRAM_CYCLES if is_traffic else compared_batches.CYCLES
    return {
        "cluster_batch": figure("cluster_batch"),
        "status": status,
        "least_cycles": figure("at_least"),
        "closed_form_cycles": figure("closed_form"),
        "cycles": figure(counted),
        "is_traffic": is_traffic,
        "is_taken": decision.is_taken,
    }
