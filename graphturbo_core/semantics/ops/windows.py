"""Sliding windows: stride, dilation and padding of convolutions and pooling, defaults filled."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.semantics.access import AxisKind, AxisMap
from graphturbo_core.semantics.ops.maps import Shape
from graphturbo_core.semantics.ops.view import OpView


@dataclass(frozen=True, slots=True)
class Windows:
    """Window parameters per spatial axis; `pads`: before the first element."""

    kernel: Shape
    strides: Shape
    dilations: Shape
    pads: Shape

    def axes(self, sizes: Shape) -> tuple[AxisMap, ...]:
        """The maps of an input's spatial axes, which follow batch and channels."""
        return tuple(
            AxisMap(AxisKind.WINDOW, size, axis + 2, stride=step, dilation=dilation, kernel=taps,
                    pad=pad)
            for axis, (size, step, dilation, taps, pad) in enumerate(
                zip(sizes, self.strides, self.dilations, self.kernel, self.pads, strict=True)
            )
        )  # fmt: skip


def windows_of(view: OpView, kernel: Shape) -> Windows:
    """The op's windows with ONNX's defaults: stride 1, dilation 1, no padding."""
    ones = (1,) * len(kernel)
    strides = view.integers("strides") or ones
    dilations = view.integers("dilations") or ones
    return Windows(kernel, strides, dilations, _pads_before(view, kernel, strides, dilations))


def _pads_before(view: OpView, kernel: Shape, strides: Shape, dilations: Shape) -> Shape:
    """ONNX's auto_pad: SAME gives out = ceil(in / stride); UPPER's odd pad is at the end."""
    auto = view.text("auto_pad", "NOTSET")
    if auto in ("NOTSET", ""):
        return (view.integers("pads") or (0,) * (2 * len(kernel)))[: len(kernel)]
    if auto == "VALID":
        return (0,) * len(kernel)
    sizes, outs = view.shape()[2:], view.shape_out()[2:]
    totals = [
        max(0, (out - 1) * stride + (taps - 1) * dilation + 1 - size)
        for size, out, taps, stride, dilation in zip(
            sizes, outs, kernel, strides, dilations, strict=True
        )
    ]
    return tuple(total // 2 if auto == "SAME_UPPER" else total - total // 2 for total in totals)
