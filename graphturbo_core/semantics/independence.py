"""Check whether the samples of a batch may be computed separately."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_core.ir.boxes import Box, contains, extents, full_box, is_empty, with_interval
from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.semantics.access import AxisKind, AxisMap, InputAccess, OpSemantics
from graphturbo_core.semantics.ops.maps import Shape, same
from graphturbo_core.semantics.propagate import needed_boxes
from graphturbo_core.semantics.table import GraphSemantics


def dependence_on_batch(whole: GraphSemantics, part: GraphSemantics) -> str | None:
    """Returns why `part`, the model for fewer samples, is not a piece of `whole`; None: it is.

    The first and the last piece of every output are followed back to the inputs. The needed box of
    each tensor must have the size of the box that `part` needs, shifted by the size of the samples
    before it. For graph inputs it must be within the piece. A softmax over the batch, statistics of
    a batch, a weight with a row per sample, or a slice of rows merged with the samples fail this
    check. An op that picks elements by indices with a row per sample counts as reading one sample
    per row, if the index values confirm it. Constants that import computed must have the same
    numbers in both, where these are known. Linear in the reads, the indices and these numbers.
    """
    if len(whole.graph.ops) != len(part.graph.ops):
        return "the model has other ops for fewer samples"
    changed = _changed_constant(whole.graph, part.graph)
    if changed:
        return f"constant {changed!r} depends on the batch"
    samples = _samples(whole.graph, part.graph)
    if samples is None:
        return "no input and output grow with the batch"
    whole, part = _with_picks(whole, part)
    all_samples, few = samples
    for first in (0, all_samples - few):
        found = _piece_dependence(whole, part, (first, first + few), all_samples)
        if found is not None:
            return found
    return None


def _changed_constant(whole: Graph, part: Graph) -> str:
    """A computed constant whose numbers, or first rows, differ; empty if there is none.

    Integers are left out: sizes for a Reshape follow the batch.
    """
    for name, tensor in part.tensors.items():
        few = tensor.value if tensor.is_folded and "float" in tensor.dtype else None
        other = whole.tensors.get(name)
        many = None if other is None else other.value
        if few is None or many is None or few.shape[1:] != many.shape[1:]:
            continue
        rows = many[: len(few)] if few.ndim else many
        if not np.array_equal(few, rows, equal_nan=few.dtype.kind == "f"):
            return name
    return ""


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


def picks_leading(op: Op) -> bool:
    """Whether an op picks elements along the first axis of its first input by indices."""
    if op.domain:
        return False
    is_nd = op.op_type == "GatherND" and not op.attributes.get("batch_dims", 0)
    return is_nd or (op.op_type == "Gather" and not op.attributes.get("axis", 0))


def offsets_in_samples(op: Op, indices: np.ndarray, size: int) -> np.ndarray | None:
    """Returns the common row of `indices`, relative to the start of each row's sample.

    `size`: of the axis that Gather or GatherND picks along; each row of the indices has an equal
    part of it. None if a row picks outside its part, or differs from the first row.
    """
    is_nd = op.op_type == "GatherND"
    if indices.ndim <= int(is_nd) or not indices.size or size % indices.shape[0]:
        return None
    rows = size // indices.shape[0]
    offsets = np.array(indices)
    first = offsets[..., 0] if is_nd else offsets
    first[first < 0] += size
    first -= (np.arange(len(first)) * rows).reshape(-1, *(1,) * (first.ndim - 1))
    is_own = bool(np.all((first >= 0) & (first < rows)))
    return offsets[:1] if is_own and bool(np.all(offsets == offsets[:1])) else None


def _with_picks(
    whole: GraphSemantics, part: GraphSemantics
) -> tuple[GraphSemantics, GraphSemantics]:
    """Both semantics, with ops of per-sample index rows taken to read one sample per row.

    Indices are compared by value: each sample's row must pick the same elements as the part's rows.
    """
    changed: tuple[dict[str, OpSemantics], dict[str, OpSemantics]] = ({}, {})
    for op in whole.graph.ops:
        own = part.graph.op_by_name.get(op.name)
        if own is None or not (picks_leading(op) and picks_leading(own)):
            continue
        found = [_picks(sem, node) for sem, node in ((whole, op), (part, own))]
        if found[0] is None or found[1] is None or not np.array_equal(found[0][0], found[1][0]):
            continue
        for side, pick in zip(changed, found, strict=True):
            assert pick is not None  # both were checked above
            side[op.name] = pick[1]
    graphs = whole.graph, part.graph
    return (
        GraphSemantics(graphs[0], {**whole.by_op, **changed[0]}),
        GraphSemantics(graphs[1], {**part.by_op, **changed[1]}),
    )


def _picks(sem: GraphSemantics, op: Op) -> tuple[np.ndarray, OpSemantics] | None:
    """Offsets in a sample that an op picks, and its semantics with one sample per row."""
    data, indices = (sem.graph.tensors[name] for name in op.inputs[:2])
    known = sem.by_op[op.name]
    if indices.value is None or known.is_opaque:
        return None
    offsets = offsets_in_samples(op, indices.value, data.shape[0])
    if offsets is None:
        return None
    rows = data.shape[0] // indices.shape[0]
    sample = AxisMap(AxisKind.WINDOW, data.shape[0], 0, stride=rows, kernel=rows)
    accesses = tuple(
        InputAccess(access.tensor, (sample, *access.axes[1:]))
        if access.tensor == data.name
        else access
        for access in known.accesses[0]
    )
    return offsets, replace(known, accesses=(accesses,), uncut_axes=known.uncut_axes - {0})


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
