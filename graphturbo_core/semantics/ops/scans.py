"""Semantics of ops along one axis: running sums, top k, reversal, triangles."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import AxisMap, FusionKind, InputAccess, OpSemantics
from graphturbo_core.semantics.ops.maps import (
    Entry,
    Shape,
    broadcast,
    moved,
    normal_axis,
    same,
    whole,
    whole_tensor,
)
from graphturbo_core.semantics.ops.view import OpView


def all_but(shape: Shape, axis: int) -> tuple[AxisMap, ...]:
    """Every axis follows except one, which is read whole."""
    return tuple(
        whole(size) if index == axis else same(size, index) for index, size in enumerate(shape)
    )


def running(view: OpView) -> OpSemantics | None:
    """CumSum and CumProd: an element needs all earlier ones, so the axis is not cut."""
    given = view.parameter("axis", 1)
    if given is None:
        return None
    axis = normal_axis(given[0], len(view.shape()))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], all_but(view.shape(), axis)),),),
        output_shapes=view.shapes_out,
        uncut_axes=frozenset({axis}),
    )


def top_k(view: OpView) -> OpSemantics:
    """TopK, for both values and indices: the axis is whole.

    Our count: a heap of k takes log2(k), rounded up, plus one comparison per element read.
    """
    shape, (kept, *_) = view.shape(), view.shapes_out
    axis = normal_axis(view.integer("axis", -1), len(shape))
    count = next(out for out in view.shapes_out if out)[axis] if not kept else kept[axis]
    read = (InputAccess(view.op.inputs[0], all_but(shape, axis)),)
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=tuple(read if name else () for name in view.op.outputs),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        ops_per_input=max(1, count).bit_length() + 1,
        uncut_axes=frozenset({axis}),
    )


def reverse_sequence(view: OpView) -> OpSemantics:
    """ReverseSequence: a sample's length is data, so the time axis is whole."""
    batch, time = view.integer("batch_axis", 1), view.integer("time_axis", 0)
    lengths = InputAccess(view.op.inputs[1], (same(view.shape(1)[0], batch),))
    found = moved(view, *all_but(view.shape(), time))
    return replace(found, accesses=((*found.accesses[0], lengths),), is_placed=True)


def compress(view: OpView) -> OpSemantics:
    """Compress: the selection is data; without an axis it applies to the flattened tensor."""
    axis = view.op.attributes.get("axis")
    shape = view.shape()
    condition = whole_tensor(view.op.inputs[1], view.shape(1))
    if not isinstance(axis, int):
        maps = tuple(whole(size) for size in shape)
    else:
        maps = all_but(shape, normal_axis(axis, len(shape)))
    found = moved(view, *maps)
    return replace(found, accesses=((*found.accesses[0], condition),), is_placed=True)


def triangle(view: OpView) -> OpSemantics:
    """Trilu: an element is copied or zeroed by its position."""
    reads = [broadcast(view.op.inputs[0], view.shape(), view.shape_out())]
    if view.is_unknown(1):
        reads.append(whole_tensor(view.op.inputs[1], view.shape(1)))
    return OpSemantics(
        fusion=FusionKind.ELEMENTWISE,
        engine=EngineKind.VECTOR,
        accesses=(tuple(reads),),
        output_shapes=view.shapes_out,
        is_pointwise=True,
        is_placed=True,
    )


def eye_like(view: OpView) -> OpSemantics:
    """EyeLike: ones on the diagonal; only the shape of its input matters."""
    return replace(triangle(view), is_pointwise=False)


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "CumSum"): running,
    ("", "CumProd"): running,
    ("", "TopK"): top_k,
    ("", "ReverseSequence"): reverse_sequence,
    ("", "Compress"): compress,
    ("", "Trilu"): triangle,
    ("", "EyeLike"): eye_like,
}
