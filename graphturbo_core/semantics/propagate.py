"""Boxes that a set of ops needs and computes for wanted boxes of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graphturbo_core.ir.boxes import Box, Interval, full_box, hull, is_empty
from graphturbo_core.ir.graph import Op
from graphturbo_core.semantics.access import OpSemantics
from graphturbo_core.semantics.table import GraphSemantics

_NOTHING: Interval = (0, 0)


Needs = tuple[Box, tuple[tuple[str, Box], ...]]
"""The box of a result that an op computes, and the tensors with the boxes that it reads for it."""
NeedsOf = Callable[[GraphSemantics, Op, int, Box], Needs]


def needs_of(sem: GraphSemantics, op: Op, index: int, wanted: Box) -> Needs:
    """What an op computes and reads for a box of output `index`; an uncut axis is full."""
    semantics = sem.by_op[op.name]
    computed = _computed(semantics, semantics.output_shapes[index], wanted)
    reads = []
    for access in semantics.accesses[index]:
        box = access.box(computed)
        if is_empty(computed) or is_empty(box):
            box = _empty(len(box))
        reads.append((access.tensor, box))
    return computed, tuple(reads)


def needed_boxes(
    sem: GraphSemantics, ops: Sequence[Op], wanted: Mapping[str, Box], needs: NeedsOf = needs_of
) -> dict[str, Box]:
    """Returns the box of every tensor that `ops` (in topological order) read or write.

    A written tensor's box is the hull of its wanted box and its readers' needs among `ops`; an axis
    that may not be cut is full. A read tensor's box is the hull over its readers, weights included.
    The box is empty if nothing is needed, also for an input used only for its type or shape. Linear
    in the reads; equal readers of one tensor that want equal boxes count once. `needs`: `needs_of`,
    or the same with a cache.
    """
    boxes = dict(wanted)
    computed: dict[tuple[int, int, Box], Box] = {}
    for op in reversed(ops):
        for name in sem.graph.activations_in(op):
            if name not in boxes:
                boxes[name] = _empty(len(sem.graph.tensors[name].shape))
        for index, name in enumerate(op.outputs):
            if not name:
                continue
            own = boxes.get(name)
            if own is None:
                own = _empty(len(sem.by_op[op.name].output_shapes[index]))
            twin = sem.twins.get(op.name)
            if twin is not None and (twin, index, own) in computed:
                boxes[name] = computed[twin, index, own]
                continue
            boxes[name], reads = needs(sem, op, index, own)
            if twin is not None:
                computed[twin, index, own] = boxes[name]
            for tensor, box in reads:
                known = boxes.get(tensor)
                boxes[tensor] = box if known is None else hull(known, box)
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
