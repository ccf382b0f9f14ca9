"""LayerGraph -> what `graphturbo:plus` may decide besides `graphturbo`, as values of variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cooperating import PRICES, SPLITS_AT
from graphturbo_core.strategies.plus.further_axes import carried_axes
from graphturbo_core.strategies.steps.splitting import SubGraph

SECOND_AXIS, PARTS = "second axis", "parts"
ONE, TWO = "one axis", "two axes"
STAYS = "stays"
CHOSEN, PAID = "by closed forms", "those that paid"
STAY, LEAVE = "stays", "does not stay"
LENDING, LENT = "lending", "DRAM lent"
COOPERATION = "co-operation"
SPLITS: Mapping[str, int] = MappingProxyType(
    {SPLITS_AT.format(price): price for price in (*PRICES, 50, 70, 200)}
)
"""Percent of its estimate at which a split run is taken (our choice: those that `graphturbo:plus`
tries, and half and twice of what the closed forms say)."""

Named = tuple[str, tuple[str, ...]]
"""A variable and what it may be besides `as is`."""


@dataclass(frozen=True)
class Beyond:
    """The further variables; a start has one axis a group or two, no stays and one cluster.

    `has_idle`: other clusters would be idle, and may lend DRAM or co-operate.
    """

    graph: LayerGraph
    hardware: Hardware
    has_idle: bool

    def of_model(self) -> Iterator[Named]:
        """Decisions for the whole model.

        1. Groups along one axis; or two of those that one axis serves badly. 2. Weights stay where
        the closed forms say so; or those alone that then paid. 3. Weights through idle clusters'
        DRAM. 4. Clusters share runs of layers: that leaves no other choice of groups.
        """
        if any(map(self._second_axes, range(len(self.graph.layers)))):
            yield SECOND_AXIS, (ONE, TWO)
        if self._has_stays:
            yield STAYS, (CHOSEN, PAID)
        if self.has_idle:
            yield LENDING, (LENT,)
            yield COOPERATION, tuple(SPLITS)

    def of_class(self, number: int, layers: Sequence[int], steps: Sequence[str]) -> Iterator[Named]:
        """Of layers that are alike: a second axis by its number, its parts, and their weights."""
        axes = sorted({axis for layer in layers for axis in self._second_axes(layer)})
        if axes:
            yield f"{SECOND_AXIS} {number}", (ONE, *map(str, axes))
            yield f"{PARTS} {number}", tuple(steps)
        if self._has_stays and any(self.graph.has_weights[layer] for layer in layers):
            yield f"{STAYS} {number}", (STAY, LEAVE)

    @property
    def _has_stays(self) -> bool:
        return self.hardware.has_gb and any(self.graph.has_weights)

    def _second_axes(self, layer: int) -> tuple[int, ...]:
        """Axes of a layer's result where it can be cut along two of them."""
        return self._axes[layer] if len(self._axes[layer]) > 1 else ()

    @cached_property
    def _axes(self) -> tuple[tuple[int, ...], ...]:
        layers = range(len(self.graph.layers))
        return tuple(carried_axes(SubGraph(self.graph, (layer,))) for layer in layers)
