"""Semantics of the two losses: a sample's scores, its target class, and the mean."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import AxisMap, FusionKind, InputAccess, OpSemantics
from graphturbo_core.semantics.ops.maps import Entry, Shape, same, whole
from graphturbo_core.semantics.ops.view import OpView

_OPS = {"NegativeLogLikelihoodLoss": 1, "SoftmaxCrossEntropyLoss": 5}
"""Operations per score: selection, or also maximum, difference, exponential, sum, logarithm."""


def loss(view: OpView) -> OpSemantics:
    """Scores [N, C, ...], targets [N, ...], weights [C]; the second output has log scores."""
    is_kept = view.text("reduction", "mean") == "none"
    scores = view.shape()
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=tuple(
            () if not name else _of_log(view) if index else _of_loss(view, is_kept)
            for index, name in enumerate(view.op.outputs)
        ),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        ops_per_input=_OPS[view.op.op_type],
        uncut_axes=frozenset({1}) if len(view.op.outputs) > 1 and len(scores) > 1 else frozenset(),
    )


def _of_loss(view: OpView, is_kept: bool) -> tuple[InputAccess, ...]:
    scores = _scores(view.shape(), is_kept)
    targets = tuple(
        same(size, axis) if is_kept else whole(size) for axis, size in enumerate(view.shape(1))
    )
    reads = [InputAccess(view.op.inputs[0], scores), InputAccess(view.op.inputs[1], targets)]
    if view.has_input(2):
        reads.append(InputAccess(view.op.inputs[2], (whole(view.shape(2)[0]),)))
    return tuple(reads)


def _scores(shape: Shape, is_kept: bool) -> tuple[AxisMap, ...]:
    """Axis maps of scores: classes are whole; other axes follow with `is_kept`, else whole."""
    return tuple(
        whole(size) if axis == 1 or not is_kept else same(size, axis - (axis > 1))
        for axis, size in enumerate(shape)
    )


def _of_log(view: OpView) -> tuple[InputAccess, ...]:
    maps = (whole(size) if axis == 1 else same(size, axis)
            for axis, size in enumerate(view.shape()))  # fmt: skip
    return (InputAccess(view.op.inputs[0], tuple(maps)),)


ENTRIES: dict[tuple[str, str], Entry] = {("", name): loss for name in _OPS}
