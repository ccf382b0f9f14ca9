"""Graph -> GraphSemantics: every op resolved by the one table of op types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.semantics.access import AxisMap, InputAccess, OpSemantics
from graphturbo_core.semantics.kinds import op_kinds
from graphturbo_core.semantics.known_needs import KnownNeeds
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
from graphturbo_core.semantics.ops.linear import (
    attention,
    channels_last,
    convolution,
    einsum,
    fused,
    fused_attention,
    products,
    quantised,
    recurrent,
    states,
)
from graphturbo_core.semantics.ops.maps import OPAQUE_FORMAT, Entry, opaque
from graphturbo_core.semantics.ops.view import OpView

TABLE: Mapping[tuple[str, str], Entry] = {
    **elementwise.ENTRIES,
    **convolution.ENTRIES,
    **products.ENTRIES,
    **pooling.ENTRIES,
    **normalisation.ENTRIES,
    **reduction.ENTRIES,
    **shaping.ENTRIES,
    **selection.ENTRIES,
    **indexing.ENTRIES,
    **resampling.ENTRIES,
    **scans.ENTRIES,
    **quantised.ENTRIES,
    **einsum.ENTRIES,
    **recurrent.ENTRIES,
    **attention.ENTRIES,
    **spectral.ENTRIES,
    **losses.ENTRIES,
    **states.ENTRIES,
    **fused.ENTRIES,
    **fused_attention.ENTRIES,
    **channels_last.ENTRIES,
}
"""(domain, op type) -> entry; ONNX's own domain is the empty string."""


@dataclass(frozen=True)
class GraphSemantics:
    """A graph with the semantics of each op, by name.

    `cluster_ops`: ops with operands and results outside LB (`cost.placed_on`). They run on an
    engine that the cores of a cluster share, in GB, or are `passing_ops`: ops larger than an LB.
    One core runs a passing op, and its bytes stream through its LB from GB or DRAM and back.
    `whole`: semantics of `graph.undecomposed`, if known.
    """

    graph: Graph = field(repr=False)
    by_op: Mapping[str, OpSemantics]
    cluster_ops: frozenset[str] = frozenset()
    passing_ops: frozenset[str] = frozenset()
    whole: GraphSemantics | None = field(default=None, repr=False)

    @cached_property
    def undecomposed(self) -> GraphSemantics:
        """Semantics of the graph before passes that decompose ops; itself if none did."""
        graph = self.graph.undecomposed
        if graph is None:
            return self
        return analyse(graph) if self.whole is None else self.whole

    @cached_property
    def opaque_ops(self) -> tuple[str, ...]:
        """Names of the ops without a usable entry, in topological order."""
        return tuple(op.name for op in self.graph.ops if self.by_op[op.name].is_opaque)

    @cached_property
    def kinds(self) -> Mapping[str, int]:
        """A number per op, by name: equal if two ops differ by names alone."""
        return op_kinds(self.graph, self.by_op, self.cluster_ops)

    @cached_property
    def known_needs(self) -> KnownNeeds:
        """Cache of the boxes that cores read for their shares of nests."""
        return KnownNeeds()

    def notes(self) -> tuple[str, ...]:
        """One note per opaque op type: the number of ops, and their share of the bytes."""
        by_type: dict[str, list[Op]] = {}
        for name in self.opaque_ops:
            op = self.graph.op_by_name[name]
            by_type.setdefault(op.op_type, []).append(op)
        total = sum(self._touched_bytes(op) for op in self.graph.ops)
        return tuple(
            f"{len(ops)} op(s) of type {op_type} have no semantics and run whole: "
            f"{sum(self._touched_bytes(op) for op in ops) / max(1, total):.1%} of the bytes, "
            "none of the counted MACs"
            for op_type, ops in sorted(by_type.items())
        )

    def _touched_bytes(self, op: Op) -> int:
        tensors = self.graph.tensors
        names = dict.fromkeys(name for name in (*op.inputs, *op.outputs) if name)
        return sum(
            tensors[name].elements * element_bytes(tensors[name].dtype, OPAQUE_FORMAT)
            for name in names
        )

    def check(self) -> None:
        """Check that reads and outputs agree with the graph's tensors.

        Raises:
            InvariantError: naming the op and the tensor.
        """
        for op in self.graph.ops:
            semantics = self.by_op[op.name]
            if len(semantics.accesses) != len(op.outputs):
                raise InvariantError("SEMANTICS_OUTPUTS", f"{op.name!r} lacks reads of an output")
            for access in (access for reads in semantics.accesses for access in reads):
                self._check_sizes(op, access)

    def _check_sizes(self, op: Op, access: InputAccess) -> None:
        sizes = tuple(axis.size for axis in access.axes)
        shape = self.graph.tensors[access.tensor].shape
        if sizes != shape:
            what = f"{op.name!r} reads {access.tensor!r} as {sizes}, its shape is {shape}"
            raise InvariantError("SEMANTICS_SHAPE", what)


def analyse(graph: Graph, whole: GraphSemantics | None = None) -> GraphSemantics:
    """Resolve every op; unresolved ops are opaque. `whole`: see GraphSemantics."""
    return GraphSemantics(graph, {op.name: _resolve(op, graph) for op in graph.ops}, whole=whole)


def _resolve(op: Op, graph: Graph) -> OpSemantics:
    view = OpView(op, graph)
    domain = "" if op.domain == "ai.onnx" else op.domain
    entry = TABLE.get((domain, op.op_type))
    found = None if entry is None else _tried(entry, view)
    return found if found is not None and _fits(found, view) else opaque(view)


def _tried(entry: Entry, view: OpView) -> OpSemantics | None:
    """Result of the entry; None for a layout that it does not support.

    Inference does not check every rank and attribute, and nothing in foreign domains: an input may
    be missing, an axis out of range, a division undefined.
    """
    try:
        return entry(view)
    except (LookupError, ValueError, ArithmeticError):
        return None


def _fits(found: OpSemantics, view: OpView) -> bool:
    """Whether maps and products agree with the shapes of the tensors."""
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
    """Output axes that products use, and the rank of that output."""
    ranks = [len(shape) for shape in found.output_shapes]
    if found.contraction is not None:
        yield (*found.contraction.m_axes, found.contraction.n_axis), ranks[0]
    for product in found.products:
        counted = (axis for axis, _ in product.count_axes)
        yield (*product.m_axes, *counted), ranks[product.output]
