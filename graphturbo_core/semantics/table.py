"""Graph -> GraphSemantics: every op resolved by the table of op types in `entries.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import Graph, Op, TensorKind
from graphturbo_core.semantics.access import InputAccess, OpSemantics
from graphturbo_core.semantics.entries import resolve
from graphturbo_core.semantics.kinds import op_kinds
from graphturbo_core.semantics.known_needs import KnownNeeds
from graphturbo_core.semantics.ops.maps import OPAQUE_FORMAT
from graphturbo_core.units import format_percent


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
    def twins(self) -> Mapping[str, int]:
        """A number by op: the same for ops of one kind with equal inputs, none for other ops."""
        keys = {op.name: (self.kinds[op.name], op.inputs) for op in self.graph.ops}
        numbers: dict[tuple[int, tuple[str, ...]], int] = {}
        count = Counter(keys.values())
        return {
            name: numbers.setdefault(key, len(numbers))
            for name, key in keys.items()
            if count[key] > 1
        }

    @cached_property
    def lookups(self) -> Mapping[str, tuple[str, ...]]:
        """By table: the results that look rows up in it; no table that is read in another way."""
        found: dict[str, tuple[str, ...]] = {}
        others: set[str] = set()
        for op in self.graph.ops:
            for result, reads in zip(op.outputs, self.by_op[op.name].accesses, strict=True):
                for read in reads:
                    if read.is_lookup and self.graph.tensors[read.tensor].kind is TensorKind.WEIGHT:
                        found[read.tensor] = (*found.get(read.tensor, ()), result)
                    else:
                        others.add(read.tensor)
        return {table: results for table, results in found.items() if table not in others}

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
            f"{format_percent(sum(map(self._touched_bytes, ops)) / max(1, total))} of the bytes, "
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
    """Resolve every op; what no entry resolves is opaque. `whole`: see GraphSemantics."""
    return GraphSemantics(graph, {op.name: resolve(op, graph) for op in graph.ops}, whole=whole)
