"""Semantics of concatenation, split, slice and pad."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import Entry, Shape, moved, normal_axis, same, whole
from graphturbo_core.semantics.ops.view import OpView


def _offset_read(tensor: str, shape: Shape, axis: int, offset: int) -> InputAccess:
    return InputAccess(
        tensor,
        tuple(
            AxisMap(AxisKind.OFFSET, size, index, offset=offset)
            if index == axis
            else same(size, index)
            for index, size in enumerate(shape)
        ),
    )


def concat(view: OpView) -> OpSemantics:
    """Concat: an input's offset is minus the size of the inputs before it.

    An input given twice has two reads; callers join the needed boxes.
    """
    axis = normal_axis(view.integer("axis", 0), len(view.shape_out()))
    reads = []
    start = 0
    for index, name in enumerate(view.op.inputs):
        shape = view.shape(index)
        reads.append(_offset_read(name, shape, axis, -start))
        start += shape[axis]
    return OpSemantics(
        fusion=FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=(tuple(reads),),
        output_shapes=view.shapes_out,
        is_joint=True,
    )


def split(view: OpView) -> OpSemantics:
    """Split: each output's offset is the sum of the sizes before it."""
    axis = normal_axis(view.integer("axis", 0), len(view.shape()))
    reads = []
    start = 0
    for shape in view.shapes_out:
        reads.append((_offset_read(view.op.inputs[0], view.shape(), axis, start),))
        start += shape[axis]
    return OpSemantics(
        fusion=FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=tuple(reads),
        output_shapes=view.shapes_out,
        is_view=True,
    )


def _sliced_axis(size: int, axis: int, start: int, step: int) -> AxisMap:
    """Map of a sliced axis; a backwards slice is read whole: offset maps only run forwards."""
    if step < 0:
        return whole(size)
    first = min(max(start + size if start < 0 else start, 0), size)
    return AxisMap(AxisKind.OFFSET, size, axis, offset=first, step=step)


def slices(view: OpView) -> OpSemantics | None:
    """Slice: starts, axes and steps as attributes or constants; ends follow from the output."""
    starts = view.parameter("starts", 1)
    is_hidden = view.integers("starts") is None and (view.is_unknown(3) or view.is_unknown(4))
    if starts is None or is_hidden:
        return None
    shape = view.shape()
    axes = view.parameter("axes", 3) or tuple(range(len(starts)))
    steps = view.parameter("steps", 4) or (1,) * len(starts)
    given = {
        normal_axis(axis, len(shape)): (start, step)
        for axis, start, step in zip(axes, starts, steps, strict=True)
    }
    return moved(
        view,
        *(
            _sliced_axis(size, axis, *given[axis]) if axis in given else same(size, axis)
            for axis, size in enumerate(shape)
        ),
        is_view=all(step == 1 for step in steps),
    )


def pad(view: OpView) -> OpSemantics | None:
    """Pad: constants need no reads; other modes read the whole axis."""
    pads = view.parameter("pads", 1)
    if pads is None or (view.is_unknown(3) and view.integers("pads") is None):
        return None
    shape = view.shape()
    axes = view.parameter("axes", 3) or tuple(range(len(shape)))
    before = {normal_axis(axis, len(shape)): pads[index] for index, axis in enumerate(axes)}
    is_constant = view.text("mode", "constant") == "constant"
    maps = []
    for axis, size in enumerate(shape):
        if size == view.shape_out()[axis] and not before.get(axis, 0):
            maps.append(same(size, axis))
        elif is_constant:
            maps.append(AxisMap(AxisKind.OFFSET, size, axis, offset=-before.get(axis, 0)))
        else:
            maps.append(whole(size))
    return moved(view, *maps)


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Concat"): concat,
    ("", "Split"): split,
    ("", "Slice"): slices,
    ("", "Pad"): pad,
}
