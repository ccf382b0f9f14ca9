"""Loop nests of a stitched kernel -> KernelBinding: dominant ops divide, the others follow.

After the reference page on fusion (AStitch, point 3), recalled from the paper and unchecked. The
rules of this file are our choice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from graphturbo_core.ir.boxes import Box, contains, is_empty
from graphturbo_core.products.plan import Binding, Scope
from graphturbo_core.semantics.access import AxisKind, AxisMap, FusionKind, InputAccess
from graphturbo_core.semantics.fit import nest_outputs, nest_reads
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.layers.layer_graph import CARRYING
from graphturbo_core.strategies.steps.binding import (
    Binder,
    KernelBinding,
    KernelWalk,
    can_take,
    infer_binding,
    tensor_bindings,
)


class Dominance(IntEnum):
    """Reason why a nest is dominant: reductions first, results last."""

    REDUCTION = 0
    EXPENSIVE = 1
    OUTPUT = 2


@dataclass(frozen=True, slots=True)
class Dominant:
    """A nest by its place in the kernel; `elements`: of the largest tensor that it reads."""

    dominance: Dominance
    elements: int
    place: int


def dominants(sem: GraphSemantics, nests: Sequence[LoopNest]) -> tuple[Dominant, ...]:
    """Returns the dominant nests, the leading ones first.

    1. Reductions: nests that need several elements of an operand for one of their result. 2.
    Expensive elementwise nests (with a transcendental) whose result is broadcast in the kernel.
    3. Nests whose result leaves the kernel. Ties: the nest that reads the largest tensor, then the
    last one (our choice: the largest tensor gets the best division).
    """
    inside = {op for nest in nests for op in nest.ops}
    found = []
    for place, nest in enumerate(nests):
        dominance = _dominance(sem, nest, inside)
        if dominance is not None:
            sizes = (sem.graph.tensors[t].elements for t in nest_reads(sem, nest))
            found.append(Dominant(dominance, max(sizes, default=0), place))
    return tuple(sorted(found, key=lambda d: (d.dominance, -d.elements, -d.place)))


def _dominance(sem: GraphSemantics, nest: LoopNest, inside: set[str]) -> Dominance | None:
    if any(is_combining(sem, op) for op in nest.ops):
        return Dominance.REDUCTION
    graph = sem.graph
    readers = [(t, reader) for t in nest_outputs(sem, nest) for reader in graph.consumers[t]]
    is_expensive = any(sem.by_op[op].transcendentals for op in nest.ops)
    if is_expensive and any(
        reader.name in inside and is_broadcast(sem, tensor, reader.name)
        for tensor, reader in readers
    ):
        return Dominance.EXPENSIVE
    is_read_here = bool(readers) and all(reader.name in inside for _, reader in readers)
    is_output = any(t in graph.output_names for t in nest_outputs(sem, nest))
    return None if is_read_here and not is_output else Dominance.OUTPUT


def is_combining(sem: GraphSemantics, name: str) -> bool:
    """Whether an op combines several elements of an activation into one of its result.

    An op that only moves elements does not.
    """
    semantics = sem.by_op[name]
    if semantics.fusion is FusionKind.INJECTIVE:
        return False
    activations = set(sem.graph.activations_in(sem.graph.op_by_name[name]))
    reads = (access for reads in semantics.accesses for access in reads)
    axes = (axis for access in reads if access.tensor in activations for axis in access.axes)
    return any(_is_combined(axis) for axis in axes)


def _is_combined(axis: AxisMap) -> bool:
    if axis.kind is AxisKind.WINDOW:
        return axis.kernel > 1
    return axis.kind in (AxisKind.REDUCE, AxisKind.WHOLE) and axis.size > 1


def is_broadcast(sem: GraphSemantics, tensor: str, reader: str) -> bool:
    """Whether an op broadcasts an element of the tensor along an axis of its result."""
    semantics = sem.by_op[reader]
    return any(
        size > 1 and all(own.out_axis != axis for own in access.axes)
        for reads, shape in zip(semantics.accesses, semantics.output_shapes, strict=True)
        for access in reads
        if access.tensor == tensor
        for axis, size in enumerate(shape)
    )


@dataclass(frozen=True)
class StitchBinder(Binder):
    """Algorithm 4's plain binding for dominant nests, handed on to readers and producers.

    1. Unbound dominant nests take the plain binding, in their order. 2. The binding is handed to
    producers and readers, nearest first. A nest takes it, extended over cores that it leaves idle,
    if that keeps as many cores busy as its plain binding (`Binder.choose`). So each core gets many
    small rows, and one big row is divided over several cores. 3. A tensor of which every core reads
    only its own part is resident in LB; all others go through GB.
    """

    def __call__(
        self, sem: GraphSemantics, nests: Sequence[LoopNest], boxes: Mapping[str, Box]
    ) -> KernelBinding:
        """Bind every nest; a single nest, or one on a shared engine, by Algorithm 4."""
        if len(nests) == 1 or any(nest.is_on_cluster(sem) for nest in nests):
            return super().__call__(sem, nests, boxes)
        walk = _Stitching(self, sem, nests, boxes)
        walk.run()
        return walk.result()

    def read_of(self, boxes: Mapping[str, Box]) -> Hashable:
        """The boxes themselves: rule 3 compares parts of them."""
        return tuple(boxes.items())


class _Stitching(KernelWalk):
    """The rules above on one kernel."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.reads: list[list[str]] = []
        self.readers: dict[str, list[int]] = {}
        for place, nest in enumerate(self.nests):
            self.reads.append([t for t in nest_reads(self.sem, nest) if t in self.maker])
            for tensor in self.reads[place]:
                self.readers.setdefault(tensor, []).append(place)

    def run(self) -> None:
        """Rules 1 and 2; nests that no dominant nest reaches are bound from the last backwards."""
        seeds = (dominant.place for dominant in dominants(self.sem, self.nests))
        for seed in (*seeds, *reversed(range(len(self.nests)))):
            if seed not in self.bound:
                self._follow(seed)

    def _follow(self, seed: int) -> None:
        """Bind a nest, then all unbound nests that it reaches."""
        self._bind(seed, None)
        waiting = deque([seed])
        while waiting:
            for place, handed in self._handed(waiting.popleft()):
                if place not in self.bound and can_take(self.axes[place], handed):
                    self._bind(place, handed)
                    waiting.append(place)

    def _bind(self, place: int, handed: Binding | None) -> None:
        fixed = self.fixed.get(place)
        self.bound[place] = fixed or self.binder.choose(self.axes[place], handed)

    def _handed(self, place: int) -> Iterator[tuple[int, Binding]]:
        """Bindings that a bound nest hands to its producers, then to its readers."""
        nest, own = self.nests[place], self.bound[place]
        for tensor in self.reads[place]:
            inferred = infer_binding(self.sem, nest, own, tensor)
            if inferred is not None:
                yield self.maker[tensor], inferred
        alike = (t for t in nest_outputs(self.sem, nest) if self._is_alike(t, nest))
        for tensor, reader in ((t, reader) for t in alike for reader in self.readers.get(t, ())):
            handed = hand_on(self.sem, self.nests[reader], own, tensor)
            if handed is not None:
                yield reader, handed

    def _is_alike(self, tensor: str, nest: LoopNest) -> bool:
        """Whether a result has its nest's binding; a result of another rank is on one core."""
        tensors = self.sem.graph.tensors
        return len(tensors[tensor].shape) == len(tensors[nest.output].shape)

    def result(self) -> KernelBinding:
        """Rule 3."""
        bindings = tensor_bindings(self.sem, self.nests, self.bound)
        scopes = {
            tensor: Scope.LB
            if all(
                reads_own(self.sem, self.nests[reader], tensor, (bindings, self.boxes))
                for reader in self.readers.get(tensor, ())
            )
            else Scope.GB
            for tensor in self.maker
        }
        return KernelBinding(bindings, scopes)


def hand_on(sem: GraphSemantics, nest: LoopNest, own: Binding, tensor: str) -> Binding | None:
    """The binding of a nest under which every core reads its own part of an operand.

    `own`: binding of the operand. None if a bound axis of the operand is reduced, needed whole, or
    moved within the result.
    """
    for access in _reads_of(sem, nest, tensor, 0):
        follows = [
            access.axes[axis].out_axis if access.axes[axis].kind in CARRYING else -1
            for axis in own.axes
        ]
        if any(axis < 0 for axis in follows) or len(set(follows)) < len(follows):
            return None
        return Binding(tuple(follows), own.grid, own.cores)
    return None


def _reads_of(
    sem: GraphSemantics, nest: LoopNest, tensor: str, output: int
) -> Iterator[InputAccess]:
    """Accesses of a nest's ops to a tensor, for result number `output`."""
    for name in nest.ops:
        for reads in sem.by_op[name].accesses[output : output + 1]:
            yield from (access for access in reads if access.tensor == tensor)


Bound = tuple[Mapping[str, Binding], Mapping[str, Box]]
"""Bindings of a kernel's tensors, and the computed boxes."""


def reads_own(sem: GraphSemantics, nest: LoopNest, tensor: str, bound: Bound) -> bool:
    """Whether each core reads only its own part of the tensor."""
    bindings, boxes = bound
    op = sem.graph.op_by_name[nest.ops[0]]
    results = [nest.output] if len(nest.ops) > 1 else list(op.outputs)
    held = bindings[tensor], boxes[tensor]
    for number, result in enumerate(results):
        if result not in bindings or result not in boxes:
            continue
        own = bindings[result], boxes[result]
        if not all(
            _is_one_to_one(access, own, held) or _finds_own(access, own, held)
            for access in _reads_of(sem, nest, tensor, number)
        ):
            return False
    return True


def _is_one_to_one(
    access: InputAccess, own: tuple[Binding, Box], held: tuple[Binding, Box]
) -> bool:
    """Whether equal elements are on equal cores, from the divided axes alone."""
    (cut, box), (held_cut, held_box) = own, held
    if cut.grid != held_cut.grid or cut.cores != held_cut.cores:
        return False
    maps = [access.axes[axis] for axis in held_cut.axes]
    return tuple(axis.out_axis for axis in maps) == cut.axes and all(
        own_map.kind in (AxisKind.SAME, AxisKind.PERMUTED)
        and held_box[axis] == box[own_map.out_axis]
        for axis, own_map in zip(held_cut.axes, maps, strict=True)
    )


def _finds_own(access: InputAccess, own: tuple[Binding, Box], held: tuple[Binding, Box]) -> bool:
    """Whether each core reads only its own part, checked core by core."""
    (cut, box), (held_cut, held_box) = own, held
    parts = held_cut.shares(held_box)
    needed = {core: access.box(s) for core, s in cut.shares(box).items() if not is_empty(s)}
    return all(
        is_empty(need) or (core in parts and contains(parts[core], need))
        for core, need in needed.items()
    )
