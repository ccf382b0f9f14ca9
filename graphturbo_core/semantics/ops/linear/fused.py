"""Semantics of the fused ops of ONNX Runtime's optimiser."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    Contraction,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.linear.convolution import convolved_by
from graphturbo_core.semantics.ops.linear.products import gemm, matmul, multiplied
from graphturbo_core.semantics.ops.linear.quantised import beside, scaled
from graphturbo_core.semantics.ops.maps import (
    Entry,
    broadcast,
    broadcast_axis,
    normal_axis,
    reduced,
    same,
    uncut_over_k,
    whole,
    whole_tensor,
)
from graphturbo_core.semantics.ops.view import OpView

DOMAIN = "com.microsoft"

_POINTWISE: dict[str, tuple[tuple[int, ...], int, int]] = {
    "Gelu": ((0,), 4, 1), "FastGelu": ((0, 1), 8, 1), "QuickGelu": ((0,), 2, 1),
    "BiasGelu": ((0, 1), 5, 1), "QLinearAdd": ((0, 3), 8, 0), "QLinearMul": ((0, 3), 7, 0),
    "QLinearSigmoid": ((0,), 5, 1), "QLinearLeakyRelu": ((0,), 6, 0),
    "QLinearWhere": ((0, 1, 4), 8, 0),
}  # fmt: skip
"""Data inputs, and operations and transcendentals per element; 8-bit ops add two operations per
operand and three for the result, to scale and shift."""


def _scalars(view: OpView, data: tuple[int, ...]) -> tuple[InputAccess, ...]:
    """All other inputs, scales and zero points, read whole."""
    return tuple(
        whole_tensor(name, view.shape(place))
        for place, name in enumerate(view.op.inputs)
        if name and place not in data
    )


def pointwise(view: OpView) -> OpSemantics | None:
    """Activations with or without a bias, and arithmetic of 8-bit numbers."""
    data, plain, functions = _POINTWISE[view.op.op_type]
    reads = tuple(
        broadcast(view.op.inputs[place], view.shape(place), view.shape_out())
        for place in data
        if view.has_input(place)
    )
    if len({read.tensor for read in reads}) < len(reads):
        return None
    return OpSemantics(
        fusion=FusionKind.BROADCAST,
        engine=EngineKind.VECTOR,
        accesses=((*reads, *_scalars(view, data)),),
        output_shapes=view.shapes_out,
        ops_per_element=plain,
        transcendentals=functions,
        is_pointwise=True,
    )


def quantised_softmax(view: OpView) -> OpSemantics:
    """QLinearSoftmax: along one axis, or from it on before operator set 13."""
    rank = len(view.shape())
    axis = normal_axis(view.integer("axis", -1), rank)
    is_one = view.integer("opset", 13) >= 13  # noqa: PLR2004 - since opset 13 along one axis
    axes = range(axis, axis + 1) if is_one else range(axis, rank)
    maps = tuple(whole(n) if a in axes else same(n, a) for a, n in enumerate(view.shape()))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], maps), *_scalars(view, (0,))),),
        output_shapes=view.shapes_out,
        ops_per_element=8,
        transcendentals=2,
        uncut_axes=frozenset(axes),
    )


def quantised_concat(view: OpView) -> OpSemantics:
    """QLinearConcat: scale and zero point of the result, then each part with its own."""
    axis = normal_axis(view.integer("axis", 0), len(view.shape_out()))
    reads: list[InputAccess] = []
    start = 0
    parts = tuple(range(2, len(view.op.inputs), 3))
    for place in parts:
        shape = view.shape(place)
        maps = tuple(
            AxisMap(AxisKind.OFFSET, size, index, offset=-start)
            if index == axis
            else same(size, index)
            for index, size in enumerate(shape)
        )
        reads.append(InputAccess(view.op.inputs[place], maps))
        start += shape[axis]
    return OpSemantics(
        fusion=FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=((*reads, *_scalars(view, parts)),),
        output_shapes=view.shapes_out,
        ops_per_element=5,
    )


def skip_norm(view: OpView) -> OpSemantics:
    """SkipLayerNormalization and the simplified one: data and skip are added, then normalised.

    The last output is the sum; the two before it are a row's statistics.
    """
    rank = len(view.shape())
    is_simple = view.op.op_type.startswith("SkipSimplified")
    bias = 3 if is_simple else 4
    data = (_row_read(view, 0), _row_read(view, 1))
    biases = (whole_tensor(view.op.inputs[bias], view.shape(bias)),) if view.has_input(bias) else ()
    normalised = (*data, *_scalars(view, (0, 1)))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=tuple(
            () if not name else (*data, *biases) if index else normalised
            for index, name in enumerate(view.op.outputs)
        ),
        output_shapes=view.shapes_out,
        ops_per_element=(5 if is_simple else 8) + len(biases),
        uncut_axes=frozenset({rank - 1}),
    )


def _row_read(view: OpView, place: int) -> InputAccess:
    """Rows follow, broadcast from the right; a row is not cut."""
    shape, out = view.shape(place), view.shape_out()
    shift = len(out) - len(shape)
    maps = (broadcast_axis(size, out[axis], axis) for axis, size in enumerate(shape[:-1], shift))
    return InputAccess(view.op.inputs[place], (*maps, whole(shape[-1])))


def embed_norm(view: OpView) -> OpSemantics:
    """EmbedLayerNormalization: rows of two or three tables are added, then normalised.

    The second output counts a sample's mask; the third is the sum.
    """
    tables = (2, 3, 4, 5, 6)
    reads = []
    for place, name in enumerate(view.op.inputs):
        if not name:
            continue
        shape = view.shape(place)
        if place in tables:
            reads.append(whole_tensor(name, shape))
        else:
            first = same(shape[0], 0) if shape[0] == view.shape()[0] else AxisMap(AxisKind.NONE, 1)
            reads.append(InputAccess(name, (first, *(whole(size) for size in shape[1:]))))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=tuple(tuple(reads) if name else () for name in view.op.outputs),
        output_shapes=view.shapes_out,
        ops_per_element=9,
        is_placed=True,
        uncut_axes=frozenset({1, 2}),
    )


def fused_product(view: OpView) -> OpSemantics | None:
    """FusedMatMul: the last two axes of either factor may be swapped, batch axes not."""
    if view.integer("transBatchA", 0) or view.integer("transBatchB", 0):
        return None
    swaps = (bool(view.integer("transA", 0)), bool(view.integer("transB", 0)))
    if not any(swaps):
        return matmul(view)
    if min(len(view.shape()), len(view.shape(1))) < 2:  # noqa: PLR2004 - a vector is not swapped
        return None
    return multiplied(view, 0, 1, swaps)


def fused_convolution(view: OpView) -> OpSemantics:
    """FusedConv: with an activation, partial sums do not add up; a sum may precede it."""
    found = uncut_over_k(convolved_by(view, 1, 2))
    if not view.has_input(3):
        return found
    added = broadcast(view.op.inputs[3], view.shape(3), view.shape_out())
    return replace(found, accesses=((*found.accesses[0], added),))


def fused_gemm(view: OpView) -> OpSemantics:
    """FusedGemm: an activation follows."""
    return uncut_over_k(gemm(view))


def product_to_floats(view: OpView) -> OpSemantics:
    """MatMulIntegerToFloat: scale and zero point per row, per column or global, and a bias."""
    rows, columns = max(0, len(view.shape_out()) - 2), len(view.shape_out()) - 1
    found = replace(uncut_over_k(multiplied(view, 0, 1)), is_of_bytes=True)
    reads = (*beside(view, (2, 4), rows), *beside(view, (3, 5, 6), columns))
    return replace(found, accesses=((*found.accesses[0], *reads),))


def narrow_product(view: OpView) -> OpSemantics | None:
    """MatMulNBits: weights of a few bits [N, blocks, bytes], scale and zero point per block.

    Reordered weights (a fifth input) are opaque.
    """
    if view.has_input(4):
        return None
    data, weight = view.op.inputs[:2]
    rows = view.shape_out()[:-1]
    last, columns = len(rows), view.shape_out()[-1]
    depth = view.shape()[-1]
    beside = []
    for place in filter(view.has_input, range(2, len(view.op.inputs))):
        maps = _of_columns(view.shape(place), columns, last)
        if maps is None:
            return None
        beside.append(InputAccess(view.op.inputs[place], maps))
    data_axes = (*(same(size, axis) for axis, size in enumerate(rows)), reduced(depth))
    weight_axes = (same(columns, last), *(whole(size) for size in view.shape(1)[1:]))
    return OpSemantics(
        fusion=FusionKind.CONTRACTION,
        engine=EngineKind.MATRIX,
        accesses=((InputAccess(data, data_axes), InputAccess(weight, weight_axes), *beside),),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        contraction=Contraction(
            m_axes=tuple(range(last)), n_axis=last, k=depth, reduce_size=1, k_inner=depth,
            groups=1, data=data, weight=weight, data_reduce_axis=-1, weight_reduce_axis=-1,
        ),
        is_placed=True,
    )  # fmt: skip


def _of_columns(shape: tuple[int, ...], columns: int, axis: int) -> tuple[AxisMap, ...] | None:
    """Axis maps of numbers per column: flat, or one row per column; None: neither."""
    if shape[0] % columns:
        return None
    first = AxisMap(AxisKind.GROUPED, shape[0], axis, in_block=shape[0] // columns)
    return (first, *(whole(size) for size in shape[1:]))


ENTRIES: dict[tuple[str, str], Entry] = {
    **{(DOMAIN, name): pointwise for name in _POINTWISE},
    (DOMAIN, "QuantizeLinear"): scaled,
    (DOMAIN, "DequantizeLinear"): scaled,
    (DOMAIN, "QLinearSoftmax"): quantised_softmax,
    (DOMAIN, "QLinearConcat"): quantised_concat,
    (DOMAIN, "SkipLayerNormalization"): skip_norm,
    (DOMAIN, "SkipSimplifiedLayerNormalization"): skip_norm,
    (DOMAIN, "EmbedLayerNormalization"): embed_norm,
    (DOMAIN, "FusedMatMul"): fused_product,
    (DOMAIN, "FusedConv"): fused_convolution,
    (DOMAIN, "FusedGemm"): fused_gemm,
    (DOMAIN, "MatMulIntegerToFloat"): product_to_floats,
    (DOMAIN, "MatMulNBits"): narrow_product,
}
"""(domain, op type) -> entry."""
