"""Plans whose layers are branches of one kernel, on cores that the test names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.strategies.ios.core_parts import assembled_on_cores
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
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
    sem = weighted(text)
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    place = {op: layer.index for layer in graph.layers for op in layer.ops}
    target = Target(sem, hardware, "fp16", Binder(hardware.cores))
    without_fence = Scheduling(has_fence=False, is_listed=False)
    recipe = Recipe("toy", graph.layers, (), Nearest.DRAM, scheduling=without_fence)
    kernels = [
        [CoreBranch(tuple(place[op] for op in ops.split()), cores) for ops, cores in step.items()]
        for step in steps
    ]
    plan = assembled_on_cores(target, recipe, graph, kernels)
    plan.check()
    return plan
