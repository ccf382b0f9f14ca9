"""Plan of a search -> stretches of layers in which the paper's method decides otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.run_rows import count_of
from graphturbo_core.strategies.best.method import RULE_SAME, STEP


class OtherwiseRow(TypedDict):
    """Sub-graphs, kernels and cycles of one round, by the paper's method and by the search.

    `is_rest`: all other layers, which have the same sub-graphs; `kernels` are not counted there.
    """

    layers: str
    is_rest: bool
    groups: int
    kernels: int
    cycles: int
    best_groups: int
    best_kernels: int
    best_cycles: int


def otherwise_rows(outcome: Outcome) -> Iterator[OtherwiseRow]:
    """The stretches in the order of layers; none for a strategy that does not search."""
    for decision in outcome.plan.decisions:
        if decision.step == STEP:
            yield {
                "layers": " + ".join(decision.subject),
                "is_rest": decision.rule == RULE_SAME,
                "groups": count_of(decision, "groups", 0),
                "kernels": count_of(decision, "kernels", 0),
                "cycles": count_of(decision, "cycles", 0),
                "best_groups": count_of(decision, "best_groups", 0),
                "best_kernels": count_of(decision, "best_kernels", 0),
                "best_cycles": count_of(decision, "best_cycles", 0),
            }
