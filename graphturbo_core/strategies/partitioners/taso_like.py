"""`taso-like`: the kernels of `tensorrt-like` on the fastest graph of a search over graphs.

Source: TASO (Jia et al., SOSP 2019) rewrites the graph by substitutions; a cost model chooses. The
rules are in `frontend/passes/substitutions`, the search and its costs in `graph_search`. A
convolution with its activation is one op for TASO. Here it is one kernel, as for `tensorrt-like`.

The option `graph` has the steps of a graph. A run that searches replaces it: its report, link and
plan name the steps, which give the same plan without a search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from graphturbo_core.frontend.passes.clean_up import SUBSTITUTE
from graphturbo_core.frontend.passes.substitutions.graph_steps import steps_of
from graphturbo_core.option_fields import number, steps
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.strategies.partitioners.op_kernels import BETWEEN_LAYERS, plan_of_kernels
from graphturbo_core.strategies.partitioners.tensorrt_like import layered_kernels
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.strategy import GraphBudget, Strategy

STEP = "substitute"
"""Step of the decisions that list the steps of the graph."""
SEARCHED_GRAPH, UNCHANGED = "search", "unchanged"


@dataclass(frozen=True, kw_only=True)
class TasoLike(Strategy):
    """Kernels of `tensorrt-like`, on a graph of changed convolutions."""

    name: ClassVar[str] = "taso-like"
    doc: ClassVar[str] = (
        "the fastest of equivalent graphs, found by simulation; takes seconds to minutes"
    )
    source: ClassVar[str] = (
        "TASO (Jia et al., SOSP 2019): readme and IOS's use of it; the rest recalled"
    )
    departures: ClassVar[tuple[str, ...]] = (
        "Four of TASO's rules are here: convolutions of one input are merged, kernels enlarged,"
        " groups of a convolution merged, and AveragePools made convolutions where every position"
        " counts as many elements.",
        "Missing: a sum of two separable convolutions as one, which leaves layers without an op.",
        "Rules are not generated.",
        "The cost of a graph is that of the graph before it, plus the change of the kernels that a"
        " rule changes. Their ops are planned, lowered and simulated as a model of their own.",
        "At the end four graphs are simulated as a whole: the unchanged one and the three of least"
        " cost. The fastest is taken.",
        "A kernel is enlarged to the smallest one that can merge with another of the same input.",
        "A merged convolution is sliced in its kernel; all branches keep their layers.",
        "The seed draws the order of graphs of equal cost; with seed 0 nothing is random.",
        BETWEEN_LAYERS,
    )
    is_fine: ClassVar[bool] = True
    is_by_op: ClassVar[bool] = True
    is_search: ClassVar[bool] = True

    budget: int = number(
        1000, (1, 10_000), "graphs that the search takes to change them, the unchanged first"
    )
    alpha: int = number(
        5, (0, 1000), "percent above the cheapest graph, below which a graph is taken"
    )
    seed: int = number(
        0, (0, 10**6),
        "order of graphs with equal cost: 0 draws nothing, every other seed draws it at random",
    )  # fmt: skip
    graph: str = steps(
        SEARCHED_GRAPH, UNCHANGED,
        doc="the graph: found by a search, unchanged, or after the steps that a search found",
    )  # fmt: skip

    @property
    def import_passes(self) -> tuple[str, ...]:
        """The steps, if there are any."""
        is_changed = self.graph not in (SEARCHED_GRAPH, UNCHANGED)
        return (f"{SUBSTITUTE}:{self.graph}",) if is_changed else ()

    @property
    def graph_search(self) -> GraphBudget | None:
        """A search, unless the graph is given."""
        if self.graph != SEARCHED_GRAPH:
            return None
        return GraphBudget(f"{self.name}.graph", UNCHANGED, self.budget, self.alpha, self.seed)

    def plan(self, target: Target) -> Plan:
        """Fuse and assemble; the graph is the one that the import made."""
        found = layered_kernels(target.semantics)
        made = self._steps(target) if self.import_passes else ()
        return plan_of_kernels(
            target, self.name, replace(found, decisions=(*made, *found.decisions))
        )

    def _steps(self, target: Target) -> tuple[Decision, ...]:
        return tuple(
            Decision(STEP, match.rule, match.subject, True, match.numbers)
            for match in steps_of(target.semantics.graph.whole, self.graph)
        )
