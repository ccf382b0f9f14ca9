"""Loop nests of a kernel -> KernelBinding: the part of each tensor per core.

Algorithm 4 of GraphTurbo (OSDI 2023), as the reference page reconstructs it (3.4).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd, prod
from types import MappingProxyType

from graphturbo_core.errors import PlanError
from graphturbo_core.ir.boxes import Box, extents
from graphturbo_core.products.plan import ON_CLUSTER, Binding, Scope
from graphturbo_core.semantics.access import AxisKind, InputAccess
from graphturbo_core.semantics.fit import nest_outputs, nest_reads
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.steps.axes import AxisRank, NestAxes, following, kernel_axes
from graphturbo_core.strategies.steps.legal import SHARED_ENGINE, binding_fault


@dataclass(frozen=True)
class KernelBinding:
    """Binding of every tensor that a kernel computes; scope of those that leave a nest.

    `in_gb`: tensors that an engine shared by the cores reads or computes: they must be in GB.
    `parked`: results that other kernels bind differently; they are not resident in LB.
    """

    bindings: Mapping[str, Binding]
    scopes: Mapping[str, Scope]
    in_gb: frozenset[str] = frozenset()
    parked: frozenset[str] = frozenset()


MOST_EXTENDED = 256
"""Cached bindings of equal axes (our choice: thousands of equivalent nests have one)."""

Plain = Callable[[NestAxes, tuple[int, ...]], Binding]
"""Makes a binding of a nest's output from its own axes alone, over these cores."""


def plain_by_kind(axes: NestAxes, cores: tuple[int, ...]) -> Binding:
    """Cut axes in the order same, window, seen by weights only; outermost first among equals.

    Each axis takes the largest divisor of the remaining cores up to its size; the rest idle. Our
    choice (reference, 3.4): by kind, so that rows are cut before channels, which would make every
    core read the whole input.
    """
    return _extend(Binding((), (), cores[:1]), axes, cores)


def plain_literal(axes: NestAxes, cores: tuple[int, ...]) -> Binding:
    """From the outermost axis inwards, each takes gcd(size, remaining cores): as printed."""
    left = len(cores)
    cuts = []
    for axis, (size, rank) in enumerate(zip(axes.sizes, axes.ranks, strict=True)):
        parts = gcd(size, left) if rank is not AxisRank.NEVER else 1
        if parts > 1:
            cuts.append((axis, parts))
            left //= parts
    return spread_binding(cuts, cores)


def plain_outermost(axes: NestAxes, cores: tuple[int, ...]) -> Binding:
    """Cut only the outermost divisible axis, by the largest divisor of the cores.

    A port of TVM may have done this. Axes of one element are skipped: TVM drops such loops.
    """
    for axis, (size, rank) in enumerate(zip(axes.sizes, axes.ranks, strict=True)):
        if size > 1 and rank is not AxisRank.NEVER:
            return spread_binding([(axis, largest_divisor(len(cores), size))], cores)
    return spread_binding([], cores)


@lru_cache(maxsize=MOST_EXTENDED)
def _extend(known: Binding, axes: NestAxes, cores: tuple[int, ...]) -> Binding:
    """The cores that `known` leaves idle, divided over its other axes by the plain rule."""
    cuts = list(zip(known.axes, known.grid, strict=True))
    left = len(cores) // prod(known.grid)
    for axis in sorted(range(len(axes.sizes)), key=lambda axis: (axes.ranks[axis], axis)):
        if axis in known.axes or axes.ranks[axis] is AxisRank.NEVER:
            continue
        parts = largest_divisor(left, axes.sizes[axis])
        if parts > 1:
            cuts.append((axis, parts))
            left //= parts
    return spread_binding(cuts, cores)


def largest_divisor(number: int, limit: int) -> int:
    """The largest divisor of a number that is not above the limit."""
    return next(part for part in range(min(number, max(1, limit)), 0, -1) if number % part == 0)


def spread_binding(cuts: Sequence[tuple[int, int]], cores: tuple[int, ...]) -> Binding:
    """Spread cells evenly over the cores, so that a further cut leaves each first part in place.

    The vendor's manual: from [[0,1],[2,3],[4,5],[6,7]] to [0,2,4,6] takes 4 transfers, to
    [0,1,2,3] it takes 7.
    """
    used = prod(parts for _, parts in cuts)
    step = len(cores) // used
    return Binding(
        tuple(axis for axis, _ in cuts),
        tuple(parts for _, parts in cuts),
        tuple(cores[cell * step] for cell in range(used)),
    )


@dataclass(frozen=True)
class Binder:
    """Algorithm 4 with its open choices.

    `is_strict`: a handed-down binding is taken only if it uses more cores than the plain one, as in
    the reference. Else (our choice) it is also taken with equally many cores, unless it cuts an
    axis of a worse rank: that saves the move to its reader. `is_extended`: cores that a handed-down
    binding leaves idle are used too. `is_plain_in_gb`: a nest whose result goes to GB, because two
    readers bind it differently, takes the plain binding, as in the reference; else (our choice) the
    first reader's binding, which saves that reader's moves. `is_across`: bindings are also handed
    from kernel to kernel (`handing.py`), to this one `handed`. `fixed`: bindings of tensors that a
    plan file names; their nests take no other.
    """

    cores: int
    plain: Plain = plain_by_kind
    is_strict: bool = False
    is_extended: bool = True
    is_plain_in_gb: bool = False
    is_across: bool = False
    handed: Mapping[str, Binding] = field(default_factory=lambda: MappingProxyType({}))
    fixed: Mapping[str, Binding] = field(default_factory=lambda: MappingProxyType({}))

    def __call__(
        self, sem: GraphSemantics, nests: Sequence[LoopNest], boxes: Mapping[str, Box]
    ) -> KernelBinding:
        """Bind every nest, from the results backwards, depth first."""
        walk = _BindingWalk(self, sem, nests, boxes)
        walk.run()
        return walk.result()

    def read_of(self, boxes: Mapping[str, Box]) -> Hashable:
        """What bindings depend on: the boxes' sizes. So pieces of equal size have one binding."""
        return tuple([(tensor, extents(box)) for tensor, box in boxes.items()])

    def choose(self, axes: NestAxes, handed: Binding | None) -> Binding:
        """The plain or the handed-down binding, the latter extended if `is_extended`."""
        cores = tuple(range(self.cores))
        plain = self.plain(axes, cores)
        if handed is None:
            return plain
        updated = _extend(handed, axes, cores) if self.is_extended else handed
        if len(updated.cores) != len(plain.cores):
            return updated if len(updated.cores) > len(plain.cores) else plain
        is_worse = _cost(updated, axes) > _cost(plain, axes)
        return plain if self.is_strict or is_worse else updated


def _cost(binding: Binding, axes: NestAxes) -> AxisRank:
    """The worst rank of a binding's cuts; ranks up to windows are equal.

    The worst rank is an axis that only weights have, or only one of two computed operands: every
    core then reads the whole other operand.
    """
    return max((AxisRank.WINDOW, *(axes.ranks[axis] for axis in binding.axes)))


@dataclass(eq=False)
class KernelWalk:
    """State of binding one kernel, nest by nest.

    `boxes`: boxes that one instance of the kernel computes. `maker`: nest that computes a tensor.
    `fixed`: bindings that a plan file names.
    """

    binder: Binder
    sem: GraphSemantics
    nests: Sequence[LoopNest]
    boxes: Mapping[str, Box]

    def __post_init__(self) -> None:
        """Nothing is bound yet."""
        outputs = (nest_outputs(self.sem, nest) for nest in self.nests)
        self.maker = {t: place for place, tensors in enumerate(outputs) for t in tensors}
        self.axes = kernel_axes(self.sem, self.nests, self.boxes)
        self.fixed = fixed_bindings(self.binder, self.sem, self.nests, self.axes)
        self.bound: dict[int, Binding] = {}


class _BindingWalk(KernelWalk):
    """Algorithm 4 on one kernel."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.handed: dict[int, Binding] = {}
        for tensor, binding in self.binder.handed.items():
            place = self.maker[tensor]
            is_on_cluster = self.nests[place].is_on_cluster(self.sem)
            if not is_on_cluster and can_take(self.axes[place], binding):
                self.handed.setdefault(place, binding)
        self.scopes = dict.fromkeys(self.maker, Scope.LB)
        self.in_gb: set[str] = set()

    def run(self) -> None:
        """Depth first from the last nest backwards; every nest is visited once."""
        stack = list(range(len(self.nests)))
        while stack:
            place = stack.pop()
            if place not in self.bound:
                stack += reversed(self._visit(place))

    def _visit(self, place: int) -> list[int]:
        """Bind a nest and hand inferred bindings down; returns the producers to visit next."""
        nest = self.nests[place]
        if nest.is_on_cluster(self.sem):
            self.bound[place] = ON_CLUSTER
            self.in_gb.update((*nest_reads(self.sem, nest), *nest_outputs(self.sem, nest)))
            return [self.maker[t] for t in nest_reads(self.sem, nest) if t in self.maker]
        own = self.fixed.get(place) or self.binder.choose(self.axes[place], self._handed(place))
        self.bound[place] = own
        producers = []
        for tensor in nest_reads(self.sem, nest):
            producer = self.maker.get(tensor)
            if producer is None:
                continue
            producers.append(producer)
            if self.nests[producer].is_on_cluster(self.sem):
                continue
            inferred = self._inferred(nest, own, tensor, producer)
            if inferred is None:
                continue
            known = self.bound.get(producer) or self.fixed.get(producer)
            known = known or self.handed.setdefault(producer, inferred)
            if known != inferred:
                self.scopes[tensor] = Scope.GB
        return producers

    def _handed(self, place: int) -> Binding | None:
        """The binding that a reader handed down, if the nest may take one."""
        is_in_gb = any(
            self.scopes[tensor] is Scope.GB for tensor in nest_outputs(self.sem, self.nests[place])
        )
        return None if self.binder.is_plain_in_gb and is_in_gb else self.handed.get(place)

    def _inferred(self, nest: LoopNest, own: Binding, tensor: str, producer: int) -> Binding | None:
        """The binding of an operand that needs no moves for a nest; None: there is none."""
        inferred = infer_binding(self.sem, nest, own, tensor)
        if inferred is None:
            return None
        return inferred if can_take(self.axes[producer], inferred) else None

    def result(self) -> KernelBinding:
        """The KernelBinding of the walk."""
        scopes = {t: Scope.GB if t in self.in_gb else s for t, s in self.scopes.items()}
        bindings = tensor_bindings(self.sem, self.nests, self.bound)
        return KernelBinding(bindings, scopes, frozenset(self.in_gb))


def can_take(axes: NestAxes, binding: Binding) -> bool:
    """Whether a nest may take this binding."""
    return all(
        axis < len(axes.sizes)
        and axes.ranks[axis] is not AxisRank.NEVER
        and axes.sizes[axis] >= parts
        for axis, parts in zip(binding.axes, binding.grid, strict=True)
    )


def tensor_bindings(
    sem: GraphSemantics, nests: Sequence[LoopNest], bound: Mapping[int, Binding]
) -> dict[str, Binding]:
    """Bindings of a nest's tensors: all equal; one of another rank is whole on one core."""
    graph = sem.graph
    bindings = {}
    for place, nest in enumerate(nests):
        own = bound[place]
        rank = len(graph.tensors[nest.output].shape)
        for tensor in (t for op in nest.ops for t in graph.op_by_name[op].outputs if t):
            is_alike = len(graph.tensors[tensor].shape) == rank
            bindings[tensor] = own if is_alike else Binding((), (), own.cores[:1])
    return bindings


def fixed_bindings(
    binder: Binder, sem: GraphSemantics, nests: Sequence[LoopNest], axes: Sequence[NestAxes]
) -> dict[int, Binding]:
    """Returns the bindings that a plan file names, by the place of the computing nest.

    Raises:
        PlanError: PLAN_BINDING: a binding is impossible, or tensors of one nest differ.
    """
    found: dict[int, Binding] = {}
    ops = ((place, op) for place, nest in enumerate(nests) if binder.fixed for op in nest.ops)
    outputs = ((place, t) for place, op in ops for t in sem.graph.op_by_name[op].outputs)
    for place, tensor in ((place, t) for place, t in outputs if t in binder.fixed):
        nest, binding = nests[place], binder.fixed[tensor]
        fault = SHARED_ENGINE if nest.is_on_cluster(sem) else ""
        fault = fault or _fixed_fault(binder, sem, axes[place], tensor)
        if not fault and found.setdefault(place, binding) != binding:
            fault = f"it is computed together with {nest.output!r}, which has another binding"
        if fault:
            what = f"{tensor!r} cannot have this binding: {fault}"
            where, change = f"edits.binding.{tensor}", "change axes, grid or cores, or drop it"
            raise PlanError("PLAN_BINDING", what, where, change)
    return found


def _fixed_fault(binder: Binder, sem: GraphSemantics, axes: NestAxes, tensor: str) -> str:
    if len(sem.graph.tensors[tensor].shape) != len(axes.sizes):
        return "it is whole on one core, as its rank is not that of its loop nest's result"
    uncut = [axis for axis, rank in enumerate(axes.ranks) if rank is AxisRank.NEVER]
    return binding_fault(binder.fixed[tensor], axes.sizes, uncut, binder.cores)


def infer_binding(sem: GraphSemantics, nest: LoopNest, own: Binding, tensor: str) -> Binding | None:
    """Returns the binding of an operand under which every core has its part of the input.

    None if a bound axis is absent from the operand (reduced or needed whole), or is elsewhere in
    it, for example after other operands of a concatenation.
    """
    op = next((op for op in map(sem.by_op.__getitem__, nest.ops) if tensor in op.first_reads), None)
    if op is None:
        return None
    access = op.first_reads[tensor]
    follows = [
        max(following(access, axis), _moved_little(access, axis, op.output_shapes[0], parts))
        for axis, parts in zip(own.axes, own.grid, strict=True)
    ]
    if any(axis < 0 for axis in follows):
        return None
    return Binding(tuple(follows), own.grid, own.cores)


def _moved_little(access: InputAccess, axis: int, shape: tuple[int, ...], parts: int) -> int:
    """Returns the operand's axis whose parts shift by at most half a part, or -1.

    Our choice: after a slice that drops a row, or a pad that adds one, cores exchange a few rows;
    with another binding they would exchange all. A slice with steps shifts parts too far.
    """
    for own, axis_map in enumerate(access.axes):
        if axis_map.out_axis != axis or axis_map.kind is not AxisKind.OFFSET:
            continue
        before, after = axis_map.offset, axis_map.size - axis_map.offset - shape[axis]
        if 2 * parts * max(abs(before), abs(after)) <= shape[axis]:
            return own
    return -1
