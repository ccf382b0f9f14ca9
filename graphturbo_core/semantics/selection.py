"""Semantics of ops that join, cut out, pad, repeat or pick elements."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.maps import Entry, Shape, moved, normal_axis, same, whole
from graphturbo_core.semantics.view import OpView

_RESIZE_WITH_ROI_OPSET = 11
"""From here on Resize has a region before its scales, and modes of coordinates and rounding."""

_EXACT_NEAREST = {
    ("asymmetric", "floor"),
    ("half_pixel", "round_prefer_floor"),
    ("half_pixel", "round_prefer_ceil"),
    ("half_pixel_symmetric", "round_prefer_floor"),
    ("half_pixel_symmetric", "round_prefer_ceil"),
    ("pytorch_half_pixel", "round_prefer_floor"),
    ("pytorch_half_pixel", "round_prefer_ceil"),
}
"""Coordinate and rounding modes in which output o of a scale s is input o // s: half a pixel off,
o = q s + r lies at q + (r + 1/2) / s - 1/2, strictly between q - 1/2 and q + 1/2."""


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
    """Concat: an input lies at minus what stands before it.

    An input given twice has two reads: the needed boxes are joined by whoever asks.
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
    """Split: each output lies at the sum of those before it; their shapes say how long they are."""
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
    """A slice backwards is read whole: an offset map only runs forwards."""
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
    """Pad: constants need nothing; other modes look back into the axis, which is read whole."""
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


def gather(view: OpView) -> OpSemantics:
    """Gather: any row may be asked for, so the gathered axis is read whole."""
    data, indices = view.op.inputs[:2]
    axis = normal_axis(view.integer("axis", 0), len(view.shape()))
    shift = len(view.shape(1)) - 1
    data_axes = tuple(
        whole(size) if index == axis else same(size, index + (shift if index > axis else 0))
        for index, size in enumerate(view.shape())
    )
    index_axes = tuple(same(size, axis + index) for index, size in enumerate(view.shape(1)))
    return OpSemantics(
        fusion=FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(data, data_axes), InputAccess(indices, index_axes)),),
        output_shapes=view.shapes_out,
    )


def _is_exact_nearest(view: OpView) -> bool:
    """Whether Resize picks input o // s; Upsample and opset 10 know one rule only."""
    if view.text("mode", "nearest") != "nearest":
        return False
    if view.op.op_type == "Upsample" or view.op.opset < _RESIZE_WITH_ROI_OPSET:
        return True
    coordinates = view.text("coordinate_transformation_mode", "half_pixel")
    return (coordinates, view.text("nearest_mode", "round_prefer_floor")) in _EXACT_NEAREST


def _has_whole_scales(view: OpView) -> bool:
    """Whether every axis grows by a whole factor that is also the scale asked for."""
    pairs = tuple(zip(view.shape(), view.shape_out(), strict=True))
    if any(size == 0 or out % size for size, out in pairs) or view.op.attributes.get("axes"):
        return False
    place = 1 if view.op.op_type == "Upsample" or view.op.opset < _RESIZE_WITH_ROI_OPSET else 2
    given = view.op.attributes.get("scales")
    if isinstance(given, tuple):
        scales: tuple[float, ...] | None = tuple(float(item) for item in given)
    elif view.has_input(place) and view.graph.tensors[view.op.inputs[place]].elements:
        scales = view.numbers(place)
    else:
        return view.has_input(3)
    return scales == tuple(out / size for size, out in pairs)


def resize(view: OpView) -> OpSemantics | None:
    """Resize and Upsample to the nearest by whole factors; anything else is opaque."""
    if not (_is_exact_nearest(view) and _has_whole_scales(view)):
        return None
    return moved(
        view,
        *(
            same(size, axis)
            if size == out
            else AxisMap(AxisKind.GROUPED, size, axis, out_block=out // size)
            for axis, (size, out) in enumerate(zip(view.shape(), view.shape_out(), strict=True))
        ),
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Concat"): concat,
    ("", "Split"): split,
    ("", "Slice"): slices,
    ("", "Pad"): pad,
    ("", "Gather"): gather,
    ("", "Resize"): resize,
    ("", "Upsample"): resize,
}
