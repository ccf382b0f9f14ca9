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
from graphturbo_core.semantics.maps import Entry, Shape, per_channel, reduced, same, whole
from graphturbo_core.semantics.view import OpView
from graphturbo_core.semantics.windows import Windows, windows_of


def _channels(channels: int, groups: int, out_channels: int) -> AxisMap:
    """The data's channel axis: combined whole, or per group of output channels."""
    if groups == 1:
        return reduced(channels)
    return AxisMap(
        AxisKind.GROUPED,
        channels,
        1,
        out_block=out_channels // groups,
        in_block=channels // groups,
    )


def _bias(view: OpView) -> tuple[InputAccess, ...]:
    if not view.has_input(2):
        return ()
    return (per_channel(view.op.inputs[2], view.shape(2)),)


def _check_groups(view: OpView, groups: int) -> None:
    """Channels fall into groups that the weight fits; onnx's shape inference does not look.

    Raises:
        ModelError: BAD_CONVOLUTION, with the op and its shapes.
    """
    sizes = {view.shape()[1], view.shape_out()[1]}
    is_divided = groups > 0 and all(size % groups == 0 for size in sizes)
    if not is_divided or not _fits_weight(view, groups):
        raise ModelError(
            "BAD_CONVOLUTION",
            f"{view.op.op_type} {view.op.name!r} has data {list(view.shape())}, "
            f"weight {list(view.shape(1))} and {groups} groups",
            "channels and groups do not match",
            "correct the model's weight or its group attribute",
        )


def _fits_weight(view: OpView, groups: int) -> bool:
    """Conv's weight is [out, in / groups, ...], a transposed one's [in, out / groups, ...]."""
    first, second = view.shape(1)[:2]
    channels, out_channels = view.shape()[1], view.shape_out()[1]
    held = (first, second * groups)
    return held in {(out_channels, channels), (channels, out_channels)}


def _convolved(
    view: OpView, spatial: tuple[AxisMap, ...], weight_axes: tuple[AxisMap, ...], area: int
) -> OpSemantics:
    """The entry that both convolutions share; `area` kernel taps meet an output element."""
    data, weight = view.op.inputs[:2]
    groups = view.integer("group", 1)
    batch, channels = view.shape()[:2]
    _check_groups(view, groups)
    data_axes = (same(batch, 0), _channels(channels, groups, view.shape_out()[1]), *spatial)
    depth = channels // groups
    is_whole = groups == 1
    return OpSemantics(
        fusion=FusionKind.CONTRACTION,
        engine=EngineKind.MATRIX,
        accesses=((InputAccess(data, data_axes), InputAccess(weight, weight_axes), *_bias(view)),),
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
        ),
    )


def convolution(view: OpView) -> OpSemantics:
    """Conv: data [N, C, ...], weight [M, C / groups, ...], bias [M]."""
    kernel = view.shape(1)[2:]
    windows = windows_of(view, kernel)
    spatial = windows.axes(view.shape()[2:])
    out_channels, depth = view.shape(1)[:2]
    inner = reduced(depth) if view.integer("group", 1) == 1 else whole(depth)
    weight_axes = (same(out_channels, 1), inner, *(whole(size) for size in kernel))
    return replace(_convolved(view, spatial, weight_axes, prod(kernel)), is_sliding=True)


def _transposed_axis(windows: Windows, index: int, size: int) -> AxisMap:
    """The input a transposed convolution's output needs along one axis.

    1. Stride 1 is a convolution with the padding (kernel - 1) * dilation - pad.
    2. Windows that do not overlap and have no padding: `stride` outputs per input.
    3. Otherwise the axis is read whole: right, and wider than needed.
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
    return whole(size)


def convolution_transpose(view: OpView) -> OpSemantics | None:
    """ConvTranspose: weight [C, M / groups, ...]; None where padding follows from output_shape.

    Of the kernel's taps, ceil(kernel / stride) an axis meet an output element: exact where the
    stride divides the kernel, else a bound.
    """
    if view.text("auto_pad", "NOTSET") != "NOTSET" or view.integers("output_shape"):
        return None
    kernel = view.shape(1)[2:]
    windows = windows_of(view, kernel)
    spatial = tuple(
        _transposed_axis(windows, index, size) for index, size in enumerate(view.shape()[2:])
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
    ("", "ConvTranspose"): convolution_transpose,
}
