"""Semantics of convolutions, plain, grouped, depthwise and transposed."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from graphturbo_core.errors import ModelError
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    Contraction,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import (
    Entry,
    Shape,
    per_channel,
    reduced,
    same,
    uncut_over_k,
    whole,
)
from graphturbo_core.semantics.ops.view import OpView
from graphturbo_core.semantics.ops.windows import Windows, windows_of


def _channels(channels: int, groups: int, out_channels: int) -> AxisMap:
    """The data's channel axis: reduced whole, or per group of output channels."""
    if groups == 1:
        return reduced(channels)
    return AxisMap(
        AxisKind.GROUPED,
        channels,
        1,
        out_block=out_channels // groups,
        in_block=channels // groups,
    )


def _bias(view: OpView, place: int | None) -> tuple[InputAccess, ...]:
    if place is None or not view.has_input(place):
        return ()
    return (per_channel(view.op.inputs[place], view.shape(place)),)


def _check_groups(view: OpView, groups: int, weight: int) -> None:
    """Check that channels, groups and weight match; onnx's shape inference does not.

    Raises:
        ModelError: BAD_CONVOLUTION, with the op and its shapes.
    """
    sizes = {view.shape()[1], view.shape_out()[1]}
    is_divided = groups > 0 and all(size % groups == 0 for size in sizes)
    if not is_divided or not _fits_weight(view, groups, weight):
        raise ModelError(
            "BAD_CONVOLUTION",
            f"{view.op.op_type} {view.op.name!r} has data {list(view.shape())}, "
            f"weight {list(view.shape(weight))} and {groups} groups",
            "channels and groups do not match",
            "correct the model's weight or its group attribute",
        )


def _fits_weight(view: OpView, groups: int, weight: int) -> bool:
    """Conv's weight is [out, in / groups, ...], a transposed one's [in, out / groups, ...]."""
    first, second = view.shape(weight)[:2]
    channels, out_channels = view.shape()[1], view.shape_out()[1]
    held = (first, second * groups)
    return held in {(out_channels, channels), (channels, out_channels)}


def _convolved(
    view: OpView,
    spatial: tuple[AxisMap, ...],
    weight_axes: tuple[AxisMap, ...],
    area: int,
    places: tuple[int, int | None] = (1, 2),
) -> OpSemantics:
    """The entry that all convolutions share; `area`: kernel taps per output element.

    `places`: input numbers of weight and bias.
    """
    data, weight = view.op.inputs[0], view.op.inputs[places[0]]
    groups = view.integer("group", 1)
    batch, channels = view.shape()[:2]
    _check_groups(view, groups, places[0])
    data_axes = (same(batch, 0), _channels(channels, groups, view.shape_out()[1]), *spatial)
    depth = channels // groups
    is_whole = groups == 1
    return OpSemantics(
        fusion=FusionKind.CONTRACTION,
        engine=EngineKind.MATRIX,
        accesses=(
            (
                InputAccess(data, data_axes),
                InputAccess(weight, weight_axes),
                *_bias(view, places[1]),
            ),
        ),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        contraction=Contraction(
            m_axes=(0, *range(2, len(view.shape()))),
            n_axis=1,
            k=depth * area,
            reduce_size=depth if is_whole else 1,
            k_inner=area if is_whole else depth * area,
            groups=groups,
            data=data,
            weight=weight,
            data_reduce_axis=1 if is_whole else -1,
            weight_reduce_axis=weight_axes.index(reduced(depth)) if is_whole else -1,
            map_axes=_map_axes(view.shape_out()),
        ),
    )


def _map_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The last two axes of size above 1, after batch and channels; () for fewer."""
    long = [axis for axis in range(2, len(shape)) if shape[axis] > 1]
    return tuple(long[-2:]) if len(long) > 1 else ()


def convolution(view: OpView) -> OpSemantics:
    """Conv: data [N, C, ...], weight [M, C / groups, ...], bias [M]."""
    return convolved_by(view, 1, 2)


def convolved_by(view: OpView, weight: int, bias: int | None) -> OpSemantics:
    """A convolution whose weight and bias are these inputs."""
    kernel = view.shape(weight)[2:]
    windows = windows_of(view, kernel)
    spatial = windows.axes(view.shape()[2:])
    weight_axes = _weight_axes(view, weight)
    found = _convolved(view, spatial, weight_axes, prod(kernel), (weight, bias))
    return replace(found, is_sliding=True)


def _weight_axes(view: OpView, weight: int) -> tuple[AxisMap, ...]:
    """A weight [M, C / groups, ...]: its channels are reduced, or belong to one group."""
    out_channels, depth, *kernel = view.shape(weight)
    inner = reduced(depth) if view.integer("group", 1) == 1 else whole(depth)
    return (same(out_channels, 1), inner, *(whole(size) for size in kernel))


def deformed_convolution(view: OpView) -> OpSemantics:
    """DeformConv: offsets are data, so spatial axes are read whole and not cut.

    Offsets and masks are read for all their groups.
    """
    shape, kernel = view.shape(), view.shape(1)[2:]
    weight_axes = _weight_axes(view, 1)
    spatial = tuple(whole(size) for size in shape[2:])
    found = uncut_over_k(_convolved(view, spatial, weight_axes, prod(kernel), (1, 3)))
    beside = tuple(
        InputAccess(
            view.op.inputs[place],
            (same(view.shape(place)[0], 0), *(whole(size) for size in view.shape(place)[1:])),
        )
        for place in (2, 4)
        if view.has_input(place)
    )
    space = frozenset(range(2, len(shape)))
    return replace(found, accesses=((*found.accesses[0], *beside),), uncut_axes=space)


def _transposed_axis(windows: Windows, index: int, size: int) -> AxisMap:
    """Returns the map of one axis of a transposed convolution's input.

    1. Stride 1 is a convolution with the padding (kernel - 1) * dilation - pad.
    2. Windows that do not overlap and have no padding: `stride` outputs per input.
    3. Otherwise output o needs inputs (o + pad - reach) / stride to (o + pad) / stride: `stride`
       outputs per input, and the additional inputs that the worst o needs.
    """
    kernel, stride = windows.kernel[index], windows.strides[index]
    reach = (kernel - 1) * windows.dilations[index]
    pad = windows.pads[index]
    if stride == 1:
        return AxisMap(
            AxisKind.WINDOW,
            size,
            index + 2,
            dilation=windows.dilations[index],
            kernel=kernel,
            pad=reach - pad,
        )
    if pad == 0 and reach < stride:
        return AxisMap(AxisKind.GROUPED, size, index + 2, out_block=stride)
    below = max(-(-(reach - pad - o) // stride) if reach > pad + o else 0 for o in range(stride))
    beside = max(below, (stride - 1 + pad) // stride)
    return AxisMap(AxisKind.SCALED, size, index + 2, out_block=stride, pad=beside)


def convolution_transpose(view: OpView) -> OpSemantics:
    """ConvTranspose: weight [C, M / groups, ...].

    Taps per output element and axis: ceil(kernel / stride), exact if the stride divides the kernel,
    else an upper bound. If padding follows from the output's shape, spatial axes are read whole:
    operator sets differ in the side of the odd element.
    """
    kernel = view.shape(1)[2:]
    windows = windows_of(view, kernel)
    is_derived = view.text("auto_pad", "NOTSET") != "NOTSET" or view.integers("output_shape")
    spatial = tuple(
        whole(size) if is_derived else _transposed_axis(windows, index, size)
        for index, size in enumerate(view.shape()[2:])
    )
    area = prod(-(-taps // step) for taps, step in zip(kernel, windows.strides, strict=True))
    return _convolved(view, spatial, _transposed_weight(view, kernel), area)


def _transposed_weight(view: OpView, kernel: Shape) -> tuple[AxisMap, ...]:
    channels, width = view.shape(1)[:2]
    groups = view.integer("group", 1)
    first = _channels(channels, groups, width * groups)
    second = same(width, 1) if groups == 1 else whole(width)
    return (first, second, *(whole(size) for size in kernel))


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Conv"): convolution,
    ("", "DeformConv"): deformed_convolution,
    ("", "ConvTranspose"): convolution_transpose,
}
