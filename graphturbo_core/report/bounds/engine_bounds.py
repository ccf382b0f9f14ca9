"""ModelNeed, chip -> lower bound of the cycles per kind of engine.

Let one instruction compute m x n x k of a product of M x N x K. The cost model gives it
`ceil(m/R) * ceil(n/C) * ceil(k/S)` cycles on an array of R rows, C columns and S steps of K
(`semantics.cost.matrix_cycles`). Any division of the product needs at least
`ceil(M/R) * ceil(N/C) * ceil(K/S)` cycles, the cost of one instruction for the whole product:

1. Mark every C-th column and every S-th step of K: `ceil(N/C) * ceil(K/S)` marks. A part of n
   columns and k steps contains at most `ceil(n/C) * ceil(k/S)` of them.
2. So a part needs at least `ceil(m/R)` cycles per mark in it.
3. The parts with one given mark have all M rows between them, so their `ceil(m/R)` sum to at least
   `ceil(M/R)`. Rows need not be neighbours: M may be several axes of a map.
4. The sum over all marks is the lower bound.

SCALE-Sim's forms for systolic arrays add fill and drain cycles per part, so a single part has the
fewest. Their other factors have the same form (rows and columns stand for other axes). Each of
`count` products is bounded separately. Overlapping parts (halos) and passes over squares of a map
only add cycles.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from graphturbo_core.hardware.hardware import EngineKind, Hardware
from graphturbo_core.ir.boxes import full_box
from graphturbo_core.report.bounds.need import counted, needed_outputs
from graphturbo_core.report.bounds.regions import Region
from graphturbo_core.semantics.access import FusionKind, OpSemantics, Work
from graphturbo_core.semantics.cost import BYTE_FORMAT, compute_cycles, least_cycles_per_mac
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import work_of


@dataclass(frozen=True)
class EngineLoad:
    """Lower bounds of one engine's cycles for all work that only its kind can do.

    `either`: per op with grouped products, its cycles on a matrix engine and on a vector engine;
    any part of it may run on either kind.
    """

    matrix: int
    vector: int
    either: tuple[tuple[Fraction, Fraction], ...]

    def cycles(self, matrix_engines: int, vector_engines: int) -> dict[EngineKind, int]:
        """Whole cycles per kind when the work is divided over these numbers of engines."""
        return {
            EngineKind.MATRIX: -(-self.matrix // matrix_engines),
            EngineKind.VECTOR: -(-self.vector // vector_engines),
        }

    def together(self, matrix_engines: int, vector_engines: int) -> int:
        """Whole cycles of the slower kind under the best division of the grouped products.

        All start on the vector engines. Those that save most vector cycles per matrix cycle move to
        the matrix engines first, until both kinds need equal time. This is the optimum of the
        linear program in which an op may be divided at any place.
        """
        matrix = Fraction(self.matrix, matrix_engines)
        vector = (self.vector + sum(on_vector for _, on_vector in self.either)) / Fraction(
            vector_engines
        )
        for on_matrix, on_vector in sorted(self.either, key=lambda pair: pair[0] / pair[1]):
            if matrix >= vector:
                break
            more, less = on_matrix / matrix_engines, on_vector / vector_engines
            share = min(Fraction(1), (vector - matrix) / (more + less))
            matrix, vector = matrix + share * more, vector - share * less
        return ceil(max(matrix, vector))


def engine_load(
    sem: GraphSemantics, regions: Mapping[str, Region], hardware: Hardware, number_format: str
) -> EngineLoad:
    """EngineLoad of these regions of the ops' outputs.

    Ops that only move elements count zero cycles: they may run as views or as moves. Equal regions
    of ops of one kind are computed once.
    """
    known: dict[Hashable, tuple[EngineKind, int]] = {}
    cycles = {EngineKind.MATRIX: 0, EngineKind.VECTOR: 0}
    either = []
    for op in sem.graph.ops:
        semantics = sem.by_op[op.name]
        made = [
            (index, region)
            for index, region in needed_outputs(op, regions)
            if region.elements and semantics.accesses[index]
        ]
        if semantics.contraction is not None and semantics.contraction.groups > 1:
            elements = (region.elements for _, region in made)
            either += [_grouped(semantics, count, hardware, number_format) for count in elements]
            continue
        for index, region in made:
            counts = tuple(map(counted, region.parts))
            key = sem.kinds[op.name], index, region.elements, counts
            if key not in known:
                made_of = semantics, index
                known[key] = _least_cycles(made_of, region, hardware, number_format)
            kind, own = known[key]
            cycles[kind] += own
    return EngineLoad(cycles[EngineKind.MATRIX], cycles[EngineKind.VECTOR], tuple(either))


def _least_cycles(
    made: tuple[OpSemantics, int], region: Region, hardware: Hardware, number_format: str
) -> tuple[EngineKind, int]:
    """The engine kind that computes a region of an output, and a lower bound of its cycles.

    1. One instruction for a whole part needs no more cycles than any division of it. Two parts may
       share an instruction, so the largest part counts, not their sum.
    2. Products need their MACs at the best rate of any of their parts.
    3. Work that is equal for every element is counted by elements.
    """
    semantics, index = made
    if semantics.contraction is not None:
        cycles = ceil(_macs_cycles(semantics, region.elements, hardware, number_format))
        kind = EngineKind.MATRIX
    elif semantics.products:
        kind, cycles = compute_cycles(_NO_WORK, semantics, hardware, number_format)
    else:
        kind, cycles = compute_cycles(
            _elementwise(semantics, region.elements), semantics, hardware, number_format
        )
    if kind is EngineKind.VECTOR and _only_moves(semantics):
        return kind, 0
    for part in region.parts:
        work = work_of(semantics, counted(part), index)
        kind, own = compute_cycles(work, semantics, hardware, number_format)
        cycles = max(cycles, own)
    return kind, cycles


_NO_WORK = Work(0, 0)


def _only_moves(semantics: OpSemantics) -> bool:
    return semantics.is_view or semantics.fusion is FusionKind.INJECTIVE


def _elementwise(semantics: OpSemantics, elements: int) -> Work:
    return Work(
        macs=0,
        vector_ops=semantics.ops_per_element * elements,
        transcendentals=semantics.transcendentals * elements,
    )


def _macs_cycles(
    semantics: OpSemantics, elements: int, hardware: Hardware, number_format: str
) -> Fraction:
    """Cycles of `elements` results of a contraction at the best rate of any of its parts."""
    contraction = semantics.contraction
    assert contraction is not None  # the caller looked
    work = work_of(semantics, full_box(semantics.output_shapes[0]))
    own_format = BYTE_FORMAT if semantics.is_of_bytes else number_format
    rate = least_cycles_per_mac((work.m, work.n, work.k), hardware, own_format)
    return elements * contraction.k * rate


def _grouped(
    semantics: OpSemantics, elements: int, hardware: Hardware, number_format: str
) -> tuple[Fraction, Fraction]:
    """Cycles of grouped products on a matrix engine and on a vector engine."""
    contraction = semantics.contraction
    assert contraction is not None  # the caller looked
    own_format = BYTE_FORMAT if semantics.is_of_bytes else number_format
    on_vector = Fraction(elements * contraction.k, hardware.peak_vector_per_cycle(own_format))
    return _macs_cycles(semantics, elements, hardware, number_format), on_vector
