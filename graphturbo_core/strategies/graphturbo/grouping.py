"""LayerGraph -> Grouping: layers that are split together.

Algorithm 2 of GraphTurbo (OSDI 2023). The paper's rule for taking a legal merge is unknown. Rules 1
and 2 are our choice: with them layer graphs get the published piece counts (reference, 3.2).
`MergeRule` has simpler readings of rule 2; rule 1 can be left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from graphturbo_core.errors import PlanError
from graphturbo_core.products.plan import Decision
from graphturbo_core.strategies.constraints import (
    NO_CONSTRAINTS,
    PLAN_STEP,
    RULE_FORBIDDEN,
    RULE_FORCED,
    PlanConstraints,
)
from graphturbo_core.strategies.graphturbo.coarse import CoarseGraph, CoarsePart, Grow, SplitOf
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.steps.splitting import SplitInfo

RULE_BLOCK = "rule 1: interior and join of an innermost fork, merged where it has a split"
RULE_COUNT = "rule 2: merged count is the largest, parts with weights have it already"
RULE_TAKEN = "rule 1: a part of the block belongs to another block"
RULE_CYCLE = "acyclic: a path leads from one part over others to another"
RULE_SPLIT = "split: no axis carries through every edge inside and fits"
RULE_REFETCH = "rule 2: a part with weights would be cut into more pieces"
RULE_GROWS = "rule 2: merged count is not the largest of the parts' counts"
RULE_EQUAL = "equal counts: all parts have the merged count already"
RULE_UNEQUAL = "equal counts: the parts have different counts, or the merged count is another"
RULE_LARGEST = "largest count: merged count is not above the largest part's"
RULE_ABOVE = "largest count: merged count is above the largest part's"
RULE_ANY = "any count: the merged part has a split"


class MergeRule(Enum):
    """Legal merges that Algorithm 2's fixed point takes; the paper's rule is unknown.

    WEIGHTS: rule 2, the default. EQUAL: no count changes. LARGEST: no count rises above that of
    the part with the most pieces. ANY: whenever the merged part has a split.
    """

    WEIGHTS = "weights"
    EQUAL = "equal"
    LARGEST = "largest"
    ANY = "any"


MAX_DIAMOND_PARTS = 128
"""Most parts of a diamond, fork and join included (our choice: a value that the whole model reads
would make everything after it one diamond, evaluated again after each merge)."""

MAX_SIBLINGS = 64
"""Earlier siblings that a part is compared with (our choice: bounds the pairs among thousands of
readers of one value)."""

MAX_REFUSALS = 16
"""Refusals in a row after which a part is no longer a merge candidate (our choice: else a full part
is split again with each of thousands of later readers)."""


@dataclass(frozen=True, slots=True)
class Merging:
    """Algorithm 2's open choices: whether blocks are merged first (rule 1), and the merge rule."""

    has_block_step: bool = True
    rule: MergeRule = MergeRule.WEIGHTS


DEFAULT_MERGING = Merging()


@dataclass(frozen=True, slots=True)
class GroupedLayers:
    """Layers in topological order that become one group, and their best split."""

    layers: tuple[int, ...]
    split: SplitInfo | None


def refused_merge(names: Sequence[str], why: str) -> PlanError:
    """The refusal of a merge that a plan file requires."""
    what = f"{' + '.join(names)} cannot be one group: {why}"
    return PlanError("PLAN_MERGE", what, "edits.merge", "merge what lies between too, or fewer")


@dataclass(frozen=True)
class Grouping:
    """The coarse parts in topological order, and every merge and refusal."""

    parts: tuple[GroupedLayers, ...]
    decisions: tuple[Decision, ...]


def group_layers(
    layers: LayerGraph,
    split_of: SplitOf,
    merging: Merging = DEFAULT_MERGING,
    grow: Grow | None = None,
    constraints: PlanConstraints = NO_CONSTRAINTS,
) -> Grouping:
    """Merge layers into groups: the block step, then straight, diamond and branch to a fixed point.

    Each set of parts is evaluated once; refusals are cached. For a chain of n layers O(n log n)
    with `grow`, else O(n^2). Groups that a plan file requires are merged first.

    Raises:
        PlanError: PLAN_MERGE: a merge that a plan file requires is impossible.
    """
    coarse = CoarseGraph(layers, split_of, grow)
    merger = _Merger(coarse, constraints, merging.rule)
    for wanted in constraints.merges:
        merger.force(wanted)
    if merging.has_block_step:
        merger.blocks()
    before = -1
    while before != len(merger.coarse.parts):
        before = len(merger.coarse.parts)
        merger.straights()
        merger.diamonds()
        merger.branches()
    coarse.reorder()
    parts = tuple(
        GroupedLayers(coarse.members([part]), coarse.parts[part].split)
        for part in coarse.ordered(coarse.parts)
    )
    return Grouping(parts, tuple(merger.decisions))


class _Merger:
    """The coarse graph with the decisions so far."""

    def __init__(self, coarse: CoarseGraph, constraints: PlanConstraints, rule: MergeRule) -> None:
        self.constraints = constraints
        self.rule = rule
        self.coarse = coarse
        self.decisions: list[Decision] = []
        self._refused: set[tuple[int, ...]] = set()

    def force(self, parts: Sequence[int]) -> None:
        """Merge these layers, each a part of its own so far, as a plan file requires.

        Raises:
            PlanError: PLAN_MERGE.
        """
        split = self.coarse.split(parts)
        if not self.coarse.is_convex(parts):
            raise refused_merge(self._names(parts), "a path leads from one over others to another")
        if split is None:
            raise refused_merge(self._names(parts), RULE_SPLIT)
        self._take(PLAN_STEP, RULE_FORCED, parts, split)

    def blocks(self) -> None:
        """Rule 1: the interior and the join of each innermost fork ... join, without the fork.

        With the fork, every residual block would chain to the next. A fork is innermost when no
        part between it and its join is a fork.
        """
        for fork, parts in self._innermost_blocks():
            if all(part in self.coarse.parts for part in parts):
                self._merge_block(parts)
            else:
                last = self.coarse.layers.layers[fork].name
                self.decisions.append(Decision("block", RULE_TAKEN, (last,), False, {}))

    def _innermost_blocks(self) -> list[tuple[int, list[int]]]:
        """Each innermost fork with its interior and join, before anything is merged."""
        forks = {part for part, readers in self.coarse.readers.items() if len(readers) > 1}
        blocks = []
        for fork in self.coarse.ordered(forks):
            region = self.coarse.region(fork, len(self.coarse.parts), forks)
            if region.has_join:
                blocks.append((fork, region.parts[1:]))
        return blocks

    def _merge_block(self, parts: list[int]) -> None:
        split = self.coarse.split(parts)
        if not self.coarse.is_convex(parts):
            self._refuse("block", RULE_CYCLE, parts, {})
        elif self._is_forbidden(parts):
            self._refuse("block", RULE_FORBIDDEN, parts, {})
        elif split is None:
            self._refuse("block", RULE_SPLIT, parts, self._numbers(parts, None))
        else:
            self._take("block", RULE_BLOCK, parts, split)

    def straights(self) -> None:
        """One producer, one consumer."""
        self.coarse.reorder()
        for start in self.coarse.ordered(self.coarse.parts):
            part: int | None = start if start in self.coarse.parts else None
            while part is not None and len(self.coarse.readers[part]) == 1:
                (reader,) = self.coarse.readers[part]
                if len(self.coarse.sources[reader]) != 1:
                    break
                part = self._merge_counts("straight", [part, reader])

    def diamonds(self) -> None:
        """Merge a fork, its join and the parts between; one path may be empty (residual).

        Forks in the order of their ranks. After a merge, a fork is evaluated again if its search
        visited one of the merged parts.
        """
        self.coarse.reorder()
        rank = self.coarse.rank
        waiting = [(rank[fork], fork) for fork in self.coarse.parts]
        heapq.heapify(waiting)
        met_by: dict[int, list[int]] = {}
        while waiting:
            _, fork = heapq.heappop(waiting)
            if fork not in self.coarse.parts or len(self.coarse.readers[fork]) == 1:
                continue
            region = self.coarse.region(fork, MAX_DIAMOND_PARTS)
            merged = self._merge_diamond(region.parts) if region.has_join else None
            for part in region.parts:
                met_by.setdefault(part, []).append(fork)
            if merged is None:
                continue
            again = {merged, *(f for part in region.parts for f in met_by.pop(part))}
            for near in again & self.coarse.parts.keys():
                heapq.heappush(waiting, (rank[near], near))

    def _merge_diamond(self, parts: list[int]) -> int | None:
        """Merge with the fork, or else, as in rule 1, the parts between and the join.

        Our choice: queries, keys and values are a fork with weights. They must not be cut as
        finely as the scores computed from them.
        """
        merged = self._merge_counts("diamond", parts)
        inside = parts[1:]
        return (
            self._merge_counts("diamond", inside) if merged is None and len(inside) > 1 else merged
        )

    def branches(self) -> None:
        """Siblings with a common producer or a common consumer and no path between them."""
        self.coarse.reorder()
        for part in self.coarse.ordered(self.coarse.parts):
            if part in self.coarse.parts:
                self._merge_siblings(self.coarse.ordered(self.coarse.readers[part]))
            if part in self.coarse.parts:
                self._merge_siblings(self.coarse.ordered(self.coarse.sources[part]))

    def _merge_siblings(self, siblings: Sequence[int]) -> None:
        """Merge each sibling with the first earlier one that allows it."""
        kept: list[int] = []
        refusals: dict[int, int] = {}
        for sibling in siblings:
            for place in range(max(0, len(kept) - MAX_SIBLINGS), len(kept)):
                if refusals.get(place, 0) >= MAX_REFUSALS:
                    continue
                other = kept[place]
                merged = self._merge_counts("branch", [other, sibling])
                if merged is not None:
                    kept[place] = merged
                    refusals[place] = 0
                    break
                refusals[place] = refusals.get(place, 0) + 1
            else:
                kept.append(sibling)

    def _merge_counts(self, step: str, parts: list[int]) -> int | None:
        """One merge of the fixed point; the new part, or None with the refusal recorded.

        The parts' own counts are compared first, since they decide most cases without a new split.
        """
        key = tuple(sorted(parts))
        if key in self._refused:
            return None
        self._refused.add(key)
        members = [self.coarse.parts[part] for part in parts]
        split, fault = None, _count_fault(self.rule, members)
        if not fault and self._is_forbidden(parts):
            fault = RULE_FORBIDDEN
        elif not fault and not self._is_legal(step, parts):
            fault = RULE_CYCLE
        elif not fault:
            split = self.coarse.split(parts)
            fault = _merged_fault(self.rule, members, split.pieces) if split else RULE_SPLIT
        if split is None or fault:
            self._refuse(step, fault, parts, self._numbers(parts, split))
            return None
        return self._take(step, TAKEN[self.rule], parts, split)

    def _is_forbidden(self, parts: list[int]) -> bool:
        """Whether a plan file forbids two of their layers in one group."""
        is_free = not (self.constraints.apart or self.constraints.alone)
        return not is_free and self.constraints.forbids(self.coarse.members(parts))

    def _is_legal(self, step: str, parts: list[int]) -> bool:
        """Whether contracting keeps the graph acyclic; siblings may have no path between them."""
        if step == "branch":
            first, second = parts
            has_path = self.coarse.has_path
            return not (has_path(first, second) or has_path(second, first))
        return step == "straight" or self.coarse.is_convex(parts)

    def _take(self, step: str, rule: str, parts: Sequence[int], split: SplitInfo) -> int:
        numbers = self._numbers(parts, split)
        self.decisions.append(Decision(step, rule, self._names(parts), True, numbers))
        return self.coarse.contract(parts, split)

    def _refuse(
        self, step: str, rule: str, parts: Sequence[int], numbers: dict[str, int | float | str]
    ) -> None:
        self.decisions.append(Decision(step, rule, self._names(parts), False, numbers))

    def _names(self, parts: Sequence[int]) -> tuple[str, ...]:
        """Each part by its first and last layer."""
        layers = self.coarse.layers.layers
        ends = [(self.coarse.parts[part].first, self.coarse.parts[part].last) for part in parts]
        return tuple(
            layers[first].name if first == last else f"{layers[first].name} .. {layers[last].name}"
            for first, last in ends
        )

    def _numbers(
        self, parts: Sequence[int], split: SplitInfo | None
    ) -> dict[str, int | float | str]:
        counts = "+".join(str(self.coarse.parts[part].pieces) for part in parts)
        if split is None:
            return {"pieces_of_parts": counts}
        return {
            "pieces_of_parts": counts,
            "pieces": split.pieces,
            "axis": split.axis,
            "covered_ops": split.covered_ops,
            "peak_bytes": split.peak_bytes,
        }


TAKEN = {
    MergeRule.WEIGHTS: RULE_COUNT,
    MergeRule.EQUAL: RULE_EQUAL,
    MergeRule.LARGEST: RULE_LARGEST,
    MergeRule.ANY: RULE_ANY,
}
"""Numbers recorded for a merge that is taken."""


def _count_fault(rule: MergeRule, members: Sequence[CoarsePart]) -> str:
    """Rule by which parts with these counts may not merge at any count; empty: they may."""
    largest = max(part.pieces for part in members)
    if rule is MergeRule.EQUAL and any(part.pieces != largest for part in members):
        return RULE_UNEQUAL
    if rule is MergeRule.WEIGHTS and any(p.has_weights and p.pieces != largest for p in members):
        return RULE_REFETCH
    return ""


def _merged_fault(rule: MergeRule, members: Sequence[CoarsePart], pieces: int) -> str:
    """Rule that forbids the merged count; empty: it is allowed.

    By rule 2 the count may rise where no part has weights (our choice, as in rule 1: it costs no
    fetch).
    """
    largest = max(part.pieces for part in members)
    if rule is MergeRule.WEIGHTS and pieces != largest and any(p.has_weights for p in members):
        return RULE_GROWS
    if rule is MergeRule.EQUAL and pieces != largest:
        return RULE_UNEQUAL
    return RULE_ABOVE if rule is MergeRule.LARGEST and pieces > largest else ""
