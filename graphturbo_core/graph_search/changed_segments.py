"""A graph, a match of a rule -> the kernels that it changes, before and after, as graphs.

1. The kernels are those of the unchanged graph's plan. An op that a rule made belongs to the kernel
   of its `origin`.
2. A segment has the kernels of all ops of the match. It has all parts of a merged convolution, or
   none: where a rule made a tensor, the kernels of its writer and readers are in the segment.
3. It also has the kernels that read a tensor whose new writer is of another op type: a Relu joins a
   convolution that was a pool.

Every tensor from outside is an input of the segment, every tensor that others read is an output.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from graphturbo_core.frontend.passes.substitutions.graph_steps import applied
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.ir.graph import Graph, Op, TensorKind
from graphturbo_core.semantics.kinds import op_trait
from graphturbo_core.semantics.table import GraphSemantics

KernelOps = Mapping[str, frozenset[str]]
"""By op of the unchanged graph: all ops of its kernel."""


@dataclass(frozen=True)
class ChangedSegment:
    """Ops of some kernels before a match and after it; both graphs compute the same tensors."""

    before: Graph
    after: Graph


@dataclass(frozen=True)
class SegmentCuts:
    """Cuts segments out of one graph, which substitutions made from `unchanged`."""

    unchanged: Graph = field(repr=False)
    graph: Graph = field(repr=False)
    kernels: KernelOps = field(repr=False)

    @cached_property
    def _parts(self) -> Mapping[str, tuple[Op, ...]]:
        """By op of the unchanged graph: its parts."""
        found: dict[str, tuple[Op, ...]] = {}
        for op in self.graph.ops:
            found[op.origin_name] = (*found.get(op.origin_name, ()), op)
        return found

    def key(self, match: Substitution) -> Hashable:
        """Equal for equal matches whose kernels, and all kernels that read these, are equal."""
        origins = self._origins(match)
        results = [name for origin in origins for op in self._parts[origin] for name in op.outputs]
        readers = (op for name in results if name for op in self.graph.consumers[name])
        known = origins | self._kernels_of(readers)
        ops = (op for origin in sorted(known) for op in self._parts[origin])
        state = tuple(
            (op.name, op.op_type, op.inputs, op.outputs, tuple(op.attributes.items())) for op in ops
        )
        return match.rule, match.ops, match.kernel, match.pads, match.groups, state

    def segment(self, match: Substitution) -> ChangedSegment:
        """The segment of one match."""
        origins = self._origins(match)
        found = self._segment(match, origins)
        wider = origins | self._kernels_of(self._readers(found))
        return found if wider == origins else self._segment(match, wider)

    def _origins(self, match: Substitution) -> frozenset[str]:
        """Rule 2."""
        return self._kernels_of(self.graph.op_by_name[name] for name in match.ops)

    def _kernels_of(self, ops: Iterable[Op]) -> frozenset[str]:
        """All ops of the kernels of these ops, and of those that share made tensors with them."""
        found: set[str] = set()
        ahead = {op.origin_name for op in ops}
        while ahead:
            kernel = self.kernels[ahead.pop()]
            if not kernel <= found:
                found |= kernel
                ahead |= {name for origin in kernel for name in self._sharing[origin]}
        return frozenset(found)

    @cached_property
    def _sharing(self) -> Mapping[str, frozenset[str]]:
        """By op of the unchanged graph: the ops with which its parts share a tensor between them.

        Tensors of the unchanged graph do not count.
        """
        known, graph = self.unchanged.tensors, self.graph
        found: dict[str, set[str]] = {op.name: set() for op in self.unchanged.ops}
        for op in graph.ops:
            for name in (each for each in op.outputs if each and each not in known):
                origins = {op.origin_name, *(each.origin_name for each in graph.consumers[name])}
                for origin in origins:
                    found[origin] |= origins
        return {name: frozenset(origins) for name, origins in found.items()}

    def _readers(self, segment: ChangedSegment) -> list[Op]:
        """Rule 3."""
        after = segment.after.producer
        tensors = [
            name
            for name, op in segment.before.producer.items()
            if name in after and after[name].op_type != op.op_type
        ]
        return [op for name in tensors for op in self.graph.consumers[name]]

    def _segment(self, match: Substitution, origins: Collection[str]) -> ChangedSegment:
        before = part_of_graph(self.graph, origins)
        whole = part_of_graph(self.unchanged, origins)
        return ChangedSegment(_of(before, whole), _of(applied(before, match), whole))


def _of(part: Graph, whole: Graph) -> Graph:
    return replace(part, undecomposed=whole if any(op.origin for op in part.ops) else None)


def part_of_graph(graph: Graph, origins: Collection[str]) -> Graph:
    """The ops with these origins as a graph of their own; linear in the graph's ops."""
    ops = tuple(op for op in graph.ops if op.origin_name in origins)
    names = dict.fromkeys(name for op in ops for name in (*op.inputs, *op.outputs) if name)
    inside = {op.name for op in ops}
    made = {name for op in ops for name in op.outputs if name}
    tensors = {name: graph.tensors[name] for name in names}
    inputs = [
        name for name in names if name not in made and tensors[name].kind is not TensorKind.WEIGHT
    ]
    tensors |= {name: replace(tensors[name], kind=TensorKind.INPUT) for name in inputs}
    outputs = tuple(
        name
        for name in names
        if name in made
        and (
            name in graph.output_names
            or any(reader.name not in inside for reader in graph.consumers[name])
        )
    )
    return Graph(graph.name, ops, tensors, tuple(inputs), outputs)


def structure_of(sem: GraphSemantics) -> Hashable:
    """Equal for graphs that differ by names alone, those before passes included."""
    whole = sem.undecomposed
    return _structure(sem), () if whole is sem else _structure(whole)


def _structure(sem: GraphSemantics) -> Hashable:
    graph = sem.graph
    names = dict.fromkeys(name for op in graph.ops for name in (*op.inputs, *op.outputs) if name)
    place = {name: number for number, name in enumerate(names)}
    origins = dict.fromkeys(op.origin_name for op in graph.ops)
    number_of = {name: number for number, name in enumerate(origins)}
    ops = tuple(
        (
            op.op_type,
            op.domain,
            number_of[op.origin_name],
            bool(op.origin),
            tuple(place.get(name) for name in (*op.inputs, *op.outputs)),
            op_trait(graph, op, sem.by_op[op.name]),
        )
        for op in graph.ops
    )
    return ops, tuple(place[name] for name in graph.outputs)
