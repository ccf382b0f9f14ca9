"""Semantics of matrix products: Gemm and MatMul, batched or not."""

from __future__ import annotations

from typing import TypeVar

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisMap,
    Contraction,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import (
    Entry,
    Shape,
    broadcast,
    broadcast_axis,
    reduced,
    same,
)
from graphturbo_core.semantics.ops.view import OpView

_T = TypeVar("_T")


def gemm(view: OpView) -> OpSemantics:
    """Gemm: [M, K] x [K, N] + C, either operand transposed; alpha and beta fold into weights."""
    data, weight = view.op.inputs[:2]
    trans_a, trans_b = bool(view.integer("transA", 0)), bool(view.integer("transB", 0))
    rows, columns = view.shape_out()
    depth = view.shape()[0 if trans_a else 1]
    data_axes = (reduced(depth), same(rows, 0)) if trans_a else (same(rows, 0), reduced(depth))
    weight_axes = (
        (same(columns, 1), reduced(depth)) if trans_b else (reduced(depth), same(columns, 1))
    )
    bias = (
        (broadcast(view.op.inputs[2], view.shape(2), view.shape_out()),)
        if view.has_input(2)
        else ()
    )
    reads = (InputAccess(data, data_axes), InputAccess(weight, weight_axes), *bias)
    return _product(
        view,
        reads,
        Contraction(
            m_axes=(0,),
            n_axis=1,
            k=depth,
            reduce_size=depth,
            k_inner=1,
            groups=1,
            data=data,
            weight=weight,
            data_reduce_axis=0 if trans_a else 1,
            weight_reduce_axis=1 if trans_b else 0,
        ),
    )


def _batch_axes(shape: Shape, out_shape: Shape, out_rank: int) -> tuple[AxisMap, ...]:
    """Leading axes of a MatMul operand, broadcast against the output's `out_rank` batch axes."""
    lead = shape[:-2]
    shift = out_rank - len(lead)
    return tuple(
        broadcast_axis(size, out_shape[axis + shift], axis + shift)
        for axis, size in enumerate(lead)
    )


def matmul(view: OpView) -> OpSemantics:
    """MatMul by numpy's rules: a vector on the left has no M axis, one on the right no N axis.

    Batch axes that the right operand does not have are rows: they belong to M.
    """
    return multiplied(view, 0, 1)


def multiplied(
    view: OpView, first: int, second: int, swaps: tuple[bool, bool] = (False, False)
) -> OpSemantics:
    """A product of these two inputs; `swaps`: whether each one's last two axes are swapped."""
    data, weight = view.op.inputs[first], view.op.inputs[second]
    left, right = _unswapped(view.shape(first), swaps[0]), _unswapped(view.shape(second), swaps[1])
    out, depth = view.shape_out(), left[-1]
    batch = len(out) - (len(left) > 1) - (len(right) > 1)
    row_axis = (batch,) if len(left) > 1 else ()
    n_axis = len(out) - 1 if len(right) > 1 else -1
    rows = tuple(same(left[-2], axis) for axis in row_axis)
    columns = (same(right[-1], n_axis),) if n_axis >= 0 else ()
    data_axes = (*_batch_axes(left, out, batch), *rows, reduced(depth))
    weight_axes = (*_batch_axes(right, out, batch), reduced(depth), *columns)
    varying = {axis.out_axis for axis in weight_axes if axis.out_axis >= 0 and axis.size > 1}
    return _product(
        view,
        (
            InputAccess(data, _unswapped(data_axes, swaps[0])),
            InputAccess(weight, _unswapped(weight_axes, swaps[1])),
        ),
        Contraction(
            m_axes=(*(axis for axis in range(batch) if axis not in varying), *row_axis),
            n_axis=n_axis,
            k=depth,
            reduce_size=depth,
            k_inner=1,
            groups=1,
            data=data,
            weight=weight,
            data_reduce_axis=len(left) - 1 - swaps[0],
            weight_reduce_axis=max(0, len(right) - 2 + swaps[1]),
        ),
    )


def _unswapped(row: tuple[_T, ...], is_swapped: bool) -> tuple[_T, ...]:
    return (*row[:-2], row[-1], row[-2]) if is_swapped else row


def _product(view: OpView, reads: tuple[InputAccess, ...], contraction: Contraction) -> OpSemantics:
    return OpSemantics(
        fusion=FusionKind.CONTRACTION,
        engine=EngineKind.MATRIX,
        accesses=(reads,),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        contraction=contraction,
    )


ENTRIES: dict[tuple[str, str], Entry] = {("", "Gemm"): gemm, ("", "MatMul"): matmul}
