"""Semantics of quantisation, and of products and convolutions of 8-bit numbers.

Scales and zero points are one number, one per index of an axis, or one per block. Rescaling a
product to 8 bits happens at the output of the matrix array and costs nothing (our choice).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.linear.convolution import convolved_by
from graphturbo_core.semantics.ops.linear.products import multiplied
from graphturbo_core.semantics.ops.maps import (
    Entry,
    broadcast,
    broadcast_axis,
    normal_axis,
    per_channel,
    same,
    uncut_over_k,
    whole_tensor,
)
from graphturbo_core.semantics.ops.view import OpView


def _scaling(view: OpView, place: int) -> InputAccess:
    """Scale or zero point: per tensor, per index of one axis, or per block along it."""
    name, shape, out = view.op.inputs[place], view.shape(place), view.shape_out()
    if prod(shape) == 1:
        return InputAccess(name, tuple(AxisMap(AxisKind.NONE, 1) for _ in shape))
    if len(shape) == 1:
        return per_channel(name, shape, normal_axis(view.integer("axis", 1), len(out)))
    pairs = zip(shape, out, strict=True)
    return InputAccess(
        name, tuple(_block_axis(view, pair, axis) for axis, pair in enumerate(pairs))
    )


def _block_axis(view: OpView, pair: tuple[int, int], axis: int) -> AxisMap:
    size, out = pair
    if size == out:
        return same(size, axis)
    block = view.integer("block_size", 0) or -(-out // size)
    return AxisMap(AxisKind.GROUPED, size, axis, out_block=block)


def scaled(view: OpView) -> OpSemantics | None:
    """QuantizeLinear: division, rounding, shift, both bounds; DequantizeLinear: shift, product."""
    is_rounded = view.op.op_type == "QuantizeLinear"
    vectors = (_scaling(view, place) for place in (1, 2) if view.has_input(place))
    data = broadcast(view.op.inputs[0], view.shape(), view.shape_out())
    return OpSemantics(
        fusion=FusionKind.BROADCAST,
        engine=EngineKind.VECTOR,
        accesses=((data, *vectors),),
        output_shapes=view.shapes_out,
        ops_per_element=4 if is_rounded else 2,
        transcendentals=1 if is_rounded else 0,
        is_pointwise=True,
    )


def dynamic_scale(view: OpView) -> OpSemantics:
    """DynamicQuantizeLinear: smallest and largest of the whole tensor, then as QuantizeLinear."""
    read = (whole_tensor(view.op.inputs[0], view.shape()),)
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=tuple(read if name else () for name in view.op.outputs),
        output_shapes=view.shapes_out,
        ops_per_element=4,
        ops_per_input=2,
        transcendentals=1,
        is_placed=True,
        uncut_axes=frozenset(range(len(view.shape()))),
    )


def beside(view: OpView, places: tuple[int, ...], axis: int) -> tuple[InputAccess, ...]:
    """Scales and zero points: single numbers, or along an output axis."""
    found = []
    for place in places:
        if not view.has_input(place):
            continue
        shape, out = view.shape(place), view.shape_out()
        if len(shape) > 1:
            found.append(broadcast(view.op.inputs[place], shape, out))
        else:
            maps = tuple(broadcast_axis(size, out[axis], axis) for size in shape)
            found.append(InputAccess(view.op.inputs[place], maps))
    return tuple(found)


def _with(found: OpSemantics, others: tuple[InputAccess, ...]) -> OpSemantics:
    """Adds reads; partial sums do not add up: they are rounded or have a zero point."""
    data, weight, *rest = found.accesses[0]
    return replace(
        uncut_over_k(found), is_of_bytes=True, accesses=((data, weight, *others, *rest),)
    )


def convolution_to_integers(view: OpView) -> OpSemantics:
    """ConvInteger: data, weight, and the zero points of both."""
    return _with(convolved_by(view, 1, None), beside(view, (2, 3), 1))


def quantised_convolution(view: OpView) -> OpSemantics:
    """QLinearConv: scale and zero point after data, weight and for the result; bias last."""
    return _with(convolved_by(view, 3, 8), beside(view, (1, 2, 4, 5, 6, 7), 1))


def _columns(view: OpView) -> int:
    return len(view.shape_out()) - 1


def product_to_integers(view: OpView) -> OpSemantics | None:
    """MatMulInteger: zero points may be per row of the left or per column of the right."""
    rows = _rows_beside(view, (2,))
    if rows is None:
        return None
    return _with(multiplied(view, 0, 1), (*rows, *beside(view, (3,), max(0, _columns(view)))))


def quantised_product(view: OpView) -> OpSemantics | None:
    """QLinearMatMul: scale and zero point after each factor and for the result."""
    rows = _rows_beside(view, (1, 2))
    if rows is None:
        return None
    columns = max(0, _columns(view))
    return _with(multiplied(view, 0, 3), (*rows, *beside(view, (4, 5, 6, 7), columns)))


def quantised_gemm(view: OpView) -> OpSemantics:
    """QGemm: scale and zero point after each factor, the int32 bias, those of the result last."""
    return _with(multiplied(view, 0, 3, _swaps(view)), beside(view, (1, 2, 4, 5, 6, 7, 8), 1))


def quantised_product_and_sum(view: OpView) -> OpSemantics:
    """Our QLinearMatMulAdd: as QLinearMatMul, either factor transposed, and a bias at the end."""
    others = beside(view, (1, 2, 4, 5, 6, 7, 8), _columns(view))
    return _with(multiplied(view, 0, 3, _swaps(view)), others)


def _swaps(view: OpView) -> tuple[bool, bool]:
    return bool(view.integer("transA", 0)), bool(view.integer("transB", 0))


def _rows_beside(view: OpView, places: tuple[int, ...]) -> tuple[InputAccess, ...] | None:
    """Scale and zero point of the left factor: one number, or one per row."""
    out = view.shape_out()
    given = tuple(place for place in places if view.has_input(place))
    if not out or any(len(view.shape(place)) > 1 for place in given):
        return None if any(view.shape(place) for place in given) else beside(view, places, 0)
    return beside(view, places, max(0, len(out) - 2))


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "QuantizeLinear"): scaled,
    ("", "DequantizeLinear"): scaled,
    ("", "DynamicQuantizeLinear"): dynamic_scale,
    ("", "ConvInteger"): convolution_to_integers,
    ("", "QLinearConv"): quantised_convolution,
    ("", "MatMulInteger"): product_to_integers,
    ("", "QLinearMatMul"): quantised_product,
    ("com.microsoft", "QGemm"): quantised_gemm,
    ("graphturbo", "QLinearMatMulAdd"): quantised_product_and_sum,
}
