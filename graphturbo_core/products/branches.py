"""KernelBranch: a part of a kernel that runs at the same time as others, on its own cores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from graphturbo_core.hardware.hardware import CLUSTER_CORE


class KernelBranch(NamedTuple):
    """Ops of a branch, the cores that its results are bound to, and its tensors."""

    ops: tuple[str, ...]
    cores: frozenset[int]
    computed: frozenset[str]
    read: frozenset[str]


def branch_fault(branches: Sequence[KernelBranch], ops: Sequence[str]) -> str:
    """The constraint that a kernel's branches violate; "": none. `ops`: of the kernel, in order.

    1. Branches divide the ops, in their order.
    2. Each core belongs to at most one branch; an engine that the cores share, to none.
    3. No branch reads what another computes.
    """
    if [op for branch in branches for op in branch.ops] != list(ops):
        return "its branches are not its ops in order"
    owner: dict[int, int] = {}
    maker = {name: number for number, branch in enumerate(branches) for name in branch.computed}
    for number, branch in enumerate(branches):
        if CLUSTER_CORE in branch.cores:
            return f"branch {number} runs on an engine that the cores share"
        for core in sorted(branch.cores):
            if owner.setdefault(core, number) != number:
                return f"core {core} is in branches {owner[core]} and {number}"
        for name in sorted(branch.read):
            if maker.get(name, number) != number:
                return f"branch {number} reads {name!r}, which branch {maker[name]} computes"
    return ""


class BranchKernel(Protocol):
    """A kernel, or a branch that is lowered as a kernel; then `branches` has one entry."""

    @property
    def group(self) -> int:
        """Its group."""

    @property
    def piece(self) -> int:
        """The piece of its group."""

    @property
    def branches(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """Sections of each branch, as ops; empty for a whole kernel."""


def runs_with(kernels: Iterable[BranchKernel]) -> list[tuple[int, int]]:
    """First and last place of the kernels that run at the same time as each.

    Consecutive branches of one group and piece are branches of one kernel.
    """
    keys = [(each.group, each.piece) if each.branches else None for each in kernels]
    pairs = enumerate(pairwise((None, *keys)))
    heads = [at for at, (before, key) in pairs if key is None or key != before]
    ends = [*heads[1:], len(keys)]
    runs = zip(heads, ends, strict=True)
    return [(head, end - 1) for head, end in runs for _ in range(head, end)]
