"""InstanceGraph -> orders: instance orders that a search may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import accumulate
from types import MappingProxyType

from graphturbo_core.strategies.graphturbo.ordering import order_instances
from graphturbo_core.strategies.steps.instances import InstanceGraph

Order = Callable[[InstanceGraph], tuple[int, ...]]


def depth_first(graph: InstanceGraph) -> tuple[int, ...]:
    """Algorithm 3: the newest ready instance, within a group the highest piece."""
    names = [instance.name for instance in graph.instances]
    return order_instances(names, graph.producers).order


def depth_first_rising(graph: InstanceGraph) -> tuple[int, ...]:
    """Algorithm 3 with reversed piece numbers: the lowest piece first."""
    mirror = _mirrored(graph)
    names = [graph.instances[number].name for number in mirror]
    producers = [[mirror[p] for p in graph.producers[number]] for number in mirror]
    return tuple(mirror[number] for number in order_instances(names, producers).order)


def breadth_first(graph: InstanceGraph) -> tuple[int, ...]:
    """Group after group in topological order, pieces rising."""
    return tuple(range(len(graph.instances)))


def back_and_forth(graph: InstanceGraph) -> tuple[int, ...]:
    """Group after group, pieces alternately rising and falling: the latest is read first."""
    mirror = _mirrored(graph)
    return tuple(
        mirror[number] if instance.section % 2 else number
        for number, instance in enumerate(graph.instances)
    )


ORDERS: Mapping[str, Order] = MappingProxyType(
    {
        "depth first": depth_first,
        "depth first, lowest piece first": depth_first_rising,
        "breadth first": breadth_first,
        "breadth first, back and forth": back_and_forth,
    }
)


def _mirrored(graph: InstanceGraph) -> list[int]:
    """Per instance, the mirrored piece of its group."""
    return [
        number + graph.sections[instance.section].pieces - 1 - 2 * instance.piece
        for number, instance in enumerate(graph.instances)
    ]


def in_regions(
    graph: InstanceGraph, order: tuple[int, ...], waits: Collection[int]
) -> tuple[int, ...]:
    """The order in which groups of `waits` run after all instances of earlier groups.

    Groups are in topological order, so an instance's producers are never in a later region.
    """
    region = list(accumulate(int(section in waits) for section in range(len(graph.sections))))
    return tuple(sorted(order, key=lambda number: region[graph.instances[number].section]))
