"""LayerGraph -> classes of layers that are alike: what repeats in a model is decided once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphturbo_core.strategies.layers.layer_graph import LayerGraph

MAX_CLASSES = 40
"""Classes that a search tells apart, if a coarser look can help it (our choice: a budget of some
sixty evaluations tries each of them about once)."""


def layer_classes(graph: LayerGraph) -> tuple[int, ...]:
    """Per layer the number of its class, counted as they first appear.

    Our choice: alike are layers of the same op types whose results have the same shapes, as in the
    twelve blocks of a transformer; where that makes more than `MAX_CLASSES`, the same last size is
    enough, as in a block of DenseNet, whose channels grow; where that does too, the op types are.
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
