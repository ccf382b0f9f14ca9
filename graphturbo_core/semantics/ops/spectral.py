"""Semantics of Fourier transforms."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import Entry, normal_axis, same, whole, whole_tensor
from graphturbo_core.semantics.ops.scans import all_but
from graphturbo_core.semantics.ops.view import OpView

_AXIS_AS_INPUT = 20
"""First opset whose DFT has its axis as an input, by default counted from the end."""


def _ops_of(length: int) -> int:
    """Our count: 5 n log2 n real operations of a fast transform, over 2 n numbers."""
    return 5 * max(1, (length - 1).bit_length()) // 2 + 1


def transform(view: OpView) -> OpSemantics | None:
    """DFT along one axis; real and imaginary parts are not separated."""
    shape = view.shape()
    if view.op.opset < _AXIS_AS_INPUT:
        given: tuple[int, ...] | None = (view.integer("axis", 1),)
    elif view.has_input(2):
        given = view.parameter("axis", 2)
    else:
        given = (-2,)
    if given is None:
        return None
    axis = normal_axis(given[0], len(shape))
    maps = (*all_but(shape, axis)[:-1], whole(shape[-1]))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], maps),),),
        output_shapes=view.shapes_out,
        ops_per_element=_ops_of(view.shape_out()[axis]),
        uncut_axes=frozenset({axis, len(shape) - 1}),
    )


def short_transform(view: OpView) -> OpSemantics | None:
    """STFT: a frame is a window of the signal, weighted and transformed."""
    step = view.parameter("frame_step", 1)
    if step is None:
        return None
    frame = view.parameter("frame_length", 3) if view.has_input(3) else None
    if frame is None and not view.has_input(2):
        return None
    length = frame[0] if frame else view.shape(2)[0]
    batch, size, *rest = view.shape()
    row = AxisMap(AxisKind.WINDOW, size, 1, stride=step[0], kernel=length)
    reads = [InputAccess(view.op.inputs[0], (same(batch, 0), row, *(whole(n) for n in rest)))]
    if view.has_input(2):
        reads.append(whole_tensor(view.op.inputs[2], view.shape(2)))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=(tuple(reads),),
        output_shapes=view.shapes_out,
        ops_per_element=_ops_of(length) + 1,
        is_placed=True,
        uncut_axes=frozenset({2, 3}),
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "DFT"): transform,
    ("", "STFT"): short_transform,
}
