"""Strategy: one way to cut a model into kernels, with its options.

A strategy is a frozen dataclass in a file of its own and a line in `registry.STRATEGIES`. The
command line, the app, plan files, the documents and the tests read that dict.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol

from graphturbo_core.hardware.memory_budget import MemoryBudget
from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Binding, Decision, Plan
from graphturbo_core.products.scheduling import BY_LAYER, Scheduling
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding
from graphturbo_core.strategies.plan_files.restore import Frame
from graphturbo_core.strategies.steps.binding import (
    Binder,
    plain_by_kind,
    plain_literal,
    plain_outermost,
)
from graphturbo_core.strategies.steps.kernels import DEFAULT_GB_USE, GbUse, PlanCost, Target
from graphturbo_core.strategies.steps.splitting import Splitter

DIVISIONS = ("kind", "outermost", "literal")
"""Rules by which a kernel's result is divided over cores."""
_PLAIN = {"kind": plain_by_kind, "outermost": plain_outermost, "literal": plain_literal}


@dataclass(frozen=True, slots=True)
class GraphBudget:
    """Budget of a search over equivalent graphs.

    `option` gets the found steps, or `unchanged`. `graphs`: most that are taken to be changed
    further. `percent`: graphs that cost so much or more above the cheapest one are not taken.
    `seed`: draws the order of graphs with equal cost; 0 draws nothing.
    """

    option: str
    unchanged: str
    graphs: int
    percent: int
    seed: int = 0


@dataclass(frozen=True, slots=True)
class GraphRun:
    """Cycles of a run on one of several graphs, and all plans that it simulated, in order."""

    cycles: int
    simulated: tuple[tuple[Plan, PlanCost], ...] = ()


class GraphTrials(Protocol):
    """Equivalent graphs of a model on a chip, for a strategy that chooses one by simulation.

    Steps are those of the option that chooses the graph; "" is the unchanged graph.
    """

    @property
    def graph(self) -> Graph:
        """The unchanged graph of a round of the largest size."""

    def expect(self, targets: int, candidates: int) -> None:
        """Sets the most plans for the progress: one per target, and those of each candidate."""

    def target(self, steps: str) -> Target:
        """Such a round of the graph after these steps, with a cost function."""

    def run(self, steps: str) -> GraphRun | None:
        """A run on that graph; None where a round is refused."""


@dataclass(frozen=True, slots=True)
class FoundSteps:
    """Steps of the chosen graph, "" for the unchanged one, and what decided."""

    steps: str
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphChoice:
    """A strategy's own choice among equivalent graphs; `option` gets its steps, or `unchanged`."""

    option: str
    unchanged: str
    choose: Callable[[GraphTrials], FoundSteps]


@dataclass(frozen=True, kw_only=True)
class Strategy(ABC):
    """One way to cut a model into kernels; a subclass's fields are its options (`option_fields`).

    `level`: one of `levels`; "" where the class has none.

    Class attributes: `name` and `doc` for lists of strategies; `source`: where its method is
    described; `departures`: where it departs from that, a sentence each; `is_fine`: a sub-graph is
    a layer, or ops that one fusion joins, and not a stage; `levels`: description by name;
    `default_level`; `is_search`: it simulates many plans, which takes minutes; `is_by_op`: its
    groups consist of ops, not of layers; `follows_edits`: of a plan file;
    `chooses_cluster_batch`: without `@N` it compares cluster batches, by
    `estimated_cycles`;
    `level_options`: per level with own options, their field and dataclass.
    """

    level: str = ""

    name: ClassVar[str]
    doc: ClassVar[str]
    source: ClassVar[str] = "our choice"
    departures: ClassVar[tuple[str, ...]] = ()
    is_fine: ClassVar[bool] = False
    levels: ClassVar[Mapping[str, str]] = MappingProxyType({})
    default_level: ClassVar[str] = ""
    is_search: ClassVar[bool] = False
    is_by_op: ClassVar[bool] = False
    follows_edits: ClassVar[bool] = True
    chooses_cluster_batch: ClassVar[bool] = False
    level_options: ClassVar[Mapping[str, type]] = MappingProxyType({})

    @abstractmethod
    def plan(self, target: Target) -> Plan:
        """Make the plan of one cluster's round."""

    def estimated_cycles(self, target: Target) -> int:
        """Cycles of a round in closed form, by which cluster batches are compared."""
        raise NotImplementedError

    def compared_cycles(self, cost: PlanCost) -> int:
        """Cycles by which the plans of several cluster batches are compared."""
        return cost.cycles

    def cycles_of_goal(self, compared: int) -> int:
        """The cycles of time, or if not `is_for_time` those of DRAM, in such cycles."""
        return compared

    @property
    def is_for_time(self) -> bool:
        """Whether `compared_cycles` are cycles of time."""
        return True

    def first_plan(self, target: Target) -> Plan:
        """The plan with which a search begins, at every cluster batch."""
        return self.plan(target)

    @property
    def label(self) -> str:
        """Strategy name in plans: `NAME` or `NAME:LEVEL`."""
        return f"{self.name}:{self.level}" if self.level else self.name

    @property
    def import_passes(self) -> tuple[str, ...]:
        """Names of import passes that run for this strategy alone; `models` lists them."""
        return ()

    @property
    def graph_search(self) -> GraphBudget | GraphChoice | None:
        """The search over graphs that comes before the plan, as a budget or the strategy's own."""
        return None

    @property
    def feeding(self) -> Feeding:
        """How engines get their operands."""
        return DEFAULT_FEEDING

    @property
    def gb_use(self) -> GbUse:
        """What GB is used for."""
        return DEFAULT_GB_USE

    @property
    def scheduling(self) -> Scheduling:
        """Which instructions may overlap."""
        return BY_LAYER

    @property
    def evaluations(self) -> int:
        """Most plans that it simulates, for its progress; 0 where they are not counted."""
        return 0

    @property
    def is_ordered(self) -> bool:
        """Whether instances are ordered (Algorithm 3): groups, pieces and axes can be edited."""
        return False

    @property
    def frame(self) -> Frame:
        """Frame that all plans of this strategy share, for restoring one from a plan file."""
        return Frame(self.label, self.is_by_op, self.is_ordered, self.scheduling)

    def binder(self, cores: int, fixed: Mapping[str, Binding]) -> Binder:
        """Algorithm 4 of this strategy; `fixed`: bindings that a plan file names."""
        return divided_by("kind", cores, fixed)

    def splitter(self, budget: MemoryBudget) -> Splitter | None:
        """Algorithm 1 of this strategy; None if it does not split."""
        del budget
        return None


def divided_by(division: str, cores: int, fixed: Mapping[str, Binding]) -> Binder:
    """Algorithm 4 with one of `DIVISIONS` for tensors without a handed-down binding."""
    return Binder(
        cores,
        _PLAIN[division],
        is_strict=division == "literal",
        is_extended=division != "outermost",
        fixed=fixed,
    )
