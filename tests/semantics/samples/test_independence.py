"""Whether the samples of a batch may be computed apart: each reason against it, by hand."""

from __future__ import annotations

import pytest

from graphturbo_core.ir.graph import Graph
from graphturbo_core.semantics.independence import dependence_on_batch, taken_as_sample_wise
from graphturbo_core.semantics.ops.maps import opaque
from graphturbo_core.semantics.ops.view import OpView
from graphturbo_core.semantics.table import GraphSemantics, analyse
from tests.models import graph_of

HEAD = "g (float[8, 4] x{more}) => (float[8, {n}] y) "


def dependence(body: str, more: str = "", n: int = 4, few: int = 2) -> str | None:
    """Of eight samples on two of them."""
    text = HEAD.format(more=more, n=n) + body
    whole = analyse(graph_of(text))
    return dependence_on_batch(whole, analyse(graph_of(text, batch=few)))


def free(text: str) -> str:
    """The same model with an open batch: a fixed one is not rescaled where ops do not grow."""
    return text.replace("float[8, 4] x", "float[N, 4] x")


def without_entries(graph: Graph) -> GraphSemantics:
    return GraphSemantics(graph, {op.name: opaque(OpView(op, graph)) for op in graph.ops})


def test_elementwise_and_products_are_apart() -> None:
    assert dependence("{ a = Relu(x) y = MatMul(a, w) }", ", float[4, 4] w") is None
    assert dependence("{ y = Relu(x) }") is None
    assert dependence("{ y = Softmax <axis = 1> (x) }") is None


def test_a_weight_shared_by_all_samples_is_no_dependence() -> None:
    body = "<float[4, 6] w = {" + ",".join(["1"] * 24) + "}> { y = MatMul(x, w) }"
    assert dependence(body, n=6) is None


def test_rows_merged_with_the_batch_are_apart() -> None:
    """[8, 4] as [16, 2] and back: two samples are rows 0 to 4 of sixteen."""
    body = (
        "<int64[2] s = {16, 2}, int64[2] t = {8, 4}>"
        "{ a = Reshape(x, s) b = Relu(a) y = Reshape(b, t) }"
    )
    assert dependence(body.replace("{16, 2}", "{-1, 2}")) is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{ y = Softmax <axis = 0> (x) }", "other samples"),
        ("{ y = CumSum(x, zero) }", "other samples"),
        ("{ m = ReduceMean <keepdims = 1, axes = [0]> (x) y = Sub(x, m) }", "other samples"),
    ],
)
def test_numbers_of_all_samples(body: str, reason: str) -> None:
    if "CumSum" in body:
        body = "<int64 zero = {0}> " + body
    text = free(HEAD.format(more="", n=4) + body)
    whole, part = (analyse(graph_of(text, batch=size)) for size in (8, 2))
    found = dependence_on_batch(whole, part)
    assert found is not None
    assert reason in found


def test_a_weight_with_a_row_for_every_sample() -> None:
    """Two samples of eight need two rows of the weight; the model for two samples has eight."""
    body = "<float[8, 1] w = {1,2,3,4,5,6,7,8}> { y = Mul(x, w) }"
    text = HEAD.format(more="", n=4) + body
    whole = analyse(graph_of(text))
    other = HEAD.format(more="", n=4).replace("8, 4", "1, 4").replace("[8, ", "[1, ") + body
    part = analyse(graph_of(other.replace("float[1, 4] y", "float[8, 4] y")))
    assert dependence_on_batch(whole, part) is not None


def test_an_output_without_the_batch() -> None:
    """The sum over all samples is one number: a piece of the batch gives another one."""
    text = free("g (float[8, 4] x) => (float[1, 4] y) { y = ReduceSum <axes = [0]> (x) }")
    whole = analyse(graph_of(text, opset=12, batch=8))
    part = analyse(graph_of(text, opset=12, batch=2))
    assert dependence_on_batch(whole, part) == "no input and output grow with the batch"


def test_opaque_ops_are_sample_wise_where_the_batch_is_free() -> None:
    """CumSum along an axis that is data: it may mix samples unless it is taken not to."""
    text = HEAD.format(more=", int64 axis", n=4) + "{ y = CumSum(x, axis) }"
    whole, part = analyse(graph_of(text)), analyse(graph_of(text, batch=2))
    assert dependence_on_batch(whole, part) is not None
    assert dependence_on_batch(taken_as_sample_wise(whole), part) is None


def test_an_opaque_op_with_another_leading_size_is_not() -> None:
    """TopK along axis 0 leaves three of eight rows: no sample for a sample."""
    body = "<int64[1] k = {3}> { y, i = TopK <axis = 0> (x, k) }"
    text = free("g (float[8, 4] x) => (float[3, 4] y) " + body)
    whole, part = (without_entries(graph_of(text, batch=size)) for size in (8, 4))
    assert dependence_on_batch(taken_as_sample_wise(whole), part) is not None


def test_sizes_that_an_opaque_op_reads_may_follow_the_batch() -> None:
    """[8, 2, 2] and [2, 2, 2]: they look like data of it."""
    body = (
        "<int64[2] two = {2, 2}>"
        "{ n = Shape <end = 1> (x) s = Concat <axis = 0> (n, two) y = Reshape(x, s) }"
    )
    text = free("g (float[8, 4] x) => (float[N, 2, 2] y) " + body)
    whole, part = (without_entries(graph_of(text, batch=size)) for size in (8, 2))
    assert [tensor.name for tensor in part.graph.tensors.values() if tensor.is_folded] == ["s"]
    assert dependence_on_batch(taken_as_sample_wise(whole), part) is None


def test_the_last_piece_counts_too() -> None:
    """A slice of the first rows: the first piece is apart, the last one has nothing to give."""
    body = (
        "<int64[1] s = {0}, int64[1] e = {4}, int64[1] a = {0}>"
        "{ b = Slice(x, s, e, a) y = Relu(b) }"
    )
    text = "g (float[8, 4] x) => (float[4, 4] y) " + body
    whole = analyse(graph_of(text))
    part = analyse(graph_of(text, batch=2))
    assert dependence_on_batch(whole, part) is not None


def test_what_no_sample_needs_does_not_count() -> None:
    """Two of four columns are read, of each sample, in a batch of any size."""
    cut = "<int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {1}>"
    assert dependence(cut + "{ y = Slice(x, a, b, c) }", n=2) is None
    assert dependence(cut + "{ r = Relu(x) y = Slice(r, a, b, c) }", n=2) is None


def test_a_slice_of_rows_merged_with_the_samples() -> None:
    """Of 32 numbers 4 to 28 are taken: of the first four samples 4 to 16, of the last 16 to 28.

    Alone, four samples give 4 to 16 of theirs: as many, and not those that the last four give.
    """
    text = (
        "g (float[8, 4] x) => (float[24] y)"
        "<int64[1] s = {-1}, int64[1] b = {4}, int64[1] e = {28}>"
        "{ a = Reshape(x, s) y = Slice(a, b, e) }"
    )
    whole, part = analyse(graph_of(text)), analyse(graph_of(text, batch=4))
    assert part.graph.tensors["y"].shape == (12,)
    found = dependence_on_batch(whole, part)
    assert found == "a sample needs [(16, 28)] of 'a', alone it would read another part"
