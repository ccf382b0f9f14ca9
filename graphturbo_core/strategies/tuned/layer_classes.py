"""LayerGraph -> classes of equivalent layers: repeated parts of a model are decided once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphturbo_core.strategies.layers.layer_graph import LayerGraph

MAX_CLASSES = 40
"""Number of classes above which a coarser criterion is used (our choice: a budget of about sixty
evaluations covers each class about once)."""


def layer_classes(graph: LayerGraph) -> tuple[int, ...]:
    """Returns per layer the number of its class, by first appearance.

    Our choice: equivalent layers have equal op types and result shapes, as in the twelve blocks of
    a transformer. If that gives more than `MAX_CLASSES`, op types and last size are compared, as in
    a block of DenseNet, whose channels grow; then op types alone.
    """
    looks: tuple[Callable[[LayerGraph, int], object], ...] = (_by_shape, _by_last_size, _by_type)
    for look in looks:
        found = _numbered([look(graph, layer) for layer in range(len(graph.layers))])
        if len(set(found)) <= MAX_CLASSES:
            break
    return found


def _numbered(looks: Sequence[object]) -> tuple[int, ...]:
    number_of: dict[object, int] = {}
    return tuple(number_of.setdefault(look, len(number_of)) for look in looks)


def _by_type(graph: LayerGraph, layer: int) -> tuple[str, ...]:
    by_name = graph.semantics.graph.op_by_name
    return tuple(by_name[op].op_type for op in graph.layers[layer].ops)


def _shapes(graph: LayerGraph, layer: int) -> list[tuple[int, ...]]:
    return [graph.semantics.graph.tensors[tensor].shape for tensor in graph.writes[layer]]


def _by_shape(graph: LayerGraph, layer: int) -> object:
    return _by_type(graph, layer), tuple(_shapes(graph, layer))


def _by_last_size(graph: LayerGraph, layer: int) -> object:
    return _by_type(graph, layer), tuple(shape[-1:] for shape in _shapes(graph, layer))
