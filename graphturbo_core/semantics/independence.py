"""Check whether the samples of a batch may be computed separately."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_core.ir.boxes import Box, contains, extents, full_box, is_empty, with_interval
from graphturbo_core.ir.graph import Graph
from graphturbo_core.semantics.access import InputAccess, OpSemantics
from graphturbo_core.semantics.ops.maps import Shape, same
from graphturbo_core.semantics.picks import own_picks, with_picks
from graphturbo_core.semantics.propagate import needed_boxes
from graphturbo_core.semantics.table import GraphSemantics


def dependence_on_batch(whole: GraphSemantics, part: GraphSemantics) -> str | None:
    """Returns why `part`, the model for fewer samples, is not a piece of `whole`; None: it is.

    The first and the last piece of every output are followed back to the inputs. The needed box of
    each tensor must have the size of the box that `part` needs, shifted by the size of the samples
    before it. For graph inputs it must be within the piece. A softmax over the batch, statistics of
    a batch, a weight with a row per sample, or a slice of rows merged with the samples fail this
    check. An op that picks elements by indices with rows per sample counts as reading that sample
    for these rows, if the index values confirm it. Constants that import computed must have the
    same numbers in both, where these are known. Linear in the reads, the indices and these numbers.
    """
    if len(whole.graph.ops) != len(part.graph.ops):
        return "the model has other ops for fewer samples"
    samples = _samples(whole.graph, part.graph)
    if samples is None:
        return "no input and output grow with the batch"
    changed = _changed_constant(whole, part, samples)
    if changed:
        return f"constant {changed!r} depends on the batch"
    whole, part = with_picks(whole, part, samples)
    all_samples, few = samples
    for first in (0, all_samples - few):
        found = _piece_dependence(whole, part, (first, first + few), all_samples)
        if found is not None:
            return found
    return None


def _changed_constant(whole: GraphSemantics, part: GraphSemantics, samples: tuple[int, int]) -> str:
    """A computed constant with other numbers for a sample in one of the models; empty: none.

    Integers that no op reads as data are left out: sizes for a Reshape follow the batch. So are
    those of opaque ops, whose sizes look like data, and indices that pick from each sample alone.
    """
    known = (sem for sem in part.by_op.values() if not sem.is_opaque)
    data = {access.tensor for sem in known for reads in sem.accesses for access in reads}
    own = own_picks((whole.graph, part.graph), samples)
    for name, tensor in part.graph.tensors.items():
        is_data = ("float" in tensor.dtype or name in data) and name not in own
        few = tensor.value if tensor.is_folded and is_data else None
        other = whole.graph.tensors.get(name)
        many = None if other is None else other.value
        if few is None or many is None:
            continue
        if not _is_same_per_sample((many, few), samples):
            return name
    return ""


def _is_same_per_sample(values: tuple[np.ndarray, np.ndarray], samples: tuple[int, int]) -> bool:
    """Whether numbers for two batches are equal, or those of all samples along one axis are."""
    many, few = values
    has_nan = few.dtype.kind == "f"
    if many.shape == few.shape:
        return np.array_equal(many, few, equal_nan=has_nan)
    axes = [axis for axis, size in enumerate(few.shape) if many.shape[axis : axis + 1] != (size,)]
    if many.ndim != few.ndim or len(axes) != 1:
        return False
    (axis,) = axes
    rows = few.shape[axis] // samples[1]
    if few.shape[axis] != rows * samples[1] or many.shape[axis] != rows * samples[0]:
        return False
    for value in values:
        leading = np.moveaxis(value, axis, 0)
        each = leading.reshape(-1, rows, *leading.shape[1:])
        first = np.moveaxis(few, axis, 0)[:rows]
        if not np.array_equal(each, np.broadcast_to(first, each.shape), equal_nan=has_nan):
            return False
    return True


def taken_as_sample_wise(sem: GraphSemantics) -> GraphSemantics:
    """The semantics with opaque ops of equal leading sizes taken to read sample by sample.

    For a model with a free batch, by a symbol or the user's choice. An opaque op's function is
    unknown, and a model for any batch rarely mixes samples there. This assumption is reported;
    replay checks it.
    """
    graph = sem.graph
    changed = {
        op.name: _sample_wise(sem.by_op[op.name])
        for op in graph.ops
        if sem.by_op[op.name].is_opaque
    }
    return GraphSemantics(graph, {**sem.by_op, **changed})


def _sample_wise(known: OpSemantics) -> OpSemantics:
    samples = {shape[:1] for shape in known.output_shapes if shape}
    if len(samples) != 1:
        return known
    (leading,) = samples
    accesses = tuple(
        tuple(_followed(access, leading[0]) for access in reads) for reads in known.accesses
    )
    return replace(known, accesses=accesses, uncut_axes=known.uncut_axes - {0})


def _followed(access: InputAccess, samples: int) -> InputAccess:
    if not access.axes or access.axes[0].size != samples:
        return access
    return InputAccess(access.tensor, (same(samples, 0), *access.axes[1:]))


def _samples(whole: Graph, part: Graph) -> tuple[int, int] | None:
    """Leading sizes of an input and all outputs in both models; None if none differs."""
    grown = {
        (whole.tensors[name].shape[0], part.tensors[name].shape[0])
        for name in whole.inputs
        if _grows(whole, part, name)
    }
    has_outputs = any(_grows(whole, part, name) for name in whole.outputs)
    return grown.pop() if len(grown) == 1 and has_outputs else None


def _grows(whole: Graph, part: Graph, name: str) -> bool:
    return whole.tensors[name].shape != part.tensors[name].shape


def _piece_dependence(
    whole: GraphSemantics, part: GraphSemantics, samples: tuple[int, int], batch: int
) -> str | None:
    graph, small = whole.graph, part.graph
    wanted = {}
    for name in graph.outputs:
        box = _piece(graph, small, name, samples, batch)
        if box is None:
            return f"output {name!r} does not grow in proportion to the batch"
        wanted[name] = box
    boxes = needed_boxes(whole, graph.ops, wanted)
    alone = {name: full_box(small.tensors[name].shape) for name in small.outputs}
    needed = needed_boxes(part, small.ops, alone)
    more = batch - (samples[1] - samples[0])
    names = _other_names(graph, small)
    for name, box in boxes.items():
        if is_empty(box):
            continue
        own = names.get(name, name)
        if own not in needed or extents(box) != extents(needed[own]):
            return f"a sample needs {list(box)} of {name!r}, other samples' included"
        shapes = graph.tensors[name].shape, small.tensors[own].shape
        if not _is_in_step((box, needed[own]), shapes, (samples[0], more)):
            return f"a sample needs {list(box)} of {name!r}, alone it would read another part"
    for name in (n for n in graph.inputs if n in boxes and not is_empty(boxes[n])):
        own_part = _piece(graph, small, name, samples, batch)
        if own_part is None or not contains(own_part, boxes[name]):
            return f"a sample needs other samples' part of input {name!r}"
    return None


def _other_names(whole: Graph, part: Graph) -> dict[str, str]:
    """Inputs of ops with another name in `part`: constants made for its batch."""
    return {
        name: own
        for op, other in zip(whole.ops, part.ops, strict=True)
        if op.name == other.name
        for name, own in zip(op.inputs, other.inputs, strict=True)
        if name != own
    }


def _is_in_step(
    boxes: tuple[Box, Box], shapes: tuple[Shape, Shape], samples: tuple[int, int]
) -> bool:
    """Whether a piece's box equals that of `part`, shifted by the size of earlier samples.

    `shapes`: of all samples and of the piece's; `samples`: those before it, all but its own.
    """
    before, others = samples
    return all(
        (lo - own) * others == (size - few) * before
        for (lo, _), (own, _), size, few in zip(*boxes, *shapes, strict=True)
    )


def _piece(
    whole: Graph, part: Graph, name: str, samples: tuple[int, int], batch: int
) -> Box | None:
    """The samples' box of a graph input or output: rows in proportion; all if it is fixed."""
    shape, small = whole.tensors[name].shape, part.tensors[name].shape
    if shape == small:
        return full_box(shape)
    rows, rest = divmod(shape[0], batch)
    if rest or shape[1:] != small[1:] or small[0] != rows * (samples[1] - samples[0]):
        return None
    return with_interval(full_box(shape), 0, (rows * samples[0], rows * samples[1]))
