"""A graph, a match of a rule -> cycles of its changed segment, before and after the change.

A segment is planned by the strategy as a model of its own, lowered and simulated. Equal segments
are simulated once: those of one structure, whatever their names.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.graph_search.changed_segments import KernelOps, SegmentCuts, structure_of
from graphturbo_core.ir.graph import Graph
from graphturbo_core.semantics.table import GraphSemantics, analyse

SegmentCycles = Callable[[GraphSemantics], int | None]
"""Simulated cycles of a segment; None where it is refused."""


@dataclass(frozen=True, slots=True)
class SegmentCost:
    """Cycles of a changed segment before and after a match; None: refused.

    `match`: the first one with an equal segment.
    """

    match: Substitution
    before: int | None
    after: int | None

    @property
    def change(self) -> int | None:
        """Cycles that a graph with this change has more than one without it."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass
class SegmentCosts:
    """Costs of changed segments of one model; each distinct segment is simulated once.

    `kernels`: of the unchanged graph. `simulated`: the distinct changes, in their order.
    """

    unchanged: Graph = field(repr=False)
    kernels: KernelOps = field(repr=False)
    cycles: SegmentCycles
    simulated: list[SegmentCost] = field(default_factory=list)
    _by_names: dict[Hashable, SegmentCost] = field(default_factory=dict, repr=False)
    _by_structure: dict[Hashable, SegmentCost] = field(default_factory=dict, repr=False)
    _cycles: dict[Hashable, int | None] = field(default_factory=dict, repr=False)

    def of(self, graph: Graph) -> Callable[[Substitution], SegmentCost]:
        """Costs of the matches of one graph."""
        cuts = SegmentCuts(self.unchanged, graph, self.kernels)
        return lambda match: self._of_match(cuts, match)

    def _of_match(self, cuts: SegmentCuts, match: Substitution) -> SegmentCost:
        names = cuts.key(match)
        if names not in self._by_names:
            segment = cuts.segment(match)
            parts = analyse(segment.before), analyse(segment.after)
            keys = structure_of(parts[0]), structure_of(parts[1])
            if keys not in self._by_structure:
                found = SegmentCost(match, *map(self._simulated, parts, keys))
                self._by_structure[keys] = found
                self.simulated.append(found)
            self._by_names[names] = self._by_structure[keys]
        return self._by_names[names]

    def _simulated(self, part: GraphSemantics, key: Hashable) -> int | None:
        if key not in self._cycles:
            self._cycles[key] = self.cycles(part)
        return self._cycles[key]
