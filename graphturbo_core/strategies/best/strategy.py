"""`best`: the fastest schedule that is found, cluster batch included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from graphturbo_core.hardware.memory_budget import MemoryBudget
from graphturbo_core.option_fields import choice
from graphturbo_core.products.plan import Binding, Plan
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.semantics.feeding import Feeding
from graphturbo_core.strategies.best.early_inputs import early_inputs
from graphturbo_core.strategies.best.feedings import buffered, divided
from graphturbo_core.strategies.best.goal import Minimised
from graphturbo_core.strategies.best.search import BestSearch, estimated_cycles
from graphturbo_core.strategies.graphturbo.levels import PLUS
from graphturbo_core.strategies.graphturbo_levels import GraphTurboLevels
from graphturbo_core.strategies.plan_files.restore import Frame
from graphturbo_core.strategies.plus.plus import ALL_INGREDIENTS, Proposer
from graphturbo_core.strategies.steps.binding import Binder
from graphturbo_core.strategies.steps.kernels import GbUse, PlanCost, Target
from graphturbo_core.strategies.steps.splitting import Splitter
from graphturbo_core.strategies.strategy import Strategy

_GRAPHTURBO = GraphTurboLevels(level=PLUS.name)


@dataclass(frozen=True, kw_only=True)
class Best(Strategy):
    """The fastest plan of a search over groupings, and without `@N` over cluster batches too."""

    name: ClassVar[str] = "best"
    doc: ClassVar[str] = (
        "the fastest schedule of a search over groupings and cluster batches; takes seconds to "
        "minutes"
    )
    is_search: ClassVar[bool] = True
    chooses_cluster_batch: ClassVar[bool] = True

    goal: Literal["time", "dram"] = choice(
        "time", "dram",
        doc="what the search minimises: time, or the traffic of DRAM and then time",
    )  # fmt: skip

    tile_buffers: Literal["either", "two"] = choice(
        "either", "two",
        doc="tile buffers per streamed tensor: two, or three if that is faster; or two (our "
        "choice: with three, weights arrive further ahead, and activations have less of LB)",
    )  # fmt: skip
    depthwise: Literal["divided", "cheaper"] = choice(
        "divided", "cheaper",
        doc="products in groups, such as depthwise convolutions: their tiles are divided over the "
        "matrix and the vector engine of a core if that is faster, or each tile runs on the "
        "cheaper one (our choice: on one engine they stop the layers around them)",
    )  # fmt: skip

    inputs: Literal["prefetched", "loaded"] = choice(
        "prefetched", "loaded",
        doc="inputs of the model that a later kernel reads: the kernel before prefetches them into "
        "GB if that is faster, or each kernel loads its own (our choice: cores wait for them at "
        "the begin of a kernel, while DRAM is idle at the end of the one before)",
    )  # fmt: skip

    @property
    def is_ordered(self) -> bool:
        """Its plans are those of `graphturbo`."""
        return True

    @property
    def scheduling(self) -> Scheduling:
        """As level `plus`."""
        return _GRAPHTURBO.scheduling

    @property
    def feeding(self) -> Feeding:
        """As level `plus`."""
        return _GRAPHTURBO.feeding

    @property
    def gb_use(self) -> GbUse:
        """As level `plus`."""
        return _GRAPHTURBO.gb_use

    @property
    def frame(self) -> Frame:
        """As level `plus`, under its own name."""
        return replace(_GRAPHTURBO.frame, strategy=self.label)

    def binder(self, cores: int, fixed: Mapping[str, Binding]) -> Binder:
        """Algorithm 4."""
        return _GRAPHTURBO.binder(cores, fixed)

    def splitter(self, budget: MemoryBudget) -> Splitter | None:
        """Algorithm 1."""
        return _GRAPHTURBO.splitter(budget)

    def plan(self, target: Target) -> Plan:
        """Search; `:full`'s plan without a cost function."""
        target = replace(target, cost=self._minimised.cost_function(target.cost))
        method = _GRAPHTURBO.paper_method(target)
        early = (early_inputs,) if self.inputs == "prefetched" else ()
        search = BestSearch(method, ALL_INGREDIENTS, self._minimised, early, self._feedings)
        return replace(search(target), strategy=self.label)

    def estimated_cycles(self, target: Target) -> int:
        """Closed-form cycles, by which cluster batches are compared."""
        return estimated_cycles(target, self._minimised)

    def compared_cycles(self, cost: PlanCost) -> int:
        """Cycles by which plans are compared."""
        return self._minimised.cost(cost).cycles

    def cycles_of_goal(self, compared: int) -> int:
        """Cycles of time, or of DRAM."""
        return self._minimised.of_goal(compared)

    @property
    def is_for_time(self) -> bool:
        """Whether time is the goal."""
        return self._minimised.is_time

    @property
    def _feedings(self) -> tuple[Proposer, ...]:
        """As the options choose."""
        more = (buffered,) if self.tile_buffers == "either" else ()
        return (*more, divided) if self.depthwise == "divided" else more

    @property
    def _minimised(self) -> Minimised:
        return Minimised(self.goal)

    def first_plan(self, target: Target) -> Plan:
        """`:full`'s plan, with which a search begins."""
        return replace(_GRAPHTURBO.paper_method(target)(target), strategy=self.label)
