"""LayerGraph -> Cuts: uniform groupings, whose segments a crossover combines.

A block is a run of layers between two places that one tensor crosses: a residual block, or one
layer of a chain. A uniform grouping has groups of as many blocks, cut along the samples into pieces
of as many samples. None of them is good as a whole: early layers of a network want few samples per
piece, since their activations fill the buffers, late layers many, since their weights do. Simulated
once each, they give the cycles of every segment under every cut, and the crossover takes per
segment the fastest (our choice).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cuts import GroupCut
from graphturbo_core.strategies.plus.second_axis import carried_counts
from graphturbo_core.strategies.steps.splitting import SubGraph

JOINED = (1, 4)
"""Blocks per group (our choice: two give little that one and four do not)."""
SAMPLE_AXIS = 0


def blocks(graph: LayerGraph) -> tuple[tuple[int, ...], ...]:
    """Runs of layers, in order; between two of them at most one tensor of the layers crosses."""
    count = len(graph.layers)
    change = [0] * (count + 1)
    for layer, written in enumerate(graph.writes):
        for tensor in written:
            last = max(graph.readers.get(tensor, ()), default=layer)
            if last > layer:
                change[layer + 1] += 1
                change[last + 1] -= 1
    found, begin = [], 0
    for place, crossing in enumerate(accumulate(change)):
        if place > begin and (crossing <= 1 or place == count):
            found.append(tuple(range(begin, place)))
            begin = place
    return tuple(found)


def uniform_cuts(graph: LayerGraph, samples: int) -> Iterator[tuple[str, tuple[GroupCut, ...]]]:
    """Uniform groupings by name, for a round of so many samples; each distinct one once.

    First all layers alone and whole.
    """
    yield "layers", whole_layers(graph)
    seen, own = set(), blocks(graph)
    for joined in JOINED:
        runs = [sum(own[at : at + joined], ()) for at in range(0, len(own), joined)]
        for size in _sample_counts(samples):
            cuts = tuple(_cut(graph, run, samples // size) for run in runs)
            if cuts not in seen:
                seen.add(cuts)
                yield f"{joined} block(s) by {size} sample(s)", cuts


def whole_layers(graph: LayerGraph) -> tuple[GroupCut, ...]:
    """All layers alone and whole."""
    return tuple(GroupCut((layer,), -1, 1) for layer in range(len(graph.layers)))


def _sample_counts(samples: int) -> list[int]:
    """Samples per piece: powers of two that divide the round, then the round whole."""
    powers = [1 << power for power in range(samples.bit_length())]
    return [*(size for size in powers if size < samples and samples % size == 0), samples]


def _cut(graph: LayerGraph, layers: tuple[int, ...], pieces: int) -> GroupCut:
    """Layers in so many pieces along the samples; whole where they cannot be cut so."""
    part = SubGraph(graph, layers)
    if pieces > 1 and pieces in carried_counts(part, SAMPLE_AXIS):
        return GroupCut(layers, SAMPLE_AXIS, pieces)
    return GroupCut(layers, -1, 1)
