"""Names -> Plan: the strategies and their levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from graphturbo_core.errors import InvariantError, OptionError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.memory_budget import memory_budget
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.scheduling import BY_LAYER
from graphturbo_core.semantics.cost import placed_on
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.baselines.astitch import astitch_plan
from graphturbo_core.strategies.baselines.layerwise import layerwise_plan
from graphturbo_core.strategies.baselines.relay import relay_layers
from graphturbo_core.strategies.baselines.tvm import tvm_plan
from graphturbo_core.strategies.graphturbo.binding import Binder, plain_by_kind, plain_literal
from graphturbo_core.strategies.graphturbo.grouping import MergeRule, Merging
from graphturbo_core.strategies.graphturbo.levels import (
    ALL_LEVELS,
    DEFAULT_LEVEL,
    Level,
)
from graphturbo_core.strategies.graphturbo.splitting import (
    Splitter,
    divisors,
    fewest_pieces,
    lexicographic,
    literal_candidates,
)
from graphturbo_core.strategies.graphturbo.strategy import GraphTurbo
from graphturbo_core.strategies.options import (
    EVALUATIONS,
    SEED,
    SPACE,
    STARTS,
    TVM,
    feeding,
    resolve_options,
    scheduling,
    tile_rules,
)
from graphturbo_core.strategies.plan_files.edits import find_wishes
from graphturbo_core.strategies.plan_files.held import (
    NO_HELD_PLAN,
    HeldPlan,
    check_followed,
    check_no_edits,
    check_no_groups,
)
from graphturbo_core.strategies.plan_files.restore import Frame, restored_plan
from graphturbo_core.strategies.plan_files.wishes import NO_WISHES, Wishes
from graphturbo_core.strategies.plus.plus import Plus
from graphturbo_core.strategies.steps.kernels import DEFAULT_GB_USE, Cost, GbUse, Target
from graphturbo_core.strategies.steps.outermost import plain_outermost
from graphturbo_core.strategies.tuned.making import NAME as TUNED
from graphturbo_core.strategies.tuned.search import Tuned

GRAPHTURBO = "graphturbo"
MAX_DIGITS = 9
"""Digits of a cluster batch that are read; more cannot be a batch."""


@dataclass(frozen=True, slots=True)
class StrategyInfo:
    """A strategy as the command line and the app list it; `default_level`: one of `levels`.

    `is_search`: it makes and simulates many plans, which takes minutes.
    """

    name: str
    doc: str
    levels: tuple[str, ...] = ()
    level_docs: tuple[str, ...] = ()
    default_level: str = ""
    is_search: bool = False


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """What `NAME[:LEVEL][@CLUSTER_BATCH]` says; no level is the empty string."""

    name: str
    level: str = ""
    cluster_batch: int | None = None

    @property
    def text(self) -> str:
        """The same, written out."""
        level = f":{self.level}" if self.level else ""
        batch = "" if self.cluster_batch is None else f"@{self.cluster_batch}"
        return f"{self.name}{level}{batch}"


_STRATEGIES = (
    StrategyInfo("layerwise", "an op a kernel, everything through DRAM"),
    StrategyInfo("tvm", "a Relay layer a kernel, between kernels everything in DRAM"),
    StrategyInfo(
        "astitch",
        "what lies between products stitched into a kernel, between kernels DRAM (AStitch)",
    ),
    StrategyInfo(
        "graphturbo",
        "layers grouped, groups split, instances ordered depth first (OSDI 2023)",
        tuple(level.name for level in ALL_LEVELS),
        tuple(level.doc for level in ALL_LEVELS),
        DEFAULT_LEVEL.name,
    ),
    StrategyInfo(
        TUNED,
        "the best schedule that a search finds among graphturbo's choices; takes minutes",
        is_search=True,
    ),
)


def strategies() -> Mapping[str, StrategyInfo]:
    """All strategies by name, the plainest first."""
    return MappingProxyType({info.name: info for info in _STRATEGIES})


def parse_strategy(text: str) -> StrategySpec:
    """Read `NAME[:LEVEL][@CLUSTER_BATCH]`; a strategy with levels gets its default one.

    Raises:
        OptionError: naming what exists.
    """
    head, has_batch, batch = text.partition("@")
    name, has_level, level = head.partition(":")
    info = strategies().get(name)
    if info is None:
        raise OptionError(
            "UNKNOWN_STRATEGY",
            f"strategy {name!r} is not known",
            change=f"choose one of {', '.join(strategies())}",
        )
    if has_level and level not in info.levels:
        choices = ", ".join(f"{name}:{known}" for known in info.levels) or f"{name} without level"
        raise OptionError(
            "UNKNOWN_LEVEL", f"level {level!r} is not known", f"strategy {name}", f"use {choices}"
        )
    return StrategySpec(
        name, level or info.default_level, _cluster_batch(text, batch) if has_batch else None
    )


def _cluster_batch(text: str, batch: str) -> int:
    is_number = batch.isascii() and batch.isdigit() and len(batch) <= MAX_DIGITS
    if not is_number or int(batch) < 1:
        raise OptionError(
            "BAD_CLUSTER_BATCH",
            f"cluster batch {batch!r} is no positive integer",
            f"strategy {text!r}",
            "write for instance graphturbo@16",
        )
    return int(batch)


@dataclass(frozen=True)
class PlanTask:
    """What a plan is made for: one cluster's round; `held`: a plan file's word on it.

    `clusters`: how many would be idle otherwise, and may share the round, this one among them.
    `cost`: what a plan takes, None where it is refused; a strategy that searches must be given it.
    """

    semantics: GraphSemantics = field(repr=False)
    hardware: Hardware
    number_format: str
    options: Mapping[str, str]
    held: HeldPlan = NO_HELD_PLAN
    clusters: int = 1
    cost: Cost | None = field(default=None, repr=False)


def make_plan(
    spec: StrategySpec,
    semantics: GraphSemantics,
    hardware: Hardware,
    number_format: str,
    options: Mapping[str, str],
) -> Plan:
    """The plan of one strategy for one cluster's round.

    Raises:
        OptionError: an unknown strategy or option, or a value that it does not have.
    """
    return plan_for(spec, PlanTask(semantics, hardware, number_format, options))


def plan_for(spec: StrategySpec, task: PlanTask) -> Plan:
    """The plan of one strategy, as a plan file wants it where there is one.

    Raises:
        OptionError: an unknown strategy or option, or a value that it does not have.
        PlanError: the plan file cannot be followed.
    """
    held, hardware = task.held, task.hardware
    chosen = resolve_options(task.options)
    wishes = _wishes(task, spec)
    binder = _binder(hardware, _division(spec, chosen), wishes)
    if spec.name == GRAPHTURBO:
        binder = replace(
            binder,
            is_plain_in_gb=chosen["graphturbo.gb_binding"] == "plain",
            is_across=chosen["graphturbo.binding_of"] == "instances",
        )
    rules = tile_rules(chosen)
    placed = placed_on(task.semantics, hardware, task.number_format, rules)
    target = Target(
        placed, hardware, task.number_format, binder, rules, wishes,
        feeding(spec.name, chosen),
        1 if held.is_edited else task.clusters, task.cost,
        _gb_use(chosen) if spec.name == GRAPHTURBO else DEFAULT_GB_USE,
    )  # fmt: skip
    if held.record is not None and not held.is_edited:
        return restored_plan(target, _frame(parse_strategy(spec.text), chosen), held.record)
    makers: dict[str, Callable[[Target], Plan]] = {
        "layerwise": layerwise_plan,
        "tvm": tvm_plan,
        "astitch": astitch_plan,
        GRAPHTURBO: _graphturbo(spec, hardware, chosen),
        TUNED: partial(_tuned, task, chosen),
    }
    plan = makers[parse_strategy(spec.text).name](target)
    check_followed(plan, wishes)
    return replace(
        plan,
        decisions=(*plan.decisions, *wishes.decisions()),
        fixed=wishes.fixed,
        fixed_pieces=frozenset(wishes.piece_scopes),
    )


def _division(spec: StrategySpec, chosen: Mapping[str, str]) -> str:
    """The rule by which this strategy divides results over cores."""
    options = {GRAPHTURBO: "graphturbo.binding", TVM: "tvm.division"}
    return chosen[options[spec.name]] if spec.name in options else "kind"


def _binder(hardware: Hardware, division: str, wishes: Wishes) -> Binder:
    """Algorithm 4 with a rule of its own for what nothing hands down."""
    plain = {"kind": plain_by_kind, "literal": plain_literal, "outermost": plain_outermost}
    return Binder(
        hardware.cores,
        plain[division],
        is_strict=division == "literal",
        is_extended=division != "outermost",
        fixed=wishes.bindings,
    )


def _gb_use(chosen: Mapping[str, str]) -> GbUse:
    """What GB is used for, by the resolved options of `graphturbo`."""
    return GbUse(
        is_reserved=chosen["graphturbo.gb_room"] == "reserved",
        has_conflicts=chosen["graphturbo.conflicts"] == "gb",
    )


def _frame(spec: StrategySpec, chosen: Mapping[str, str]) -> Frame:
    level = _level(spec, chosen)
    is_graphturbo, is_tuned = spec.name == GRAPHTURBO, spec.name == TUNED
    return Frame(
        strategy=f"graphturbo:{level.name}" if is_graphturbo else spec.name,
        is_by_op=spec.name in ("layerwise", "astitch"),
        is_ordered=is_tuned or (is_graphturbo and level.is_split),
        scheduling=level.scheduling if is_graphturbo else BY_LAYER,
        is_breadth_first=is_graphturbo and level.is_breadth_first,
        is_partial=is_graphturbo and chosen["graphturbo.coverage"] == "outputs",
    )


def _wishes(task: PlanTask, spec: StrategySpec) -> Wishes:
    """What the edits of a plan file come to for this strategy.

    Raises:
        PlanError: an edit names what is not there, or asks for what the strategy does not do.
    """
    held, semantics = task.held, task.semantics
    if not held.is_edited:
        return NO_WISHES
    if spec.name == TUNED:
        check_no_edits(spec.text)
    wishes = find_wishes(held.edits, semantics, task.hardware, relay_layers(semantics))
    if not _frame(spec, resolve_options(task.options)).is_ordered:
        check_no_groups(wishes, spec.text)
    return wishes


def _level(spec: StrategySpec, chosen: Mapping[str, str]) -> Level:
    """The level with what options say of it; without a name the default one."""
    level = {level.name: level for level in ALL_LEVELS}.get(spec.level, DEFAULT_LEVEL)
    return replace(
        level,
        scheduling=scheduling(level.scheduling, chosen),
        is_breadth_first=chosen["graphturbo.instance_order"] == "breadth-first",
    )


def splitter_of(strategy: str, hardware: Hardware, chosen: Mapping[str, str]) -> Splitter | None:
    """Algorithm 1 as this strategy runs it with its options; None where it does not."""
    spec = parse_strategy(strategy)
    does_split = spec.name == GRAPHTURBO and _level(spec, chosen).is_split
    return _splitter(hardware, chosen) if does_split else None


def _splitter(hardware: Hardware, chosen: Mapping[str, str]) -> Splitter:
    literal = chosen["graphturbo.candidates"] == "literal"
    return Splitter(
        memory_budget(hardware, tile_rules(chosen)).split_bytes,
        literal_candidates if literal else divisors,
        lexicographic if chosen["graphturbo.best"] == "lexicographic" else fewest_pieces,
        chosen["graphturbo.peak"] == "literal",
        chosen["graphturbo.coverage"] == "outputs",
    )


def _graphturbo(
    spec: StrategySpec, hardware: Hardware, chosen: Mapping[str, str]
) -> Callable[[Target], Plan]:
    level = _level(spec, chosen)
    graphturbo = GraphTurbo(
        _splitter(hardware, chosen),
        Merging(chosen["graphturbo.blocks"] == "first", MergeRule(chosen["graphturbo.merging"])),
        is_fit_checked=chosen["graphturbo.fit"] == "core",
        level=level,
    )
    if not level.is_beyond_paper:
        return graphturbo
    return Plus(
        graphturbo,
        has_pieces=chosen["plus.pieces"] == "on",
        has_merging=chosen["plus.merging"] == "on",
        has_axes=chosen["plus.axes"] == "on",
        has_mixing=chosen["plus.mixing"] == "on",
        has_keeping=chosen["plus.keeping"] == "on",
        has_cooperation=chosen["plus.cooperation"] == "on",
        has_lending=chosen["plus.lending"] == "on",
    )


def _tuned(task: PlanTask, chosen: Mapping[str, str], target: Target) -> Plan:
    if task.cost is None:
        raise InvariantError("NO_COST", "'tuned' was asked for a plan without a cost function")
    is_beyond_paper, has_full = chosen[SPACE] == "plus", chosen[STARTS] == "all"
    if is_beyond_paper and not has_full:
        what = f"{SPACE}=plus begins with all that graphturbo:plus tries, :full among it"
        raise OptionError("OPTIONS_APART", what, f"{STARTS}=others", "leave one of them out")
    numbers = int(chosen[SEED]), int(chosen[EVALUATIONS])
    return Tuned(task.cost, *numbers, is_beyond_paper, has_full)(target)
