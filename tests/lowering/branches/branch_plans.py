"""Plans whose layers are branches of one kernel, on cores that the test names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.strategies.ios.core_parts import assembled_on_cores
from graphturbo_core.strategies.ios.stage_kernels import layer_kernels
from graphturbo_core.strategies.steps.assemble import Recipe
from graphturbo_core.strategies.steps.binding import Binder
from graphturbo_core.strategies.steps.branch_kernels import CoreBranch
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.placement import Nearest
from tests.strategies.samples import weighted

Steps = Sequence[Mapping[str, tuple[int, ...]]]
"""Per kernel, the cores of each branch by its layers' names, such as "b c"."""


def branch_plan(text: str, hardware: Hardware, steps: Steps) -> Plan:
    """The checked plan of these kernels."""
    target = Target(weighted(text), hardware, "fp16", Binder(hardware.cores))
    layers = layer_kernels(target)
    place = {op: layer.index for layer in layers.graph.layers for op in layer.ops}
    without_fence = Scheduling(has_fence=False, is_listed=False)
    recipe = Recipe("toy", layers.units, (), Nearest.DRAM, scheduling=without_fence)
    kernels = [
        [CoreBranch(tuple(place[op] for op in ops.split()), cores) for ops, cores in step.items()]
        for step in steps
    ]
    plan = assembled_on_cores(target, recipe, layers, kernels)
    plan.check()
    return plan
