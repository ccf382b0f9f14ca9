"""Ops and edges -> places: one vertical axis for all panes, horizontal places per pane.

The horizontal order comes from fast-sugiyama (layered drawing, compiled). This module only
separates the boxes of sub-graphs, so that a collapsed box never covers an op of another one.
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
"""Most ranks that edges cross in the layered drawing. Each needs a place; this many need one second
(our choice; DenseNet-121's edges cross 600)."""
MAX_CHOICES = 1000
"""Most sub-graphs side by side for which the nearest free place is computed, at quadratic cost (our
choice: more than a reader can view)."""


@dataclass(frozen=True, slots=True)
class SubGraphBox:
    """Extent of a sub-graph: its first and last rank, its columns, and its preferred left edge."""

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
    """Vertical places of the ops of each run, equal for ops that runs have in common.

    `runs`: per op its rank in the model, and its rank among the parts of the model's op. The height
    of a rank is the longest chain of parts in any run.
    """
    heights = [1] * (1 + max((rank for ops in runs for rank, _ in ops), default=0))
    for rank, part in (place for ops in runs for place in ops):
        heights[rank] = max(heights[rank], part + 1)
    top = list(accumulate(heights, initial=0))
    return [[top[rank] + part for rank, part in ops] for ops in runs]


def preferred_places(ops: int, edges: Sequence[Edge]) -> list[float]:
    """Horizontal places of a layered drawing of the ops, in columns; 0 for an op without edges.

    The longest edges are ignored where all edges together cross more than `MAX_PASSED` ranks.
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
    """The shortest edges that cross at most `MAX_PASSED` ranks in all, in the given order."""
    passed = [rank[target] - rank[source] - 1 for source, target in edges]
    if sum(passed) <= MAX_PASSED:
        return edges
    order = sorted(range(len(edges)), key=lambda place: (passed[place], place))
    count = bisect_right(list(accumulate(passed[place] for place in order)), MAX_PASSED)
    return [edges[place] for place in sorted(order[:count])]


def pane_places(rank: Sequence[int], wanted: Sequence[float], owner: Sequence[int]) -> list[float]:
    """Horizontal places of one pane; `owner`: the sub-graph of each op.

    Ops of a sub-graph with equal rank lie side by side. Sub-graphs with overlapping ranks do not
    overlap. Each lies at the free place closest to its wanted one, in order of first rank.
    """
    columns = _columns(rank, wanted, owner)
    members: dict[int, list[int]] = {}
    for op, sub_graph in enumerate(owner):
        members.setdefault(sub_graph, []).append(op)
    boxes = {sub_graph: _box(ops, rank, wanted, columns) for sub_graph, ops in members.items()}
    left = _separated(boxes)
    return [left[sub_graph] + columns[op] for op, sub_graph in enumerate(owner)]


def _columns(rank: Sequence[int], wanted: Sequence[float], owner: Sequence[int]) -> list[int]:
    """Column of each op among those of its sub-graph and rank, from the left."""
    taken: dict[tuple[int, int], int] = {}
    columns = [0] * len(rank)
    for op in sorted(range(len(rank)), key=lambda op: (wanted[op], op)):
        cell = (owner[op], rank[op])
        columns[op] = taken.get(cell, 0)
        taken[cell] = columns[op] + 1
    return columns


def _box(
    ops: Sequence[int], rank: Sequence[int], wanted: Sequence[float], columns: Sequence[int]
) -> SubGraphBox:
    width = 1 + max(columns[op] for op in ops)
    middle = sum(wanted[op] for op in ops) / len(ops)
    return SubGraphBox(
        first=min(rank[op] for op in ops),
        last=max(rank[op] for op in ops),
        columns=width,
        wanted=round(middle - (width - 1) / 2, 3),
    )


def _separated(boxes: dict[int, SubGraphBox]) -> dict[int, float]:
    """Left edge of every box; boxes are placed by first rank, then wanted place.

    A box beside more than `MAX_CHOICES` others goes to the right of all, which is cheaper.
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


def _nearest(box: SubGraphBox, begin: Floats, end: Floats) -> float:
    """The free place closest to the wanted one, the left one of two.

    `begin`, `end`: the occupied intervals, sorted by begin.
    """
    room = box.columns + GAP
    candidates = np.concatenate(([box.wanted], begin - room, end + GAP))
    before = np.searchsorted(begin, candidates + room)
    reach = np.concatenate(([-np.inf], np.maximum.accumulate(end + GAP)))
    free = candidates[reach[before] <= candidates]
    distance = np.abs(free - box.wanted)
    return float(free[distance == distance.min()].min())
