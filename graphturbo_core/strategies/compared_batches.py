"""Cluster batches that a strategy compares -> decisions of the plan: what was found of each."""

from __future__ import annotations

from typing import NamedTuple

from graphturbo_core.products.plan import Decision

STEP = "choose the cluster batch"
RULE_SEARCHED = "searched: several plans were simulated"
RULE_FIRST = "its first plan alone was simulated"
RULE_SLOW = "not simulated: its first plan cannot be the fastest, or is far from it"
RULE_BOUND = "not simulated: its lower bound is not below the fastest so far"
SIMULATED = RULE_SEARCHED, RULE_FIRST
REFUSED = "refused"
CYCLES, DRAM_CYCLES = "cycles", "dram_cycles"
"""What is compared: cycles of time, or those in which DRAM's bandwidth is used."""


class ComparedBatch(NamedTuple):
    """What was found of a cluster batch, in cycles of the cluster that takes longest; 0: nothing.

    `at_least`: no schedule with this cluster batch takes fewer. `closed_form`, `found`: by the
    closed form, and of the fastest plan that was simulated. `is_traffic`: cycles of DRAM count.
    """

    cluster_batch: int
    rule: str
    at_least: int
    closed_form: int
    found: int
    is_traffic: bool

    def decision(self, strategy: str, *, is_taken: bool) -> Decision:
        """As a decision on `strategy`, which names this cluster batch."""
        figures: dict[str, int | float | str] = {
            "at_least": self.at_least,
            "closed_form": self.closed_form,
            DRAM_CYCLES if self.is_traffic else CYCLES: self.found,
        }
        numbers = {name: figure for name, figure in figures.items() if figure}
        if self.rule in SIMULATED and not self.found:
            numbers[CYCLES] = REFUSED
        numbers = {"cluster_batch": self.cluster_batch, **numbers}
        return Decision(STEP, self.rule, (strategy,), is_taken, numbers)
