"""Boxes that a set of ops needs and computes for wanted boxes of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphturbo_core.ir.boxes import Box, Interval, full_box, hull, is_empty
from graphturbo_core.ir.graph import Op
from graphturbo_core.semantics.access import OpSemantics
from graphturbo_core.semantics.table import GraphSemantics

_NOTHING: Interval = (0, 0)


def needed_boxes(
    sem: GraphSemantics, ops: Sequence[Op], wanted: Mapping[str, Box]
) -> dict[str, Box]:
    """Returns the box of every tensor that `ops` (in topological order) read or write.

    A written tensor's box is the hull of its wanted box and its readers' needs among `ops`; an axis
    that may not be cut is full. A read tensor's box is the hull over its readers, weights included.
    The box is empty if nothing is needed, also for an input used only for its type or shape. Linear
    in the reads.
    """
    boxes = dict(wanted)
    for op in reversed(ops):
        semantics = sem.by_op[op.name]
        for name in sem.graph.activations_in(op):
            boxes.setdefault(name, _empty(len(sem.graph.tensors[name].shape)))
        for index, name in enumerate(op.outputs):
            if not name:
                continue
            shape = semantics.output_shapes[index]
            boxes[name] = _computed(semantics, shape, boxes.get(name, _empty(len(shape))))
            for access in semantics.accesses[index]:
                box = access.box(boxes[name])
                if is_empty(boxes[name]) or is_empty(box):
                    box = _empty(len(box))
                known = boxes.get(access.tensor)
                boxes[access.tensor] = box if known is None else hull(known, box)
    return boxes


def _empty(rank: int) -> Box:
    return (_NOTHING,) * rank


def _computed(semantics: OpSemantics, shape: tuple[int, ...], box: Box) -> Box:
    """The box that an op computes for `box`: axes that may not be cut are full."""
    if not semantics.uncut_axes or is_empty(box):
        return box
    whole = full_box(shape)
    return tuple(
        whole[axis] if axis in semantics.uncut_axes else interval
        for axis, interval in enumerate(box)
    )
