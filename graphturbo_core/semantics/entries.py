"""Op -> OpSemantics: the one table of op types, and how it resolves an op."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.semantics.access import AxisMap, OpSemantics
from graphturbo_core.semantics.ops import (
    elementwise,
    indexing,
    losses,
    normalisation,
    pooling,
    reduction,
    resampling,
    scans,
    selection,
    shaping,
    spectral,
)
from graphturbo_core.semantics.ops.linear import entries as linear
from graphturbo_core.semantics.ops.maps import Entry, opaque
from graphturbo_core.semantics.ops.view import OpView

TABLE: Mapping[tuple[str, str], Entry] = {
    **elementwise.ENTRIES,
    **linear.ENTRIES,
    **pooling.ENTRIES,
    **normalisation.ENTRIES,
    **reduction.ENTRIES,
    **shaping.ENTRIES,
    **selection.ENTRIES,
    **indexing.ENTRIES,
    **resampling.ENTRIES,
    **scans.ENTRIES,
    **spectral.ENTRIES,
    **losses.ENTRIES,
}
"""(domain, op type) -> entry; ONNX's own domain is the empty string."""


def resolve(op: Op, graph: Graph) -> OpSemantics:
    """What the op needs and does; opaque where the table has no entry that knows its layout."""
    view = OpView(op, graph)
    domain = "" if op.domain == "ai.onnx" else op.domain
    entry = TABLE.get((domain, op.op_type))
    found = None if entry is None else _tried(entry, view)
    return found if found is not None and _fits(found, view) else opaque(view)


def _tried(entry: Entry, view: OpView) -> OpSemantics | None:
    """What the entry says; None where it meets a layout that it does not know.

    Inference does not look at every rank and attribute, and of foreign domains it looks at none:
    an input may be missing, an axis out of range, a division have no result.
    """
    try:
        return entry(view)
    except (LookupError, ValueError, ArithmeticError):
        return None


def _fits(found: OpSemantics, view: OpView) -> bool:
    """Whether maps and products are those of the tensors that there are."""
    tensors = view.graph.tensors
    for reads, shape in zip(found.accesses, found.output_shapes, strict=True):
        for access in reads:
            sizes = tuple(axis.size for axis in access.axes)
            if access.tensor not in tensors or sizes != tensors[access.tensor].shape:
                return False
            if not all(_is_sane(axis, len(shape)) for axis in access.axes):
                return False
    return all(max(axes, default=-1) < rank for axes, rank in _product_axes(found))


def _is_sane(axis: AxisMap, rank: int) -> bool:
    steps = (axis.stride, axis.dilation, axis.kernel, axis.out_block, axis.in_block)
    return axis.out_axis < rank and min(steps) > 0


def _product_axes(found: OpSemantics) -> Iterator[tuple[tuple[int, ...], int]]:
    """Output axes that products count, and how many axes that output has."""
    ranks = [len(shape) for shape in found.output_shapes]
    if found.contraction is not None:
        yield (*found.contraction.m_axes, found.contraction.n_axis), ranks[0]
    for product in found.products:
        counted = (axis for axis, _ in product.count_axes)
        yield (*product.m_axes, *counted), ranks[product.output]
