"""GraphSemantics -> what the model's outputs need, element by element: no schedule does less.

A need is one set of places per axis and stands for their product. Rows that no output reads (the
last one before a window of stride 2, say) are left out, since a schedule may leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from graphturbo_core.ir.boxes import Box
from graphturbo_core.ir.graph import Op, TensorKind
from graphturbo_core.report.places import Places, is_same, read_places, united
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import work_of

Need = tuple[Places, ...]
"""Rising places of every axis."""


@dataclass(frozen=True)
class ModelNeed:
    """Work that outputs need, and the elements of inputs, weights and outputs they touch.

    `matrix_macs`: of products that only the matrix engine does; grouped ones may run on either.
    """

    macs: int
    matrix_macs: int
    vector_ops: int
    touched: Mapping[str, int]


def model_need(sem: GraphSemantics, transcendental_ops: int) -> ModelNeed:
    """Walk from the outputs to the inputs; linear in reads.

    Raises:
        CapacityError: NEED_TOO_SCATTERED, an op reads places that are too many to list.
    """
    needs = _needs(sem)
    macs = matrix_macs = vector_ops = 0
    for op in sem.graph.ops:
        semantics = sem.by_op[op.name]
        for index, name in enumerate(op.outputs):
            if name not in needs or not semantics.accesses[index]:
                continue
            work = work_of(semantics, _counted(needs[name]), index)
            macs += work.macs
            matrix_macs += work.macs if _is_matrix_only(semantics) else 0
            if not semantics.is_view and semantics.fusion is not FusionKind.INJECTIVE:
                vector_ops += work.vector_ops + work.transcendentals * transcendental_ops
    return ModelNeed(macs, matrix_macs, vector_ops, _touched(sem, needs))


def _is_matrix_only(semantics: OpSemantics) -> bool:
    if semantics.products:
        return True
    return semantics.contraction is not None and semantics.contraction.groups == 1


def _counted(need: Need) -> Box:
    """A box with as many places on every axis."""
    return tuple((0, len(places)) for places in need)


def size_of(need: Need) -> int:
    """Elements of a need."""
    return prod(len(places) for places in need)


def _touched(sem: GraphSemantics, needs: Mapping[str, Need]) -> dict[str, int]:
    """Elements of graph inputs, weights and outputs that must cross DRAM."""
    tensors = sem.graph.tensors
    outer = {name for name in needs if tensors[name].kind is not TensorKind.ACTIVATION}
    made = {name for name in sem.graph.outputs if tensors[name].kind is TensorKind.ACTIVATION}
    known = outer | made
    return {name: size_of(needs[name]) for name in needs if name in known}


def _needs(sem: GraphSemantics) -> dict[str, Need]:
    """An output that is a weight lies in DRAM already: nobody needs to touch it."""
    tensors = sem.graph.tensors
    needs: dict[str, Need] = {
        name: _all(tensors[name].shape)
        for name in sem.graph.outputs
        if tensors[name].kind is TensorKind.ACTIVATION
    }
    for op in reversed(sem.graph.ops):
        for name, need in _read(sem, op, needs):
            needs[name] = _joined(op.name, needs[name], need) if name in needs else need
    return needs


def _read(sem: GraphSemantics, op: Op, needs: Mapping[str, Need]) -> list[tuple[str, Need]]:
    """What an op needs of its inputs for what is needed of its outputs."""
    semantics = sem.by_op[op.name]
    found = []
    for index, name in enumerate(op.outputs):
        if name not in needs:
            continue
        out = _widened(semantics, index, needs[name])
        for read in semantics.accesses[index]:
            need = tuple(_axis(op.name, axis, out) for axis in read.axes)
            if size_of(need):
                found.append((read.tensor, _moved(semantics, read, need, size_of(out))))
    return found


def _widened(semantics: OpSemantics, index: int, need: Need) -> Need:
    """Axes that may not be cut are computed in full."""
    shape = semantics.output_shapes[index]
    return tuple(
        range(shape[axis]) if axis in semantics.uncut_axes else places
        for axis, places in enumerate(need)
    )


def _moved(semantics: OpSemantics, read: InputAccess, need: Need, results: int) -> Need:
    """An op that only moves elements needs one for each of its own at most.

    Of a table that is min(table, rows asked for): the axis that is looked up is cut to it, where
    there is none the leading one.
    """
    if semantics.fusion is not FusionKind.INJECTIVE or size_of(need) <= results:
        return need
    whole = (place for place, axis in enumerate(read.axes) if axis.kind is AxisKind.WHOLE)
    cut = next(whole, 0) if read.is_lookup else 0
    rows = -(-results // max(1, size_of((*need[:cut], *need[cut + 1 :]))))
    return (*need[:cut], need[cut][:rows], *need[cut + 1 :])


def _axis(op: str, axis: AxisMap, out: Need) -> Places:
    """The places of an input axis that the output's places read."""
    return range(axis.size) if axis.out_axis < 0 else read_places(op, axis, out[axis.out_axis])


def _all(shape: tuple[int, ...]) -> Need:
    return tuple(range(size) for size in shape)


def _joined(op: str, first: Need, second: Need) -> Need:
    """The union where it is a product again (at most one axis differs), else the larger one."""
    differing = [
        axis for axis, (a, b) in enumerate(zip(first, second, strict=True)) if not is_same(a, b)
    ]
    if len(differing) > 1:
        return max(first, second, key=size_of)
    return tuple(
        united(op, a, b) if axis in differing else a
        for axis, (a, b) in enumerate(zip(first, second, strict=True))
    )
