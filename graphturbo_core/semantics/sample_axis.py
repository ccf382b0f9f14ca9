"""Axis of the samples in each tensor of a rescaled model, and proof of their independence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind
from graphturbo_core.semantics.access import AxisKind
from graphturbo_core.semantics.picks import equal_picks, own_picks
from graphturbo_core.semantics.table import GraphSemantics

RELAID = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
"""Ops that preserve the flat order of their first input and otherwise read only a shape."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The axis of the samples; `inner` consecutive indices belong to one sample."""

    axis: int
    inner: int


class _NoProofError(Exception):
    """The first op without a proof that its samples are independent."""


def mixed_samples(old: GraphSemantics, new: GraphSemantics, batches: tuple[int, int]) -> str | None:
    """Returns why a sample of `new` may differ from the same sample of `old`; None: it cannot.

    Both are one model for the two batches. By induction over the ops:

    1. Inputs that grew have samples along axis 0, one row each. So do constants that grew, whose
       rows are equal. A constant with a new name was made for the batch by `rescale-batch`.
       Indices have the same rows per sample where each sample picks the same of its own elements,
       and nothing else reads them.
    2. Reshapes preserve the number of elements per index of the sample axis.
    3. Picks along axis 0 by indices with rows per sample give as many rows per sample.
    4. Any other op reads only its own sample: the sample axis, and no other, follows that of the
       output one to one, and constants do not follow it.
    5. Outputs have samples along axis 0, first to last.

    Linear in the reads and the indices.
    """
    if [op.name for op in old.graph.ops] != [op.name for op in new.graph.ops]:
        return "the model has other ops for that batch"
    try:
        found = _grown_sources(old.graph, new.graph, batches)
        for one, other in zip(old.graph.ops, new.graph.ops, strict=True):
            _follow(old, new, (one, other), found, batches)
    except _NoProofError as error:
        return str(error)
    return _unordered(old.graph, new.graph, found, batches)


def _grown_sources(old: Graph, new: Graph, batches: tuple[int, int]) -> dict[str, Samples]:
    """Rule 1: inputs and constants with rows per sample."""
    picks = own_picks((old, new), batches)
    shapes = {op.inputs[1] for op in new.ops if op.op_type in RELAID and op.inputs[1:]}
    found = {}
    for name, tensor in new.tensors.items():
        before = old.tensors.get(name)
        if tensor.kind is TensorKind.ACTIVATION or (before and before.shape == tensor.shape):
            continue
        if before is None and name in shapes:
            continue
        if name in picks:
            found[name] = Samples(0, picks[name])
            continue
        has_rows = tensor.shape[:1] == batches[1:]
        if before is not None:
            has_rows = has_rows and before.shape == (batches[0], *tensor.shape[1:])
        is_made = before is None and tensor.value is None
        is_input = tensor.kind is TensorKind.INPUT
        if not has_rows or not (is_input or is_made or _is_repeated(tensor, before)):
            raise _NoProofError(f"{name!r} does not have the same row for every sample")
        found[name] = Samples(0, 1)
    return found


def _is_repeated(tensor: Tensor, before: Tensor | None) -> bool:
    """Whether all rows of a constant are the first one of the constant for the other batch."""
    if tensor.repeats and before is not None and before.repeats == tensor.repeats:
        return True
    first = (tensor if before is None else before).value
    if tensor.value is None or first is None:
        return False
    return bool(np.all(tensor.value == first[:1]))


def _follow(
    old: GraphSemantics,
    new: GraphSemantics,
    pair: tuple[Op, Op],
    found: dict[str, Samples],
    batches: tuple[int, int],
) -> None:
    one, op = pair
    _check_values(old.graph, new.graph, pair, found)
    for index, name in enumerate(op.outputs):
        if not name or not any(source in found for source in op.inputs):
            continue
        shapes = old.graph.tensors[name].shape, new.graph.tensors[name].shape
        axis = grown_axis(shapes, batches)
        if axis is None:
            raise _NoProofError(f"{op.op_type} {op.name!r} does not have its samples on one axis")
        if op.op_type in RELAID and not op.domain:
            data = found.get(op.inputs[0])
            inner = relaid(old.graph.tensors[one.inputs[0]].shape, data, shapes[0], axis)
        elif (rows := equal_picks((old.graph, new.graph), pair, batches)) is not None:
            data = found.get(op.inputs[0])
            size = new.graph.tensors[op.inputs[0]].shape[0]
            is_leading = data == Samples(0, size // batches[1]) and axis == 0
            inner = len(rows) if is_leading else None
        else:
            inner = _own(new, op, index, axis, found)
        if inner is None or shapes[0][axis] % (inner * batches[0]):
            raise _NoProofError(f"a sample of {op.op_type} {op.name!r} may need others' numbers")
        found[name] = Samples(axis, inner)


def _check_values(
    old: Graph, new: Graph, pair: tuple[Op, Op], found: Mapping[str, Samples]
) -> None:
    """Check that constants of a computation equal those of the other batch.

    Those with a row per sample are in `found`: rule 1 has compared them.
    """
    for name, other in zip(*(op.inputs for op in pair), strict=True):
        if not name or name != other or name in found or pair[1].op_type in ("Reshape", "Expand"):
            continue
        before, after = old.tensors[name].value, new.tensors[name].value
        if before is after or before is None or after is None:
            continue
        if not np.array_equal(before, after, equal_nan=before.dtype.kind == "f"):
            raise _NoProofError(f"constant {name!r} depends on the batch")


def grown_axis(shapes: tuple[tuple[int, ...], ...], batches: tuple[int, int]) -> int | None:
    """The only axis whose size differs, by the ratio of the batches."""
    before, after = shapes
    if len(before) != len(after):
        return None
    axes = [axis for axis, size in enumerate(before) if size != after[axis]]
    is_one = len(axes) == 1 and before[axes[0]] * batches[1] == after[axes[0]] * batches[0]
    return axes[0] if is_one else None


def relaid(
    source: tuple[int, ...], data: Samples | None, target: tuple[int, ...], axis: int
) -> int | None:
    """Consecutive indices per sample after a Reshape: elements per index are preserved."""
    if data is None:
        return None
    behind, below = data.inner * prod(source[data.axis + 1 :]), prod(target[axis + 1 :])
    return behind // below if below and behind % below == 0 and behind >= below else None


def _own(
    new: GraphSemantics, op: Op, index: int, axis: int, found: dict[str, Samples]
) -> int | None:
    """Rule 4: the output's consecutive indices per sample; None if the rule fails."""
    inner: set[int] = set()
    for access in new.by_op[op.name].accesses[index]:
        samples = found.get(access.tensor)
        following = [place for place, read in enumerate(access.axes) if read.out_axis == axis]
        if following != ([] if samples is None else [samples.axis]):
            return None
        if samples is None:
            continue
        if access.axes[samples.axis].kind not in (AxisKind.SAME, AxisKind.PERMUTED):
            return None
        inner.add(samples.inner)
    return inner.pop() if len(inner) == 1 else None


def _unordered(
    old: Graph, new: Graph, found: dict[str, Samples], batches: tuple[int, int]
) -> str | None:
    for name in new.outputs:
        shape = new.tensors[name].shape
        if name not in found and old.tensors[name].shape == shape:
            continue
        if name not in found:
            return f"output {name!r} has no axis of samples"
        if found[name].axis or found[name].inner * batches[1] != shape[0]:
            return f"output {name!r} does not have one sample after the other"
    return None
