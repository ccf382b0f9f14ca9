"""Layers -> LayerGraph: fine sub-graphs, the tensors between them, and how axes carry over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import Op
from graphturbo_core.products.plan import Layer
from graphturbo_core.semantics.access import AxisKind, AxisMap, FusionKind, InputAccess
from graphturbo_core.semantics.table import GraphSemantics

CARRYING = frozenset(
    {
        AxisKind.SAME, AxisKind.WINDOW, AxisKind.PERMUTED, AxisKind.GROUPED, AxisKind.SCALED,
    }
)  # fmt: skip
"""The kinds of access through which a split axis carries (reference, 3.1)."""


@dataclass(frozen=True, slots=True)
class AxisLink:
    """One read of an activation: `follows[a]` is its axis that follows output axis a, or -1."""

    tensor: str
    follows: tuple[int, ...]
    maps: tuple[AxisMap, ...]


@dataclass(frozen=True, slots=True)
class LinkedOutput:
    """One used output of an op: the axes that may not be cut, and its reads of activations."""

    tensor: str
    uncut: frozenset[int]
    links: tuple[AxisLink, ...]


@dataclass(frozen=True)
class LayerGraph:
    """The layers in topological order and the tensors between them.

    `reads[i]`: activations that layer i reads from outside; `writes[i]`: its tensors that another
    layer or the graph's outputs read. `links[op]`: per used output, how axes follow.
    """

    semantics: GraphSemantics = field(repr=False)
    layers: tuple[Layer, ...]
    number_format: str
    reads: tuple[tuple[str, ...], ...]
    writes: tuple[tuple[str, ...], ...]
    links: Mapping[str, tuple[LinkedOutput, ...]] = field(repr=False)

    def op_kind(self, layer: int) -> tuple[int, tuple[bool, ...]] | None:
        """Equal for layers of one op that differ by names alone; None for several ops.

        The kind of the op, and which of its outputs are read.
        """
        ops = self.layers[layer].ops
        if len(ops) > 1:
            return None
        op = self.semantics.graph.op_by_name[ops[0]]
        writes = self.writes[layer]
        return self.semantics.kinds[op.name], tuple([name in writes for name in op.outputs])

    @cached_property
    def readers(self) -> Mapping[str, tuple[int, ...]]:
        """The layers other than its own that read each tensor, in order."""
        found: dict[str, list[int]] = {}
        for index, tensors in enumerate(self.reads):
            for tensor in tensors:
                found.setdefault(tensor, []).append(index)
        return {tensor: tuple(layers) for tensor, layers in found.items()}

    @property
    def graph_outputs(self) -> frozenset[str]:
        """Names of the graph's outputs."""
        return self.semantics.graph.output_names

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """Per layer, the layers that read from it, in order."""
        return tuple(
            tuple(sorted({r for tensor in writes for r in self.readers.get(tensor, ())}))
            for writes in self.writes
        )

    @cached_property
    def has_weights(self) -> tuple[bool, ...]:
        """Whether an op of the layer reads a weight; a bias counts.

        Our choice: a scalar (the factor of a softmax, a bound) does not count. Its fetch is
        negligible, and attention would else be divided at it.
        """
        graph = self.semantics.graph
        return tuple(
            any(
                graph.tensors[weight].elements > 1
                for op in layer.ops
                for weight in graph.weights_in(graph.op_by_name[op])
            )
            for layer in self.layers
        )

    @cached_property
    def is_in_place(self) -> tuple[bool, ...]:
        """Whether all ops are elementwise: the layer may overwrite an operand that dies."""
        by_op = self.semantics.by_op
        return tuple(
            all(
                by_op[op].is_pointwise and by_op[op].fusion <= FusionKind.BROADCAST
                for op in layer.ops
            )
            for layer in self.layers
        )

    @cached_property
    def tensor_bytes(self) -> Mapping[str, int]:
        """Bytes of every tensor on the chip."""
        return {
            name: tensor.elements * element_bytes(tensor.dtype, self.number_format)
            for name, tensor in self.semantics.graph.tensors.items()
        }

    def ops_of(self, layers: Sequence[int]) -> tuple[str, ...]:
        """The ops of these layers, layer by layer."""
        return tuple(op for index in layers for op in self.layers[index].ops)

    def outputs_of(self, layers: Sequence[int]) -> tuple[str, ...]:
        """Tensors that these layers hand to others or to the graph's outputs, in order."""
        inside = set(layers)
        return tuple(
            tensor
            for index in layers
            for tensor in self.writes[index]
            if tensor in self.graph_outputs
            or any(reader not in inside for reader in self.readers.get(tensor, ()))
        )


def layer_graph(
    semantics: GraphSemantics, layers: tuple[Layer, ...], number_format: str
) -> LayerGraph:
    """Returns the LayerGraph of `layers`, which partition the graph in topological order."""
    graph = semantics.graph
    reads = tuple(_reads(semantics, layer) for layer in layers)
    foreign = {tensor for tensors in reads for tensor in tensors} | set(graph.outputs)
    writes = tuple(
        tuple(t for op in layer.ops for t in graph.op_by_name[op].outputs if t in foreign)
        for layer in layers
    )
    links = {op.name: _linked_outputs(semantics, op) for op in graph.ops}
    return LayerGraph(semantics, layers, number_format, reads, writes, links)


def _reads(semantics: GraphSemantics, layer: Layer) -> tuple[str, ...]:
    graph = semantics.graph
    ops = [graph.op_by_name[name] for name in layer.ops]
    own = {tensor for op in ops for tensor in op.outputs}
    return tuple(dict.fromkeys(t for op in ops for t in graph.activations_in(op) if t not in own))


def _linked_outputs(semantics: GraphSemantics, op: Op) -> tuple[LinkedOutput, ...]:
    graph, resolved = semantics.graph, semantics.by_op[op.name]
    activations = set(graph.activations_in(op))
    return tuple(
        LinkedOutput(
            tensor,
            resolved.uncut_axes,
            tuple(
                _link(access, len(resolved.output_shapes[index]))
                for access in resolved.accesses[index]
                if access.tensor in activations
            ),
        )
        for index, tensor in enumerate(op.outputs)
        if tensor and (graph.consumers[tensor] or tensor in graph.output_names)
    )


def _link(access: InputAccess, out_rank: int) -> AxisLink:
    follows = [-1] * out_rank
    for axis, axis_map in enumerate(access.axes):
        if axis_map.out_axis >= 0 and axis_map.kind in CARRYING:
            follows[axis_map.out_axis] = axis
    return AxisLink(access.tensor, tuple(follows), access.axes)
