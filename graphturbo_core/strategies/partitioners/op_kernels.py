"""OpKernels -> Plan: what the partitioners of other compilers share.

A partitioner decides which ops share a kernel. Here its kernels get a legal order, and are bound
and placed as those of `astitch`: between kernels tensors are in DRAM, inside a kernel they are in
LB, and where two readers need another division they are in GB. Loop nests are those of Relay's
layers, as for every strategy (our choice).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.strategies.layers.ranked_order import ranked_order
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps.assemble import Recipe, assemble_whole
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.placement import Nearest
from graphturbo_core.strategies.steps.whole import op_sections

FUSE_STEP = "fuse"
"""Step of a partitioner's decisions; the subjects are two ops, in the graph's order."""
BETWEEN_LAYERS = (
    "Loop nests are those of Relay's layers: a value passes through LB between two layers of a"
    " kernel, and in the vector pipe within one."
)
"""Departure of every partitioner."""
RULE_MODEL_RESULT = "a result of the model is written to memory"
MAX_KERNEL_OPS = 256
"""Most ops of a kernel: TVM's limit of fusion (our choice where a source names none)."""


@dataclass(frozen=True, slots=True)
class OpKernel:
    """Ops of one kernel, in any order.

    An op may be in several kernels: each computes it again, and the one with it among its `roots`
    hands its result to the kernels without it.
    """

    ops: tuple[str, ...]
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpKernels:
    """A partitioner's kernels in any order, and the decisions that made them."""

    kernels: tuple[OpKernel, ...]
    decisions: tuple[Decision, ...] = ()


def plan_of_kernels(target: Target, label: str, found: OpKernels) -> Plan:
    """The plan of these kernels.

    Raises:
        InvariantError: KERNEL_CYCLE, two kernels need each other.
    """
    layers = relay_layers(target.semantics)
    kernels = in_legal_order(target.semantics.graph, found.kernels)
    sections, groups = op_sections(target, layers, kernels)
    recipe = Recipe(
        label, layers, groups, Nearest.DRAM, has_gb_inside=True, decisions=found.decisions
    )
    return assemble_whole(target, recipe, sections)


def in_legal_order(
    graph: Graph, kernels: Sequence[OpKernel]
) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Ops and handed-out tensors of each kernel, producers first; the earliest op decides.

    Linear in the ops of all kernels and their reads, but for the heap.

    Raises:
        InvariantError: KERNEL_CYCLE, two kernels need each other.
    """
    maker = _makers(kernels)
    place = {op.name: index for index, op in enumerate(graph.ops)}
    members = [frozenset(kernel.ops) for kernel in kernels]
    readers: list[set[int]] = [set() for _ in kernels]
    handed: list[set[str]] = [set() for _ in kernels]
    for number, ops in enumerate(members):
        for tensor in {name for op in ops for name in graph.activations_in(graph.op_by_name[op])}:
            source = graph.producer.get(tensor)
            if source is not None and source.name not in ops:
                readers[maker[source.name]].add(number)
                handed[maker[source.name]].add(tensor)
    for tensor in graph.output_names:
        source = graph.producer.get(tensor)
        if source is not None:
            handed[maker[source.name]].add(tensor)
    ranks = [min(place[op] for op in ops) for ops in members]
    order = ranked_order(readers, ranks)
    if len(order) < len(kernels):
        raise InvariantError("KERNEL_CYCLE", "two kernels of a partition need each other")
    return tuple(
        (
            tuple(sorted(members[number], key=place.__getitem__)),
            tuple(
                tensor
                for op in sorted(members[number], key=place.__getitem__)
                for tensor in graph.op_by_name[op].outputs
                if tensor in handed[number]
            ),
        )
        for number in order
    )


def _makers(kernels: Sequence[OpKernel]) -> dict[str, int]:
    """The kernel that hands out each op's results."""
    maker: dict[str, int] = {}
    for number, kernel in enumerate(kernels):
        for op in kernel.ops:
            maker.setdefault(op, number)
    return maker | {root: number for number, kernel in enumerate(kernels) for root in kernel.roots}
