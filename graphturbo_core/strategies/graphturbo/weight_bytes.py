"""Plan -> bytes of weights that its kernels fetch, as far as the plan alone tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from graphturbo_core.strategies.plan import Plan, Residency
from graphturbo_core.strategies.residency import weight_part_bytes


def fetched_again(plan: Plan) -> tuple[int, ...]:
    """Per group, bytes of weights that its kernels fetch after another one of it has."""
    found = [0] * len(plan.groups)
    known: set[tuple[int, str]] = set()
    for group, name, size in _fetches(plan):
        if (group, name) in known:
            found[group] += size
        known.add((group, name))
    return tuple(found)


def fetch_cycles(plan: Plan) -> int:
    """Cycles of DRAM below which the plan cannot come: those in which its weights are fetched.

    Weights of products alone: of a table few rows may be read.
    """
    by_op, hardware = plan.semantics.by_op.values(), plan.hardware
    tiled = {each.contraction.weight for each in by_op if each.contraction}
    total = sum(size for _, name, size in _fetches(plan) if name in tiled)
    shares = hardware.clusters if plan.cooperation is not None else 1
    return hardware.transfer_cycles(total, shares * hardware.dram_bandwidth)


def _fetches(plan: Plan) -> Iterator[tuple[int, str, int]]:
    """Group, weight and bytes of each fetch by a kernel.

    A shard is fetched once. What a kernel holds in GB is there for the next one of its group: the
    smallest weights first, as far as GB has room.
    """
    tensors, sizes = plan.semantics.graph.tensors, plan.element_bytes
    room = plan.hardware.gb_bytes - weight_part_bytes(plan.hardware)
    sharded: set[str] = set()
    before = -1
    for kernel in plan.kernels:
        held = {name: tensors[name].elements * sizes[name] for name in kernel.residency}
        in_gb = {name: held[name] for name, at in kernel.residency.items() if at is Residency.GB}
        stays = _smallest(in_gb, room) if before == kernel.group else frozenset()
        for name, where in kernel.residency.items():
            if name not in sharded and name not in stays:
                yield kernel.group, name, held[name]
            if where is Residency.SHARDED:
                sharded.add(name)
        before = kernel.group


def _smallest(sizes: Mapping[str, int], room: int) -> frozenset[str]:
    """Those that fit together, the smallest first."""
    names = sorted(sizes, key=lambda name: (sizes[name], name))
    ends = accumulate(sizes[name] for name in names)
    return frozenset(name for name, end in zip(names, ends, strict=True) if end <= room)
