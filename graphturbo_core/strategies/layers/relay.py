"""GraphSemantics -> layers: the partition of TVM Relay's operator fusion.

Rules after TVM's `graph_partitioner` and its tests; the reference page on fusion lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.products.plan import Layer
from graphturbo_core.semantics.access import FusionKind
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.layers.ranked_order import ranked_order

MAX_FUSED_NODES = 256
"""TVM's default `relay.FuseOps.max_depth`."""

_PHASES = (0, 1, 2)

Condition = Callable[[FusionKind, bool], bool]
"""Whether a node of this group kind may be on the path; the flag marks the path's end."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of Relay's dataflow: an op, or a tuple or tuple item without one."""

    op: str
    kind: FusionKind


@dataclass(frozen=True, slots=True)
class _Edge:
    target: int
    kind: FusionKind


@dataclass(frozen=True)
class _Dataflow:
    """Nodes in an order in which readers come later, with the edges to their readers."""

    nodes: tuple[_Node, ...]
    readers: tuple[tuple[_Edge, ...], ...]


def relay_layers(sem: GraphSemantics) -> tuple[Layer, ...]:
    """Returns the layers in topological order; among ready layers, the earliest op decides.

    Raises:
        InvariantError: two layers would need each other.
    """
    dataflow = _dataflow(sem)
    fusion = _Fusion(dataflow)
    for phase in _PHASES:
        fusion.run(phase)
    roots = {node.op: fusion.root(index) for index, node in enumerate(dataflow.nodes) if node.op}
    return _layers(sem, roots)


class _Builder:
    """Collects nodes and edges of Relay's dataflow, then puts them into post-order."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []
        self.readers: list[list[_Edge]] = []
        self.operands: list[list[int]] = []

    def add(self, kind: FusionKind, op: str = "") -> int:
        """A new node."""
        self.nodes.append(_Node(op, kind))
        self.readers.append([])
        self.operands.append([])
        return len(self.nodes) - 1

    def connect(self, source: int, target: int, kind: FusionKind) -> None:
        """Node `target` reads node `source`."""
        self.readers[source].append(_Edge(target, kind))
        self.operands[target].append(source)

    def finish(self) -> _Dataflow:
        """Renumber in the depth-first post-order in which Relay visits, operands first."""
        order = self._post_order()
        place = {node: index for index, node in enumerate(order)}
        return _Dataflow(
            tuple(self.nodes[node] for node in order),
            tuple(
                tuple(_Edge(place[edge.target], edge.kind) for edge in self.readers[node])
                for node in order
            ),
        )

    def _post_order(self) -> list[int]:
        order: list[int] = []
        seen: set[int] = set()
        sinks = [node for node in range(len(self.nodes)) if not self.readers[node]]
        stack = [(node, False) for node in reversed(sinks)]
        while stack:
            node, is_done = stack.pop()
            if is_done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(source, False) for source in reversed(self.operands[node])]
        return order


def _dataflow(sem: GraphSemantics) -> _Dataflow:
    """Relay's view of the graph; several graph outputs are returned as one tuple."""
    graph = sem.graph
    builder = _Builder()
    source: dict[str, int] = {}
    for op in graph.ops:
        node = builder.add(sem.by_op[op.name].fusion, op.name)
        _read_operands(builder, sem, op, node, source)
        _name_results(builder, graph, op, node, source)
    outputs = tuple(dict.fromkeys(graph.outputs))
    if len(outputs) > 1:
        returned = builder.add(FusionKind.TUPLE)
        for node in [source[name] for name in outputs if name in source]:
            builder.connect(node, returned, FusionKind.INJECTIVE)
    return builder.finish()


def _read_operands(
    builder: _Builder, sem: GraphSemantics, op: Op, node: int, source: dict[str, int]
) -> None:
    """Edges into an op: a broadcast between equal shapes counts as elementwise."""
    kind = sem.by_op[op.name].fusion
    names = [name for name in op.inputs if name in source]
    if sem.by_op[op.name].is_joint:
        operands = builder.add(FusionKind.TUPLE)
        for name in names:
            builder.connect(source[name], operands, FusionKind.INJECTIVE)
        builder.connect(operands, node, kind)
        return
    for name in names:
        builder.connect(source[name], node, _edge_kind(sem.graph, op, name, kind))


def _edge_kind(graph: Graph, op: Op, name: str, kind: FusionKind) -> FusionKind:
    out_shape = graph.tensors[next(filter(None, op.outputs))].shape
    if kind is FusionKind.BROADCAST and graph.tensors[name].shape == out_shape:
        return FusionKind.ELEMENTWISE
    return kind


def _name_results(
    builder: _Builder, graph: Graph, op: Op, node: int, source: dict[str, int]
) -> None:
    """Several used results are items of a tuple."""
    results = [
        name
        for name in op.outputs
        if name and (graph.consumers[name] or name in graph.output_names)
    ]
    if len(results) == 1:
        source[results[0]] = node
        return
    for name in results:
        source[name] = builder.add(FusionKind.INJECTIVE)
        builder.connect(node, source[name], FusionKind.INJECTIVE)


@dataclass(frozen=True, slots=True)
class _Dominator:
    """A node's place in the post-dominator tree; `kind` is the edge to its parent's."""

    depth: int
    parent: int
    kind: FusionKind


def _post_dominators(dataflow: _Dataflow) -> list[_Dominator]:
    """The nearest node that all paths to the results pass; parent -1 for the results themselves.

    The common ancestor of a node's readers; its kind is the largest met on the way there.
    """
    last = len(dataflow.nodes) - 1
    tree = [_Dominator(1, -1, FusionKind.OPAQUE)] * (last + 1)
    for node in range(last, -1, -1):
        edges = dataflow.readers[node]
        if not edges:
            continue
        parent, kind = edges[0].target, edges[0].kind
        for edge in edges[1:]:
            parent, kind = _common(tree, parent, edge.target, max(kind, edge.kind))
        depth = tree[parent].depth + 1 if parent >= 0 else 1
        tree[node] = _Dominator(depth, parent, kind)
    return tree


def _common(
    tree: list[_Dominator], first: int, second: int, kind: FusionKind
) -> tuple[int, FusionKind]:
    while first != second:
        if first < 0 or second < 0:
            return -1, FusionKind.OPAQUE
        if tree[first].depth >= tree[second].depth:
            deeper, first, second = first, second, tree[first].parent
        else:
            deeper, second = second, tree[second].parent
        kind = max(kind, tree[deeper].kind)
    return first, kind


def _is_broadcast(kind: FusionKind, is_end: bool) -> bool:
    return kind <= FusionKind.BROADCAST


def _is_injective(kind: FusionKind, is_end: bool) -> bool:
    return kind <= FusionKind.INJECTIVE


def _is_injective_then_any(kind: FusionKind, is_end: bool) -> bool:
    return kind <= (FusionKind.CONTRACTION if is_end else FusionKind.INJECTIVE)


class _Fusion:
    """Union-find over the nodes; a group's kind grows only when a contraction joins it."""

    def __init__(self, dataflow: _Dataflow) -> None:
        self._dataflow = dataflow
        self._tree = _post_dominators(dataflow)
        self._parent = list(range(len(dataflow.nodes)))
        self._count = [1] * len(dataflow.nodes)
        self._kind = [node.kind for node in dataflow.nodes]
        self._is_anchored = [kind is FusionKind.CONTRACTION for kind in self._kind]

    def root(self, node: int) -> int:
        """The group of a node, named by its root."""
        root = node
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[node] != root:
            self._parent[node], node = root, self._parent[node]
        return root

    def run(self, phase: int) -> None:
        """One phase over all nodes in order: operands before readers."""
        for node, dominator in enumerate(self._tree):
            if self._kind[node] is FusionKind.OPAQUE or dominator.parent < 0:
                continue
            target = dominator.parent
            condition = (
                self._tuple_condition(node, target)
                if phase == _PHASES[-1]
                else self._condition(node, dominator, phase)
            )
            if condition is None:
                continue
            between = self._between(node, target)
            if self._fits(node, between, target) and self._is_open(between, target, condition):
                self._merge(node, between, target)

    def _condition(self, node: int, dominator: _Dominator, phase: int) -> Condition | None:
        """Phases 0 and 1: groups allowed on the path to the post-dominator; None: none.

        1. Nothing fuses into a tuple, or into its own group. 2. A contraction takes elementwise
        edges, in phase 0. 3. Up to broadcast: any injective or reduced path whose end is not
        opaque. 4. Injective nodes and tuples wait for phase 1. 5. A reduction starts no fusion.
        """
        kind, target = self._kind[node], dominator.parent
        is_joined = self.root(node) == self.root(target)
        if is_joined or self._kind[target] is FusionKind.TUPLE:
            return None
        if kind is FusionKind.CONTRACTION:
            is_first = phase == 0 and dominator.kind is FusionKind.ELEMENTWISE
            return _is_broadcast if is_first else None
        if kind <= FusionKind.BROADCAST:
            return _is_injective_then_any if dominator.kind <= FusionKind.REDUCTION else None
        if kind in (FusionKind.INJECTIVE, FusionKind.TUPLE):
            return _is_injective if phase == 1 else None
        return None

    def _tuple_condition(self, node: int, target: int) -> Condition | None:
        """Phase 2: into a tuple that was itself fused into injective ops after it."""
        is_fused_tuple = (
            self._kind[target] is FusionKind.TUPLE
            and self._kind[self.root(target)] <= FusionKind.INJECTIVE
        )
        if self._kind[node] > FusionKind.INJECTIVE or not is_fused_tuple:
            return None
        return _is_injective

    def _between(self, node: int, target: int) -> list[int]:
        """Nodes strictly between a node and its post-dominator, in the order of discovery."""
        found: dict[int, None] = {}
        stack = [node]
        while stack:
            targets = (edge.target for edge in self._dataflow.readers[stack.pop()])
            unseen = dict.fromkeys(t for t in targets if t != target and t not in found)
            found |= unseen
            stack += unseen
        return list(found)

    def _fits(self, node: int, between: list[int], target: int) -> bool:
        """TVM's size check: counts the group of every node on the path, repeats included."""
        counts = (self._count[self.root(member)] for member in (node, *between, target))
        return sum(counts) <= MAX_FUSED_NODES

    def _is_open(self, between: list[int], target: int, condition: Condition) -> bool:
        return all(condition(self._kind[self.root(member)], False) for member in between) and (
            condition(self._kind[self.root(target)], True)
        )

    def _merge(self, node: int, between: list[int], target: int) -> None:
        for member in (node, *between):
            child, parent = self.root(member), self.root(target)
            if child == parent:
                continue
            self._parent[child] = parent
            self._count[parent] += self._count[child]
            if self._is_anchored[child]:
                self._is_anchored[parent] = True
                self._kind[parent] = max(self._kind[parent], self._kind[child])


def _layers(sem: GraphSemantics, roots: dict[str, int]) -> tuple[Layer, ...]:
    members: dict[int, list[str]] = {}
    for op in sem.graph.ops:
        members.setdefault(roots[op.name], []).append(op.name)
    order = _layer_order(sem.graph, roots, list(members))
    return tuple(
        Layer(index, _layer_name(sem, members[group]), tuple(members[group]))
        for index, group in enumerate(order)
    )


def _layer_name(sem: GraphSemantics, ops: Iterable[str]) -> str:
    names = list(ops)
    anchors = [name for name in names if sem.by_op[name].fusion is FusionKind.CONTRACTION]
    return (anchors or names[-1:])[0]


def _layer_order(graph: Graph, roots: dict[str, int], groups: list[int]) -> list[int]:
    """Kahn's order over layers, the layer with the earliest first op first."""
    rank = {group: place for place, group in enumerate(groups)}
    readers: list[set[int]] = [set() for _ in groups]
    read = ((name, op) for op in graph.ops for name in op.inputs if name in graph.producer)
    for name, op in read:
        producer, reader = rank[roots[graph.producer[name].name]], rank[roots[op.name]]
        if producer != reader:
            readers[producer].add(reader)
    order = ranked_order(readers, range(len(groups)))
    if len(order) < len(groups):
        raise InvariantError("LAYER_CYCLE", "two layers of the Relay partition need each other")
    return [groups[place] for place in order]
