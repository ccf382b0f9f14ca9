"""The growing coarse graph of Algorithm 2: contraction, reachability, post-dominators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from graphturbo_core.strategies.graphturbo.layer_graph import LayerGraph
from graphturbo_core.strategies.graphturbo.splitting import SplitInfo, SubGraph


@dataclass(frozen=True, slots=True)
class Part:
    """One node of the coarse graph: layers in topological order and their best split."""

    layers: tuple[int, ...]
    split: SplitInfo | None
    has_weights: bool

    @property
    def pieces(self) -> int:
        """Piece count of its best split, 0 where it has none."""
        return self.split.pieces if self.split else 0


SplitOf = Callable[[SubGraph], SplitInfo | None]


class CoarseGraph:
    """Parts by number; contraction gives a new number and removes the old ones."""

    def __init__(self, layers: LayerGraph, split_of: SplitOf) -> None:
        """One part per layer, numbered as the layers are."""
        self.layers = layers
        self._split_of = split_of
        self._seen: dict[tuple[int, ...], SplitInfo | None] = {}
        count = len(layers.layers)
        self.parts = {
            index: Part((index,), self.split((index,)), layers.has_weights[index])
            for index in range(count)
        }
        self.readers = {index: dict.fromkeys(layers.successors[index]) for index in range(count)}
        self.sources: dict[int, dict[int, None]] = {index: {} for index in range(count)}
        for index, readers in self.readers.items():
            for reader in readers:
                self.sources[reader][index] = None
        self._next = count
        self._rank: dict[int, int] | None = {index: index for index in range(count)}

    def split(self, layers: tuple[int, ...]) -> SplitInfo | None:
        """The best split of these layers taken as one, worked out once."""
        if layers not in self._seen:
            self._seen[layers] = self._split_of(SubGraph(self.layers, layers))
        return self._seen[layers]

    def members(self, parts: Iterable[int]) -> tuple[int, ...]:
        """Layers of these parts in topological order."""
        return tuple(sorted(layer for part in parts for layer in self.parts[part].layers))

    @property
    def rank(self) -> dict[int, int]:
        """A topological order of the parts; equal choices by their first layer."""
        if self._rank is None:
            self._rank = {part: place for place, part in enumerate(self._topological())}
        return self._rank

    def ordered(self, parts: Iterable[int]) -> list[int]:
        """These parts by rank."""
        rank = self.rank
        return sorted(parts, key=lambda part: rank[part])

    def _topological(self) -> list[int]:
        """Depth-first post-order, turned round; parts with earlier layers come first."""
        order: list[int] = []
        seen: set[int] = set()
        first = {part: self.parts[part].layers[0] for part in self.parts}
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
        """Whether a path leads from `start` to `end`, a direct edge counted.

        Contracting two siblings closes a cycle exactly where one has such a path to the other.
        """
        rank = self.rank
        limit = rank[end]
        stack, seen = [start], {start}
        while stack:
            for reader in self.readers[stack.pop()]:
                if reader == end:
                    return True
                if reader not in seen and rank[reader] < limit:
                    seen.add(reader)
                    stack.append(reader)
        return False

    def is_convex(self, parts: Sequence[int]) -> bool:
        """Whether no path leaves the parts and comes back: contracting keeps the graph acyclic."""
        inside = set(parts)
        rank = self.rank
        limit = max(rank[part] for part in parts)
        stack = [r for part in parts for r in self.readers[part] if r not in inside]
        seen = set(stack)
        while stack:
            for reader in self.readers[stack.pop()]:
                if reader in inside:
                    return False
                if reader not in seen and rank[reader] < limit:
                    seen.add(reader)
                    stack.append(reader)
        return True

    def contract(self, parts: Sequence[int]) -> int:
        """Replace the parts by one; linear in their edges."""
        layers = self.members(parts)
        merged = self._next
        self._next += 1
        has_weights = any(self.parts[part].has_weights for part in parts)
        inside = set(parts)
        readers = {r: None for part in parts for r in self.readers[part] if r not in inside}
        sources = {s: None for part in parts for s in self.sources[part] if s not in inside}
        for reader in readers:
            self._reconnect(self.sources[reader], inside, merged)
        for source in sources:
            self._reconnect(self.readers[source], inside, merged)
        for part in parts:
            del self.parts[part], self.readers[part], self.sources[part]
        self.parts[merged] = Part(layers, self.split(layers), has_weights)
        self.readers[merged], self.sources[merged] = readers, sources
        self._rank = None
        return merged

    @staticmethod
    def _reconnect(edges: dict[int, None], inside: set[int], merged: int) -> None:
        for part in [part for part in edges if part in inside]:
            del edges[part]
        edges[merged] = None

    def joins(self) -> dict[int, int]:
        """Per part its post-dominator: the nearest part that all its paths to the results pass.

        Parts that lead to several results, or whose tensors are results while others read them,
        have none. The common ancestor of a part's readers in the tree of post-dominators.
        """
        outputs = self.layers.graph_outputs
        parent: dict[int, int] = {}
        depth = {-1: 0}
        for part in reversed(self.ordered(self.parts)):
            above = list(self.readers[part])
            is_result = any(
                tensor in outputs
                for layer in self.parts[part].layers
                for tensor in self.layers.writes[layer]
            )
            join = -1 if is_result or not above else above[0]
            for reader in above[1:]:
                join = _common(parent, depth, join, reader)
            parent[part] = join
            depth[part] = depth[join] + 1
        return {part: join for part, join in parent.items() if join >= 0}

    def between(self, fork: int, join: int) -> list[int]:
        """Parts strictly between a fork and the join that all its paths pass, by rank."""
        stack, seen = [fork], {fork, join}
        while stack:
            for reader in self.readers[stack.pop()]:
                if reader not in seen:
                    seen.add(reader)
                    stack.append(reader)
        return self.ordered(seen - {fork, join})


def _common(parent: dict[int, int], depth: dict[int, int], first: int, second: int) -> int:
    while first != second:
        if depth[first] >= depth[second]:
            first = parent[first]
        else:
            second = parent[second]
    return first
