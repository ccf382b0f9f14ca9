"""Cluster batches that a strategy compares -> decisions of the plan: what was found of each."""

from __future__ import annotations

from typing import NamedTuple

from graphturbo_core.products.plan import Decision

STEP = "choose the cluster batch"
RULE_SEARCHED = "searched: several plans were simulated"
RULE_FIRST = "its first plan alone was simulated"
RULE_REFUSED = "refused: it has no plan"
RULE_GAIN = "not simulated: a first plan alone is far from what the search found"
RULE_PLAN = "not simulated: the lower bound of its first plan is not below the fastest so far"
RULE_BOUND = "not simulated: its lower bound is not below the fastest so far"
NONE = "none"
CYCLES, DRAM_CYCLES = "cycles", "dram_cycles"
"""What is compared: cycles of time, or those in which DRAM's bandwidth is used."""


class ComparedBatch(NamedTuple):
    """What was found of a cluster batch, in cycles of the cluster that takes longest; 0: nothing.

    `at_least`: no schedule of this graph with this cluster batch takes fewer: its rounds follow one
    another, and each reads all weights. `closed_form`, `found`: by the closed form, and of the
    fastest plan that was simulated. `is_traffic`: cycles of DRAM are compared.
    """

    cluster_batch: int
    rule: str
    at_least: int
    closed_form: int
    found: int
    is_traffic: bool

    def decision(self, strategy: str, *, is_taken: bool) -> Decision:
        """As a decision on `strategy`, which names this cluster batch."""
        numbers: dict[str, int | float | str] = {"cluster_batch": self.cluster_batch}
        if self.at_least:
            numbers["at_least"] = self.at_least
        if self.closed_form:
            numbers["closed_form"] = self.closed_form
        numbers[DRAM_CYCLES if self.is_traffic else CYCLES] = self.found or NONE
        return Decision(STEP, self.rule, (strategy,), is_taken, numbers)
