"""Semantics of ops whose indices are data: gather, scatter, one-hot."""

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
from graphturbo_core.semantics.ops.maps import Entry, normal_axis, same, whole, whole_tensor
from graphturbo_core.semantics.ops.scans import all_but
from graphturbo_core.semantics.ops.view import OpView


def _picked(view: OpView, *reads: InputAccess, is_placed: bool = False) -> OpSemantics:
    """An op that places elements by indices."""
    return OpSemantics(
        fusion=FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=(reads,),
        output_shapes=view.shapes_out,
        is_placed=is_placed,
    )


def gather(view: OpView) -> OpSemantics:
    """Gather: any row may be needed, so the gathered axis is read whole, as a lookup."""
    data, indices = view.op.inputs[:2]
    axis = normal_axis(view.integer("axis", 0), len(view.shape()))
    shift = len(view.shape(1)) - 1
    data_axes = tuple(
        whole(size) if index == axis else same(size, index + (shift if index > axis else 0))
        for index, size in enumerate(view.shape())
    )
    index_axes = tuple(same(size, axis + index) for index, size in enumerate(view.shape(1)))
    table = InputAccess(data, data_axes, is_lookup=True)
    return _picked(view, table, InputAccess(indices, index_axes))


def gather_elements(view: OpView) -> OpSemantics:
    """GatherElements: the axis is whole; the output covers the first elements of others."""
    axis = normal_axis(view.integer("axis", 0), len(view.shape()))
    data = InputAccess(view.op.inputs[0], all_but(view.shape(), axis))
    indices = tuple(same(size, index) for index, size in enumerate(view.shape(1)))
    return _picked(view, data, InputAccess(view.op.inputs[1], indices))


def gather_nd(view: OpView) -> OpSemantics:
    """GatherND: batch axes one to one, then one whole axis per number of an index."""
    batch = view.integer("batch_dims", 0)
    shape, asked = view.shape(), view.shape(1)
    first_rest = batch + asked[-1]
    shift = len(asked) - 1 - first_rest
    data = tuple(
        whole(size)
        if batch <= axis < first_rest
        else same(size, axis if axis < batch else axis + shift)
        for axis, size in enumerate(shape)
    )
    indices = (*(same(size, axis) for axis, size in enumerate(asked[:-1])), whole(asked[-1]))
    return _picked(
        view, InputAccess(view.op.inputs[0], data), InputAccess(view.op.inputs[1], indices)
    )


def scatter_elements(view: OpView) -> OpSemantics:
    """Scatter and ScatterElements: any update may land anywhere along the axis.

    Other axes of indices and updates follow the data if they have its size.
    """
    shape = view.shape()
    axis = normal_axis(view.integer("axis", 0), len(shape))
    reads = [_followed(view, 0)]
    for place in (1, 2):
        maps = tuple(
            whole(size) if index == axis or size != shape[index] else same(size, index)
            for index, size in enumerate(view.shape(place))
        )
        reads.append(InputAccess(view.op.inputs[place], maps))
    return _picked(view, *reads, is_placed=True)


def _followed(view: OpView, place: int) -> InputAccess:
    shape = view.shape(place)
    return InputAccess(
        view.op.inputs[place], tuple(same(size, axis) for axis, size in enumerate(shape))
    )


def scatter_nd(view: OpView) -> OpSemantics:
    """ScatterND: all indices; update axes that no index selects follow."""
    asked = view.shape(1)
    chosen, lead = asked[-1], len(asked) - 1
    updates = tuple(
        whole(size) if axis < lead else same(size, axis - lead + chosen)
        for axis, size in enumerate(view.shape(2))
    )
    return _picked(
        view,
        _followed(view, 0),
        whole_tensor(view.op.inputs[1], asked),
        InputAccess(view.op.inputs[2], updates),
        is_placed=True,
    )


def tensor_scatter(view: OpView) -> OpSemantics:
    """TensorScatter: a sample's update lands in the row of the axis that its index gives."""
    axis = normal_axis(view.integer("axis", -2), len(view.shape()))
    reads = [_followed(view, 0), InputAccess(view.op.inputs[1], all_but(view.shape(1), axis))]
    if view.has_input(2):
        reads.append(_followed(view, 2))
    return _picked(view, *reads, is_placed=True)


def one_hot(view: OpView) -> OpSemantics:
    """OneHot: the new axis compares its position with the index; both values are read."""
    rank = len(view.shape_out())
    axis = normal_axis(view.integer("axis", -1), rank)
    indices = tuple(same(size, index + (index >= axis)) for index, size in enumerate(view.shape()))
    return _picked(
        view,
        InputAccess(view.op.inputs[0], indices),
        whole_tensor(view.op.inputs[2], view.shape(2)),
        is_placed=True,
    )


def tile(view: OpView) -> OpSemantics:
    """Tile: a repeated axis is read whole; one of a single element is broadcast."""
    maps = tuple(
        same(size, axis) if size == out else AxisMap(AxisKind.NONE, 1) if size == 1 else whole(size)
        for axis, (size, out) in enumerate(zip(view.shape(), view.shape_out(), strict=True))
    )
    is_repeated = all(
        size in (1, out) for size, out in zip(view.shape(), view.shape_out(), strict=True)
    )
    found = _picked(view, InputAccess(view.op.inputs[0], maps), is_placed=True)
    return replace(found, fusion=FusionKind.BROADCAST, is_repeated=is_repeated)


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Gather"): gather,
    ("", "GatherElements"): gather_elements,
    ("", "GatherND"): gather_nd,
    ("", "Scatter"): scatter_elements,
    ("", "ScatterElements"): scatter_elements,
    ("", "ScatterND"): scatter_nd,
    ("", "TensorScatter"): tensor_scatter,
    ("", "OneHot"): one_hot,
    ("", "Tile"): tile,
}
