"""`tvm`: one kernel per Relay layer, as TVM compiles; between kernels everything in DRAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from graphturbo_core.frontend.passes.clean_up import LAYER_NORM, SOFTMAX
from graphturbo_core.option_fields import choice, switch
from graphturbo_core.products.plan import Binding, Plan
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps.assemble import Recipe, assemble_whole
from graphturbo_core.strategies.steps.binding import Binder
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.placement import Nearest
from graphturbo_core.strategies.steps.whole import whole_groups, whole_sections
from graphturbo_core.strategies.strategy import DIVISIONS, Strategy, divided_by

NORMALISATIONS = {"relay": (LAYER_NORM,), "whole": (), "decomposed": (LAYER_NORM, SOFTMAX)}
"""Values of `tvm.normalisation` -> names of import passes."""


@dataclass(frozen=True, kw_only=True)
class Tvm(Strategy):
    """One kernel per layer in topological order; tensors inside a layer are in LB.

    docs/paper-assumptions.md has the reasons for its options.
    """

    name: ClassVar[str] = "tvm"
    doc: ClassVar[str] = "one kernel per Relay layer, between kernels everything in DRAM"
    source: ClassVar[str] = (
        "TVM Relay's operator fusion: apache/tvm, graph_partitioner and its tests"
    )
    is_fine: ClassVar[bool] = True

    division: Literal["kind", "outermost", "literal"] = choice(
        *DIVISIONS,
        doc="how a kernel's result is divided over cores: axes by kind of access, the outermost "
        "axis alone, or from the outermost inwards by gcd",
    )
    weights: Literal["shared", "own"] = choice(
        "shared", "own",
        doc="a weight box that several cores need is fetched once and broadcast, or each core "
        "fetches its own copy from DRAM",
    )  # fmt: skip
    double_buffering: bool = switch(
        "two tile buffers per streamed operand, or one: loads and computes alternate"
    )
    passes: Literal["any", "squares"] = choice(
        "any", "squares",
        doc="a pass of the matrix array takes any pixels of a convolution's tile, or a square of "
        "one map, as an intrinsic of fixed shape does",
    )  # fmt: skip
    normalisation: Literal["relay", "whole", "decomposed"] = choice(
        *NORMALISATIONS,
        doc="layer norm becomes mean, variance and the rest, as at Relay's import, and softmax is "
        "one op (apache/tvm pull requests 13074 and 8909); or both are one op each; or both are "
        "reductions and elementwise ops",
    )

    @property
    def import_passes(self) -> tuple[str, ...]:
        """Relay's own decomposition, or the chosen one."""
        return NORMALISATIONS[self.normalisation]

    @property
    def feeding(self) -> Feeding:
        """As the options choose."""
        return Feeding(
            has_own_fetches=self.weights == "own",
            tiles=DEFAULT_FEEDING.tiles if self.double_buffering else 1,
            has_square_passes=self.passes == "squares",
        )

    def binder(self, cores: int, fixed: Mapping[str, Binding]) -> Binder:
        """Algorithm 4 with the chosen division; kernels hand on no bindings."""
        return divided_by(self.division, cores, fixed)

    def plan(self, target: Target) -> Plan:
        """One kernel per layer."""
        layers = relay_layers(target.semantics)
        graph = layer_graph(target.semantics, layers, target.number_format)
        recipe = Recipe(self.name, layers, whole_groups(graph, range(len(layers))), Nearest.DRAM)
        return assemble_whole(target, recipe, whole_sections(graph))
