"""Target, cost -> Plan: the fastest of plans by a dynamic program, their crossovers, and others.

Our choice; the paper has one grouping per model. docs/strategies.md says what it does not cover.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.strategies.best.goal import TIME, TRAFFIC, Minimised
from graphturbo_core.strategies.best.method import decided_otherwise
from graphturbo_core.strategies.best.next_best import next_best
from graphturbo_core.strategies.best.planned import Planned
from graphturbo_core.strategies.best.segment_cycles import SegmentCycles
from graphturbo_core.strategies.best.segments import Segment, segments_of
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plus.crossover import Timed
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_plan
from graphturbo_core.strategies.plus.plus import (
    GAIN_PART,
    Plus,
    PlusTrials,
    Proposal,
    Proposer,
    named_plan,
)
from graphturbo_core.strategies.steps.kernels import Target

PLANNED = "planned"
FRUGAL = "least traffic"
ALONE = "layers alone"
MOST_PLANNED = 8
"""Plans of the dynamic program that are simulated (our choice)."""
MOST_WORSE = 2
"""Plans in a row that gain nothing, after which no more are simulated (our choice)."""
LONG = DEFAULT_LIMITS.max_instructions
MOST_LONG = 3_000_000
"""A search ends when it has simulated this many instructions in programs of more than `LONG` (our
choice: three to eight of them, and one takes up to two minutes on a chip of 1,216 cores)."""


@dataclass(frozen=True)
class BestSearch(Plus):
    """`Plus` with plans of a dynamic program; crossovers follow them, and follow variations.

    `minimised`: what its cycles are. `early`: proposals that fetch inputs of the model before the
    kernels that read them. `feedings`: proposals that change only how engines get their
    operands, which come last. `programs`: the dynamic program, once it has run.
    """

    minimised: Minimised = TIME
    early: tuple[Proposer, ...] = ()
    feedings: tuple[Proposer, ...] = ()
    programs: list[Planned] = field(default_factory=list)

    @property
    def proposers(self) -> tuple[Proposer, ...]:
        """Variations of `:full` come after the plans that are usually faster.

        For traffic none whose clusters read through each other's DRAM: the busiest share counts,
        so that spreading the same bytes would look like less.
        """
        across = (self.lent, self.cooperating) if self.minimised.is_time else ()
        return (
            self.planned,
            self.alone,
            self.mixed,
            self.fewer,
            self.merged,
            self.fewer_of_merged,
            self.axes,
            self.mixed,
            self.kept,
            *self.early,
            *across,
            *self.feedings,
        )

    def planned(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """Plans of the dynamic program; none if a plan file constrains groups.

        For least time, first that of least traffic by closed forms: those of time can be far off
        where much waits in GB or DRAM (our choice).
        """
        if target.constraints.shape_groups:
            return
        is_for_time = self.minimised.is_time
        segments = _segments(trials.graph, target, is_for_time)
        program = Planned(segments, self.minimised)
        self.programs.append(program)
        if self.minimised.is_time:
            cuts, _ = Planned(segments, TRAFFIC).cheapest()
            make = partial(cut_plan, target, trials.graph, cuts, self.full.level)
            yield from named_plan(FRUGAL, make)
        for timed in trials.groupings:
            program.learn(timed)
        worse, seen = 0, set()
        for number in range(1, 1 + MOST_PLANNED):
            cuts, cycles = program.cheapest()
            if worse == MOST_WORSE or cuts in seen or not self._is_promising(trials, cycles):
                return
            seen.add(cuts)
            make = partial(cut_plan, target, trials.graph, cuts, self.full.level)
            known, best = trials.groupings, trials.best
            yield from named_plan(f"{PLANNED} {number}", make)
            if len(trials.groupings) == len(known):
                return
            program.learn(trials.groupings[-1])
            worse = worse + 1 if trials.best is best else 0

    @staticmethod
    def _is_promising(trials: PlusTrials, cycles: int) -> bool:
        """Whether a plan of so many cycles, by closed forms, is simulated.

        While `:full` is the best, only for a gain; later each plan makes closed forms better.
        """
        spent = trials.best.spent
        if spent is None or trials.best is not trials.done[0]:
            return True
        return cycles < spent.cycles - spent.cycles // GAIN_PART

    def alone(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """Each layer a kernel, if all plans so far are refused: the shortest programs."""
        if trials.best.spent is not None or target.constraints.shape_groups:
            return
        cuts = [GroupCut((layer.index,), -1, 1) for layer in trials.graph.layers]
        yield from named_plan(ALONE, partial(cut_plan, target, trials.graph, cuts, self.full.level))

    def is_over(self, trials: PlusTrials) -> bool:
        """Whether long programs with `MOST_LONG` instructions in all were simulated."""
        sizes = (each.spent.instructions for each in trials.done if each.spent is not None)
        return sum(size for size in sizes if size > LONG) >= MOST_LONG

    def notes(self, trials: PlusTrials) -> Iterator[str]:
        """A note if the search ended early."""
        if self.is_over(trials):
            yield (
                f"the search ended after {MOST_LONG:,} instructions in programs of more than "
                f"{LONG:,} each"
            )

    def numbers(self, proposal: Proposal) -> dict[str, int | str]:
        """A proposal's cycles of time, or of DRAM."""
        if self.minimised.is_time or proposal.spent is None:
            return super().numbers(proposal)
        return {"dram_cycles": sum(usage.dram_cycles for usage in proposal.spent.loads)}

    def explained(self, trials: PlusTrials) -> Iterator[Decision]:
        """What the next best decision for each group, and the paper's method, would have cost."""
        timed = {id(each.plan): each for each in trials.groupings}
        best, method = (timed.get(id(each.plan)) for each in (trials.best, trials.done[0]))
        if best is None or not self.minimised.is_time:
            return
        if method is not None:
            yield from decided_otherwise(trials.graph, method, best)
        for program in self.programs:
            program.learn(self._fed_as_others(trials, best))
            yield from next_best(program, trials.graph, best.cuts)

    @staticmethod
    def _fed_as_others(trials: PlusTrials, best: Timed) -> Timed:
        """The best plan with the feeding with which all other plans were evaluated."""
        feeding = trials.done[0].plan.feeding
        found = (each for each in trials.groupings if each.plan.feeding == feeding)
        return next((each for each in found if each.plan.kernels == best.plan.kernels), best)


def estimated_cycles(target: Target, minimised: Minimised = TIME) -> int:
    """Closed-form cycles of the dynamic program's first plan."""
    graph = layer_graph(target.semantics, relay_layers(target.semantics), target.number_format)
    return Planned(_segments(graph, target, minimised.is_time), minimised).cheapest()[1]


def _segments(graph: LayerGraph, target: Target, is_for_time: bool) -> tuple[Segment, ...]:
    """The priced segments, computed once for the estimate and the search of a target."""

    def priced() -> tuple[Segment, ...]:
        return segments_of(graph, SegmentCycles(target), is_for_time=is_for_time)

    return target.once.get(segments_of, is_for_time, priced)
