"""`rescale-batch`: constants with a row per sample that an exporter made for a fixed batch.

An exporter with a fixed batch writes a class token as a constant with a row per sample, and the
elements picked from each sample as indices into the whole batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from graphturbo_core.frontend.parse.tensors import checked_shape, read_only
from graphturbo_core.frontend.passes.rewrite import fresh_name
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind
from graphturbo_core.limits import Limits
from graphturbo_core.semantics.picks import offsets_in_samples, picks_leading
from graphturbo_core.semantics.sample_axis import RELAID, Samples, grown_axis, relaid

MAX_INDICES = 4_194_304
"""Most indices written for all samples, 32 MiB; larger ones are not repeated (our choice)."""

Batches = tuple[int, int]
"""The batch before and after."""
Repeated = tuple[Op, tuple[Tensor, ...]]
"""An op that reads constants for the new batch, and these constants."""


def repeated_constants(
    graph: Graph, op: Op, tensors: Mapping[str, Tensor], samples: Batches, limits: Limits
) -> Repeated | None:
    """Returns the op with its constants for the new batch; None if none can follow.

    1. Concat along an axis other than the first, if some inputs have grown: a constant with equal
       rows, one per sample, gets a row per new sample.
    2. Gather, GatherElements and GatherND along the first axis of a grown tensor: indices with a
       row per sample, where each row picks the same elements of its own sample, get a row per new
       sample, shifted by the elements of the samples before it.

    `graph` has the old batch, `tensors` the typed tensors of the new one.
    """
    if op.domain:
        return None
    if op.op_type == "Concat":
        return _repeated_rows(graph, op, tensors, samples, limits)
    if not picks_leading(graph, op) or not _has_grown(graph, tensors[op.inputs[0]], samples):
        return None
    return _shifted_indices(graph, op, tensors, samples, limits)


def _has_grown(graph: Graph, tensor: Tensor, samples: Batches) -> bool:
    old, new = samples
    before = graph.tensors[tensor.name].shape if tensor.name in graph.tensors else ()
    return before[:1] != tensor.shape[:1] and tensor.shape[0] * old == before[0] * new


def _repeated_rows(
    graph: Graph, op: Op, tensors: Mapping[str, Tensor], samples: Batches, limits: Limits
) -> Repeated | None:
    inputs = [tensors[name] for name in op.inputs]
    axis, rank = op.attributes.get("axis", 0), len(inputs[0].shape)
    grown = [tensor for tensor in inputs if _has_grown(graph, tensor, samples)]
    if axis in (0, -rank) or not grown:
        return None
    made: dict[str, Tensor] = {}
    for tensor in inputs:
        if tensor.shape[:1] != samples[:1] or tensor in grown or tensor.name in made:
            continue
        is_constant, value = _constant(graph, tensor, tensors)
        is_equal = samples[0] == 1 if value is None else bool(np.all(value == value[:1]))
        if not is_constant or not is_equal:
            return None
        shape = checked_shape((samples[1], *tensor.shape[1:]), f"input {tensor.name!r}", limits)
        rows = None if value is None else read_only(np.broadcast_to(value[:1], shape))
        name = _fresh(tensor, op, samples, tensors)
        made[tensor.name] = Tensor(name, shape, tensor.dtype, TensorKind.WEIGHT, rows)
    return _reading(op, made) if made else None


def _shifted_indices(
    graph: Graph, op: Op, tensors: Mapping[str, Tensor], samples: Batches, limits: Limits
) -> Repeated | None:
    old, new = samples
    data, indices = (graph.tensors.get(name) for name in op.inputs[:2])
    value = tensors[op.inputs[1]].value
    if data is None or indices is None or value is None or value.shape[:1] != (old,):
        return None
    if value.size // old * new > MAX_INDICES:
        return None
    offsets = offsets_in_samples(op, value, data.shape[0], old)
    if offsets is None:
        return None
    shape = checked_shape((new, *value.shape[1:]), f"input {indices.name!r}", limits)
    moved = np.array(np.broadcast_to(offsets, shape), dtype=value.dtype)
    first = moved[..., 0] if op.op_type == "GatherND" else moved
    starts = np.arange(new, dtype=value.dtype) * (data.shape[0] // old)
    first += starts.reshape(-1, *(1,) * (first.ndim - 1))
    name = _fresh(indices, op, samples, tensors)
    made = Tensor(name, shape, indices.dtype, TensorKind.WEIGHT, read_only(moved))
    return _reading(op, {indices.name: made})


def _fresh(tensor: Tensor, op: Op, samples: Batches, tensors: Mapping[str, Tensor]) -> str:
    return fresh_name(f"{tensor.name}@batch{samples[1]}:{op.name}", tensors)


def _reading(op: Op, made: Mapping[str, Tensor]) -> Repeated:
    names = tuple(made[name].name if name in made else name for name in op.inputs)
    return replace(op, inputs=names), tuple(made.values())


def _constant(
    graph: Graph, tensor: Tensor, tensors: Mapping[str, Tensor]
) -> tuple[bool, np.ndarray | None]:
    """Whether a tensor follows from weights alone, and its numbers, if known.

    Only Expand and Identity are followed: other results of constants have a known value, or do not
    count as constants.
    """
    name = tensor.name
    while True:
        known = tensors[name]
        if known.value is not None:
            return True, np.broadcast_to(known.value, tensor.shape)
        if known.kind is not TensorKind.ACTIVATION:
            return known.kind is TensorKind.WEIGHT, None
        producer = graph.producer[name]
        if producer.domain or producer.op_type not in ("Expand", "Identity"):
            return False, None
        name = producer.inputs[0]


def place_of(
    graph: Graph,
    op: Op,
    tensors: Mapping[str, Tensor],
    places: Mapping[str, Samples],
    samples: Batches,
) -> dict[str, Samples]:
    """Sample axes of an op's outputs as far as shapes show them; a guess that is verified later."""
    found = {}
    known = [(tensors[name], places[name]) for name in op.inputs if name in places]
    for name in filter(None, op.outputs if known else ()):
        shapes = graph.tensors[name].shape, tensors[name].shape
        axis = grown_axis(shapes, samples)
        if axis is None:
            continue
        if op.op_type in RELAID and not op.domain:
            data = op.inputs[0]
            inner = relaid(graph.tensors[data].shape, places.get(data), shapes[0], axis)
        else:
            size = shapes[1][axis]
            inners = (place.inner for tensor, place in known if tensor.shape[place.axis] == size)
            inner = next(inners, None)
        if inner is not None:
            found[name] = Samples(axis, inner)
    return found


def placed_target(
    shapes: tuple[Sequence[int], Sequence[int]], place: Samples, samples: Batches
) -> list[int] | None:
    """Returns a Reshape's target for the new batch; None if no size of it can follow.

    `shapes`: of its input and its result, for the old batch. Candidates in order: the sample axis
    alone; the first factor of a merged axis that is not the last axis; the last factor of a merged
    axis. The number of elements per sample index is preserved.
    """
    (source, target), (old, new) = shapes, samples
    behind = place.inner * prod(source[place.axis + 1 :])
    below = [prod(target[axis + 1 :]) for axis in range(len(target))]
    rules = (
        lambda axis: target[axis] == old and below[axis] == behind,
        lambda axis: behind * old == below[axis] * target[axis] and axis < len(target) - 1,
        lambda axis: below[axis] == behind and target[axis] % old == 0,
    )
    for rule, (axis, size) in product(rules, enumerate(target)):
        if rule(axis):
            return [*target[:axis], size // old * new, *target[axis + 1 :]]
    return None
