"""Common axis maps, accesses and entries of the op families."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.view import OpView

Entry = Callable[[OpView], OpSemantics | None]
"""Resolves an op against its shapes; None: the op is opaque."""

Shape = tuple[int, ...]

OPAQUE_FORMAT = "fp16"
"""Number format for the bytes of an opaque op (our choice: its work is a guess, and semantics do
not depend on the run's format)."""


def same(size: int, out_axis: int) -> AxisMap:
    """The axis follows an output axis one to one."""
    return AxisMap(AxisKind.SAME, size, out_axis)


def whole(size: int) -> AxisMap:
    """The whole axis is needed for any output box."""
    return AxisMap(AxisKind.WHOLE, size)


def reduced(size: int) -> AxisMap:
    """The whole axis is reduced; it may be cut if partial results are combined."""
    return AxisMap(AxisKind.REDUCE, size)


def broadcast_axis(size: int, out_size: int, out_axis: int) -> AxisMap:
    """Numpy's rule for one axis: size 1 against a larger output is broadcast."""
    if size == 1 and out_size != 1:
        return AxisMap(AxisKind.NONE, 1)
    return same(size, out_axis)


def broadcast(tensor: str, shape: Shape, out_shape: Shape) -> InputAccess:
    """An operand broadcast by numpy's rules, aligned at the last axis."""
    return InputAccess(tensor, _broadcast_axes(shape, out_shape))


@lru_cache(maxsize=1024)
def _broadcast_axes(shape: Shape, out_shape: Shape) -> tuple[AxisMap, ...]:
    """The maps of all axes; ops of equal shapes share them."""
    shift = len(out_shape) - len(shape)
    return tuple(
        broadcast_axis(size, out_shape[axis + shift], axis + shift)
        for axis, size in enumerate(shape)
    )


def per_channel(tensor: str, shape: Shape, out_axis: int = 1) -> InputAccess:
    """A vector (bias, scale) along one output axis."""
    return InputAccess(tensor, tuple(same(size, out_axis) for size in shape))


def whole_tensor(tensor: str, shape: Shape) -> InputAccess:
    """Access to an operand that every output box reads entirely."""
    return InputAccess(tensor, tuple(whole(size) for size in shape))


def normal_axis(axis: int, rank: int) -> int:
    """ONNX's negative axes count from the end."""
    return axis + rank if axis < 0 else axis


def moved(view: OpView, *axes: AxisMap, is_view: bool = False, ops: int = 1) -> OpSemantics:
    """Entry of an op that only moves elements of its first input (TVM: injective)."""
    return OpSemantics(
        fusion=FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], axes),),),
        output_shapes=view.shapes_out,
        ops_per_element=ops,
        is_view=is_view,
    )


def uncut_over_k(found: OpSemantics) -> OpSemantics:
    """The contraction with K uncut: partial sums do not add up to the result."""
    assert found.contraction is not None  # the caller made one
    return replace(
        found,
        contraction=replace(
            found.contraction,
            reduce_size=1,
            k_inner=found.contraction.k,
            data_reduce_axis=-1,
            weight_reduce_axis=-1,
        ),
    )


def opaque(view: OpView) -> OpSemantics:
    """Entry of an op that the table cannot resolve (design, section 2).

    It needs its inputs whole, runs unsplit, and its work is its bytes on the vector engine.
    """
    tensors = view.graph.tensors
    names = tuple(dict.fromkeys(name for name in view.op.inputs if name))
    reads = tuple(whole_tensor(name, tensors[name].shape) for name in names)
    moved_bytes = sum(
        tensors[name].elements * element_bytes(tensors[name].dtype, OPAQUE_FORMAT)
        for name in (*names, *(name for name in view.op.outputs if name))
    )
    rank = max((len(shape) for shape in view.shapes_out), default=0)
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=tuple(reads if name else () for name in view.op.outputs),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        fixed_ops=moved_bytes,
        is_opaque=True,
        uncut_axes=frozenset(range(rank)),
    )
