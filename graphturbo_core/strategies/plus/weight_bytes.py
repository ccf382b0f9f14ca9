"""Plan -> bytes of weights that its kernels fetch, from the plan alone.

Counts weights of products only. Other weights are small, or tables of which few rows may be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from graphturbo_core.ir.boxes import is_empty, volume
from graphturbo_core.products.plan import KernelPlan, Plan, Residency


def fetched_again(plan: Plan) -> tuple[int, ...]:
    """Returns per group the bytes of weights that its kernels refetch.

    An estimate: the smallest of a kernel's GB-resident weights remain for the next kernel of its
    group, while GB has room beside the tiles of streamed weights. Lowering, which knows the exact
    room, may retain more and refetch fewer.
    """
    fetched: dict[tuple[int, str], int] = {}
    room = plan.budget.gb_data_bytes
    for kernel, reads, is_next in _reads(plan):
        stays = _smallest(_in_gb(kernel, reads), room) if is_next else frozenset()
        for name in reads.keys() - stays:
            key = kernel.group, name
            fetched[key] = fetched.get(key, 0) + reads[name]
    found = [0] * len(plan.groups)
    for (group, name), size in fetched.items():
        once = plan.semantics.graph.tensors[name].elements * plan.element_bytes[name]
        found[group] += max(0, size - once)
    return tuple(found)


def fetch_cycles(plan: Plan) -> int:
    """Returns a lower bound in cycles: the DRAM cycles of the plan's weight fetches.

    Up to GB's size, a kernel's weights count as present for the next kernel of its group.
    """
    hardware = plan.hardware
    total = sum(size for _, size in fetched(plan))
    shares = hardware.clusters if plan.cooperation is not None else 1
    return hardware.transfer_cycles(total, shares * hardware.dram_bandwidth)


def fetched(plan: Plan) -> Iterator[tuple[KernelPlan, int]]:
    """Yields every kernel with a lower bound on the weight bytes that it fetches.

    A retained weight counts as present in all kernels of its retention except the first.
    """
    for place, (kernel, reads, is_next) in enumerate(_reads(plan)):
        there = min(sum(reads.values()), plan.hardware.gb_bytes) if is_next else 0
        there += sum(
            stay.size_bytes
            for stay in plan.stays
            if stay.first < place <= stay.last and stay.weight in reads
        )
        yield kernel, max(0, sum(reads.values()) - there)


def _reads(plan: Plan) -> Iterator[tuple[KernelPlan, dict[str, int], bool]]:
    """Yields every kernel, its bytes read per weight, and whether its group ran just before.

    Only the first kernel fetches a shard. In a cluster-parallel plan the list mixes clusters: any
    earlier kernel of the group counts as the one before.
    """
    sharded: set[str] = set()
    seen: set[int] = set()
    for kernel in plan.kernels:
        reads = product_reads(plan, kernel)
        yield (
            kernel,
            {n: size for n, size in reads.items() if n not in sharded},
            kernel.group in seen,
        )
        sharded |= {name for name in reads if kernel.residency[name] is Residency.SHARDED}
        seen = {*seen, kernel.group} if plan.cooperation is not None else {kernel.group}


def product_reads(plan: Plan, kernel: KernelPlan) -> dict[str, int]:
    """Bytes of each weight that the products of a kernel read, for its own boxes."""
    found: dict[str, int] = {}
    for name in kernel.ops:
        op, semantics = plan.semantics.graph.op_by_name[name], plan.semantics.by_op[name]
        weight = semantics.contraction.weight if semantics.contraction else ""
        box = kernel.boxes.get(op.outputs[0])
        if weight not in kernel.residency or box is None or is_empty(box):
            continue
        for access in (access for access in semantics.accesses[0] if access.tensor == weight):
            size = volume(access.box(box)) * plan.element_bytes[weight]
            found[weight] = max(found.get(weight, 0), size)
    return found


def _in_gb(kernel: KernelPlan, reads: Mapping[str, int]) -> dict[str, int]:
    return {n: size for n, size in reads.items() if kernel.residency[n] is Residency.GB}


def _smallest(sizes: Mapping[str, int], room: int) -> frozenset[str]:
    """Weights that fit together in `room` bytes, the smallest first."""
    names = sorted(sizes, key=lambda name: (sizes[name], name))
    ends = accumulate(sizes[name] for name in names)
    return frozenset(name for name, end in zip(names, ends, strict=True) if end <= room)
