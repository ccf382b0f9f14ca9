"""Names and order of a graph: undefined inputs, values written twice, cycles."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Collection, Sequence

import onnx

from graphturbo_core.errors import ModelError

_SHOWN_IN_CYCLE = 10
"""Most nodes of a cycle that a refusal names; its `cycle` field has all (our choice)."""


def unique_names(nodes: Sequence[onnx.NodeProto], max_length: int) -> tuple[str, ...]:
    """Returns one name per node, deterministic.

    1. A name that no earlier node has is unchanged; above `max_length` it is cut and gets a digest.
    2. A missing name becomes `Type_12`, with the position 12 in the file; a repeated one gets the
       position as suffix.
    3. Underscores are added until the name is unique.
    """
    given = {node.name for node in nodes if node.name}
    taken: set[str] = set()
    names = []
    for index, node in enumerate(nodes):
        name = _shortened(node.name, max_length)
        if not name or name in taken:
            name = f"{name or node.op_type or 'node'}_{index}"
            while name in taken or name in given:
                name += "_"
        taken.add(name)
        names.append(name)
    return tuple(names)


def _shortened(name: str, max_length: int) -> str:
    if len(name) <= max_length:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[: max_length - 9]}~{digest}"


def topological_order(
    nodes: Sequence[onnx.NodeProto], labels: Sequence[str], given: Collection[str]
) -> tuple[int, ...]:
    """Returns node positions in topological order (Kahn), ties by file order.

    `given`: values that no node writes. O(n log n), by a heap of ready nodes.

    Raises:
        ModelError: DUPLICATE_VALUE, UNDEFINED_INPUT, CYCLE.
    """
    producer = _producers(nodes, labels, given)
    waiting = []
    readers: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        read = (_producer_of(name, producer, given, labels[index]) for name in node.input if name)
        sources = {source for source in read if source is not None}
        waiting.append(len(sources))
        for source in sources:
            readers.setdefault(source, []).append(index)
    order = _kahn(waiting, readers)
    if len(order) < len(nodes):
        raise _cycle(nodes, labels, set(order), producer)
    return tuple(order)


def _producers(
    nodes: Sequence[onnx.NodeProto], labels: Sequence[str], given: Collection[str]
) -> dict[str, int]:
    producer: dict[str, int] = {}
    outputs = ((index, name) for index, node in enumerate(nodes) for name in node.output if name)
    for index, name in outputs:
        if name in producer or name in given:
            other = labels[producer[name]] if name in producer else "an input or weight"
            raise ModelError(
                "DUPLICATE_VALUE",
                f"value {name!r} is written by {labels[index]} and by {other}",
                change="give every value its own name",
            )
        producer[name] = index
    return producer


def _producer_of(
    name: str, producer: dict[str, int], given: Collection[str], label: str
) -> int | None:
    if name in producer:
        return producer[name]
    if name in given:
        return None
    raise ModelError(
        "UNDEFINED_INPUT",
        f"input {name!r} is not defined anywhere",
        f"read by {label}",
        "export the model again, or add the missing node, input or weight",
    )


def _kahn(waiting: list[int], readers: dict[int, list[int]]) -> list[int]:
    ready = [index for index, count in enumerate(waiting) if count == 0]
    order = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for reader in readers.get(index, ()):
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, reader)
    return order


def _cycle(
    nodes: Sequence[onnx.NodeProto], labels: Sequence[str], done: set[int], producer: dict[str, int]
) -> ModelError:
    """The refusal of a cycle among the waiting nodes, from its first node in the file.

    The search follows reads backwards: every waiting node reads another waiting one, so the first
    path ends in a cycle; linear.
    """
    import networkx as nx  # noqa: PLC0415  # some 150 ms that no sound model should cost

    waiting = [index for index in range(len(nodes)) if index not in done]
    readings = nx.DiGraph(
        (index, producer[name])
        for index in waiting
        for name in nodes[index].input
        if name in producer and producer[name] not in done
    )
    members = [source for _, source in reversed(nx.find_cycle(readings, waiting[0]))]
    first = members.index(min(members))
    path = [labels[member] for member in (*members[first:], *members[:first])]
    return ModelError(
        "CYCLE",
        f"the graph has a cycle of {len(path)} nodes",
        _shown([*path, path[0]]),
        "remove the edge that leads back",
        cycle=tuple(path),
    )


def _shown(path: Sequence[str]) -> str:
    """The whole cycle, or both ends of a long one."""
    if len(path) <= _SHOWN_IN_CYCLE:
        return " -> ".join(path)
    half = _SHOWN_IN_CYCLE // 2
    more = f"{len(path) - 2 * half} more"
    return " -> ".join([*path[:half], more, *path[-half:]])
