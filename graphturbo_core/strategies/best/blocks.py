"""LayerGraph -> blocks: runs of layers between places that one tensor crosses.

A block is a residual block, a layer of a transformer, or one layer of a chain. A few small tensors
may cross a place too, such as an attention mask that all layers read. Our choice.
"""

from __future__ import annotations

import heapq
from itertools import accumulate

from graphturbo_core.strategies.layers.layer_graph import LayerGraph

OTHERS_PART = 8
"""Tensors beside the largest may have this part of its bytes (our choice: within the residual
blocks of ResNet-50 the shortcut is four times as large as the tensor beside it)."""


def block_starts(graph: LayerGraph) -> tuple[int, ...]:
    """First layers of the blocks in order, and the number of layers at the end."""
    count = len(graph.layers)
    largest, total = _crossing(graph)
    inner = (
        place
        for place in range(1, count)
        if (total[place] - largest[place]) * OTHERS_PART <= largest[place]
    )
    return tuple(dict.fromkeys((0, *inner, count)))


def _crossing(graph: LayerGraph) -> tuple[list[int], list[int]]:
    """Per place, the bytes of the largest tensor of the layers that crosses it, and of all."""
    count = len(graph.layers)
    largest, change = [0] * (count + 1), [0] * (count + 1)
    crossing: list[tuple[int, int]] = []
    for layer, written in enumerate(graph.writes):
        for tensor in written:
            last = max(graph.readers.get(tensor, ()), default=layer)
            size = graph.tensor_bytes[tensor]
            change[layer + 1] += size
            change[last + 1] -= size
            heapq.heappush(crossing, (-size, last))
        while crossing and crossing[0][1] <= layer:
            heapq.heappop(crossing)
        largest[layer + 1] = -crossing[0][0] if crossing else 0
    return largest, list(accumulate(change))
