"""Semantics of ops that interpolate an image: resize, sampling grids, regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import (
    Entry,
    moved,
    normal_axis,
    same,
    whole,
    whole_tensor,
)
from graphturbo_core.semantics.ops.view import OpView

_RESIZE_WITH_ROI_OPSET = 11
"""First opset whose Resize has a region before its scales, and coordinate and rounding modes."""

_EXACT_NEAREST = {
    ("asymmetric", "floor"),
    ("half_pixel", "round_prefer_floor"),
    ("half_pixel", "round_prefer_ceil"),
    ("half_pixel_symmetric", "round_prefer_floor"),
    ("half_pixel_symmetric", "round_prefer_ceil"),
    ("pytorch_half_pixel", "round_prefer_floor"),
    ("pytorch_half_pixel", "round_prefer_ceil"),
}
"""Coordinate and rounding modes in which output o at scale s is input o // s. For half pixels,
o = q s + r is at q + (r + 1/2) / s - 1/2, strictly between q - 1/2 and q + 1/2."""

_TAPS = {"nearest": 1, "linear": 2, "cubic": 4}
"""Elements along an axis per interpolated result."""
MAX_PLACES = 1 << 20
"""Most results per axis that are computed one by one (our choice); longer axes are read whole."""
_MARGIN = 1e-3
"""Distance to a whole number within which a coordinate may be rounded either way: ONNX Runtime's
single precision, for axes of up to about ten thousand elements."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """Rule of Resize: `mode` interpolates, `coordinates` maps positions, `nearest` rounds."""

    mode: str
    coordinates: str
    nearest: str
    is_antialiased: bool


def _rule(view: OpView) -> _Rule:
    """The op's rule; Upsample and opset 10 have only one: o / s, rounded down."""
    mode = view.text("mode", "nearest")
    if view.op.op_type == "Upsample" or view.op.opset < _RESIZE_WITH_ROI_OPSET:
        return _Rule(mode, "asymmetric", "floor", False)
    return _Rule(
        mode,
        view.text("coordinate_transformation_mode", "half_pixel"),
        view.text("nearest_mode", "round_prefer_floor"),
        bool(view.integer("antialias", 0)),
    )


def _scales(view: OpView) -> tuple[float, ...] | None:
    """The scale of every axis; None if not known at import."""
    pairs = tuple(zip(view.shape(), view.shape_out(), strict=True))
    if any(size == 0 for size, _ in pairs):
        return None
    axes = view.integers("axes") or tuple(range(len(pairs)))
    axes = tuple(normal_axis(axis, len(pairs)) for axis in axes)
    is_old = view.op.op_type == "Upsample" or view.op.opset < _RESIZE_WITH_ROI_OPSET
    place = 1 if is_old else 2
    attribute = view.op.attributes.get("scales")
    given: Sequence[float] | None = None
    if isinstance(attribute, tuple):
        given = tuple(float(item) for item in attribute)
    elif view.has_input(place) and view.graph.tensors[view.op.inputs[place]].elements:
        given = view.numbers(place)
    elif view.has_input(3):
        given = _scales_of_sizes(view, tuple(pairs[axis] for axis in axes))
    if given is None or len(given) != len(axes):
        return None
    found = [1.0] * len(pairs)
    for axis, scale in zip(axes, given, strict=True):
        found[axis] = scale
    return tuple(found)


def _scales_of_sizes(view: OpView, pairs: tuple[tuple[int, int], ...]) -> tuple[float, ...] | None:
    """Scales from the size input; an aspect policy makes them all equal."""
    policy = view.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return tuple(out / size for size, out in pairs)
    sizes = view.numbers(3)
    if sizes is None:
        return None
    ratios = [wanted / size for wanted, (size, _) in zip(sizes, pairs, strict=True)]
    return (min(ratios) if policy == "not_larger" else max(ratios),) * len(pairs)


def resize(view: OpView) -> OpSemantics | None:
    """Resize and Upsample; None if scales are computed, or a region is data.

    1. Nearest mode with whole factors: one input per block of results.
    2. Else an axis follows at the ratio of the sizes, padded by the reach of its results.
    """
    rule, scales = _rule(view), _scales(view)
    if scales is None or rule.mode not in _TAPS:
        return None
    maps = []
    for axis, (size, out) in enumerate(zip(view.shape(), view.shape_out(), strict=True)):
        found = _resized_axis(rule, (axis, size, out), scales[axis])
        if found is None:
            return None
        maps.append(found)
    taps = prod(_TAPS[rule.mode] for axis in maps if axis.kind is AxisKind.SCALED)
    return moved(view, *maps, ops=1 if taps == 1 else 2 * taps)


def _resized_axis(rule: _Rule, place: tuple[int, int, int], scale: float) -> AxisMap | None:
    axis, size, out = place
    if rule.coordinates == "tf_crop_and_resize" or out > MAX_PLACES:
        return whole(size)
    if size == out and scale == 1.0:
        return same(size, axis)
    is_exact = rule.mode == "nearest" and (rule.coordinates, rule.nearest) in _EXACT_NEAREST
    if is_exact and out % size == 0 and scale == out / size:
        return AxisMap(AxisKind.GROUPED, size, axis, out_block=out // size)
    at = _coordinates(rule.coordinates, (size, out), scale)
    return None if at is None else _scaled_axis(rule, place, scale, at)


def _coordinates(mode: str, sizes: tuple[int, int], scale: float) -> NDArray[np.float64] | None:
    """Input coordinate of each result (ONNX, Resize); None for an unknown mode."""
    size, out = sizes
    o = np.arange(out, dtype=np.float64)
    half = (o + 0.5) / scale - 0.5
    middle = size / 2 * (1 - out / (scale * size))
    known: dict[str, Any] = {
        "asymmetric": o / scale,
        "half_pixel": half,
        "pytorch_half_pixel": half if out > 1 else np.zeros(out),
        "align_corners": o * (size - 1) / (out - 1) if out > 1 else np.zeros(out),
        "half_pixel_symmetric": middle + half,
        "tf_half_pixel_for_nn": (o + 0.5) / scale,
    }
    return known.get(mode)


def _scaled_axis(
    rule: _Rule, place: tuple[int, int, int], scale: float, at: NDArray[np.float64]
) -> AxisMap:
    """Map at ratio out : size; `pad` is the farthest reach of a result beyond it."""
    axis, size, out = place
    reach = _TAPS[rule.mode] // 2 * (max(1.0, 1 / scale) if rule.is_antialiased else 1.0)
    first = np.floor(at - _MARGIN) - (np.ceil(reach) - 1 if reach else 0)
    last = np.ceil(at + _MARGIN) + (np.ceil(reach) - 1 if reach else 0)
    first, last = np.clip(first, 0, size - 1), np.clip(last, 0, size - 1) + 1
    o = np.arange(out)
    below = o * size // out - first
    above = last - -(-(o + 1) * size // out)
    pad = max(0, int(below.max()), int(above.max()))
    return AxisMap(AxisKind.SCALED, size, axis, pad=pad, out_block=out, in_block=size)


def grid_sample(view: OpView) -> OpSemantics:
    """GridSample: any position of the image may be read; grid axes follow the output's space.

    Per result and tap a product and a sum, and about ten operations for its position.
    """
    batch, channels, *space = view.shape()
    image = (same(batch, 0), same(channels, 1), *(whole(size) for size in space))
    grid_shape = view.shape(1)
    grid = (
        same(grid_shape[0], 0),
        *(same(size, axis + 2) for axis, size in enumerate(grid_shape[1:-1])),
        whole(grid_shape[-1]),
    )
    mode = view.text("mode", "linear").removeprefix("bi")
    taps = _TAPS.get(mode, _TAPS["cubic"]) ** len(space)
    return OpSemantics(
        fusion=FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], image), InputAccess(view.op.inputs[1], grid)),),
        output_shapes=view.shapes_out,
        ops_per_element=2 * taps + 10,
    )


def affine_grid(view: OpView) -> OpSemantics:
    """AffineGrid: a sample's matrix times each position, one row per coordinate."""
    batch, rows, columns = view.shape()
    last = len(view.shape_out()) - 1
    theta = (same(batch, 0), same(rows, last), whole(columns))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], theta),),),
        output_shapes=view.shapes_out,
        ops_per_element=2 * columns,
        is_placed=True,
    )


def regions(view: OpView) -> OpSemantics:
    """RoiAlign and MaxRoiPool: a region may be anywhere in any sample; its bins are not cut.

    Our count: eight operations per result; for an adaptive grid those of two by two samples of four
    taps each.
    """
    samples, channels, *space = view.shape()
    image = (whole(samples), same(channels, 1), *(whole(size) for size in space))
    reads = [InputAccess(view.op.inputs[0], image)]
    for place in range(1, len(view.op.inputs)):
        count, *rest = view.shape(place)
        maps = (same(count, 0), *(whole(size) for size in rest))
        reads.append(InputAccess(view.op.inputs[place], maps))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=(tuple(reads),),
        output_shapes=view.shapes_out,
        ops_per_element=8 * 4,
        uncut_axes=frozenset(range(2, len(view.shape_out()))),
    )


def center_crop_pad(view: OpView) -> OpSemantics:
    """CenterCropPad: half of the excess or missing elements are at the front, rounded down."""
    maps = []
    for axis, (size, out) in enumerate(zip(view.shape(), view.shape_out(), strict=True)):
        offset = (size - out) // 2 if size > out else -((out - size) // 2)
        maps.append(
            same(size, axis) if size == out else AxisMap(AxisKind.OFFSET, size, axis, offset=offset)
        )
    return replace(moved(view, *maps), is_placed=True)


def columns_to_image(view: OpView) -> OpSemantics | None:
    """Col2Im: all blocks of a channel's columns; every element of a block is added once."""
    block = view.parameter("block_shape", 2)
    if block is None:
        return None
    batch, width, count = view.shape()
    area = prod(block)
    columns = (
        same(batch, 0),
        AxisMap(AxisKind.GROUPED, width, 1, in_block=area),
        whole(count),
    )
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], columns),),),
        output_shapes=view.shapes_out,
        ops_per_element=area,
    )


def max_unpool(view: OpView) -> OpSemantics:
    """MaxUnpool: an index refers to the whole output, so all indices are read."""
    reads = tuple(whole_tensor(view.op.inputs[place], view.shape(place)) for place in (0, 1))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=(reads,),
        output_shapes=view.shapes_out,
        ops_per_element=1,
        is_placed=True,
        uncut_axes=frozenset(range(len(view.shape_out()))),
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Resize"): resize,
    ("", "Upsample"): resize,
    ("", "GridSample"): grid_sample,
    ("", "AffineGrid"): affine_grid,
    ("", "RoiAlign"): regions,
    ("", "MaxRoiPool"): regions,
    ("", "CenterCropPad"): center_crop_pad,
    ("", "Col2Im"): columns_to_image,
    ("", "MaxUnpool"): max_unpool,
}
