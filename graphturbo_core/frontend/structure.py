"""Names and order of a graph: undefined inputs, values written twice, cycles."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Collection, Iterable, Sequence

import onnx

from graphturbo_core.errors import ModelError

_SHOWN_IN_CYCLE = 4


def unique_names(nodes: Sequence[onnx.NodeProto], max_length: int) -> tuple[str, ...]:
    """One name a node, deterministic.

    1. A name that no earlier node has stays; one above `max_length` is cut and gets a digest.
    2. A missing name becomes `Type_12`, 12 being the position in the file; a repeated one gets
       the position behind it.
    3. Underscores follow while that is taken too.
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
    """Positions of the nodes so that each comes after what it reads (Kahn), else by file order.

    `given` are the values that no node writes. Linear but for a heap of ready nodes.

    Raises:
        ModelError: DUPLICATE_VALUE, UNDEFINED_INPUT, CYCLE.
    """
    producer = _producers(nodes, labels, given)
    waiting = []
    readers: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        sources = {
            _producer_of(name, producer, given, labels[index]) for name in node.input if name
        }
        sources.discard(None)
        waiting.append(len(sources))
        for source in sources:
            if source is not None:
                readers.setdefault(source, []).append(index)
    order = _kahn(waiting, readers)
    if len(order) < len(nodes):
        raise _cycle(nodes, labels, set(order), producer)
    return tuple(order)


def _producers(
    nodes: Sequence[onnx.NodeProto], labels: Sequence[str], given: Collection[str]
) -> dict[str, int]:
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in filter(None, node.output):
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
    """Walk back from the first node that waits until one repeats: the part between is a cycle."""
    index = min(set(range(len(nodes))) - done)
    path: list[int] = []
    position: dict[int, int] = {}
    while index not in position:
        position[index] = len(path)
        path.append(index)
        index = next(
            producer[name]
            for name in nodes[index].input
            if name in producer and producer[name] not in done
        )
    members = list(reversed(path[position[index] :]))
    first = members.index(min(members))
    members = members[first:] + members[:first]
    return ModelError(
        "CYCLE",
        f"the graph has a cycle of {len(members)} nodes",
        _shown(labels[member] for member in members),
        "remove the edge that leads back",
    )


def _shown(labels: Iterable[str]) -> str:
    every = list(labels)
    more = [f"{len(every) - _SHOWN_IN_CYCLE} more"] if len(every) > _SHOWN_IN_CYCLE else []
    return " -> ".join([*every[:_SHOWN_IN_CYCLE], *more])
