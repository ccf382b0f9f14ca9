"""Plan -> rows of groups, each with the reasons of its merges and of the refused merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from graphturbo_core.products.plan import Binding, Decision, Group, KernelPlan, Plan
from graphturbo_core.products.split_text import along_text
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.run_rows import layer_counts, numbers_text, scope_text
from graphturbo_core.strategies.baselines.stitch_schemes import STITCH_STEP, STITCH_STEPS
from graphturbo_core.strategies.best.next_best import STEP as NEXT_BEST_STEP

RANGE = " .. "
"""Separator of the first and the last layer in the name of a coarse part."""
PAIR = 2
"""Parts of the smallest merge."""
MAX_REFUSALS = 3
"""Most refusals listed per group; the table of decisions has all."""
MAX_NAMED = 3
"""Most outputs, bindings and scopes named per group; the others are counted."""


class _HandedOut(TypedDict):
    outputs: str
    binding: str
    scope: str


class GroupRow(_HandedOut):
    """One group; the texts of `_HandedOut` name its outputs, their bindings and their scopes."""

    index: int
    name: str
    layers: int
    ops: int
    split_axis: int
    pieces: int
    along: str
    covered_ops: int
    peak_bytes: int
    why: str
    why_not: str


def group_rows(outcome: Outcome) -> Iterator[GroupRow]:
    """One row per group, in the plan's order."""
    plan = outcome.plan
    layers = layer_counts(plan, [group.ops for group in plan.groups])
    reasons = GroupReasons(plan)
    kernels: list[list[KernelPlan]] = [[] for _ in plan.groups]
    for kernel in plan.kernels:
        kernels[kernel.group].append(kernel)
    for index, group in enumerate(plan.groups):
        yield {
            "index": index,
            "name": group.name,
            "layers": layers[index],
            "ops": len(group.ops),
            "split_axis": group.split_axis,
            "pieces": group.pieces,
            "along": along_text(group.split_axis, group.pieces, group.further_splits),
            "covered_ops": group.covered_ops,
            "peak_bytes": group.peak_bytes,
            "why": reasons.why(index, group),
            "why_not": reasons.why_not(index, group),
            **_handed_out(kernels[index]),
        }


def _handed_out(kernels: Sequence[KernelPlan]) -> _HandedOut:
    """Outputs of a group's kernels, their bindings to cores, and their scopes."""
    outputs = [(kernel, tensor) for kernel in kernels for tensor in kernel.outputs]
    return {
        "outputs": _named(dict.fromkeys(tensor for _, tensor in outputs)),
        "binding": _counted([binding_text(k.bindings[t]) for k, t in outputs if t in k.bindings]),
        "scope": _counted([scope_text(kernel, tensor) for kernel, tensor in outputs]),
    }


def binding_text(binding: Binding) -> str:
    """Text of a binding: `axis 0 in 8, axis 2 in 4: 32 cores`."""
    cuts = [f"axis {a} in {n}" for a, n in zip(binding.axes, binding.grid, strict=True) if n > 1]
    count = len(binding.cores)
    cores = "1 core" if count == 1 else f"{count} cores"
    return f"{', '.join(cuts)}: {cores}" if cuts else cores


def _named(names: Mapping[str, None]) -> str:
    """The first names, and the number of further ones."""
    more = len(names) - MAX_NAMED
    return ", ".join([*list(names)[:MAX_NAMED], *([f"{more} more"] if more > 0 else [])])


def _counted(texts: Sequence[str]) -> str:
    """Each distinct text once, the most frequent first, with its count where they differ."""
    counts = Counter(text for text in texts if text)
    if len(counts) <= 1:
        return next(iter(counts), "")
    return _named(
        {f"{text} ({count} of {len(texts)})": None for text, count in counts.most_common()}
    )


class GroupReasons:
    """The decisions that touch each group, read once."""

    def __init__(self, plan: Plan) -> None:
        """Book each decision of the plan at the groups that it touches."""
        self._strategy = plan.strategy
        self._is_whole = len(plan.groups) == 1
        self._has_merged = bool(plan.decisions)
        self._layers = plan.layers
        self._outer_layers = [(group.layers[0], group.layers[-1]) for group in plan.groups]
        self._groups_of: dict[str, set[int]] = {}
        for index, group in enumerate(plan.groups):
            own, layers = set(group.ops), [plan.layers[layer] for layer in group.layers]
            whole = [layer.name for layer in layers if own.issuperset(layer.ops)]
            for name in (*group.ops, *whole):
                self._groups_of.setdefault(name, set()).add(index)
        self._index_of = {**plan.layer_of_op, **{each.name: each.index for each in plan.layers}}
        self._stitched: dict[str, list[Decision]] = {}
        self._inside: dict[int, list[Decision]] = {}
        self._across: dict[int, list[Decision]] = {}
        self._next_best: dict[int, Decision] = {}
        for decision in plan.decisions:
            if decision.step == STITCH_STEP:
                self._stitched.setdefault(decision.subject[0], []).append(decision)
            elif decision.step not in STITCH_STEPS:
                self._book(decision)

    def _book(self, decision: Decision) -> None:
        ends = [end for part in decision.subject for end in self._ends(part)]
        found = [self._groups_of[end] for end in ends if end in self._groups_of]
        common = sorted(set.intersection(*found)) if found else []
        if decision.step == NEXT_BEST_STEP and len(common) == 1:
            self._next_best[common[0]] = decision
        elif decision.is_taken:
            for group in common:
                self._inside.setdefault(group, []).append(decision)
        else:
            for group in sorted(set.union(*found)) if found else []:
                self._across.setdefault(group, []).append(decision)

    def _ends(self, part: str) -> tuple[str, ...]:
        return (part,) if part in self._groups_of else tuple(part.split(RANGE))

    def why(self, index: int, group: Group) -> str:
        """The last merge into the group, or the rules that stitched its regions."""
        if group.name in self._stitched:
            return "; ".join(dict.fromkeys(map(_reason, self._stitched[group.name])))
        merges = self.merges(index)
        if merges:
            last = merges[-1]
            count = f"{len(merges)} merges, the last" if len(merges) > 1 else "1 merge"
            return f"{count}: {last.step}, {_reason(last)}"
        if len(group.layers) > 1:
            return f"{self._strategy} groups its layers"
        layer = self._layers[group.layers[0]]
        if len(group.ops) < len(layer.ops):
            return f"part of the layer {layer.name!r}: nothing was merged into it"
        return "one layer: nothing was merged into it"

    def why_not(self, index: int, group: Group) -> str:
        """The refusals of a merge with what lies around it, in the order of `refusals`.

        Of a group of a search that refused none, the next best decision.
        """
        refused = self.refusals(index)
        if not refused:
            other = self.next_best(index)
            return self._unasked() if other is None else _reason(other)
        texts = [
            f"{decision.step} with {self._others(decision, index)}: {_reason(decision)}"
            for decision in refused[:MAX_REFUSALS]
        ]
        return "; ".join(dict.fromkeys(texts))

    def merges(self, index: int) -> Sequence[Decision]:
        """The merges that made a group, the last one last."""
        return self._inside.get(index, ())

    def refusals(self, index: int) -> Sequence[Decision]:
        """Refused merges of a group with what lies around it, those with the next layers first.

        A merge of two parts comes before one of more, which is about none of its parts alone. Among
        equals the last decision is first.
        """
        across = [d for d in reversed(self._across.get(index, ())) if self._leaves(d, index)]
        return sorted(across, key=lambda d: (len(d.subject) > PAIR, self._distance(d, index)))

    def next_best(self, index: int) -> Decision | None:
        """What the next best decision for a group would have cost, where a search says so."""
        return self._next_best.get(index)

    def other_layer(self, decision: Decision, index: int) -> int:
        """The next layer of the parts that a group was not merged with; -1 where there is none."""
        return min(
            self._other_ends(decision, index),
            key=lambda layer: (self._layers_between(layer, index), layer),
            default=-1,
        )

    def other_parts(self, decision: Decision, index: int) -> int:
        """Number of the parts that a group was not merged with."""
        return sum(not self._has(index, part) for part in decision.subject)

    def _distance(self, decision: Decision, index: int) -> int:
        """Layers from a group to the other part of a pair; 0 of a merge of more parts."""
        if len(decision.subject) > PAIR:
            return 0
        ends = self._other_ends(decision, index)
        return min((self._layers_between(end, index) for end in ends), default=len(self._layers))

    def _layers_between(self, layer: int, index: int) -> int:
        """Layers from the first or the last one of a group, whichever is less."""
        return min(abs(layer - end) for end in self._outer_layers[index])

    def _other_ends(self, decision: Decision, index: int) -> list[int]:
        """First and last layers of the parts of a merge that are not in a group."""
        others = (part for part in decision.subject if not self._has(index, part))
        ends = (end for part in others for end in self._ends(part))
        return [self._index_of[end] for end in ends if end in self._index_of]

    def _unasked(self) -> str:
        """The reason why no merge with a neighbour was evaluated."""
        if self._is_whole:
            return "it is the whole graph: nothing is left to merge with"
        if self._stitched:
            return f"{self._strategy} stitches nothing to or across a compute-intensive op"
        if not self._has_merged:
            return f"{self._strategy} merges no layers"
        return "no merge with a neighbour was evaluated"

    def _leaves(self, decision: Decision, index: int) -> bool:
        """Whether the refused merge has a part outside the group."""
        return not all(self._has(index, part) for part in decision.subject)

    def _has(self, index: int, part: str) -> bool:
        """Whether a part of a merge is in a group."""
        return index in self._groups_of.get(self._ends(part)[0], ())

    def _others(self, decision: Decision, index: int) -> str:
        return " + ".join(part for part in decision.subject if not self._has(index, part))


def _reason(decision: Decision) -> str:
    numbers: Mapping[str, int | float | str] = decision.numbers
    return f"{decision.rule} ({numbers_text(numbers)})" if numbers else decision.rule
