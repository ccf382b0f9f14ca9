"""Ops and edges -> places: one vertical axis for all panes, horizontal places for each pane.

The horizontal order comes from fast-sugiyama (layered drawing, compiled); ours is only what keeps
the boxes of sub-graphs apart, so that a collapsed box never covers an op of another one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from math import inf

import numpy as np
from fast_sugiyama import from_edges
from numpy.typing import NDArray

Edge = tuple[int, int]
Floats = NDArray[np.float64]
GAP = 1.0
"""Free columns between two sub-graphs (our choice)."""
MAX_PASSED = 100_000
"""Ranks that edges pass without ending there: each costs a place in the layered drawing, all of
these a second (our choice; DenseNet-121's edges pass 600)."""
MAX_CHOICES = 1000
"""Sub-graphs side by side among which a place is chosen: the cost is their square (our choice,
beyond what anyone can look at)."""


@dataclass(frozen=True, slots=True)
class Box:
    """A sub-graph: the ranks that it spans and how many columns its ops need."""

    first: int
    last: int
    columns: int
    wanted: float


def ranks(ops: int, edges: Sequence[Edge]) -> list[int]:
    """Longest path from an op without producers; ops are numbered in topological order."""
    rank = [0] * ops
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        rank[target] = max(rank[target], rank[source] + 1)
    return rank


def stacked(*runs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Vertical places of the ops of each run, the same for what runs have in common.

    `runs`: of every op its rank in the model, and its rank among the parts of its op of the model.
    A rank of the model is as tall as the longest chain of parts in any run.
    """
    heights = [1] * (1 + max((rank for ops in runs for rank, _ in ops), default=0))
    for rank, part in (place for ops in runs for place in ops):
        heights[rank] = max(heights[rank], part + 1)
    top = list(accumulate(heights, initial=0))
    return [[top[rank] + part for rank, part in ops] for ops in runs]


def preferred_places(ops: int, edges: Sequence[Edge]) -> list[float]:
    """Horizontal places of a layered drawing of the ops, in columns; 0 for an op without edges.

    The longest edges have no say where all together would pass more than `MAX_PASSED` ranks.
    """
    drawn = _shortest(ranks(ops, edges), sorted(set(edges)))
    if not drawn:
        return [0.0] * ops
    layouts = from_edges(
        drawn,
        vertex_spacing=1,
        ranking_type="up",
        crossing_minimization="barycenter",
        transpose=False,
    )
    place = [0.0] * ops
    for node, (x, _) in chain.from_iterable(positions for positions, *_ in layouts):
        number = int(node)
        if number < ops:
            place[number] = round(float(x), 3)
    return place


def _shortest(rank: Sequence[int], edges: Sequence[Edge]) -> Sequence[Edge]:
    """As many of the shortest edges as may be drawn, in the order given."""
    passed = [rank[target] - rank[source] - 1 for source, target in edges]
    if sum(passed) <= MAX_PASSED:
        return edges
    order = sorted(range(len(edges)), key=lambda place: (passed[place], place))
    count = bisect_right(list(accumulate(passed[place] for place in order)), MAX_PASSED)
    return [edges[place] for place in sorted(order[:count])]


def pane_places(rank: Sequence[int], wanted: Sequence[float], owner: Sequence[int]) -> list[float]:
    """Horizontal places of one pane, in which `owner` tells the sub-graph of each op.

    Ops of a sub-graph that share a rank stand side by side; sub-graphs whose ranks overlap stand
    apart, each as near to its wanted place as those placed before it (by first rank) allow.
    """
    columns = _columns(rank, wanted, owner)
    members: dict[int, list[int]] = {}
    for op, sub_graph in enumerate(owner):
        members.setdefault(sub_graph, []).append(op)
    boxes = {sub_graph: _box(ops, rank, wanted, columns) for sub_graph, ops in members.items()}
    left = _separated(boxes)
    return [left[sub_graph] + columns[op] for op, sub_graph in enumerate(owner)]


def _columns(rank: Sequence[int], wanted: Sequence[float], owner: Sequence[int]) -> list[int]:
    """Place of each op among those of its sub-graph and rank, from the left."""
    taken: dict[tuple[int, int], int] = {}
    columns = [0] * len(rank)
    for op in sorted(range(len(rank)), key=lambda op: (wanted[op], op)):
        cell = (owner[op], rank[op])
        columns[op] = taken.get(cell, 0)
        taken[cell] = columns[op] + 1
    return columns


def _box(
    ops: Sequence[int], rank: Sequence[int], wanted: Sequence[float], columns: Sequence[int]
) -> Box:
    width = 1 + max(columns[op] for op in ops)
    middle = sum(wanted[op] for op in ops) / len(ops)
    return Box(
        first=min(rank[op] for op in ops),
        last=max(rank[op] for op in ops),
        columns=width,
        wanted=round(middle - (width - 1) / 2, 3),
    )


def _separated(boxes: dict[int, Box]) -> dict[int, float]:
    """Left edge of every box; boxes are placed by first rank, then wanted place.

    Beside `MAX_CHOICES` others a box goes to the right of all, which costs less than a choice.
    """
    order = sorted(boxes, key=lambda name: (boxes[name].first, boxes[name].wanted, name))
    left: dict[int, float] = {}
    taken: list[tuple[float, float, int]] = []
    begins: list[float] = []
    rightmost, first = -inf, -1
    for name in order:
        box = boxes[name]
        if box.first != first:
            first = box.first
            taken = [each for each in taken if each[2] >= first]
            begins = [begin for begin, _, _ in taken]
            rightmost = max((end for _, end, _ in taken), default=-inf)
        if len(taken) > MAX_CHOICES:
            begin = rightmost + GAP
        else:
            begin = _nearest(box, np.array(begins), np.array([end for _, end, _ in taken]))
        place = bisect_right(begins, begin)
        begins.insert(place, begin)
        taken.insert(place, (begin, begin + box.columns, box.last))
        rightmost = max(rightmost, begin + box.columns)
        left[name] = begin
    return left


def _nearest(box: Box, begin: Floats, end: Floats) -> float:
    """The free place nearest to the wanted one, the left one of two; taken ones by their begin."""
    room = box.columns + GAP
    candidates = np.concatenate(([box.wanted], begin - room, end + GAP))
    before = np.searchsorted(begin, candidates + room)
    reach = np.concatenate(([-np.inf], np.maximum.accumulate(end + GAP)))
    free = candidates[reach[before] <= candidates]
    distance = np.abs(free - box.wanted)
    return float(free[distance == distance.min()].min())
