"""Semantics of softmax and of the normalisations kept whole."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import FusionKind, InputAccess, OpSemantics
from graphturbo_core.semantics.maps import (
    Entry,
    broadcast,
    normal_axis,
    per_channel,
    same,
    whole,
)
from graphturbo_core.semantics.view import OpView

AXIS_SOFTMAX_OPSET = 13
"""From here on Softmax works along one axis; before, on a matrix folded at `axis`."""


def _normalised(
    view: OpView, axes: range, ops: int, transcendentals: int, *vectors: InputAccess
) -> OpSemantics:
    """`axes` of the output may not be cut. Opaque to fusion, as softmax is in Relay's table.

    It is no opaque *op*: the other axes may be cut, and its work is counted.
    """
    reads = tuple(
        whole(size) if axis in axes else same(size, axis) for axis, size in enumerate(view.shape())
    )
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=(
            (InputAccess(view.op.inputs[0], reads), *vectors),
            *(() for _ in view.op.outputs[1:]),
        ),
        output_shapes=view.shapes_out,
        ops_per_element=ops,
        transcendentals=transcendentals,
        uncut_axes=frozenset(axes),
    )


def softmax(view: OpView) -> OpSemantics:
    """Per element: maximum, difference, sum; exponential and division (or logarithm)."""
    rank = len(view.shape())
    if view.op.opset >= AXIS_SOFTMAX_OPSET:
        axis = normal_axis(view.integer("axis", -1), rank)
        return _normalised(view, range(axis, axis + 1), 3, 2)
    return _normalised(view, range(normal_axis(view.integer("axis", 1), rank), rank), 3, 2)


def layer_norm(view: OpView) -> OpSemantics | None:
    """Over all axes from `axis`: mean, difference, square, sum, product, scale, shift.

    The square root of a row is left out: one for many elements.
    """
    if view.extra_outputs:
        return None
    rank = len(view.shape())
    axis = normal_axis(view.integer("axis", -1), rank)
    vectors = tuple(
        broadcast(view.op.inputs[index], view.shape(index), view.shape_out())
        for index in (1, 2)
        if view.has_input(index)
    )
    return _normalised(view, range(axis, rank), 7, 0, *vectors)


def instance_norm(view: OpView) -> OpSemantics:
    """Over the spatial axes of each channel, counted as `layer_norm`."""
    vectors = tuple(per_channel(view.op.inputs[index], view.shape(index)) for index in (1, 2))
    return _normalised(view, range(2, len(view.shape())), 7, 0, *vectors)


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Softmax"): softmax,
    ("", "LogSoftmax"): softmax,
    ("", "LayerNormalization"): layer_norm,
    ("", "InstanceNormalization"): instance_norm,
}
