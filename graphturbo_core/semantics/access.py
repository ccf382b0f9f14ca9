"""Types of an op's semantics: input boxes for an output box, work, fusion kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import Box, Interval


class AxisKind(Enum):
    """Relation of an input axis to the output's box (design, section 2)."""

    SAME = "same"
    WINDOW = "window"
    OFFSET = "offset"
    PERMUTED = "permuted"
    GROUPED = "grouped"
    SCALED = "scaled"
    INNER = "inner"
    NONE = "none"
    WHOLE = "whole"
    REDUCE = "reduce"

    __hash__ = object.__hash__
    """Enum's own hash runs Python code: a million times per 100,000 instructions."""


class FusionKind(IntEnum):
    """TVM's pattern kinds, in TVM's order: the larger of two wins.

    CONTRACTION is TVM's `kOutEWiseFusable`; pooling and softmax have it too.
    """

    ELEMENTWISE = 0
    BROADCAST = 1
    INJECTIVE = 2
    REDUCTION = 3
    CONTRACTION = 4
    TUPLE = 7
    OPAQUE = 8


class AxisMap(NamedTuple):
    """One input axis: which output axis it follows (`out_axis`, -1 for none) and how.

    WINDOW: [lo*stride - pad, (hi-1)*stride - pad + (kernel-1)*dilation + 1), clipped to the axis.
    OFFSET: [offset + lo*step, offset + (hi-1)*step + 1), clipped (concat: negative offset).
    GROUPED: [lo//out_block*in_block, ceil(hi/out_block)*in_block), clipped: a hull where unaligned.
    SCALED: [lo*in_block//out_block - pad, ceil(hi*in_block/out_block) + pad), clipped (resize).
    INNER: as SCALED without pad, on an inner axis of a row-major block: counted within a turn of
    `size` steps; whole where it is in several turns.
    NONE: the input axis is broadcast (size 1). WHOLE and REDUCE: all of it; only REDUCE may be cut.
    """

    kind: AxisKind
    size: int
    out_axis: int = -1
    stride: int = 1
    dilation: int = 1
    kernel: int = 1
    pad: int = 0
    offset: int = 0
    step: int = 1
    out_block: int = 1
    in_block: int = 1

    @property
    def reach(self) -> Interval | None:
        """Interval of the output axis outside of which nothing is read; None: may be all of it."""
        if self.kind is not AxisKind.OFFSET:
            return None
        return -(self.offset // self.step), (self.size - 1 - self.offset) // self.step + 1

    @property
    def alone(self) -> AxisMap:
        """The same map for a result that has only the followed axis: of a box of one interval."""
        return self._replace(out_axis=min(self.out_axis, 0))

    def interval(self, out_box: Box) -> Interval:
        """The needed interval of this input axis; (0, 0) if nothing is needed."""
        if self.out_axis < 0:
            return (0, self.size)
        lo, hi = out_box[self.out_axis]
        if hi <= lo:
            return (0, 0)
        if self.kind is AxisKind.SAME and lo >= 0 and hi <= self.size:
            return (lo, hi)
        if self.kind is AxisKind.WINDOW:
            lo, hi = (
                lo * self.stride - self.pad,
                (hi - 1) * self.stride - self.pad + (self.kernel - 1) * self.dilation + 1,
            )
        elif self.kind is AxisKind.OFFSET:
            lo, hi = self.offset + lo * self.step, self.offset + (hi - 1) * self.step + 1
        elif self.kind is AxisKind.GROUPED:
            lo, hi = lo // self.out_block * self.in_block, -(-hi // self.out_block) * self.in_block
        elif self.kind is AxisKind.SCALED:
            lo = lo * self.in_block // self.out_block - self.pad
            hi = -(-hi * self.in_block // self.out_block) + self.pad
        elif self.kind is AxisKind.INNER:
            lo = lo * self.in_block // self.out_block
            hi = -(-hi * self.in_block // self.out_block)
            turn = lo // self.size * self.size
            lo, hi = (lo - turn, hi - turn) if hi - turn <= self.size else (0, self.size)
        if lo >= 0 and hi <= self.size:
            return (lo, hi)
        lo, hi = max(0, lo), min(self.size, hi)
        return (lo, hi) if lo < hi else (0, 0)


class InputAccess(NamedTuple):
    """Read of one input tensor (activation or weight); one map per axis of that tensor.

    `is_lookup`: one element of its box is read per output element; the data determine which.
    """

    tensor: str
    axes: tuple[AxisMap, ...]
    is_lookup: bool = False

    def box(self, out_box: Box) -> Box:
        """The box of the input that a box of the output needs (a hull; may be empty)."""
        return tuple([axis.interval(out_box) for axis in self.axes])


KEPT_READS = 512
"""Cached access patterns, over all models (our choice: a model has some dozens)."""
KEPT_INTERVALS = 4096
"""Cached intervals per axis of each pattern (our choice: tiles of a model have some hundreds)."""


class _Intervals(dict[Interval, Interval]):
    """Cache of one input axis: needed interval by interval of the followed output axis."""

    def __init__(self, axis: AxisMap) -> None:
        super().__init__()
        self._whole = axis.alone

    def __missing__(self, out: Interval) -> Interval:
        if len(self) >= KEPT_INTERVALS:
            self.clear()
        found = self[out] = self._whole.interval((out,))
        return found


class Reads:
    """`InputAccess.box` for many boxes with common intervals, each computed once."""

    def __init__(self, axes: Sequence[AxisMap]) -> None:
        """Start with empty caches."""
        self._maps = axes
        self._axes = [(max(0, axis.out_axis), _Intervals(axis)) for axis in axes]

    def box(self, out_box: Box) -> Box:
        """The box of the input that a box of the output needs."""
        if not out_box:
            return tuple([axis.interval(out_box) for axis in self._maps])
        return tuple([known[out_box[place]] for place, known in self._axes])

    def interval(self, place: int, out: Interval) -> Interval:
        """Needed interval of axis `place` for this interval of the followed output axis."""
        return self._axes[place][1][out]


@lru_cache(maxsize=KEPT_READS)
def reads_of(axes: tuple[AxisMap, ...]) -> Reads:
    """The shared Reads of all inputs with these axis maps."""
    return Reads(axes)


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one box: `count` independent products of m x n x k, or element-operations.

    `transcendentals` are counted apart from `vector_ops`: their cost depends on the chip.
    `pixels`: rows and columns of a map, of which m is a multiple; None: m has no map.
    `products`: for an op with several (`InnerProduct`), count, m, n, k of each; those of 8-bit
    numbers are in `byte_products`.
    """

    macs: int
    vector_ops: int
    m: int = 0
    n: int = 0
    k: int = 0
    count: int = 0
    transcendentals: int = 0
    pixels: tuple[int, int] | None = None
    products: tuple[tuple[int, int, int, int], ...] = ()
    byte_products: tuple[tuple[int, int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class InnerProduct:
    """Matrix products inside an op that is not a single contraction (attention, recurrent cells).

    A box of output `output` has `count` x (blocks touched along `count_axes`, pairs of axis and
    block size) products. Each has m = `m` x (extents of `m_axes`), and n, k. Each row of a product
    adds `row_ops` vector operations and `row_transcendentals`. `is_of_bytes`: its factors are 8-bit
    numbers, and it runs at their rate.
    """

    n: int
    k: int
    m_axes: tuple[int, ...] = ()
    count_axes: tuple[tuple[int, int], ...] = ()
    m: int = 1
    count: int = 1
    output: int = 0
    row_ops: int = 0
    row_transcendentals: int = 0
    is_of_bytes: bool = False


@dataclass(frozen=True, slots=True)
class Contraction:
    """Axes of a contraction: output axes of M, of N (-1: none), size of K per output element.

    Output axes that are neither M nor N are batch axes: each of their elements is a separate
    product. `data_reduce_axis` and `weight_reduce_axis` (axes of the two operands) may be cut
    over K together; -1 if K may not be cut. `reduce_size` is the size of that axis (1 if there is
    none); `k_inner` = k / reduce_size (kernel area).
    `groups` > 1: output axis N consists of that many groups, each its own product.
    `weight` is the second operand, also where it is an activation.
    `map_axes`: the two M axes along which windows slide; () if there are not two.
    """

    m_axes: tuple[int, ...]
    n_axis: int
    k: int
    reduce_size: int
    k_inner: int
    groups: int
    data: str
    weight: str
    data_reduce_axis: int
    weight_reduce_axis: int
    map_axes: tuple[int, ...] = ()

    @property
    def is_cut_over_k(self) -> bool:
        """Whether partial sums over K add up to the result."""
        return self.data_reduce_axis >= 0

    def pixels(self, sizes: Sequence[int]) -> tuple[int, int] | None:
        """Rows and columns of a map in an output box of these extents; None: no map."""
        if not self.map_axes:
            return None
        rows, columns = self.map_axes
        return sizes[rows], sizes[columns]


@dataclass(frozen=True)
class OpSemantics:
    """An op resolved against its shapes.

    `accesses[i]` are the reads for output i, one per tensor read. Parameters known at import (a
    shape, axes, pads) are not read. A missing optional output has no reads and the shape ().
    `engine` is MATRIX for contractions (the cheaper of matrix and vector by
    `cost.compute_cycles`), else VECTOR. `ops_per_element`: vector element-operations per output
    element; `ops_per_input`: per element read, for reductions and pooling; `transcendentals`: per
    output element, counted separately; `fixed_ops`: for the whole op, independent of cuts (opaque
    ops: their bytes). `is_view`: renames its input's bytes (reshape, squeeze, split, slice with
    step 1): legal as a view if the access boxes are exact.
    `is_pointwise`: every data input of the output's own shape maps SAME on all axes.
    `is_joint`: concatenates its inputs; Relay passes them as one tuple.
    `is_repeated`: only repeats its one operand along axes of size 1 (expand).
    `is_sliding`: windows slide over its first input, with `pads` beyond its edges, so a box is the
    same op with its own pads.
    `is_placed`: its result depends on the position of a box, beyond its reads (a triangle, an
    index into an axis that is cut).
    `is_of_bytes`: its products are of 8-bit numbers and run at their rate.
    `products`: matrix products inside the op; `engine` is MATRIX then, and vector work follows them
    on the same tile (our choice: one instruction per tile, no overlap inside it).
    """

    fusion: FusionKind
    engine: EngineKind
    accesses: tuple[tuple[InputAccess, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]
    ops_per_element: int = 1
    ops_per_input: int = 0
    transcendentals: int = 0
    fixed_ops: int = 0
    contraction: Contraction | None = None
    products: tuple[InnerProduct, ...] = ()
    is_opaque: bool = False
    is_view: bool = False
    is_pointwise: bool = False
    is_joint: bool = False
    is_repeated: bool = False
    is_sliding: bool = False
    is_placed: bool = False
    is_of_bytes: bool = False
    uncut_axes: frozenset[int] = frozenset()
    """Output axes that may not be cut (softmax's own axis). An input axis WHOLE alone does not
    forbid cutting output axes: each part then reads all of it."""

    @cached_property
    def first_reads(self) -> Mapping[str, InputAccess]:
        """The first read of each tensor for output 0: a search takes the square of the inputs."""
        found: dict[str, InputAccess] = {}
        for access in self.accesses[0]:
            found.setdefault(access.tensor, access)
        return found
