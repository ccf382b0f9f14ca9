"""Blocks of a layer graph, and uniform groupings of them."""

from __future__ import annotations

from graphturbo_core.strategies.best.uniform import blocks, uniform_cuts
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plus.cuts import GroupCut
from tests.strategies.samples import sample_semantics, weighted

RESIDUAL = """g (float[8,16] x, float[16,16] u, float[16,16] v, float[16,16] w) => (float[8,16] z)
{ a = MatMul (x, u) b = MatMul (a, v) c = MatMul (b, w) d = Add (c, a) z = Softmax (d) }"""
"""Layers: a product; two products and an addition with the first one's result; a softmax."""


def graph_of(text: str) -> LayerGraph:
    sem = weighted(text)
    return layer_graph(sem, relay_layers(sem), "fp16")


def test_a_block_ends_where_one_tensor_crosses() -> None:
    """The third product and the addition are one layer; a crosses the second product."""
    assert blocks(graph_of(RESIDUAL)) == ((0,), (1, 2), (3,))


def test_blocks_have_every_layer_once() -> None:
    sem = sample_semantics("teaching-resnet", 2)
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    found = blocks(graph)
    assert [layer for block in found for layer in block] == list(range(len(graph.layers)))
    assert max(map(len, found)) > 1


def test_uniform_groupings_are_named_by_blocks_and_samples() -> None:
    """Eight samples: pieces of 1, 2, 4 and 8; the layers alone are a grouping of their own."""
    found = dict(uniform_cuts(graph_of(RESIDUAL), 8))
    whole = tuple(GroupCut((layer,), -1, 1) for layer in range(4))
    assert found["layers"] == whole
    assert found["1 block(s) by 2 sample(s)"] == (
        GroupCut((0,), 0, 4), GroupCut((1, 2), 0, 4), GroupCut((3,), 0, 4),
    )  # fmt: skip
    assert found["4 block(s) by 4 sample(s)"] == (GroupCut((0, 1, 2, 3), 0, 2),)
    assert len(found) == 1 + 2 * 4


def test_equal_groupings_come_once() -> None:
    """One sample: pieces of one sample are whole."""
    text = RESIDUAL.replace("float[8,16]", "float[1,16]")
    assert [name for name, _ in uniform_cuts(graph_of(text), 1)] == [
        "layers", "1 block(s) by 1 sample(s)", "4 block(s) by 1 sample(s)",
    ]  # fmt: skip


def test_what_cannot_be_cut_along_the_samples_is_whole() -> None:
    """A product of all samples' transposes mixes them."""
    text = """g (float[8,8] x, float[8,8] u) => (float[8,8] z)
    { a = MatMul (x, u) t = Transpose <perm = [1, 0]> (x) z = MatMul (a, t) }"""
    cuts = dict(uniform_cuts(graph_of(text), 8))["1 block(s) by 1 sample(s)"]
    assert {(cut.axis, cut.pieces) for cut in cuts} <= {(-1, 1), (0, 8)}
    assert (-1, 1) in {(cut.axis, cut.pieces) for cut in cuts}
