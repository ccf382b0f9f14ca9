"""`layerwise`: one kernel per op, everything through DRAM; the naive baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps.assemble import Recipe, assemble_whole
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.placement import Nearest
from graphturbo_core.strategies.steps.whole import op_graph, whole_groups, whole_sections
from graphturbo_core.strategies.strategy import Strategy


@dataclass(frozen=True, kw_only=True)
class Layerwise(Strategy):
    """One kernel per op in the order of the layers; every result goes through DRAM."""

    name: ClassVar[str] = "layerwise"
    doc: ClassVar[str] = "one kernel per op, everything through DRAM"
    is_fine: ClassVar[bool] = True
    is_by_op: ClassVar[bool] = True

    def plan(self, target: Target) -> Plan:
        """One kernel per op."""
        layers = relay_layers(target.semantics)
        graph, owners = op_graph(target, layers)
        recipe = Recipe(self.name, layers, whole_groups(graph, owners), Nearest.DRAM)
        return assemble_whole(target, recipe, whole_sections(graph))
