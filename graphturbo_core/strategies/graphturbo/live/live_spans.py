"""Layers -> peak of live bytes, updated as layers are added at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphturbo_core.strategies.graphturbo.live.live_bytes import LiveBytes
from graphturbo_core.strategies.layers.layer_graph import LayerGraph

OPEN = 2**62
"""Last step of a tensor that is live until the end of the sub-graph."""


@dataclass(slots=True)
class _Life:
    """A tensor's first and last use, as in `SubGraph.spans`, and its counted bytes.

    `unread`: outside readers of a tensor computed here; a graph output has one more.
    """

    size_bytes: int
    first: int
    last: int
    unread: int
    is_overwritten: bool = False
    counted: tuple[int, int] | None = None

    @property
    def end(self) -> int:
        """The last step at which it is live."""
        return OPEN if self.unread else self.last - self.is_overwritten


class LiveSpans:
    """The spans of `SubGraph.spans` for layers that grow at their end."""

    def __init__(self, graph: LayerGraph) -> None:
        """No layers."""
        self._graph = graph
        self._layers: list[int] = []
        self._lives: dict[str, _Life] = {}
        self._live = LiveBytes()

    @property
    def peak_bytes(self) -> int:
        """The largest sum of live bytes over the steps."""
        return self._live.peak_bytes

    def add(self, layers: tuple[int, ...], share_bytes: Mapping[str, int]) -> None:
        """Append these layers; `share_bytes`: bytes of each tensor that they read or write."""
        begin = len(self._layers)
        self._layers += layers
        steps = range(begin, len(self._layers))
        touched = dict.fromkeys(t for step in steps for t in self._touched(step))
        freed = self._freed(touched)
        for step in steps:
            self._use(step, share_bytes)
        for step in (*freed, *steps):
            overwritten = self._overwrite(step)
            touched.update(dict.fromkeys(overwritten))
        for tensor in touched:
            self._count(self._lives[tensor])

    def _touched(self, step: int) -> tuple[str, ...]:
        layer = self._layers[step]
        return (*self._graph.reads[layer], *self._graph.writes[layer])

    def _freed(self, touched: Iterable[str]) -> list[int]:
        """Steps that may not overwrite one of these tensors, since a later layer reads it."""
        lives = [self._lives[tensor] for tensor in touched if tensor in self._lives]
        overwritten = [life for life in lives if life.is_overwritten]
        for life in overwritten:
            life.is_overwritten = False
        return sorted(life.last for life in overwritten)

    def _use(self, step: int, share_bytes: Mapping[str, int]) -> None:
        layer = self._layers[step]
        for tensor in self._graph.reads[layer]:
            life = self._lives.get(tensor)
            if life is None:
                self._lives[tensor] = _Life(share_bytes[tensor], 0, step, 0)
                continue
            life.last = step
            life.unread = max(0, life.unread - 1)
        for tensor in self._graph.writes[layer]:
            readers = len(self._graph.readers.get(tensor, ()))
            unread = readers + (tensor in self._graph.graph_outputs)
            self._lives[tensor] = _Life(share_bytes[tensor], step, step, unread)

    def _overwrite(self, step: int) -> tuple[str, ...]:
        """Operands of equal size that die at this step and that its result overwrites."""
        layer, size = self._layers[step], self._graph.tensor_bytes
        results = self._graph.writes[layer]
        if not self._graph.is_in_place[layer] or len(results) != 1:
            return ()
        for tensor in self._graph.reads[layer]:
            life = self._lives[tensor]
            if life.last == step and not life.unread and size[tensor] == size[results[0]]:
                life.is_overwritten = True
                return (tensor,)
        return ()

    def _count(self, life: _Life) -> None:
        """Update the counted bytes of a tensor to its life."""
        now = (life.first, life.end) if life.end >= life.first else None
        if now == life.counted:
            return
        changes: dict[int, int] = {}
        for span, size_bytes in ((life.counted, -life.size_bytes), (now, life.size_bytes)):
            if span is not None:
                changes[span[0]] = changes.get(span[0], 0) + size_bytes
                changes[span[1] + 1] = changes.get(span[1] + 1, 0) - size_bytes
        for step, size_bytes in changes.items():
            if size_bytes and step <= OPEN:
                self._live.change(step, size_bytes)
        life.counted = now
