"""Levels `merge` and `both` of `ios`: their option, import pass, and search before the plan.

The option has the steps of a graph: sets of convolutions (`substitutions/convolution_sets.py`).
A run that searches replaces it: its report, link and plan name the steps, which give the same plan
without a search.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from graphturbo_core.frontend.passes.clean_up import MERGE_SETS
from graphturbo_core.limits import Limits
from graphturbo_core.option_fields import steps
from graphturbo_core.strategies.ios.endings import Pruning
from graphturbo_core.strategies.ios.merge_search import UNCHANGED, MergeSearch
from graphturbo_core.strategies.ios.stage_kernels import (
    StageKernels,
    layer_kernels,
    merged_kernels,
)
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.plan_files.restore import Frame
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.strategy import GraphChoice, Strategy

MERGE, BOTH = "merge", "both"
SEARCHED = "search"


@dataclass(frozen=True, kw_only=True)
class MergedGraph:
    """Option of the levels that merge convolutions."""

    graph: str = steps(
        SEARCHED, UNCHANGED,
        doc="merged convolutions: found by a search, none, or the steps that a search found",
    )  # fmt: skip


SEARCHED_GRAPH = MergedGraph()


@dataclass(frozen=True, kw_only=True)
class MergingLevels(Strategy):
    """Part of `ios` that chooses the graph."""

    level_options: ClassVar[Mapping[str, type]] = MappingProxyType(
        {MERGE: MergedGraph, BOTH: MergedGraph}
    )

    merge: MergedGraph = SEARCHED_GRAPH
    both: MergedGraph = SEARCHED_GRAPH

    @property
    @abstractmethod
    def space(self) -> tuple[Pruning, Limits]:
        """Limits of stages and blocks."""

    @abstractmethod
    def cycles_in_turn(self, target: Target, kernels: StageKernels) -> list[int] | None:
        """Simulated cycles of each layer, one after the other; None where that is refused."""

    @abstractmethod
    def times_on_parts(self, target: Target, kernels: StageKernels) -> StageTimes | None:
        """Times on parts of the only cluster's cores; None where these cannot be divided."""

    @property
    def is_merging(self) -> bool:
        """Whether the level merges convolutions."""
        return self.level in self.level_options

    @property
    def merged_graph(self) -> str:
        """The graph of a level that merges convolutions; else the unchanged one."""
        return {MERGE: self.merge.graph, BOTH: self.both.graph}.get(self.level, UNCHANGED)

    @property
    def import_passes(self) -> tuple[str, ...]:
        """The merges, if there are any."""
        is_changed = self.merged_graph not in (SEARCHED, UNCHANGED)
        return (f"{MERGE_SETS}:{self.merged_graph}",) if is_changed else ()

    @property
    def graph_search(self) -> GraphChoice | None:
        """A search for merges, unless they are given."""
        if self.merged_graph != SEARCHED:
            return None
        on_parts = self.times_on_parts if self.level == BOTH else None
        search = MergeSearch(self.cycles_in_turn, on_parts, *self.space)
        return GraphChoice(f"{self.level}.graph", UNCHANGED, search)

    @property
    def frame(self) -> Frame:
        """Groups of a level that merges convolutions consist of ops."""
        return replace(super().frame, is_by_op=self.is_merging, is_staged=True)

    def kernels(self, target: Target) -> StageKernels:
        """The layers that stages consist of."""
        return merged_kernels(target) if self.is_merging else layer_kernels(target)
