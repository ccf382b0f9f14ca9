"""Plans of one and two products on two clusters that share them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.products.plan import Group, Plan
from graphturbo_core.products.scheduling import ACROSS_LAYERS
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps.assemble import Recipe, assemble_cluster_parallel
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.instances import Section, instance_graph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.placement import Nearest
from tests.lowering.nets import chip
from tests.strategies.samples import weighted

GEMM = "g (float[4,16] x, float[16,8] w) => (float[4,8] y) { y = MatMul (x, w) }"

CHAIN = """g (float[4,16] x, float[16,8] w, float[8,4] v) => (float[4,4] z)
{ y = MatMul (x, w) z = MatMul (y, v) }"""

BOTH = ({0: 0, 1: 1},)


def two_clusters(**changes: object) -> Hardware:
    """Two clusters of one core: DRAM 16 bytes a cycle, LB 64, GB 32, a 4 x 4 array."""
    numbers = {
        "clusters": 2, "cores": 1, "matrix_rows": 4, "matrix_columns": 4,
        "dram_bandwidth": 16 * 10**9, "lb_bandwidth": 64 * 10**9, "gb_bandwidth": 32 * 10**9,
        "dram_latency_cycles": 10, "gb_latency_cycles": 5, "remote_dram_latency_cycles": 30,
        "launch_cycles": 100, "barrier_cycles": 20,
    }  # fmt: skip
    return replace(chip("generic-4x4"), **(numbers | changes))  # type: ignore[arg-type]


def cluster_plan(
    text: str,
    sections: Sequence[Section],
    steps: Sequence[dict[int, int]],
    hardware: Hardware,
    *,
    has_remote_dram: bool = False,
) -> Plan:
    """A plan of these sections, its instances on the clusters that `steps` names."""
    sem = weighted(text)
    layers = relay_layers(sem)
    target = Target(sem, hardware, "fp16", Binder(hardware.cores, plain_by_kind), clusters=2)
    graph = layer_graph(sem, layers, "fp16")
    groups = tuple(
        Group(section.name, (at,), section.ops, 1, section.pieces, 1, 0)
        for at, section in enumerate(sections)
    )
    recipe = Recipe("toy", graph.layers, groups, Nearest.LB, scheduling=ACROSS_LAYERS)
    plan = assemble_cluster_parallel(
        target, recipe, instance_graph(sem, sections), steps, has_remote_dram=has_remote_dram
    )
    plan.check()
    return plan


def gemm(**changes: object) -> Plan:
    """y = x w, four columns of y on each cluster."""
    section = Section("g1", (("y",),), ("y",), {"y": 1}, 2)
    return cluster_plan(GEMM, [section], BOTH, two_clusters(**changes))


def chain() -> Plan:
    """The same, and then z = y v on cluster 1 alone, which reads half of y from cluster 0."""
    sections = [
        Section("g1", (("y",),), ("y",), {"y": 1}, 2),
        Section("g2", (("z",),), ("z",)),
    ]
    return cluster_plan(CHAIN, sections, (*BOTH, {1: 2}), two_clusters())
