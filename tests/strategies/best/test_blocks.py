"""Blocks of a layer graph."""

from __future__ import annotations

from itertools import pairwise

from graphturbo_core.strategies.best.blocks import block_starts
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from tests.strategies.samples import sample_semantics, weighted

RESIDUAL = """g (float[8,16] x, float[16,16] u, float[16,16] v, float[16,16] w) => (float[8,16] z)
{ a = MatMul (x, u) b = MatMul (a, v) c = MatMul (b, w) d = Add (c, a) z = Softmax (d) }"""
"""Layers: a product; two products and an addition with the first one's result; a softmax."""


def graph_of(text: str) -> LayerGraph:
    sem = weighted(text)
    return layer_graph(sem, relay_layers(sem), "fp16")


def test_a_block_ends_where_one_tensor_crosses() -> None:
    """The third product and the addition are one layer; a crosses the second product."""
    assert block_starts(graph_of(RESIDUAL)) == (0, 1, 3, 4)


def test_blocks_have_every_layer_once() -> None:
    sem = sample_semantics("teaching-resnet", 2)
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    found = block_starts(graph)
    assert (found[0], found[-1]) == (0, len(graph.layers))
    assert max(after - before for before, after in pairwise(found)) > 1


def beside(width: int) -> str:
    """A chain of products of 16 columns, and a tensor of so many columns that waits beside it."""
    return f"""g (float[8,{width}] y, float[8,16] x, float[16,16] u, float[16,16] v, float[16,16] w)
    => (float[8,16] z, float[8,{width}] q)
    {{ m = Softmax (y) a = MatMul (x, u) b = MatMul (a, v) c = MatMul (b, w) z = Softmax (c)
       q = Softmax (m) }}"""


def test_a_small_tensor_may_cross_too() -> None:
    """It has an eighth of the chain's bytes, or a half."""
    assert block_starts(graph_of(beside(2))) == (0, 1, 2, 3, 4, 5, 6)
    assert block_starts(graph_of(beside(8))) == (0, 1, 5, 6)
