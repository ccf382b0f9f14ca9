"""Target -> Plan: the cheapest of `graphturbo:full` and plans beyond the paper, by simulation.

Each ingredient proposes plans. `Plus` takes the cheapest of all, `:full` on a tie, so that it is
never slower. An ingredient is a function from the target and the earlier proposals to new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.option_fields import switch
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.strategies.constraints import RULE_FIXED, RULE_FORBIDDEN, RULE_FORCED
from graphturbo_core.strategies.graphturbo.strategy import GraphTurbo
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plus.cooperating import cooperating_plans
from graphturbo_core.strategies.plus.crossover import (
    Timed,
    cheapest_segments,
    crossover_cuts,
)
from graphturbo_core.strategies.plus.cuts import cut_plan, cuts_of
from graphturbo_core.strategies.plus.fewer_pieces import fewer_pieces, neighbours_too
from graphturbo_core.strategies.plus.gb_retention import chosen_stays, paying_stays
from graphturbo_core.strategies.plus.least_cycles import least_cycles
from graphturbo_core.strategies.plus.second_axis import SecondAxis
from graphturbo_core.strategies.plus.variants import FEWEST, FULL, HALF_ROOM, variants
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost, Target

RULE_CHEAPEST = "the plan with the fewest cycles, graphturbo:full on a tie"
RULE_SEGMENT = "segments of layers, each with the grouping whose kernels took the fewest cycles"
FOLLOWED = (RULE_FORCED, RULE_FORBIDDEN, RULE_FIXED)
"""Rules by which `:full` followed a plan file; a proposal copies only these decisions."""
MERGED = (FEWEST, HALF_ROOM)
"""Variants of Algorithms 1 and 2 that are evaluated (our choice: starts of `tuned` that won one of
the paper's models, whole or in part; each costs a simulation)."""
GAIN_PART = 100
"""Least estimated gain, as a part of the cycles, for which fewer pieces or two axes are simulated:
of `:full`'s cycles for its own groups, of the best so far for others (our choice: a smaller gain is
not worth a simulation)."""
FEWER, FEWER_ALL_OVER = "fewer pieces", "fewer pieces all over"
STAYING, FEWER_STAYING = ", weights stay", ", fewer weights stay"
LENT = ", DRAM lent"
"""Suffixes of the names of plans that add GB retention to another plan."""
MIXTURE = "mixture"
MOST_MIXED = 2
"""Crossovers that are simulated; the second uses the kernel cycles of the first."""


@dataclass(frozen=True)
class Proposal:
    """A proposed plan, its name, and its cost; None where it is refused.

    `least_cycles`: the lower bound of a plan that was not lowered, because another plan is faster
    than this bound; else 0.
    """

    name: str
    plan: Plan
    spent: PlanCost | None
    least_cycles: int = 0

    @property
    def counted_cycles(self) -> int:
        """Its cycles, its lower bound if it was not lowered, 0 if it was refused."""
        return self.least_cycles if self.spent is None else self.spent.cycles


@dataclass(frozen=True)
class PlusTrials:
    """The proposals so far, `:full` first."""

    cost: Cost
    graph: LayerGraph
    done: list[Proposal] = field(default_factory=list)

    def take(self, name: str, plan: Plan) -> None:
        """Evaluate a plan, unless its kernels are known or its lower bound exceeds the best."""
        if any(
            (plan.kernels, plan.cooperation, plan.stays, plan.feeding)
            == (each.plan.kernels, each.plan.cooperation, each.plan.stays, each.plan.feeding)
            for each in self.done
        ):
            return
        spent, least = self.best.spent if self.done else None, least_cycles(plan)
        if spent is not None and least >= spent.cycles:
            self.done.append(Proposal(name, plan, None, least))
        else:
            self.done.append(Proposal(name, plan, self.cost(plan)))

    @property
    def best(self) -> Proposal:
        """The cheapest proposal, ties by order; `:full` where all are refused."""
        cycles = [None if each.spent is None else each.spent.cycles for each in self.done]
        possible = [number for number in cycles if number is not None]
        return self.done[cycles.index(min(possible)) if possible else 0]

    @property
    def groupings(self) -> list[Timed]:
        """Groupings of the proposals that a crossover can use."""
        return [
            Timed(each.name, self.graph, each.plan, each.spent.kernel_cycles)
            for each in self.done
            if each.spent is not None and each.plan.cooperation is None
        ]

    @property
    def cheapest_two(self) -> list[Timed]:
        """The two groupings of fewest cycles, in order of evaluation; ties: the first."""
        groupings = self.groupings
        places = sorted(range(len(groupings)), key=lambda at: sum(groupings[at].kernel_cycles))
        return [groupings[at] for at in sorted(places[:2])]


@dataclass(frozen=True, slots=True)
class Ingredients:
    """Extensions of `plus` beyond the paper; each field is the option `plus.NAME` of `--set`."""

    pieces: bool = switch(
        "graphturbo:plus: groups in fewer pieces where refetched weights cost more cycles than LB "
        "overflow"
    )
    merging: bool = switch(
        "graphturbo:plus: evaluates the groupings of fewest pieces and of half the capacity too"
    )
    axes: bool = switch(
        "graphturbo:plus: groups whose pieces are cut along two axes, neighbours merged with them"
    )
    mixing: bool = switch(
        "graphturbo:plus: crossover of groupings: per segment of layers the grouping fastest there"
    )
    keeping: bool = switch(
        "graphturbo:plus: GB retention of weights between kernels, and prefetch before the reading "
        "kernel, where that saves DRAM cycles"
    )
    cooperation: bool = switch(
        "graphturbo:plus where clusters would be idle: they share the round if that is faster"
    )
    lending: bool = switch(
        "graphturbo:plus where clusters are idle: weights are read through their DRAM shares "
        "too, one share per DMA engine at a time"
    )


ALL_INGREDIENTS = Ingredients()
Proposer = Callable[[Target, PlusTrials], Iterator[tuple[str, Plan]]]
"""Proposes plans by name, from those that were evaluated."""


@dataclass(frozen=True)
class Plus:
    """Evaluates `full` first, then the proposals of the ingredients."""

    full: GraphTurbo
    having: Ingredients = ALL_INGREDIENTS

    def __call__(self, target: Target) -> Plan:
        """The cheapest proposal; `:full`'s plan without a cost function, or if all are refused."""
        if target.cost is None:
            return self.full(target)
        trials = self._tried(target, target.cost)
        plan, best = trials.done[0].plan, trials.best
        decisions = tuple(
            Decision("plus", RULE_CHEAPEST, (each.name,), each is best, self.numbers(each))
            for each in (trials.done if len(trials.done) > 1 else ())
        )
        own = best.plan.decisions
        followed = tuple(d for d in plan.decisions if d.rule in FOLLOWED and d not in own)
        others = tuple(self.explained(trials))
        notes = (*best.plan.notes, *self.notes(trials))
        return replace(best.plan, decisions=(*followed, *own, *decisions, *others), notes=notes)

    def numbers(self, proposal: Proposal) -> dict[str, int | str]:
        """A proposal's cycles, for the decisions."""
        if proposal.spent is not None:
            return {"cycles": proposal.spent.cycles}
        least = proposal.least_cycles
        return {"cycles": f"at least {least:,}" if least else "does not fit"}

    def explained(self, _: PlusTrials) -> Iterator[Decision]:
        """Further decisions that explain the best plan; none here."""
        yield from ()

    def notes(self, _: PlusTrials) -> Iterator[str]:
        """Notes on the search; none here."""
        yield from ()

    def is_over(self, _: PlusTrials) -> bool:
        """Whether no more proposals are evaluated, though there may be some; never here."""
        return False

    def proposals(self, target: Target, cost: Cost) -> tuple[Proposal, ...]:
        """All proposals in order, `:full` first."""
        return tuple(self._tried(target, cost).done)

    def _tried(self, target: Target, cost: Cost) -> PlusTrials:
        layers = relay_layers(target.semantics)
        trials = PlusTrials(cost, layer_graph(target.semantics, layers, target.number_format))
        trials.take(FULL, self.full(target))
        for propose in self.proposers:
            for name, made in propose(target, trials):
                trials.take(name, made)
                if self.is_over(trials):
                    return trials
        return trials

    @property
    def proposers(self) -> tuple[Proposer, ...]:
        """The ingredients in order; each sees what was proposed before it."""
        return (
            self.fewer,
            self.merged,
            self.fewer_of_merged,
            self.axes,
            self.mixed,
            self.kept,
            self.lent,
            self.cooperating,
        )

    def fewer(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """The groups of `:full` in fewer pieces; none if a plan file fixes piece counts."""
        spent = trials.done[0].spent
        least_gain = spent.cycles // GAIN_PART if spent else 0
        yield from self._in_fewer(target, trials, trials.done[0], least_gain)

    def fewer_of_merged(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """Other groupings in fewer pieces, where the estimate is below the cheapest so far.

        A grouping that was not lowered counts with its lower bound: the weights that it refetches
        are in that bound, and fewer pieces refetch fewer.
        """
        for each in [one for one in trials.done if one.name in MERGED]:
            best, cycles = trials.best.spent, each.counted_cycles
            if best is not None and cycles:
                least_gain = cycles - best.cycles + best.cycles // GAIN_PART
                yield from self._in_fewer(target, trials, each, least_gain)

    def _in_fewer(
        self, target: Target, trials: PlusTrials, base: Proposal, least_gain: int
    ) -> Iterator[tuple[str, Plan]]:
        """The groups of a plan in fewer pieces, where that saves more than `least_gain` cycles."""
        if not self.having.pieces or target.constraints.fix_splits:
            return
        plan, graph = base.plan, trials.graph
        cuts = fewer_pieces(target, graph, plan, least_gain)
        if cuts == cuts_of(plan):
            return
        of = "" if base is trials.done[0] else f"{base.name}, "
        others = neighbours_too(target, graph, plan, cuts)
        for name, named in ((FEWER, cuts), (FEWER_ALL_OVER, others)):
            yield from named_plan(
                f"{of}{name}", partial(cut_plan, target, graph, named, self.full.level)
            )

    def merged(self, target: Target, _: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """Other groupings by Algorithms 1 and 2 that satisfy the plan file."""
        found = variants(self.full)
        for name in MERGED if self.having.merging else ():
            yield from named_plan(name, partial(found[name], target))

    def axes(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """`:full` and the cheapest so far, with two axes; none if a plan file constrains groups."""
        best = trials.best
        if not self.having.axes or target.constraints.shape_groups or best.spent is None:
            return
        for base in trials.groupings:
            if base.name not in (FULL, best.name):
                continue
            further = SecondAxis(target, base, self.full.splitter.capacity_bytes)
            cuts = further.cheapest(best.spent.cycles // GAIN_PART)
            if cuts != base.cuts:
                make = partial(cut_plan, target, trials.graph, cuts, self.full.level)
                yield from named_plan(f"{base.name}, two axes", make)

    def mixed(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """Crossovers of the proposals so far; after one that is not the best, of the best two."""
        is_best = True
        before = sum(each.name.startswith(MIXTURE) for each in trials.done)
        for number in range(before + 1, before + 1 + (MOST_MIXED if self.having.mixing else 0)):
            groupings = trials.groupings if is_best else trials.cheapest_two
            if len(groupings) <= 1:
                return
            segments = cheapest_segments(groupings, target.hardware)
            cuts = crossover_cuts(groupings, segments)
            if any(cuts == cuts_of(each.plan) for each in trials.done):
                return
            said = tuple(
                Decision("mix", RULE_SEGMENT, (groupings[each.grouping].name,), True,
                         {"first_layer": each.first, "layers": each.last - each.first})
                for each in segments
            )  # fmt: skip
            make = partial(cut_plan, target, trials.graph, cuts, self.full.level)
            for name, plan in named_plan(f"{MIXTURE} {number}", make):
                yield name, replace(plan, decisions=said)
                is_best = trials.best.name == name

    def kept(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """The cheapest so far with GB retention, then with the paying retentions alone.

        Weights placed by a plan file are not retained.
        """
        best = trials.best
        if not self.having.keeping or best.spent is None or target.feeding.has_own_fetches:
            return
        stays = chosen_stays(best.plan, best.spent, frozenset(target.constraints.residencies))
        if not stays:
            return
        kept = replace(best.plan, stays=stays)
        yield f"{best.name}{STAYING}", kept
        spent = trials.done[-1].spent
        if trials.done[-1].plan is kept and spent is not None:
            fewer = paying_stays(kept, best.spent.kernel_cycles, spent.kernel_cycles)
            if fewer:
                yield f"{best.name}{FEWER_STAYING}", replace(best.plan, stays=fewer)

    def lent(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """`:full` and the cheapest so far with remote DRAM shares."""
        if not self.having.lending or not has_idle(target):
            return
        for each in dict.fromkeys((0, trials.done.index(trials.best))):
            plan = lent_plan(target, trials.done[each].plan)
            yield f"{trials.done[each].name}{LENT}", plan

    def cooperating(self, target: Target, _: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """Plans whose clusters share the round; none with a fence, where all would wait."""
        splitter, level = self.full.splitter, self.full.level
        if self.having.cooperation and has_idle(target) and not level.scheduling.has_fence:
            yield from cooperating_plans(
                target, splitter, level, has_remote_dram=self.having.lending
            )


def has_idle(target: Target) -> bool:
    """Whether other clusters would be idle and their DRAM is reachable."""
    return target.clusters > 1 and target.hardware.can_cooperate


def lent_plan(target: Target, plan: Plan) -> Plan:
    """A plan of one cluster that reads weights through all clusters' DRAM."""
    kernels = len(plan.kernels)
    lent = Cooperation(target.clusters, (0,) * kernels, tuple(range(kernels)), has_remote_dram=True)
    return replace(plan, cooperation=lent)


def named_plan(name: str, make: Callable[[], Plan]) -> Iterator[tuple[str, Plan]]:
    """The plan; nothing if it has too many pieces or violates the plan file."""
    try:
        plan = make()
    except (CapacityError, PlanError):
        return
    yield name, plan
