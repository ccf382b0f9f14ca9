"""LayerGraph -> Space: variables of a search and their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.tuned.beyond import Beyond
from graphturbo_core.strategies.tuned.layer_classes import layer_classes
from graphturbo_core.strategies.tuned.orders import ORDERS
from graphturbo_core.strategies.tuned.starts import Start

START = "start"
AS_IS = "as is"
"""First value of every variable: as in the start, or as the whole-model variable."""
FLIPPED, WAITS, WHOLE = "the other way", "waits", "whole"
STEPS: Mapping[str, int] = {"two fewer": -2, "one fewer": -1, "one more": 1, "two more": 2}
"""Steps in the list of piece counts that divide every tensor inside."""

Point = Mapping[str, str]
"""A value per variable name; with all first values: `graphturbo:full`."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A decision: its values, and the bytes that its layers read and write."""

    name: str
    values: tuple[str, ...]
    size_bytes: int


@dataclass(frozen=True)
class SearchSpace:
    """Variables of a search: for the whole model, then per class of layers.

    `beyond`: variables of `graphturbo:plus`; None if the search leaves them out. Our choice: a
    group's split and weights follow its last layer's class, its waiting the first layer's. Whether
    adjacent layers share a group depends on both classes.
    """

    graph: LayerGraph
    hardware: Hardware
    starts: tuple[Start, ...]
    beyond: Beyond | None = None

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The class of each layer."""
        return layer_classes(self.graph)

    @cached_property
    def general(self) -> tuple[Variable, ...]:
        """Decisions for the whole model; the start is one, even with a single value."""
        size = sum(self._layer_bytes)
        hand_on = (AS_IS, "GB") if self.hardware.gb_bytes else (AS_IS,)
        further = self.beyond.of_model() if self.beyond is not None else ()
        return tuple(
            Variable(name, values, size)
            for name, values in (
                (START, tuple(start.name for start in self.starts)),
                ("order", tuple(ORDERS)),
                ("pieces", (AS_IS, *STEPS, WHOLE)),
                ("weights", (AS_IS, *self._residencies)),
                ("hand on", hand_on),
                *((name, (AS_IS, *values)) for name, values in further),
            )
            if len(values) > 1 or name == START
        )

    @cached_property
    def special(self) -> tuple[Variable, ...]:
        """Decisions per class, or per pair of adjacent classes."""
        found = [*self._of_classes(), *self._of_pairs()]
        return tuple(variable for variable in found if len(variable.values) > 1)

    @property
    def _residencies(self) -> tuple[str, ...]:
        return ("LB", "GB", "stream") if self.hardware.gb_bytes else ("LB", "stream")

    def _of_classes(self) -> Iterator[Variable]:
        for number, layers in sorted(self._members(self.classes).items()):
            size = sum(self._layer_bytes[layer] for layer in layers)
            rank = max(self._rank(layer) for layer in layers)
            axes = tuple(str(axis) for axis in range(rank)) if rank > 1 else ()
            yield Variable(f"pieces {number}", (AS_IS, *STEPS, WHOLE), size)
            yield Variable(f"axis {number}", (AS_IS, *axes), size)
            yield Variable(f"order {number}", (AS_IS, WAITS), size)
            if any(self.graph.has_weights[layer] for layer in layers):
                yield Variable(f"weights {number}", (AS_IS, *self._residencies), size)
            beyond = self.beyond.of_class(number, layers, tuple(STEPS)) if self.beyond else ()
            yield from (Variable(name, (AS_IS, *values), size) for name, values in beyond)

    def _of_pairs(self) -> Iterator[Variable]:
        """Variables for pairs of neighbours in the line of any start."""
        sizes: dict[str, int] = {}
        for start in self.starts:
            for before, after in zip(start.line, start.line[1:], strict=False):
                size = self._layer_bytes[before] + self._layer_bytes[after]
                name = self.pair(before, after)
                sizes[name] = max(size, sizes.get(name, 0))
        for name, size in sizes.items():
            yield Variable(name, (AS_IS, FLIPPED), size)

    def pair(self, before: int, after: int) -> str:
        """Name of the variable that decides whether two neighbours share a group."""
        return f"merge {self.classes[before]} {self.classes[after]}"

    @staticmethod
    def _members(classes: Sequence[int]) -> dict[int, list[int]]:
        members: dict[int, list[int]] = {}
        for layer, number in enumerate(classes):
            members.setdefault(number, []).append(layer)
        return members

    def _rank(self, layer: int) -> int:
        tensors = self.graph.semantics.graph.tensors
        return max((len(tensors[tensor].shape) for tensor in self.graph.writes[layer]), default=0)

    @cached_property
    def _layer_bytes(self) -> tuple[int, ...]:
        """Bytes that each layer reads and writes, weights included."""
        graph, sizes = self.graph.semantics.graph, self.graph.tensor_bytes
        found = []
        for layer, own in enumerate(self.graph.layers):
            weights = {w for op in own.ops for w in graph.weights_in(graph.op_by_name[op])}
            names = {*self.graph.reads[layer], *self.graph.writes[layer], *weights}
            found.append(sum(sizes[name] for name in names))
        return tuple(found)
