"""Loop nests of a kernel -> KernelBinding: which core computes which part of each tensor.

Algorithm 4 of GraphTurbo (OSDI 2023), as the reference page reconstructs it (3.4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, prod
from types import MappingProxyType

from graphturbo_core.errors import PlanError
from graphturbo_core.ir.boxes import Box
from graphturbo_core.products.plan import ON_CLUSTER, Binding, Scope
from graphturbo_core.semantics.access import AxisKind, InputAccess
from graphturbo_core.semantics.fit import nest_outputs, nest_reads
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.steps.axes import AxisRank, NestAxes, following, kernel_axes
from graphturbo_core.strategies.steps.legal import SHARED_ENGINE, binding_fault


@dataclass(frozen=True)
class KernelBinding:
    """Binding of every tensor a kernel computes; the scope of those that leave a nest.

    `in_gb`: what an engine that the cores share reads or computes, so that it must lie there.
    `parked`: results that other kernels want differently, which are not kept in LB for them.
    """

    bindings: Mapping[str, Binding]
    scopes: Mapping[str, Scope]
    in_gb: frozenset[str] = frozenset()
    parked: frozenset[str] = frozenset()


Plain = Callable[[NestAxes, tuple[int, ...]], Binding]
"""A binding of a nest's output from nothing but its own axes, over these cores."""


def plain_by_kind(axes: NestAxes, cores: tuple[int, ...]) -> Binding:
    """Cut axes in the order same, window, seen by weights only; outermost first among equals.

    Each takes the largest divisor of the cores left that is not above its size; cores left over
    idle. Our choice (reference, 3.4): by kind, so that rows are cut before channels, where every
    core would need the whole input.
    """
    return _extend(Binding((), (), cores[:1]), axes, cores)


def plain_literal(axes: NestAxes, cores: tuple[int, ...]) -> Binding:
    """From the outermost axis inwards, each takes gcd(size, cores left): the literal option."""
    left = len(cores)
    cuts = []
    for axis, (size, rank) in enumerate(zip(axes.sizes, axes.ranks, strict=True)):
        parts = gcd(size, left) if rank is not AxisRank.NEVER else 1
        if parts > 1:
            cuts.append((axis, parts))
            left //= parts
    return spread_binding(cuts, cores)


def plain_outermost(axes: NestAxes, cores: tuple[int, ...]) -> Binding:
    """The outermost axis that may be cut, and no other, by the largest divisor of the cores.

    A port of TVM may have done this. An axis of one element is none: TVM drops a loop of one turn.
    """
    for axis, (size, rank) in enumerate(zip(axes.sizes, axes.ranks, strict=True)):
        if size > 1 and rank is not AxisRank.NEVER:
            return spread_binding([(axis, largest_divisor(len(cores), size))], cores)
    return spread_binding([], cores)


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
    """Cells spread evenly over the cores, so that cutting further keeps each first part in place.

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

    `is_strict`: a handed-down binding must use more cores than a plain one to be taken, as the
    reference has it. Else (our choice) it is also taken with as many cores, unless it cuts an axis
    of a worse rank than the plain one does: the move to its reader is saved. `is_extended`: cores
    that a handed-down binding leaves idle are put to use. `is_plain_in_gb`: a nest whose result was
    set to GB, since two readers want it differently, takes the plain binding, as the reference has
    it; else (our choice) the first reader's, which then finds it in place. `is_across`: bindings
    are handed from kernel to kernel too (`handing.py`), to this one `handed`. `fixed`: bindings of
    tensors that a plan file names; their nests take no other.
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

    def choose(self, axes: NestAxes, handed: Binding | None) -> Binding:
        """The plain binding, or the handed-down one, with its idle cores put to use if wanted."""
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
    """The worst rank of its cuts; up to windows all are as good.

    Worst is an axis that only weights see, or one of two computed operands: every core then reads
    the whole other one.
    """
    return max((AxisRank.WINDOW, *(axes.ranks[axis] for axis in binding.axes)))


@dataclass(eq=False)
class KernelWalk:
    """One kernel whose nests, by their place, are bound one after the other.

    `boxes`: what one instance of the kernel computes. `maker`: the nest that computes a tensor.
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
        """Bind a nest and hand inferred bindings down; the producers to visit next."""
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
        """The binding that a nest would like to find its operand in, None where there is none."""
        inferred = infer_binding(self.sem, nest, own, tensor)
        if inferred is None:
            return None
        return inferred if can_take(self.axes[producer], inferred) else None

    def result(self) -> KernelBinding:
        """What the walk came to."""
        scopes = {t: Scope.GB if t in self.in_gb else s for t, s in self.scopes.items()}
        bindings = tensor_bindings(self.sem, self.nests, self.bound)
        return KernelBinding(bindings, scopes, frozenset(self.in_gb))


def can_take(axes: NestAxes, binding: Binding) -> bool:
    """Whether a nest may be bound so."""
    return all(
        axis < len(axes.sizes)
        and axes.ranks[axis] is not AxisRank.NEVER
        and axes.sizes[axis] >= parts
        for axis, parts in zip(binding.axes, binding.grid, strict=True)
    )


def tensor_bindings(
    sem: GraphSemantics, nests: Sequence[LoopNest], bound: Mapping[int, Binding]
) -> dict[str, Binding]:
    """All tensors of a nest share its binding; one of another rank lies whole on one core."""
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
    """The bindings that a plan file names, by the place of the nest that computes the tensor.

    Raises:
        PlanError: PLAN_BINDING, one cannot be, or tensors of one nest are bound apart.
    """
    found: dict[int, Binding] = {}
    ops = ((place, op) for place, nest in enumerate(nests) if binder.fixed for op in nest.ops)
    outputs = ((place, t) for place, op in ops for t in sem.graph.op_by_name[op].outputs)
    for place, tensor in ((place, t) for place, t in outputs if t in binder.fixed):
        nest, binding = nests[place], binder.fixed[tensor]
        fault = SHARED_ENGINE if nest.is_on_cluster(sem) else ""
        fault = fault or _fixed_fault(binder, sem, axes[place], tensor)
        if not fault and found.setdefault(place, binding) != binding:
            fault = f"it is computed together with {nest.output!r}, which is bound otherwise"
        if fault:
            what = f"{tensor!r} cannot be bound so: {fault}"
            where, change = f"edits.binding.{tensor}", "change axes, grid or cores, or drop it"
            raise PlanError("PLAN_BINDING", what, where, change)
    return found


def _fixed_fault(binder: Binder, sem: GraphSemantics, axes: NestAxes, tensor: str) -> str:
    if len(sem.graph.tensors[tensor].shape) != len(axes.sizes):
        return "it lies whole on one core, as its rank is not that of its loop nest's result"
    uncut = [axis for axis, rank in enumerate(axes.ranks) if rank is AxisRank.NEVER]
    return binding_fault(binder.fixed[tensor], axes.sizes, uncut, binder.cores)


def infer_binding(sem: GraphSemantics, nest: LoopNest, own: Binding, tensor: str) -> Binding | None:
    """The binding of an operand under which every core has its part of the nest's input.

    None where a bound axis is reduced or needed whole, that is, absent from the operand, or lies
    elsewhere in it, as behind others that are laid side by side.
    """
    ops = (sem.by_op[name] for name in nest.ops)
    accesses = ((op, access) for op in ops for access in op.accesses[0])
    read = next(((op, access) for op, access in accesses if access.tensor == tensor), None)
    if read is None:
        return None
    op, access = read
    follows = [
        max(following(access, axis), _moved_little(access, axis, op.output_shapes[0], parts))
        for axis, parts in zip(own.axes, own.grid, strict=True)
    ]
    if any(axis < 0 for axis in follows):
        return None
    return Binding(tuple(follows), own.grid, own.cores)


def _moved_little(access: InputAccess, axis: int, shape: tuple[int, ...], parts: int) -> int:
    """The operand's axis whose parts lie at most half a part from those of an output axis; or -1.

    Our choice: after a slice that drops a row, or a pad that adds one, cores exchange a few rows
    where they would exchange all, bound otherwise. A slice in steps leaves too much behind it.
    """
    for own, axis_map in enumerate(access.axes):
        if axis_map.out_axis != axis or axis_map.kind is not AxisKind.OFFSET:
            continue
        before, after = axis_map.offset, axis_map.size - axis_map.offset - shape[axis]
        if 2 * parts * max(abs(before), abs(after)) <= shape[axis]:
            return own
    return -1
