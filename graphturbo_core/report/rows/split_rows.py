"""Outcome -> the quadruples of Algorithm 1, one per axis of every sub-graph and layer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TypedDict

from graphturbo_core.products.plan import Plan
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.planning import splitter_of
from graphturbo_core.strategies.steps.splitting import Splitter, SubGraph

MAX_SPLITS = 5_000
"""Most quadruples in a report: those of sub-graphs, then of layers in order (our choice)."""


class SplitRow(TypedDict):
    """One quadruple of Algorithm 1; `part` is `sub-graph` or `layer`."""

    part: str
    index: int
    name: str
    axis: int
    possible: bool
    pieces: int
    covered_ops: int
    ops: int
    peak_bytes: int
    whole_peak_bytes: int
    capacity_bytes: int
    taken: bool


def split_rows(outcome: Outcome) -> Iterator[SplitRow]:
    """Results of Algorithm 1 per part and axis of its last output; none for other strategies.

    `possible`: the axis carries through the whole part and the pieces divide it. `taken`: the
    sub-graph is split along this axis. `pieces`: Algorithm 1's count for this axis alone, 0 where
    no count fits. The group's count may differ: with further split axes, and where a core's share
    did not fit (see the decisions).
    """
    splitter, plan = own_splitter(outcome), outcome.plan
    if splitter is None:
        return
    graph = layer_graph(plan.semantics, plan.layers, plan.number_format)
    rows: Iterator[SplitRow] = (
        {
            "part": part,
            "index": index,
            "name": name,
            "axis": split.axis,
            "possible": split.is_split,
            "pieces": split.pieces,
            "covered_ops": split.covered_ops,
            "ops": len(sub_graph.ops),
            "peak_bytes": split.peak_bytes,
            "whole_peak_bytes": sub_graph.whole_peak_bytes,
            "capacity_bytes": splitter.capacity_bytes,
            "taken": split.is_split and split.axis in axes,
        }
        for part, index, name, axes, layers in _parts(plan)
        for sub_graph in (SubGraph(graph, layers),)
        for split in splitter.splits(sub_graph)
    )
    yield from islice(rows, MAX_SPLITS)


def own_splitter(outcome: Outcome) -> Splitter | None:
    """Algorithm 1 with the run's options; None of strategies without it."""
    known = strategy_options()
    options = {name: text for name, text in outcome.named.options.items() if name in known}
    return splitter_of(outcome.named.strategy, outcome.hardware, options)


def _parts(plan: Plan) -> Iterator[tuple[str, int, str, frozenset[int], tuple[int, ...]]]:
    """Sub-graphs, then layers: kind, index, name, the split axes, layers."""
    for index, group in enumerate(plan.groups):
        axes = frozenset((group.split_axis, *(axis for axis, _ in group.further_splits)))
        yield "sub-graph", index, group.name, axes, group.layers
    for layer in plan.layers:
        yield "layer", layer.index, layer.name, frozenset(), (layer.index,)
