"""Semantics of reductions along axes."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import AxisMap, FusionKind, InputAccess, OpSemantics
from graphturbo_core.semantics.ops.maps import Entry, normal_axis, reduced, same, whole
from graphturbo_core.semantics.ops.view import OpView

REDUCTIONS: dict[str, tuple[int, int, int]] = {
    "ReduceLogSumExp": (5, 0, 1),
    "ReduceSum": (1, 0, 0), "ReduceMax": (1, 0, 0), "ReduceMin": (1, 0, 0),
    "ReduceProd": (1, 0, 0), "ReduceMean": (1, 1, 0), "ReduceL1": (2, 0, 0),
    "ReduceL2": (2, 0, 1), "ReduceSumSquare": (2, 0, 0), "ReduceLogSum": (1, 0, 1),
}  # fmt: skip
"""Operations per element read, then per result: plain ones and transcendentals.

ReduceLogSumExp: maximum, difference, sum, and an exponential, counted as two."""


def _axes(view: OpView) -> frozenset[int] | None:
    """The reduced axes; none given means all, or nothing with `noop_with_empty_axes`."""
    if view.integers("axes") is None and view.is_unknown(1):
        return None
    rank = len(view.shape())
    given = view.parameter("axes", 1)
    if not given:
        return frozenset() if view.integer("noop_with_empty_axes", 0) else frozenset(range(rank))
    return frozenset(normal_axis(axis, rank) for axis in given)


def _read(view: OpView, axes: frozenset[int], gone: AxisMap | None) -> tuple[AxisMap, ...]:
    """Maps of the data; reduced axes have the map `gone`, or REDUCE if that is None."""
    is_kept = bool(view.integer("keepdims", 1))
    maps: list[AxisMap] = []
    out_axis = 0
    for axis, size in enumerate(view.shape()):
        if axis in axes:
            maps.append(gone or reduced(size))
        else:
            maps.append(same(size, out_axis))
        out_axis += axis not in axes or is_kept
    return tuple(maps)


def reduction(view: OpView) -> OpSemantics | None:
    """ReduceSum and the other reductions; axes as attribute or as a constant input."""
    axes = _axes(view)
    if axes is None:
        return None
    per_input, per_result, transcendentals = REDUCTIONS[view.op.op_type]
    return OpSemantics(
        fusion=FusionKind.REDUCTION,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], _read(view, axes, None)),),),
        output_shapes=view.shapes_out,
        ops_per_element=per_result,
        ops_per_input=per_input,
        transcendentals=transcendentals,
    )


def arg_extreme(view: OpView) -> OpSemantics:
    """ArgMax and ArgMin: the axis is not cut, since partial results would need an index."""
    axis = normal_axis(view.integer("axis", 0), len(view.shape()))
    reads = _read(view, frozenset({axis}), whole(view.shape()[axis]))
    return OpSemantics(
        fusion=FusionKind.REDUCTION,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], reads),),),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        ops_per_input=2,
    )


def determinant(view: OpView) -> OpSemantics:
    """Det of the last two axes; an elimination takes 2/3 n operations per element."""
    shape = view.shape()
    maps = (*(same(size, axis) for axis, size in enumerate(shape[:-2])), *map(whole, shape[-2:]))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], maps),),),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        ops_per_input=-(-2 * shape[-1] // 3),
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    **{("", name): reduction for name in REDUCTIONS},
    ("", "Det"): determinant,
    ("", "ArgMax"): arg_extreme,
    ("", "ArgMin"): arg_extreme,
}
