"""`astitch`: memory-intensive ops stitched between compute-intensive ones, as AStitch does.

After the reference page on fusion (AStitch, ASPLOS 2022): recalled from the paper and mapped to
this machine by us. `stitch.py` forms kernels, `stitch_binding.py` divides their work,
`stitch_schemes.py` records how values pass inside. `AStitch.departures` has what differs here. A
part of a value without room in LB spills, with a note from lowering.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from graphturbo_core.frontend.passes.clean_up import LAYER_NORM, SOFTMAX
from graphturbo_core.option_fields import choice
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.baselines.stitch import stitched_kernels
from graphturbo_core.strategies.baselines.stitch_binding import StitchBinder
from graphturbo_core.strategies.baselines.stitch_schemes import stitch_decisions
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps.assemble import Recipe, assemble_whole
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.placement import Nearest
from graphturbo_core.strategies.steps.whole import op_sections
from graphturbo_core.strategies.strategy import Strategy

NORMALISATIONS = {"stitched": (), "xla": (LAYER_NORM, SOFTMAX)}
"""Values of `astitch.normalisation` -> names of import passes."""


@dataclass(frozen=True, kw_only=True)
class AStitch(Strategy):
    """One kernel per stitched region or compute-intensive op; DRAM between kernels."""

    name: ClassVar[str] = "astitch"
    doc: ClassVar[str] = (
        "ops between products stitched into one kernel, DRAM between kernels (AStitch)"
    )
    source: ClassVar[str] = "AStitch, Zheng et al., ASPLOS 2022; recalled, not checked"
    departures: ClassVar[tuple[str, ...]] = (
        "Between kernels tensors are in DRAM: buffers of XLA, under AStitch, are device memory.",
        "Loop nests are those of Relay's layers: a value passes through LB between two layers.",
        "An LB holds a core's whole part of such a value; a block of AStitch holds a few rows.",
    )
    is_fine: ClassVar[bool] = True
    is_by_op: ClassVar[bool] = True

    normalisation: Literal["stitched", "xla"] = choice(
        *NORMALISATIONS,
        doc="softmax and layer norm are one op each, whose passes over a row run on one core, as "
        "in AStitch's regional scheme (ASPLOS 2022); or they are stitched from the reductions and "
        "elementwise ops into which XLA, under AStitch, decomposes them",
    )

    @property
    def import_passes(self) -> tuple[str, ...]:
        """XLA's decompositions if the option chooses them."""
        return NORMALISATIONS[self.normalisation]

    def plan(self, target: Target) -> Plan:
        """Stitch, bind and assemble."""
        return _stitched_plan(target)


def _stitched_plan(target: Target) -> Plan:
    layers = relay_layers(target.semantics)
    kernels = stitched_kernels(target.semantics)
    sections, groups = op_sections(target, layers, ((kernel.ops, ()) for kernel in kernels))
    old = target.binder
    binder = StitchBinder(old.cores, old.plain, old.is_strict, fixed=old.fixed)
    recipe = Recipe(AStitch.name, layers, groups, Nearest.DRAM, has_gb_inside=True)
    plan = assemble_whole(replace(target, binder=binder), recipe, sections)
    return replace(plan, decisions=stitch_decisions(plan, kernels, sections))
