"""Semantics of pooling, sliding and global, and of local response normalisation."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import Entry, reduced, same
from graphturbo_core.semantics.ops.view import OpView
from graphturbo_core.semantics.ops.windows import windows_of

_RESULT = {"AveragePool": (1, 0), "GlobalAveragePool": (1, 0), "LpPool": (0, 1),
           "GlobalLpPool": (0, 1)}  # fmt: skip
"""Operations and transcendentals per result: an average scales, a norm takes a root."""
_POWERS = ("LpPool", "GlobalLpPool")
"""Ops that raise each element to a power before the sum."""


def _pooled(view: OpView, spatial: tuple[AxisMap, ...]) -> OpSemantics:
    """One operation per element of each window, two if it is raised to a power first.

    TVM classes pooling with convolutions: elementwise ops fuse onto its output.
    """
    batch, channels = view.shape()[:2]
    plain, functions = _RESULT.get(view.op.op_type, (0, 0))
    read = InputAccess(view.op.inputs[0], (same(batch, 0), same(channels, 1), *spatial))
    return OpSemantics(
        fusion=FusionKind.CONTRACTION,
        engine=EngineKind.VECTOR,
        accesses=tuple((read,) if name else () for name in view.op.outputs),
        output_shapes=view.shapes_out,
        ops_per_element=plain,
        ops_per_input=2 if view.op.op_type in _POWERS else 1,
        transcendentals=functions,
    )


def sliding_pool(view: OpView) -> OpSemantics | None:
    """MaxPool (also with indices), AveragePool and LpPool."""
    kernel = view.integers("kernel_shape")
    if kernel is None:
        return None
    windows = windows_of(view, kernel)
    return replace(_pooled(view, windows.axes(view.shape()[2:])), is_sliding=True)


def global_pool(view: OpView) -> OpSemantics:
    """GlobalAveragePool, GlobalMaxPool and GlobalLpPool: every spatial axis is reduced."""
    return _pooled(view, tuple(reduced(size) for size in view.shape()[2:]))


def local_response(view: OpView) -> OpSemantics:
    """LRN: a window of `size` channels, floor((size - 1) / 2) of them before (ONNX, LRN).

    Squares are summed over the window (2 per element read); scale, bias and product are 3 per
    element, the power one transcendental. Opaque to fusion, as in TVM.
    """
    size = view.integer("size", 1)
    batch, channels, *spatial = view.shape()
    channel_axis = AxisMap(AxisKind.WINDOW, channels, 1, kernel=size, pad=(size - 1) // 2)
    axes = (same(batch, 0), channel_axis, *(same(n, axis + 2) for axis, n in enumerate(spatial)))
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=((InputAccess(view.op.inputs[0], axes),),),
        output_shapes=view.shapes_out,
        ops_per_element=3,
        ops_per_input=2,
        transcendentals=1,
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "MaxPool"): sliding_pool,
    ("", "AveragePool"): sliding_pool,
    ("", "LpPool"): sliding_pool,
    ("", "GlobalLpPool"): global_pool,
    ("", "GlobalAveragePool"): global_pool,
    ("", "GlobalMaxPool"): global_pool,
    ("", "LRN"): local_response,
}
