"""Loop nests: ops of one layer that share tiles, so that values between them are tile-sized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphturbo_core.ir.graph import Op
from graphturbo_core.semantics.access import AxisKind, FusionKind
from graphturbo_core.semantics.table import GraphSemantics


@dataclass(frozen=True, slots=True)
class LoopNest:
    """Ops in execution order per tile of `output`, the only tensor that leaves."""

    ops: tuple[str, ...]
    output: str

    def is_on_cluster(self, sem: GraphSemantics) -> bool:
        """Whether it works outside LB: on an engine that the cores share, or larger than LB."""
        return self.ops[0] in sem.cluster_ops


def loop_nests(
    sem: GraphSemantics, op_names: Sequence[str], outlives: Callable[[str], bool]
) -> tuple[LoopNest, ...]:
    """Divide a layer's ops (in topological order) into nests in a legal order.

    1. A nest starts with any op. 2. It adds pointwise ops of its output's shape that read its
    values one to one and whose other operands are ready. 3. It ends where all values except the
    last are read only inside it and do not outlive the layer (`outlives`). 4. An op of an engine
    that the cores share is a nest of its own: its result is in GB, and its readers read it there.
    Our choice: ops independent of the layer's contraction come first, so that the side operands of
    its epilogue are ready; then each nest is the longest possible.
    """
    if len(op_names) == 1:
        only = sem.graph.op_by_name[op_names[0]]
        return (LoopNest((only.name,), next(name for name in only.outputs if name)),)
    ops = _anchor_late(sem, [sem.graph.op_by_name[name] for name in op_names])
    pending = {op.name for op in ops}
    nests = []
    for place, op in enumerate(ops):
        if op.name not in pending:
            continue
        nest = _grow(sem, ops[place:], pending, outlives)
        pending -= set(nest.ops)
        nests.append(nest)
    return tuple(nests)


def _anchor_late(sem: GraphSemantics, ops: list[Op]) -> list[Op]:
    """Ops without the contraction's result before it; otherwise the order given."""
    late: list[Op] = []
    early: list[Op] = []
    waits: set[str] = set()
    for op in ops:
        is_anchor = sem.by_op[op.name].fusion is FusionKind.CONTRACTION
        is_late = is_anchor or not waits.isdisjoint(op.inputs)
        (late if is_late else early).append(op)
        if is_late:
            waits.update(op.outputs)
    return early + late


def _grow(
    sem: GraphSemantics, ops: list[Op], pending: set[str], outlives: Callable[[str], bool]
) -> LoopNest:
    """The longest nest that starts with `ops[0]`; only `pending` ops may join or be waited for."""
    first = ops[0]
    used = [name for name in first.outputs if name]
    members = [first]
    best = LoopNest((first.name,), used[0])
    if len(used) != 1 or best.is_on_cluster(sem):
        return best
    values = {used[0]}
    unmet = _outside_reads(sem, used[0], outlives)
    for op in ops[1:]:
        if op.name not in pending or not _joins(sem, op, values, pending):
            continue
        members.append(op)
        result = op.outputs[0]
        values.add(result)
        unmet.discard(op.name)
        if not unmet:
            best = LoopNest(tuple(member.name for member in members), result)
        unmet |= _outside_reads(sem, result, outlives)
    return best


def _outside_reads(sem: GraphSemantics, tensor: str, outlives: Callable[[str], bool]) -> set[str]:
    """Outside readers of a new value by name; "" if it outlives the layer."""
    readers = {op.name for op in sem.graph.consumers[tensor]}
    is_kept = outlives(tensor) or tensor in sem.graph.output_names or not readers
    return readers | {""} if is_kept else readers


def _joins(sem: GraphSemantics, op: Op, values: set[str], pending: set[str]) -> bool:
    """Rule 2 for one op."""
    semantics = sem.by_op[op.name]
    inner = [name for name in op.inputs if name in values]
    if not (semantics.is_pointwise and inner and len([name for name in op.outputs if name]) == 1):
        return False
    shape = semantics.output_shapes[0]
    if any(sem.graph.tensors[name].shape != shape for name in inner):
        return False
    outer = (sem.graph.producer.get(name) for name in op.inputs if name not in values)
    if any(producer is not None and producer.name in pending for producer in outer):
        return False
    return all(_is_identity(sem, op, name) for name in inner)


def _is_identity(sem: GraphSemantics, op: Op, tensor: str) -> bool:
    """Whether the op reads the tensor element by element; a type-only input is not read."""
    reads = [access for access in sem.by_op[op.name].accesses[0] if access.tensor == tensor]
    return bool(reads) and all(
        axis.kind is AxisKind.SAME and axis.out_axis == index
        for access in reads
        for index, axis in enumerate(access.axes)
    )


def nest_slots(sem: GraphSemantics, nest: LoopNest) -> int:
    """Returns the largest number of simultaneously live values between a nest's ops.

    The output has its own buffer and does not count. A value overwrites one of equal dtype that
    dies at its op.
    """
    ops = [sem.graph.op_by_name[name] for name in nest.ops]
    last_read = {name: place for place, op in enumerate(ops) for name in op.inputs}
    tensors = sem.graph.tensors
    live: set[str] = set()
    slots = 0
    for place, op in enumerate(ops):
        result = next(name for name in op.outputs if name)
        dying = {name for name in live if last_read[name] == place}
        if result != nest.output:
            reused = any(tensors[name].dtype == tensors[result].dtype for name in dying)
            slots = max(slots, len(live) + (not reused))
            live.add(result)
        slots = max(slots, len(live) if result == nest.output else slots)
        live -= dying
    return slots
