"""Semantics of softmax and of undecomposed normalisations."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

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
    broadcast,
    normal_axis,
    per_channel,
    same,
    whole,
)
from graphturbo_core.semantics.ops.view import OpView

AXIS_SOFTMAX_OPSET = 13
"""First opset whose Softmax works along one axis; before, on a matrix folded at `axis`."""


def _normalised(
    view: OpView, axes: Collection[int], ops: int, transcendentals: int, *vectors: InputAccess
) -> OpSemantics:
    """Normalisation whose output `axes` may not be cut; opaque to fusion, except softmax.

    It is not an opaque *op*: the other axes may be cut, and its work is counted.
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
    """Per element: maximum, difference, sum; exponential and division (or logarithm).

    Relay registers both as out-elementwise-fusable (`kOutEWiseFusable` in src/relay/op/nn/nn.cc,
    since apache/tvm pull request 8909 of 2021): elementwise ops after them join.
    """
    return replace(_normalised(view, _folded_axes(view), 3, 2), fusion=FusionKind.CONTRACTION)


def hardmax(view: OpView) -> OpSemantics:
    """Hardmax: one at the first maximum, else zero: a comparison and a selection."""
    return _normalised(view, _folded_axes(view), 2, 0)


def _folded_axes(view: OpView) -> range:
    rank = len(view.shape())
    if view.op.opset >= AXIS_SOFTMAX_OPSET:
        axis = normal_axis(view.integer("axis", -1), rank)
        return range(axis, axis + 1)
    return range(normal_axis(view.integer("axis", 1), rank), rank)


def layer_norm(view: OpView) -> OpSemantics:
    """LayerNormalization over all axes from `axis`: mean, difference, ..., scale, shift.

    Per element: mean, difference, square, sum, product, scale, shift. The square root of a row is
    not counted: one for many elements. Statistics outputs are not counted either: they read the
    data of the first output.
    """
    rank = len(view.shape())
    axes = range(normal_axis(view.integer("axis", -1), rank), rank)
    return _with_statistics(view, _normalised(view, axes, 7, 0, *_vectors(view, (1, 2))))


def _with_statistics(view: OpView, found: OpSemantics) -> OpSemantics:
    """The semantics with further outputs, which read the data of their row."""
    if not view.extra_outputs:
        return found
    reads = (found.accesses[0], *((found.accesses[0][:1]) for _ in view.op.outputs[1:]))
    return replace(found, accesses=reads)


def rms_norm(view: OpView) -> OpSemantics:
    """RMSNormalization over all axes from `axis`: square, sum, product, scale.

    ONNX Runtime's name is SimplifiedLayerNormalization; that may output statistics too.
    """
    rank = len(view.shape())
    axes = range(normal_axis(view.integer("axis", -1), rank), rank)
    return _with_statistics(view, _normalised(view, axes, 4, 0, *_vectors(view, (1,))))


def _vectors(view: OpView, places: tuple[int, ...]) -> tuple[InputAccess, ...]:
    """Scale and shift, broadcast against the data."""
    return tuple(
        broadcast(view.op.inputs[place], view.shape(place), view.shape_out())
        for place in places
        if view.has_input(place)
    )


def instance_norm(view: OpView) -> OpSemantics:
    """InstanceNormalization over each channel's spatial axes, counted as `layer_norm`."""
    vectors = tuple(per_channel(view.op.inputs[index], view.shape(index)) for index in (1, 2))
    return _normalised(view, range(2, len(view.shape())), 7, 0, *vectors)


def group_norm(view: OpView) -> OpSemantics | None:
    """GroupNormalization over a group of channels and all spatial axes; channels may be cut.

    A touched group is read whole. Scale and shift are per channel from opset 21 on, per group
    before.
    """
    shape = view.shape()
    groups = view.integer("num_groups", 0)
    if groups < 1 or shape[1] % groups:
        return None
    block = shape[1] // groups
    space = range(2, len(shape))
    channels = AxisMap(AxisKind.GROUPED, shape[1], 1, out_block=block, in_block=block)
    data = InputAccess(
        view.op.inputs[0], (same(shape[0], 0), channels, *(whole(shape[axis]) for axis in space))
    )
    vectors = (_group_vector(view, place, block) for place in (1, 2))
    found = _normalised(view, space, 7, 0)
    return replace(found, accesses=((data, *vectors), *found.accesses[1:]))


def _group_vector(view: OpView, place: int, block: int) -> InputAccess:
    size = view.shape(place)[0]
    if size == view.shape()[1]:
        return per_channel(view.op.inputs[place], view.shape(place))
    return InputAccess(
        view.op.inputs[place], (AxisMap(AxisKind.GROUPED, size, 1, out_block=block),)
    )


def mean_variance_norm(view: OpView) -> OpSemantics:
    """MeanVarianceNormalization over axes (default: batch and space); no scale, no shift."""
    rank = len(view.shape())
    given = view.integers("axes") or (0, 2, 3)
    return _normalised(view, frozenset(normal_axis(axis, rank) for axis in given), 5, 1)


def lp_norm(view: OpView) -> OpSemantics:
    """LpNormalization along one axis: power, sum, division."""
    axis = normal_axis(view.integer("axis", -1), len(view.shape()))
    return _normalised(view, range(axis, axis + 1), 2, 1)


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Softmax"): softmax,
    ("", "LogSoftmax"): softmax,
    ("", "LayerNormalization"): layer_norm,
    ("", "InstanceNormalization"): instance_norm,
    ("", "RMSNormalization"): rms_norm,
    ("", "SimplifiedLayerNormalization"): rms_norm,
    ("", "GroupNormalization"): group_norm,
    ("", "MeanVarianceNormalization"): mean_variance_norm,
    ("", "LpNormalization"): lp_norm,
    ("", "Hardmax"): hardmax,
}
