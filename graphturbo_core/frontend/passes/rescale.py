"""`rescale-batch`: a model with a fixed batch, typed again for another batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from graphturbo_core.errors import ModelError, OptionError
from graphturbo_core.frontend.parse.schemas import is_custom
from graphturbo_core.frontend.parse.tensors import read_only
from graphturbo_core.frontend.passes.per_sample import place_of, placed_target, repeated_constants
from graphturbo_core.frontend.passes.rewrite import fresh_name, with_ops
from graphturbo_core.frontend.shapes.fused_shapes import fused_outputs
from graphturbo_core.frontend.shapes.indices import IndexLimits
from graphturbo_core.frontend.shapes.infer import infer_outputs
from graphturbo_core.frontend.shapes.values import reshape_target
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind
from graphturbo_core.limits import Limits
from graphturbo_core.semantics.sample_axis import Samples, mixed_samples
from graphturbo_core.semantics.table import analyse

_SYMBOLIC_BATCH = "export the model with a symbolic batch"
"""Not "use --batch": a round may have fewer samples than --batch, so that need not help."""

_REPEATED = "is repeated per sample"
"""Suffix of the note of a repeated constant."""


@dataclass(frozen=True, slots=True)
class Rescaling:
    """The original graph, its batch before and after, and whether Reshape constants follow."""

    graph: Graph
    old: int
    new: int
    has_reshapes: bool = True


def rescale_batch(change: Rescaling, limits: Limits) -> Graph:
    """Returns the graph for the new number of samples.

    1. Every input with two or more axes whose leading size is the old batch follows.
    2. A Reshape to a constant whose leading size is the old batch, alone or merged with the axes
       after it, and whose input has the batch in its leading axis (alone or merged), gets a
       constant for the new batch; not if the user skips this pass. If the batch is another axis,
       or the last of merged ones, the size with the batch follows (`placed_target`).
    3. A result that affects outputs must grow when its operands grow: an op that picks samples by
       constants (or combines them) would give other numbers. The target of a scatter must grow
       with its indices, or only the first samples would be written.
    4. Constants made for a fixed batch are repeated per sample (`repeated_constants`), with a note
       each; `check_repeated` verifies the result.
    5. All shapes are inferred again. An output of a custom op without a rule cannot be inferred:
       its leading size follows an input with the same size that has the batch, with a note.

    Raises:
        ModelError: BATCH_RESHAPE, BATCH_MISMATCH or BATCH_FIXED, naming the op.
    """
    graph, batch = change.graph, change.new
    tensors = _rescaled_sources(change)
    ops: list[Op] = []
    notes = [f"batch rescaled from {change.old} to {batch}"]
    live, wider = _live(graph), IndexLimits(graph.ops, limits)
    places = {
        name: Samples(0, 1)
        for name in graph.inputs
        if tensors[name].shape != graph.tensors[name].shape
    }
    for op in graph.ops:
        new_op = op
        constant = _rescaled_target(change, op, tensors, places)
        if constant is not None:
            tensors[constant.name] = constant
            new_op = replace(op, inputs=(op.inputs[0], constant.name))
        samples = change.old, change.new
        repeated = repeated_constants(graph, op, tensors, samples, limits)
        if repeated is not None:
            new_op, made = repeated
            tensors.update((tensor.name, tensor) for tensor in made)
            notes += [f"{op.name}: {tensor.name.split('@')[0]!r} {_REPEATED}" for tensor in made]
        outputs = _outputs(change, new_op, tensors, wider.of(op))
        wider.count(op, outputs)
        if op.name in live and not _is_assumed(change, op, limits):
            _check_grown(change, new_op, tensors, outputs)
        if constant is not None:
            notes.append(f"{op.name}: its shape rescaled to {list(outputs[0].shape)}")
        tensors.update((tensor.name, tensor) for tensor in outputs)
        places |= place_of(graph, new_op, tensors, places, samples)
        if _is_assumed(change, op, limits):
            notes += _grown_notes(change, new_op, outputs)
        ops.append(new_op)
    return with_ops(replace(graph, tensors=tensors), ops, notes=notes)


def has_repeated(graph: Graph) -> bool:
    """Whether a rescaled graph has constants that were repeated per sample."""
    return any(note.endswith(_REPEATED) for note in graph.notes)


def check_repeated(change: Rescaling, rescaled: Graph) -> None:
    """Check that each sample of the rescaled graph is computed as in the original graph.

    Both are cleaned up. Repeated constants must have equal rows; `mixed_samples` checks the ops.

    Raises:
        ModelError: BATCH_MISMATCH.
    """
    why = mixed_samples(analyse(change.graph), analyse(rescaled), (change.old, change.new))
    if why is not None:
        raise ModelError(
            "BATCH_MISMATCH",
            f"batch {change.old} cannot be rescaled to {change.new}: constants were made for a "
            f"batch of {change.old}",
            why,
            _SYMBOLIC_BATCH,
        )


def fixed_batch(graph: Graph) -> int:
    """Returns the leading size of the first input with two or more axes (else with any).

    Raises:
        OptionError: NO_BATCH_AXIS.
    """
    shapes = [graph.tensors[name].shape for name in graph.inputs]
    leading = next((shape[0] for shape in shapes if len(shape) >= _batch_rank(graph)), None)
    if leading is None:
        raise OptionError(
            "NO_BATCH_AXIS",
            "no input has an axis that could be the batch",
            f"inputs {', '.join(map(repr, graph.inputs)) or 'none'}",
            "leave --batch out",
        )
    return leading


def _batch_rank(graph: Graph) -> int:
    """Least rank of an input with a batch: 2, or 1 if no input has rank 2."""
    return 2 if any(len(graph.tensors[name].shape) > 1 for name in graph.inputs) else 1


def _rescaled_sources(change: Rescaling) -> dict[str, Tensor]:
    sources = {}
    batch_rank = _batch_rank(change.graph)
    for name, tensor in change.graph.tensors.items():
        if tensor.kind is TensorKind.INPUT and tensor.shape[:1] == (change.old,):
            is_ranked = len(tensor.shape) >= batch_rank
            shape = (change.new, *tensor.shape[1:]) if is_ranked else tensor.shape
            sources[name] = replace(tensor, shape=shape)
        elif tensor.kind is not TensorKind.ACTIVATION:
            sources[name] = tensor
    return sources


def _rescaled_target(
    change: Rescaling, op: Op, tensors: Mapping[str, Tensor], places: Mapping[str, Samples]
) -> Tensor | None:
    """A new constant for a Reshape whose target contains the batch, else None.

    `places`: sample axis of each tensor, as far as known.
    """
    if not change.has_reshapes or not _is_reshape(op):
        return None
    data, sizes = tensors[op.inputs[0]], tensors[op.inputs[1]].value
    if sizes is None or not sizes.size:
        return None
    place = places.get(data.name)
    if place is not None and (place.axis or place.inner * change.new != data.shape[0]):
        before = change.graph.tensors
        asked = before[op.inputs[1]].value
        if sizes.min() < 1 or asked is None or not np.array_equal(sizes, asked):
            return None
        shapes = before[data.name].shape, before[op.outputs[0]].shape
        behind = placed_target(shapes, place, (change.old, change.new))
        return None if behind is None else _target(change, op, behind, tensors)
    if not _carries_batch(change, data):
        return None
    leading = int(sizes[0])
    if leading not in (change.old, *_merged_sizes(change, data)):
        return None
    target = [leading * change.new // change.old, *(int(size) for size in sizes[1:])]
    if reshape_target(target, data.shape, bool(op.attributes.get("allowzero", 0))) is None:
        raise ModelError(
            "BATCH_RESHAPE",
            f"Reshape {op.name!r} cannot be rescaled from batch {change.old} to {change.new}",
            f"{list(data.shape)} has {prod(data.shape)} elements, {target} needs another number",
            _SYMBOLIC_BATCH,
        )
    return _target(change, op, target, tensors)


def _target(
    change: Rescaling, op: Op, target: Sequence[int], tensors: Mapping[str, Tensor]
) -> Tensor:
    name = fresh_name(f"{op.inputs[1]}@batch{change.new}:{op.name}", tensors)
    value = read_only(np.array(target, dtype=np.int64))
    return Tensor(name, value.shape, "int64", TensorKind.WEIGHT, value)


def _is_reshape(op: Op) -> bool:
    return op.op_type == "Reshape" and not op.domain and bool(op.inputs[1:])


def _carries_batch(change: Rescaling, data: Tensor) -> bool:
    """Whether the leading axis grew with the batch."""
    before = change.graph.tensors[data.name].shape
    return bool(before) and data.shape[0] * change.old == before[0] * change.new


def _live(graph: Graph) -> set[str]:
    """Names of the ops that an output depends on through numbers, not through known values."""
    needed, live = set(graph.outputs), set()
    for op in reversed(graph.ops):
        if any(name in needed and graph.tensors[name].value is None for name in op.outputs if name):
            live.add(op.name)
            needed.update(op.inputs)
    return live


def _check_grown(
    change: Rescaling, op: Op, tensors: Mapping[str, Tensor], outputs: Iterable[Tensor]
) -> None:
    """Rule 3 of `rescale_batch`.

    Raises:
        ModelError: BATCH_MISMATCH.
    """
    before = change.graph.tensors
    has_grown = any(
        name in before and tensors[name].elements != before[name].elements for name in op.inputs
    )
    if not has_grown:
        return
    _check_scatter(change, op, tensors)
    if any(out.elements != before[out.name].elements for out in outputs):
        return
    if all(output.value is not None for output in outputs):
        return
    raise ModelError(
        "BATCH_MISMATCH",
        f"batch {change.old} cannot be rescaled to {change.new}: what {op.op_type} {op.name!r} "
        "gives does not grow with it",
        f"its shape stays {list(next(iter(outputs)).shape)}",
        _SYMBOLIC_BATCH,
    )


def _check_scatter(change: Rescaling, op: Op, tensors: Mapping[str, Tensor]) -> None:
    """Rule 3 of `rescale_batch`, for an op whose result has the size of its write target.

    Raises:
        ModelError: BATCH_MISMATCH.
    """
    if op.domain or op.op_type not in ("Scatter", "ScatterElements", "ScatterND"):
        return
    data, indices = (tensors[name] for name in op.inputs[:2])
    before = change.graph.tensors
    reach = indices.shape[-1] if op.op_type == "ScatterND" else len(data.shape)
    if data.shape[:reach] == before[data.name].shape[:reach]:
        return
    if indices.name in before and indices.elements != before[indices.name].elements:
        return
    raise ModelError(
        "BATCH_MISMATCH",
        f"batch {change.old} cannot be rescaled to {change.new}: {op.op_type} {op.name!r} would "
        "write to the first samples alone",
        f"its indices stay {list(indices.shape)}",
        _SYMBOLIC_BATCH,
    )


def _merged_sizes(change: Rescaling, data: Tensor) -> list[int]:
    """Products of the first one, two, three ... axes of a tensor in the original graph."""
    return list(accumulate(change.graph.tensors[data.name].shape, mul))


def _inferred(
    change: Rescaling, op: Op, tensors: Mapping[str, Tensor], limits: Limits
) -> tuple[Tensor, ...]:
    try:
        return infer_outputs(op, tensors, limits)
    except ModelError as error:
        if error.code != "SHAPE_MISMATCH":
            raise
        raise ModelError(
            "BATCH_MISMATCH",
            f"batch {change.old} cannot be rescaled to {change.new}: {error.what}",
            error.where,
            _SYMBOLIC_BATCH,
        ) from error


def _outputs(
    change: Rescaling, op: Op, tensors: Mapping[str, Tensor], limits: Limits
) -> tuple[Tensor, ...]:
    if not is_custom(op):
        return _inferred(change, op, tensors, limits)
    before = change.graph.tensors
    if not _is_assumed(change, op, limits):
        return _ruled(change, op, tensors, limits)
    outputs = tuple(before[name] for name in op.outputs if name)
    if all(tensors[name].shape == before[name].shape for name in op.inputs if name):
        return outputs
    grown = {
        before[name].shape[0]: tensors[name].shape[0]
        for name in op.inputs
        if name and _carries_batch(change, tensors[name])
    }
    return tuple(_grown(change, op, output, grown) for output in outputs)


def _is_assumed(change: Rescaling, op: Op, limits: Limits) -> bool:
    """Whether only the file determines the shapes of an op's outputs."""
    return is_custom(op) and fused_outputs(op, change.graph.tensors, limits) is None


def _ruled(
    change: Rescaling, op: Op, tensors: Mapping[str, Tensor], limits: Limits
) -> tuple[Tensor, ...]:
    """Output types of a fused op for the new inputs, if its rule applied to the old ones."""
    found = fused_outputs(op, tensors, limits)
    if found is None:
        raise ModelError(
            "BATCH_MISMATCH",
            f"batch {change.old} cannot be rescaled to {change.new}: {op.op_type} {op.name!r} does "
            "not fit its inputs",
            ", ".join(f"{name!r} {list(tensors[name].shape)}" for name in op.inputs if name),
            _SYMBOLIC_BATCH,
        )
    return found


def _grown(change: Rescaling, op: Op, output: Tensor, grown: Mapping[int, int]) -> Tensor:
    """The custom op's output with the new leading size of an input of equal leading size."""
    if not output.shape:
        return output
    if output.shape[0] not in grown:
        raise ModelError(
            "BATCH_FIXED",
            f"{op.op_type} {op.name!r} is no ONNX operator: the shape of its output "
            f"{output.name!r} is known for batch {change.old} only, not for {change.new}",
            f"{list(output.shape)} does not lead with the batch as an input does",
            f"{_SYMBOLIC_BATCH}, recorded in that shape too",
        )
    return replace(output, shape=(grown[output.shape[0]], *output.shape[1:]))


def _grown_notes(change: Rescaling, op: Op, outputs: Iterable[Tensor]) -> list[str]:
    """Notes on custom ops: the file does not record that their outputs follow the batch."""
    before = change.graph.tensors
    return [
        f"{op.name}: leading {before[output.name].shape[0]} of {output.name!r} rescaled to "
        f"{output.shape[0]} as that of an input, an assumption on {op.domain}.{op.op_type}"
        for output in outputs
        if output.shape != before[output.name].shape
    ]
