"""LayerGraph -> variables for the decisions that `graphturbo:plus` adds to `graphturbo`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cooperating import PRICES, SPLITS_AT
from graphturbo_core.strategies.plus.second_axis import carried_axes
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
"""Prices of a split run in percent of its estimate (our choice: those of `graphturbo:plus`, and
half and twice the estimate)."""

Named = tuple[str, tuple[str, ...]]
"""A variable's name and its values other than `as is`."""


@dataclass(frozen=True)
class Beyond:
    """Variables of `graphturbo:plus`; a start has one or two axes per group and no retention.

    A start runs on one cluster. `has_idle`: other clusters would be idle; they may provide remote
    DRAM shares or share the round.
    """

    graph: LayerGraph
    hardware: Hardware
    has_idle: bool

    def of_model(self) -> Iterator[Named]:
        """Decisions for the whole model.

        1. Groups along one axis; or two for groups where `is_wanting` holds. 2. GB retentions by
        the closed forms; or only the paying ones of these. 3. Remote DRAM shares. 4. Clusters
        share runs of layers: that leaves no other choice of groups.
        """
        if any(map(self._second_axes, range(len(self.graph.layers)))):
            yield SECOND_AXIS, (ONE, TWO)
        if self._has_stays:
            yield STAYS, (CHOSEN, PAID)
        if self.has_idle:
            yield LENDING, (LENT,)
            yield COOPERATION, tuple(SPLITS)

    def of_class(self, number: int, layers: Sequence[int], steps: Sequence[str]) -> Iterator[Named]:
        """Decisions for a class of equivalent layers: second axis, its parts, GB retention."""
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
        """Axes of a layer's result, if it can be cut along two of them."""
        return self._axes[layer] if len(self._axes[layer]) > 1 else ()

    @cached_property
    def _axes(self) -> tuple[tuple[int, ...], ...]:
        layers = range(len(self.graph.layers))
        return tuple(carried_axes(SubGraph(self.graph, (layer,))) for layer in layers)
