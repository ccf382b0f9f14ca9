"""Cycles of a piece of work per engine, and the engine that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import isqrt, prod

from graphturbo_core.hardware.hardware import EngineKind, Hardware, MatrixModel
from graphturbo_core.hardware.memory_budget import memory_budget
from graphturbo_core.hardware.tile_rules import DEFAULT_RULES, TileRules
from graphturbo_core.ir.boxes import full_box
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import Op, TensorKind
from graphturbo_core.semantics.access import OpSemantics, Work
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import work_of

Sizes = tuple[int, int, int]
"""M, N, K of one product."""

BYTE_FORMAT = "int8"
"""Format whose rate applies to products of 8-bit numbers, in any number format of the run."""


def compute_cycles(
    work: Work,
    semantics: OpSemantics,
    hardware: Hardware,
    number_format: str,
    feeding: Feeding = DEFAULT_FEEDING,
) -> tuple[EngineKind, int]:
    """Returns the engine that does the work, and its cycles: at least 1 unless there is no work.

    Grouped products run on the cheaper of matrix and vector engine, the matrix engine on a tie.
    An op with products inside occupies the matrix engine for them and for the vector work between.
    If cores share a matrix engine, an op runs there as a whole or not at all (`is_on_cluster`); an
    op with products inside runs on a core's vector engine (our choice: its operands are in LB).
    """
    contraction = semantics.contraction
    if semantics.is_of_bytes:
        number_format = BYTE_FORMAT
    if work.products or work.byte_products:
        return _inner_cycles(work, hardware, number_format)
    if contraction is None:
        return EngineKind.VECTOR, _vector_cycles(work, hardware, number_format)
    if hardware.has_shared_matrix and not is_on_cluster(semantics, hardware, number_format):
        return EngineKind.VECTOR, _product_cycles(work, hardware, number_format)
    if not work.macs:
        return EngineKind.MATRIX, 0
    matrix = _array_cycles(work, hardware, number_format, feeding)
    if contraction.groups > 1 and not hardware.has_shared_matrix:
        vector = _product_cycles(work, hardware, number_format)
        if vector < matrix:
            return EngineKind.VECTOR, vector
    return EngineKind.MATRIX, matrix


def is_divisible(semantics: OpSemantics, hardware: Hardware, feeding: Feeding) -> bool:
    """Whether the tiles of an op are divided over the two engines of a core.

    Not where the cores share the matrix engine: it reads other memories.
    """
    contraction = semantics.contraction
    is_grouped = contraction is not None and contraction.groups > 1
    return is_grouped and feeding.divides_depthwise and not hardware.has_shared_matrix


def engine_cycles(
    work: Work,
    semantics: OpSemantics,
    hardware: Hardware,
    number_format: str,
    feeding: Feeding = DEFAULT_FEEDING,
) -> tuple[tuple[EngineKind, int], ...]:
    """Returns the engines that may do the work, each with its cycles; first `compute_cycles`'."""
    own = compute_cycles(work, semantics, hardware, number_format, feeding)
    if not work.macs or not is_divisible(semantics, hardware, feeding):
        return (own,)
    if semantics.is_of_bytes:
        number_format = BYTE_FORMAT
    if own[0] is EngineKind.VECTOR:
        other = EngineKind.MATRIX, _array_cycles(work, hardware, number_format, feeding)
    else:
        other = EngineKind.VECTOR, _product_cycles(work, hardware, number_format)
    return own, other


def square_of(hardware: Hardware, feeding: Feeding) -> tuple[int, int] | None:
    """Rows and columns of a map's square that one pass covers; None: a pass covers any pixels.

    Their product is the array's rows; if that has no integer root, the square is wider than high:
    8 x 8 for 64, 4 x 8 for 32. Only on chips whose array makes passes.
    """
    if not feeding.has_square_passes or hardware.matrix_model is not MatrixModel.PASSES:
        return None
    rows = hardware.matrix_rows
    high = max(side for side in range(1, isqrt(rows) + 1) if rows % side == 0)
    return high, rows // high


def rows_taken(
    rows: int, pixels: tuple[int, int] | None, hardware: Hardware, feeding: Feeding
) -> int:
    """Occupied rows of the matrix array for products of `rows` rows, empty ones included.

    Each square of `pixels`, or part of one at the edge, takes a separate pass.
    """
    square = square_of(hardware, feeding)
    if square is None or pixels is None:
        return rows
    squares = prod(ceil_div(size, side) for size, side in zip(pixels, square, strict=True))
    return rows // prod(pixels) * squares * hardware.matrix_rows


def _inner_cycles(work: Work, hardware: Hardware, number_format: str) -> tuple[EngineKind, int]:
    """Engine and cycles of an op with inner products; 8-bit ones run at their own rate."""
    kinds = ((number_format, work.products), (BYTE_FORMAT, work.byte_products))
    between = _vector_cycles(work, hardware, number_format)
    if hardware.has_shared_matrix:
        cycles = (
            ceil_div(sum(map(prod, found)), hardware.peak_vector_per_cycle(kind))
            for kind, found in kinds
        )
        return EngineKind.VECTOR, sum(cycles) + between
    inner = sum(
        count * matrix_cycles((m, n, k), hardware, kind)
        for kind, found in kinds
        for count, m, n, k in found
    )
    return EngineKind.MATRIX, inner + between


def is_on_cluster(semantics: OpSemantics, hardware: Hardware, number_format: str) -> bool:
    """Whether an op runs on the matrix engine that the cores of a cluster share.

    All products do; grouped ones, unless the cores' vector engines together need fewer cycles.
    """
    if not hardware.has_shared_matrix or semantics.contraction is None:
        return False
    if semantics.contraction.groups == 1:
        return True
    if semantics.is_of_bytes:
        number_format = BYTE_FORMAT
    work = work_of(semantics, full_box(semantics.output_shapes[0]))
    matrix = work.count * matrix_cycles((work.m, work.n, work.k), hardware, number_format)
    return matrix * hardware.cores <= _product_cycles(work, hardware, number_format)


def product_peaks(sem: GraphSemantics, hardware: Hardware, number_format: str) -> tuple[int, int]:
    """MACs per cycle of a matrix and of a vector engine, for the fastest products in the model."""
    has_bytes = any(
        op.is_of_bytes or any(product.is_of_bytes for product in op.products)
        for op in sem.by_op.values()
    )
    formats = (number_format, BYTE_FORMAT) if has_bytes else (number_format,)
    return (
        max(hardware.peak_macs_per_cycle(entry) for entry in formats),
        max(hardware.peak_vector_per_cycle(entry) for entry in formats),
    )


def placed_on(
    sem: GraphSemantics,
    hardware: Hardware,
    number_format: str,
    rules: TileRules = DEFAULT_RULES,
) -> GraphSemantics:
    """The semantics with `cluster_ops` and `passing_ops` for this chip."""
    shared = frozenset(
        name for name, op in sem.by_op.items() if is_on_cluster(op, hardware, number_format)
    )
    passing = frozenset(
        op.name for op in sem.graph.ops if _is_passing(sem, op, (hardware, number_format, rules))
    )
    if not shared and not passing:
        return sem
    return replace(sem, cluster_ops=shared | passing, passing_ops=passing)


def _is_passing(sem: GraphSemantics, op: Op, chip: tuple[Hardware, str, TileRules]) -> bool:
    """Whether an op that runs whole has operands and results too large for an LB.

    Products are excluded: they read their operands more than once.
    """
    semantics, (hardware, number_format, rules) = sem.by_op[op.name], chip
    if semantics.contraction is not None or semantics.products or not _runs_whole(semantics):
        return False
    tensors = sem.graph.tensors
    size_bytes = {True: 0, False: 0}
    for name in dict.fromkeys(name for name in (*op.inputs, *op.outputs) if name):
        tensor = tensors[name]
        is_weight = tensor.kind is TensorKind.WEIGHT
        size_bytes[is_weight] += tensor.elements * element_bytes(tensor.dtype, number_format)
    budget, turns = memory_budget(hardware, rules), DEFAULT_FEEDING.tiles
    is_data_larger = turns * size_bytes[False] > budget.lb_data_bytes
    return is_data_larger or turns * size_bytes[True] > budget.lb_weight_bytes


def _runs_whole(semantics: OpSemantics) -> bool:
    """Whether no axis of any result may be cut."""
    rank = max((len(shape) for shape in semantics.output_shapes), default=0)
    return semantics.is_opaque or semantics.uncut_axes.issuperset(range(rank))


def ceil_div(number: int, divisor: int) -> int:
    """Whole cycles, rounded up exactly."""
    return -(-number // divisor)


def _array_cycles(work: Work, hardware: Hardware, number_format: str, feeding: Feeding) -> int:
    """Products on a matrix engine."""
    rows = rows_taken(work.m, work.pixels, hardware, feeding)
    return work.count * matrix_cycles((rows, work.n, work.k), hardware, number_format)


def _vector_cycles(work: Work, hardware: Hardware, number_format: str) -> int:
    operations = work.vector_ops + work.transcendentals * hardware.transcendental_ops
    return ceil_div(operations, hardware.peak_vector_per_cycle(number_format))


def _product_cycles(work: Work, hardware: Hardware, number_format: str) -> int:
    """Products on one core's vector engine."""
    return ceil_div(work.macs, hardware.peak_vector_per_cycle(number_format))


def _passes(sizes: Sizes, rows: int, columns: int) -> int:
    """Rows of M, columns of N, one K step per cycle."""
    m, n, k = sizes
    return ceil_div(m, rows) * ceil_div(n, columns) * k


def _output_stationary(sizes: Sizes, rows: int, columns: int) -> int:
    m, n, k = sizes
    return ceil_div(m, rows) * ceil_div(n, columns) * (k + rows + columns - 2)


def _weight_stationary(sizes: Sizes, rows: int, columns: int) -> int:
    m, n, k = sizes
    return ceil_div(k, rows) * ceil_div(n, columns) * (m + 2 * rows + columns - 2)


def _input_stationary(sizes: Sizes, rows: int, columns: int) -> int:
    m, n, k = sizes
    return ceil_div(k, rows) * ceil_div(m, columns) * (n + 2 * rows + columns - 2)


_MODELS: dict[MatrixModel, Callable[[Sizes, int, int], int]] = {
    MatrixModel.PASSES: _passes,
    MatrixModel.OUTPUT_STATIONARY: _output_stationary,
    MatrixModel.WEIGHT_STATIONARY: _weight_stationary,
    MatrixModel.INPUT_STATIONARY: _input_stationary,
}


def least_cycles_per_mac(sizes: Sizes, hardware: Hardware, number_format: str) -> Fraction:
    """Returns a lower bound on the cycles per MAC of every part of an M x N x K product.

    A part has m <= M rows, so `ceil(m / R) >= m / min(M, R)`, and likewise along N and K. The fill
    and drain cycles c per part satisfy `c >= m * c / M`. So the closed forms of `matrix_cycles` are
    at least m x n x k times this bound.
    """
    m, n, k = sizes
    rows, columns = hardware.matrix_rows, hardware.matrix_columns
    steps = hardware.k_steps_per_cycle(number_format)
    across, down = 1 / Fraction(min(n, columns)), 1 / Fraction(min(k, steps * rows))
    fill = 2 * rows + columns - 2
    if hardware.matrix_model is MatrixModel.WEIGHT_STATIONARY:
        return down * across * (1 + Fraction(fill, m))
    if hardware.matrix_model is MatrixModel.INPUT_STATIONARY:
        return down / min(m, columns) * (1 + Fraction(fill, n))
    own = rows + columns - 2 if hardware.matrix_model is MatrixModel.OUTPUT_STATIONARY else 0
    return across / min(m, rows) * (1 / Fraction(min(k, steps)) + Fraction(own, k))


def matrix_cycles(sizes: Sizes, hardware: Hardware, number_format: str) -> int:
    """Returns the cycles of one product of M x N x K.

    Whole passes of the array, or SCALE-Sim's closed forms (fill and drain included) for systolic
    arrays. A cycle takes `matrix_depth` steps of K, and `matrix_rate` times as many in a faster
    number format (our choice). No division into parts takes fewer cycles, which
    `report/bounds/engine_bounds.py` proves and relies on.
    """
    m, n, k = sizes
    steps = ceil_div(k, hardware.k_steps_per_cycle(number_format))
    model = _MODELS[hardware.matrix_model]
    return model((m, n, steps), hardware.matrix_rows, hardware.matrix_columns)
