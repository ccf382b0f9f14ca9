"""Plan -> rows of groups, each with why it was merged and why it was not merged further."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.report import Row
from graphturbo_core.report.rows import layer_counts, numbers_text
from graphturbo_core.strategies.plan import Decision, Group, Plan

RANGE = " .. "
"""Between the first and the last layer in the name of a coarse part."""
MAX_REFUSALS = 3
"""Refusals told of one group, the last first; all stand in the table of decisions."""


def group_rows(outcome: Outcome) -> Iterator[Row]:
    """One row a group, in the plan's order."""
    plan = outcome.plan
    layers = layer_counts(plan, [group.ops for group in plan.groups])
    reasons = _Reasons(plan)
    for index, group in enumerate(plan.groups):
        yield {
            "index": index,
            "name": group.name,
            "layers": layers[index],
            "ops": len(group.ops),
            "split_axis": group.split_axis,
            "pieces": group.pieces,
            "covered_ops": group.covered_ops,
            "peak_bytes": group.peak_bytes,
            "why": reasons.why(index, group),
            "why_not": reasons.why_not(index, group),
        }


class _Reasons:
    """The decisions that touch each group, read once."""

    def __init__(self, plan: Plan) -> None:
        self._strategy = plan.strategy
        self._layers = plan.layers
        self._group_of_layer = {
            plan.layers[layer].name: index
            for index, group in enumerate(plan.groups)
            for layer in group.layers
        }
        self._inside: dict[int, list[Decision]] = {}
        self._across: dict[int, list[Decision]] = {}
        for decision in plan.decisions:
            self._book(decision)

    def _book(self, decision: Decision) -> None:
        groups = {
            self._group_of_layer[layer]
            for part in decision.subject
            for layer in self._ends(part)
            if layer in self._group_of_layer
        }
        if decision.is_taken and len(groups) == 1:
            self._inside.setdefault(groups.pop(), []).append(decision)
        elif not decision.is_taken:
            for group in groups:
                self._across.setdefault(group, []).append(decision)

    def _ends(self, part: str) -> tuple[str, ...]:
        return (part,) if part in self._group_of_layer else tuple(part.split(RANGE))

    def why(self, index: int, group: Group) -> str:
        """The last merge that made it."""
        merges = self._inside.get(index, [])
        if merges:
            last = merges[-1]
            count = f"{len(merges)} merges, the last" if len(merges) > 1 else "1 merge"
            return f"{count}: {last.step}, {_reason(last)}"
        if len(group.layers) > 1:
            return f"{self._strategy} puts its layers together"
        layer = self._layers[group.layers[0]]
        if len(group.ops) < len(layer.ops):
            return f"part of the layer {layer.name!r}: nothing was merged into it"
        return "one layer: nothing was merged into it"

    def why_not(self, index: int, group: Group) -> str:
        """The last refusals of a merge with what lies around it, the last first."""
        refused = [d for d in self._across.get(index, []) if self._leaves(d, index)]
        if not refused:
            return "no merge with a neighbour was looked at"
        texts = [
            f"{decision.step} with {self._others(decision, index)}: {_reason(decision)}"
            for decision in refused[: -MAX_REFUSALS - 1 : -1]
        ]
        return "; ".join(dict.fromkeys(texts))

    def _leaves(self, decision: Decision, index: int) -> bool:
        """Whether the refused merge would have reached beyond the group."""
        return any(self._group_of(part) != index for part in decision.subject)

    def _group_of(self, part: str) -> int | None:
        return self._group_of_layer.get(self._ends(part)[0])

    def _others(self, decision: Decision, index: int) -> str:
        return " + ".join(part for part in decision.subject if self._group_of(part) != index)


def _reason(decision: Decision) -> str:
    numbers: Mapping[str, int | float | str] = decision.numbers
    return f"{decision.rule} ({numbers_text(numbers)})" if numbers else decision.rule
