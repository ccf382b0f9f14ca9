"""`graphturbo`: the options of the paper's method, and its levels; `plus` goes beyond the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Literal

from graphturbo_core.hardware.memory_budget import MemoryBudget
from graphturbo_core.option_fields import choice, switch
from graphturbo_core.products.plan import Binding, Plan
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding
from graphturbo_core.strategies.graphturbo.grouping import MergeRule, Merging
from graphturbo_core.strategies.graphturbo.levels import ALL_LEVELS, DEFAULT_LEVEL, PLUS, Level
from graphturbo_core.strategies.graphturbo.strategy import GraphTurbo
from graphturbo_core.strategies.plan_files.restore import Frame
from graphturbo_core.strategies.plus.plus import ALL_INGREDIENTS, Ingredients, Plus
from graphturbo_core.strategies.steps.binding import Binder
from graphturbo_core.strategies.steps.kernels import GbUse, Target
from graphturbo_core.strategies.steps.splitting import (
    Splitter,
    divisors,
    fewest_pieces,
    lexicographic,
    literal_candidates,
)
from graphturbo_core.strategies.strategy import Strategy, divided_by

BY_LEVEL = "by-level"
"""Option value: the level decides."""


@dataclass(frozen=True, kw_only=True)
class GraphTurboLevels(Strategy):
    """Algorithms 1 to 4 of the paper (OSDI 2023), up to the chosen level.

    docs/paper-assumptions.md has the reasons for the options. `plus`: options of level `plus`.
    """

    name: ClassVar[str] = "graphturbo"
    doc: ClassVar[str] = "layers grouped, groups split, instances ordered depth first (OSDI 2023)"
    source: ClassVar[str] = "GraphTurbo, Zhao et al., OSDI 2023; its level `plus` is our own"
    departures: ClassVar[tuple[str, ...]] = (
        "docs/paper-assumptions.md lists every departure, with an option for the paper's reading.",
    )
    levels: ClassVar[Mapping[str, str]] = MappingProxyType(
        {each.name: each.doc for each in ALL_LEVELS}
    )
    default_level: ClassVar[str] = DEFAULT_LEVEL.name
    level_options: ClassVar[Mapping[str, type]] = MappingProxyType({PLUS.name: Ingredients})

    level: str = DEFAULT_LEVEL.name
    peak: Literal["true", "literal"] = choice(
        "true", "literal",
        doc="Algorithm 1: the true peak of the largest piece, or ceil(peak / pieces) as printed",
    )  # fmt: skip
    candidates: Literal["divisors", "literal"] = choice(
        "divisors", "literal",
        doc="Algorithm 1: candidate piece counts, divisors or 1, 2, 4, 8, 9, 10, ... as printed",
    )  # fmt: skip
    best: Literal["lexicographic", "fewest-pieces"] = choice(
        "lexicographic", "fewest-pieces",
        doc="Eq. 1: most ops covered, outermost axis, fewest pieces; or fewest pieces first",
    )  # fmt: skip
    blocks: Literal["first", "none"] = choice(
        "first", "none",
        doc="Algorithm 2: merge each innermost block first, or not",
    )  # fmt: skip
    fit: Literal["core", "cluster"] = choice(
        "core", "cluster",
        doc="raise pieces until each core's part fits its LB, or check only the sum, as printed",
    )  # fmt: skip
    binding: Literal["kind", "literal"] = choice(
        "kind", "literal",
        doc="Algorithm 4: cut axes by kind of access and take a handed-down binding if equally "
        "good; or cut from the outermost axis by gcd and take it only if it uses more cores",
    )  # fmt: skip
    merging: Literal["weights", "equal", "largest", "any"] = choice(
        "weights", "equal", "largest", "any",
        doc="Algorithm 2, rule 2: no part with weights is cut into more pieces; or only equal "
        "counts merge, or no count rises above the largest, or all parts with a split merge",
    )  # fmt: skip
    coverage: Literal["all", "outputs"] = choice(
        "all", "outputs",
        doc="Algorithm 1: a split axis carries through every tensor inside, or to the outputs "
        "alone; then pieces compute the rest whole, and Eq. 1 takes the axis that covers most ops",
    )  # fmt: skip
    binding_of: Literal["nests", "instances"] = choice(
        "nests", "instances",
        doc="Algorithm 4: each kernel binds its own loop nests, or bindings are handed from "
        "instance to instance too, as in the vendor's manual",
    )  # fmt: skip
    gb_binding: Literal["handed", "plain"] = choice(
        "handed", "plain",
        doc="Algorithm 4: a loop nest whose result goes to GB, because its readers bind it "
        "differently, takes the first reader's binding, or a plain one as printed",
    )  # fmt: skip
    conflicts: Literal["gb", "lb"] = choice(
        "gb", "lb",
        doc="Algorithm 4: a tensor that two loop nests of a kernel bind differently is resident in "
        "GB, or in LB and cores exchange it, as the vendor's core operations do",
    )  # fmt: skip
    gb_room: Literal["reserved", "whole"] = choice(
        "reserved", "whole",
        doc="outputs and weights in GB leave a weight part free for tiles of streamed weights, or "
        "may fill all of GB: the paper reserves no part",
    )  # fmt: skip
    instance_order: Literal["depth-first", "breadth-first"] = choice(
        "depth-first", "breadth-first",
        doc="Algorithm 3: run the newest ready instance, or the oldest: the order that the paper "
        "compares with (figure 7)",
    )  # fmt: skip
    double_buffering: bool = switch(
        "two tile buffers per streamed operand, or one: loads and computes alternate (our choice: "
        "the paper does not say)"
    )
    fence: Literal["by-level", "on", "off"] = choice(
        BY_LEVEL, "on", "off",
        doc="a layer starts when the layer before it has ended, DMA included; by level: on in gb, "
        "lb and order, off in full and plus (our choice: the first part of the paper's "
        "instruction scheduling: layers may overlap)",
    )  # fmt: skip
    list_scheduling: Literal["by-level", "on", "off"] = choice(
        BY_LEVEL, "on", "off",
        doc="a list scheduler orders instructions, between fences where there are any, or they run "
        "in their layers' order; by level: on in full and plus (our choice: the second part)",
    )  # fmt: skip
    plus: Ingredients = ALL_INGREDIENTS

    @property
    def is_ordered(self) -> bool:
        """From level `order` on."""
        return self._level.is_split

    @property
    def scheduling(self) -> Scheduling:
        """The level's own scheduling, unless an option overrides it."""
        own = self._level.scheduling
        return Scheduling(
            _chosen(self.fence, own.has_fence), _chosen(self.list_scheduling, own.is_listed)
        )

    @property
    def feeding(self) -> Feeding:
        """As the option chooses."""
        return Feeding(tiles=DEFAULT_FEEDING.tiles if self.double_buffering else 1)

    @property
    def gb_use(self) -> GbUse:
        """As the options choose."""
        return GbUse(is_reserved=self.gb_room == "reserved", has_conflicts=self.conflicts == "gb")

    @property
    def frame(self) -> Frame:
        """With the order of instances and what a split axis must carry to."""
        return replace(
            super().frame,
            is_breadth_first=self._is_breadth_first,
            is_partial=self.coverage == "outputs",
        )

    def binder(self, cores: int, fixed: Mapping[str, Binding]) -> Binder:
        """Algorithm 4 as the options choose."""
        return replace(
            divided_by(self.binding, cores, fixed),
            is_plain_in_gb=self.gb_binding == "plain",
            is_across=self.binding_of == "instances",
        )

    def splitter(self, budget: MemoryBudget) -> Splitter | None:
        """Algorithm 1 from level `order` on."""
        return self._splitter(budget) if self.is_ordered else None

    def plan(self, target: Target) -> Plan:
        """Algorithms 1 to 4, and at level `plus` what costs less."""
        own = self.paper_method(target)
        return Plus(own, self.plus)(target) if own.level.is_beyond_paper else own(target)

    def paper_method(self, target: Target) -> GraphTurbo:
        """Algorithms 1 to 4 with these options and this level's scheduling."""
        level = replace(
            self._level, scheduling=self.scheduling, is_breadth_first=self._is_breadth_first
        )
        return GraphTurbo(
            self._splitter(target.budget),
            Merging(self.blocks == "first", MergeRule(self.merging)),
            is_fit_checked=self.fit == "core",
            level=level,
        )

    @property
    def _level(self) -> Level:
        return next(level for level in ALL_LEVELS if level.name == self.level)

    @property
    def _is_breadth_first(self) -> bool:
        return self.instance_order == "breadth-first"

    def _splitter(self, budget: MemoryBudget) -> Splitter:
        return Splitter(
            budget.split_bytes,
            literal_candidates if self.candidates == "literal" else divisors,
            lexicographic if self.best == "lexicographic" else fewest_pieces,
            self.peak == "literal",
            self.coverage == "outputs",
        )


def _chosen(option: str, by_level: bool) -> bool:
    return by_level if option == BY_LEVEL else option == "on"
