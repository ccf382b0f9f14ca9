"""Layers -> Plans in which clusters share the work of one sample; our choice, not in the paper.

The layers, in topological order, are cut into runs (`runs.py`). One cluster computes a run alone,
or the run is split along one axis of its results over all clusters. Then each cluster computes a
part, halo included, and reads other parts from their DRAM. Dynamic programming over closed forms
chooses runs and axes; lowering and simulator give the cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from graphturbo_core.errors import CapacityError
from graphturbo_core.products.plan import Decision, Group, Plan
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.graphturbo.levels import PLUS, Level
from graphturbo_core.strategies.layers.carry import split_carry
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plus.runs import ALONE, Run, Runs
from graphturbo_core.strategies.steps.assemble import Recipe, assemble_cluster_parallel
from graphturbo_core.strategies.steps.instances import Section, instance_graph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import Splitter, SubGraph

SPLITS_AT = "cooperation, splits at {} %"
PRICES = (100, 140)
"""Prices of a split run in percent of its estimate, one plan per price (our choice: the closed
forms ignore the overlap of loads and computes in a kernel)."""
RULE_RUN = "runs of layers, alone or split over clusters, with the least sum of estimates"
_Way = tuple[int, Run | None, int]
"""Cycles up to a layer, the run that ends there, and the axis of the run before it."""


def cooperating_plans(
    target: Target, splitter: Splitter, level: Level, *, has_remote_dram: bool
) -> Iterator[tuple[str, Plan]]:
    """Distinct plans by name, one per price of splits; `has_remote_dram`: see `Cooperation`."""
    graph = layer_graph(target.semantics, relay_layers(target.semantics), target.number_format)
    runs = Runs(target, graph, splitter, has_remote_dram)
    known: list[list[tuple[int, int]]] = []
    for price in PRICES:
        chosen = cheapest_runs(runs, price)
        shape = [(run.last, run.axis) for run in chosen]
        if shape not in known and any(run.axis != ALONE for run in chosen):
            known.append(shape)
            yield SPLITS_AT.format(price), _plan(target, runs, chosen, level)


def plan_at_price(runs: Runs, price: int, level: Level = PLUS) -> Plan | None:
    """The plan for splits at this price; None where no run would be split, or into too many."""
    chosen = cheapest_runs(runs, price)
    if all(run.axis == ALONE for run in chosen):
        return None
    try:
        return _plan(runs.target, runs, chosen, level)
    except CapacityError:
        return None


def cheapest_runs(runs: Runs, price: int) -> tuple[Run, ...]:
    """Returns the runs with the least sum of estimates; split runs count `price` percent.

    A run's inputs count as written by the run before it. Linear in layers times `LONGEST_RUN`.
    Ties: the first run in order: alone before split, short before long.
    """
    best: list[dict[int, _Way]] = [{ALONE: (0, None, ALONE)}]
    for last in range(1, runs.count + 1):
        best.append(_cheapest_by_axis(_ways(runs, price, best, last)))
    return _traced(best)


def _cheapest_by_axis(ways: Iterator[tuple[int, Run, int]]) -> dict[int, _Way]:
    cheapest: dict[int, _Way] = {}
    for cycles, run, before in ways:
        if run.axis not in cheapest or cycles < cheapest[run.axis][0]:
            cheapest[run.axis] = cycles, run, before
    return cheapest


def _ways(
    runs: Runs, price: int, best: Sequence[Mapping[int, _Way]], last: int
) -> Iterator[tuple[int, Run, int]]:
    """Every way to `last`: each run that ends there, after each axis of the run before."""
    for run in runs.ending[last]:
        own = run.cycles if run.axis == ALONE else run.cycles * price // 100
        for before, (cycles, _, _) in best[run.first].items():
            is_new_kernel = run.axis == ALONE and (before != ALONE or not run.first)
            kernel_cycles = runs.kernel_cycles if is_new_kernel else 0
            yield cycles + own + runs.crossing_cycles(before, run) + kernel_cycles, run, before


def _traced(best: Sequence[Mapping[int, _Way]]) -> tuple[Run, ...]:
    """The chosen runs in order; adjacent runs of one cluster are merged."""
    last = len(best) - 1
    axis = min(best[last], key=lambda own: (best[last][own][0], own))
    found: list[Run] = []
    while last:
        _, run, before = best[last][axis]
        assert run is not None
        if found and run.axis == found[-1].axis == ALONE:
            found[-1] = replace(found[-1], first=run.first, cycles=found[-1].cycles + run.cycles)
        else:
            found.append(run)
        last, axis = run.first, before
    return tuple(reversed(found))


def _plan(target: Target, runs: Runs, chosen: Sequence[Run], level: Level) -> Plan:
    """The plan of these runs: pieces of a split run on their clusters, other runs on cluster 0."""
    graph = runs.graph
    parts = [SubGraph(graph, tuple(range(run.first, run.last))) for run in chosen]
    sections = [
        _section(runs, part, run.axis, f"g{number + 1}")
        for number, (part, run) in enumerate(zip(parts, chosen, strict=True))
    ]
    instances = instance_graph(target.semantics, sections)
    recipe = Recipe(
        f"graphturbo:{level.name}",
        graph.layers,
        tuple(map(_group, parts, sections)),
        level.nearest,
        scheduling=level.scheduling,
        has_gb_inside=True,
        decisions=tuple(map(_decision, chosen, sections)),
    )
    return assemble_cluster_parallel(
        target,
        recipe,
        instances,
        list(_steps(target, chosen, sections)),
        has_remote_dram=runs.has_remote_dram,
    )


def _section(runs: Runs, part: SubGraph, axis: int, name: str) -> Section:
    """The section of a run; a split run has equally many pieces per cluster."""
    if axis != ALONE:
        carry = runs.carried(part, axis)
        assert carry is not None
        return section_of(part, name, carry, runs.pieces_of(part, carry))
    split = runs.splitter(part)
    if split is None:
        return section_of(part, name, None, 1)
    carry = split_carry(part.graph, part.ops, part.outputs, split.axis)
    return section_of(part, name, carry, split.pieces)


def _steps(
    target: Target, chosen: Sequence[Run], sections: Sequence[Section]
) -> Iterator[dict[int, int]]:
    """The instance that each cluster runs, per step; neighbouring clusters run adjacent pieces."""
    first = 0
    for run, section in zip(chosen, sections, strict=True):
        team = 1 if run.axis == ALONE else target.clusters
        rounds = section.pieces // team
        for number in range(rounds):
            yield {cluster: first + cluster * rounds + number for cluster in range(team)}
        first += section.pieces


def _group(part: SubGraph, section: Section) -> Group:
    is_split = section.pieces > 1
    return Group(
        name=section.name,
        layers=part.layers,
        ops=section.ops,
        split_axis=section.axis_of[part.outputs[-1]] if is_split else -1,
        pieces=section.pieces,
        covered_ops=len(section.ops) if is_split else 0,
        peak_bytes=part.whole_peak_bytes,
    )


def _decision(run: Run, section: Section) -> Decision:
    """Decision that records how a run is shared, with its estimate."""
    numbers = {"layers": run.last - run.first, "axis": run.axis, "estimate_cycles": run.cycles}
    return Decision("cooperate", RULE_RUN, (section.name,), run.axis != ALONE, numbers)
