"""Work of a box of an op's output, and of whole graphs."""

from __future__ import annotations

from math import prod

from graphturbo_core.ir.boxes import Box, Interval, extents, full_box, volume
from graphturbo_core.semantics.access import (
    AxisKind,
    Contraction,
    InnerProduct,
    OpSemantics,
    Work,
)
from graphturbo_core.semantics.table import GraphSemantics

_BY_EXTENTS = frozenset({AxisKind.WINDOW, AxisKind.SAME, AxisKind.PERMUTED})
"""Axis kinds along which boxes of equal extents count equally many elements."""


def work_of(
    semantics: OpSemantics, out_box: Box, output_index: int = 0, reduce: Interval | None = None
) -> Work:
    """Returns the work of computing `out_box` of output `output_index`.

    `reduce`: count only this interval of the reduced axis: K of a contraction, the first REDUCE
    axis of a reduction. `fixed_ops` are counted for output 0 only.
    """
    elements = volume(out_box)
    if not elements:
        return Work(0, 0)
    if semantics.contraction is not None:
        return _contracted(semantics, semantics.contraction, out_box, reduce)
    combined = 0
    if semantics.ops_per_input:
        combined = semantics.ops_per_input * _elements_read(
            semantics, out_box, output_index, reduce
        )
    fixed = semantics.fixed_ops if output_index == 0 else 0
    inner = [product for product in semantics.products if product.output == output_index]
    sizes = [_product_sizes(product, out_box) for product in inner]
    rows = [count * m for count, m, _, _ in sizes]
    return Work(
        macs=sum(prod(item) for item in sizes),
        vector_ops=semantics.ops_per_element * elements
        + combined
        + fixed
        + sum(n * product.row_ops for n, product in zip(rows, inner, strict=True)),
        transcendentals=semantics.transcendentals * elements
        + sum(n * product.row_transcendentals for n, product in zip(rows, inner, strict=True)),
        products=tuple(
            n for n, product in zip(sizes, inner, strict=True) if not product.is_of_bytes
        ),
        byte_products=tuple(
            n for n, product in zip(sizes, inner, strict=True) if product.is_of_bytes
        ),
    )


def is_work_by_extents(semantics: OpSemantics, output_index: int = 0) -> bool:
    """Whether boxes of equal extents have equal work at every position.

    Not if blocks or groups that a box touches count whole, nor if elements read are counted along
    axes that edges may clip.
    """
    if semantics.contraction is not None:
        return semantics.contraction.groups == 1
    for product in semantics.products:
        if product.output == output_index and product.count_axes:
            return False
    if not semantics.ops_per_input:
        return True
    axes = semantics.accesses[output_index][0].axes
    return all(axis.out_axis < 0 or axis.kind in _BY_EXTENTS for axis in axes)


def _product_sizes(product: InnerProduct, out_box: Box) -> tuple[int, int, int, int]:
    """Count, m, n, k of a box; a touched block counts whole."""
    blocks = [
        -(-out_box[axis][1] // block) - out_box[axis][0] // block
        for axis, block in product.count_axes
    ]
    rows = [out_box[axis][1] - out_box[axis][0] for axis in product.m_axes]
    return product.count * prod(blocks), product.m * prod(rows), product.n, product.k


def _contracted(
    semantics: OpSemantics, contraction: Contraction, out_box: Box, reduce: Interval | None
) -> Work:
    """Products of m x n x k; touched groups count as products of full width."""
    sizes = extents(out_box)
    rows = prod(sizes[axis] for axis in contraction.m_axes)
    columns = sizes[contraction.n_axis] if contraction.n_axis >= 0 else 1
    count = volume(out_box) // (rows * columns)
    depth = contraction.k if reduce is None else (reduce[1] - reduce[0]) * contraction.k_inner
    macs = volume(out_box) * depth
    if contraction.groups > 1:
        lo, hi = out_box[contraction.n_axis]
        width = semantics.output_shapes[0][contraction.n_axis] // contraction.groups
        touched = -(-hi // width) - lo // width
        columns, count = min(columns, width), count * touched
    return Work(
        macs=macs, vector_ops=0, m=rows, n=columns, k=depth, count=count,
        pixels=contraction.pixels(sizes),
    )  # fmt: skip


def _elements_read(
    semantics: OpSemantics, out_box: Box, output_index: int, reduce: Interval | None
) -> int:
    """Elements in the windows of the first input, overlaps counted each time."""
    total = 1
    for axis in semantics.accesses[output_index][0].axes:
        if axis.kind is AxisKind.WINDOW:
            lo, hi = out_box[axis.out_axis]
            total *= (hi - lo) * axis.kernel
            continue
        lo, hi = axis.interval(out_box)
        if axis.kind is AxisKind.REDUCE and reduce is not None:
            (lo, hi), reduce = reduce, None
        total *= hi - lo
    return total


def _whole_work(semantics: OpSemantics) -> list[Work]:
    return [
        work_of(semantics, full_box(shape), index)
        for index, shape in enumerate(semantics.output_shapes)
        if semantics.accesses[index]
    ]


def total_macs(sem: GraphSemantics) -> int:
    """Multiply-accumulates of the whole graph."""
    return sum(map(op_macs, sem.by_op.values()))


def op_macs(semantics: OpSemantics) -> int:
    """Multiply-accumulates of all results of an op."""
    if semantics.contraction is None and not semantics.products:
        return 0
    return sum(work.macs for work in _whole_work(semantics))
