"""Coarse graph of Algorithm 2: contraction, reachability, post-dominators."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from graphturbo_core.strategies.graphturbo.live.growing import Growing
from graphturbo_core.strategies.graphturbo.mended_order import MendedOrder
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.steps.splitting import SplitInfo, SubGraph


@dataclass(frozen=True, slots=True)
class CoarsePart:
    """Node of the coarse graph: its first and last layer and its best split."""

    first: int
    last: int
    split: SplitInfo | None
    has_weights: bool

    @property
    def pieces(self) -> int:
        """Piece count of its best split, 0 where it has none."""
        return self.split.pieces if self.split else 0


@dataclass(frozen=True, slots=True)
class CoarseRegion:
    """A fork and the parts after it, by rank; with `has_join` the last one is the fork's join."""

    parts: list[int]
    has_join: bool


SplitOf = Callable[[SubGraph], SplitInfo | None]
Grow = Callable[[SubGraph, SplitInfo], Growing | None]
"""Makes a sub-graph's split that is updated as layers are added at its end, or None."""


class CoarseGraph:
    """Parts by number; contraction gives a new number and removes the old ones."""

    def __init__(self, layers: LayerGraph, split_of: SplitOf, grow: Grow | None = None) -> None:
        """One part per layer, numbered as the layers are."""
        self.layers = layers
        self._split_of = split_of
        self._grow = grow
        self._growing: dict[int, Growing] = {}
        self._grown: tuple[Sequence[int], Growing] | None = None
        count = len(layers.layers)
        self._members = {index: [index] for index in range(count)}
        self.parts = {
            index: CoarsePart(
                index, index, split_of(SubGraph(layers, (index,))), layers.has_weights[index]
            )
            for index in range(count)
        }
        self.readers = {index: dict.fromkeys(layers.successors[index]) for index in range(count)}
        self.sources: dict[int, dict[int, None]] = {index: {} for index in range(count)}
        for index, readers in self.readers.items():
            for reader in readers:
                self.sources[reader][index] = None
        self._results = {
            index
            for index, writes in enumerate(layers.writes)
            if not layers.graph_outputs.isdisjoint(writes)
        }
        self._next = count
        self.rank = MendedOrder(range(count))
        self._is_mended = False

    def split(self, parts: Sequence[int]) -> SplitInfo | None:
        """Returns the best split of these parts as one sub-graph.

        If the later parts only add layers at the end of the first, only these layers cost time.
        """
        first, *rest = sorted(parts, key=lambda part: self.parts[part].first)
        added = self.members(rest)
        if added and added[0] > self.parts[first].last:
            growing = self._growing_of(first)
            found = growing.add(added) if growing else None
            if found is not None and growing is not None:
                self._grown = (parts, growing)
                return found
        return self._split_of(SubGraph(self.layers, self.members(parts)))

    def _growing_of(self, part: int) -> Growing | None:
        known, split = self._growing.pop(part, None), self.parts[part].split
        if known is not None or self._grow is None or split is None:
            return known
        return self._grow(SubGraph(self.layers, self.members([part])), split)

    def members(self, parts: Iterable[int]) -> tuple[int, ...]:
        """Layers of these parts in topological order."""
        return tuple(sorted(layer for part in parts for layer in self._members[part]))

    def reorder(self) -> None:
        """Recompute the ranks of the parts after contractions; ties by their first layer."""
        if self._is_mended:
            self.rank = MendedOrder(self._topological())
            self._is_mended = False

    def ordered(self, parts: Iterable[int]) -> list[int]:
        """These parts by rank."""
        rank = self.rank
        return sorted(parts, key=lambda part: rank[part])

    def _topological(self) -> list[int]:
        """Reversed depth-first post-order; parts with earlier layers come first."""
        order: list[int] = []
        seen: set[int] = set()
        first = {number: part.first for number, part in self.parts.items()}
        stack = [(part, False) for part in sorted(self.parts, key=lambda p: first[p])]
        while stack:
            part, is_done = stack.pop()
            if is_done:
                order.append(part)
            elif part not in seen:
                seen.add(part)
                stack.append((part, True))
                readers = sorted(self.readers[part], key=lambda p: first[p])
                stack += [(reader, False) for reader in readers]
        return order[::-1]

    def has_path(self, start: int, end: int) -> bool:
        """Whether a path leads from `start` to `end`; a direct edge is one.

        Contracting two siblings closes a cycle exactly if one has such a path to the other.
        """
        rank = self.rank
        limit = rank[end]
        stack, seen = [start], {start}
        while stack:
            readers = self.readers[stack.pop()]
            if end in readers:
                return True
            unseen = [r for r in readers if r not in seen and rank[r] < limit]
            seen.update(unseen)
            stack += unseen
        return False

    def is_convex(self, parts: Sequence[int]) -> bool:
        """Whether no path leaves the parts and returns: the contracted graph is acyclic."""
        inside = set(parts)
        rank = self.rank
        limit = max(rank[part] for part in parts)
        stack = [r for part in parts for r in self.readers[part] if r not in inside]
        seen = set(stack)
        while stack:
            readers = self.readers[stack.pop()]
            if not inside.isdisjoint(readers):
                return False
            unseen = [r for r in readers if r not in seen and rank[r] < limit]
            seen.update(unseen)
            stack += unseen
        return True

    def contract(self, parts: Sequence[int], split: SplitInfo | None) -> int:
        """Replace the parts by one with this split; linear in their edges."""
        merged = self._next
        self._next += 1
        if self._grown is not None and self._grown[0] is parts:
            self._growing[merged] = self._grown[1]
        self._grown = None
        self.rank.contract(parts, merged, self.readers)
        self._is_mended = True
        self._reconnect(parts, merged)
        olds = [self.parts.pop(part) for part in parts]
        self.parts[merged] = CoarsePart(
            min(old.first for old in olds),
            max(old.last for old in olds),
            split,
            any(old.has_weights for old in olds),
        )
        if not self._results.isdisjoint(parts):
            self._results.difference_update(parts)
            self._results.add(merged)
        largest, *others = sorted((self._members.pop(part) for part in parts), key=len)[::-1]
        for members in others:
            largest += members
        self._members[merged] = largest
        return merged

    def _reconnect(self, parts: Sequence[int], merged: int) -> None:
        inside = set(parts)
        readers = {r: None for part in parts for r in self.readers[part] if r not in inside}
        sources = {s: None for part in parts for s in self.sources[part] if s not in inside}
        for edges in (*(self.sources[r] for r in readers), *(self.readers[s] for s in sources)):
            for old in parts:
                edges.pop(old, None)
            edges[merged] = None
        for part in parts:
            del self.readers[part], self.sources[part]
        self.readers[merged], self.sources[merged] = readers, sources

    def region(self, fork: int, most: int, stops: Collection[int] = ()) -> CoarseRegion:
        """Returns a fork, the parts between it and its join, and the join; at most `most` parts.

        The join is the nearest part that all paths to the results pass (post-dominator): by rank,
        the first part that is visited while no other waits. There is none where paths lead to
        several results, or where an inner tensor is a result that others read too. The search ends
        at `stops`.
        """
        found, waiting = [fork], [(self.rank[part], part) for part in self.readers[fork]]
        heapq.heapify(waiting)
        seen = set(self.readers[fork])
        last = fork
        while waiting and len(found) < most and last not in self._results:
            _, last = heapq.heappop(waiting)
            found.append(last)
            if not waiting:
                return CoarseRegion(found, has_join=True)
            if last in stops or not self.readers[last]:
                break
            unseen = [reader for reader in self.readers[last] if reader not in seen]
            seen.update(unseen)
            for reader in unseen:
                heapq.heappush(waiting, (self.rank[reader], reader))
        return CoarseRegion(found, has_join=False)
