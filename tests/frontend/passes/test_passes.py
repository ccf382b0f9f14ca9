"""Each clean-up pass on a graph worked by hand, and that it can be skipped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.passes.clean_up import pass_names
from graphturbo_core.ir.graph import TensorKind
from tests.frontend.reference import random_inputs, run_graph, run_model
from tests.models import graph_of, model_bytes, op_types

CHAIN = (
    "g (float[2,4] x) => (float[2,4] y) {"
    " a = Identity(x) b = Relu(a) c = Dropout(b) d = Cast <to = 1> (c) e = Neg(d) y = Identity(e) }"
)


def test_what_only_hands_on_its_input_goes() -> None:
    graph = graph_of(CHAIN)
    assert op_types(graph) == "Relu Neg"
    assert [(op.inputs, op.outputs) for op in graph.ops] == [(("x",), ("b",)), (("b",), ("y",))]
    assert set(graph.tensors) == {"x", "b", "y"}


@pytest.mark.parametrize(
    ("skip", "left"),
    [
        ("remove-identity", "Identity Relu Neg Identity"),
        ("remove-dropout", "Relu Dropout Neg"),
        ("remove-same-cast", "Relu Cast Neg"),
        ("remove-dropout remove-same-cast", "Relu Dropout Cast Neg"),
    ],
)
def test_each_of_them_can_be_skipped(skip: str, left: str) -> None:
    assert op_types(graph_of(CHAIN, skip=skip)) == left


def test_identity_stays_between_input_and_output_and_between_two_outputs() -> None:
    graph = graph_of(
        "g (float[2] x) => (float[2] y, float[2] r, float[2] s)"
        " { y = Identity(x) r = Relu(x) s = Identity(r) }"
    )
    assert op_types(graph) == "Identity Relu Identity"


def test_identity_of_a_weight_is_the_weight() -> None:
    graph = graph_of(
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { v = Identity(w) y = Add(x, v) }"
    )
    assert graph.ops[0].inputs == ("x", "w")


def test_dropout_in_training_and_with_a_read_mask_stays() -> None:
    training = "<float r = {0.5}, bool t = {1}> { y = Dropout(x, r, t) }"
    assert op_types(graph_of(f"g (float[2] x) => (float[2] y) {training}")) == "Dropout"
    inference = training.replace("{1}", "{0}").replace("y =", "z =").replace("}", "}", 1)
    inference = inference.replace("r, t) }", "r, t) y = Relu(z) }")
    assert op_types(graph_of(f"g (float[2] x) => (float[2] y) {inference}")) == "Relu"
    both = "g (float[2] x) => (float[2] y, bool[2] m) { y, m = Dropout(x) }"
    assert op_types(graph_of(both)) == "Dropout"


def test_constant_of_shape_keeps_small_values_and_never_makes_large_ones() -> None:
    text = (
        "g (float[{n}] x) => (float[{n}] y) <int64[1] s = {{{n}}}>"
        " {{ w = ConstantOfShape <value = float[1] {{0.5}}> (s) y = Add(x, w) }}"
    )
    small, large = (graph_of(text.format(n=n)).tensors["w"] for n in (4096, 4097))
    assert small.kind is large.kind is TensorKind.WEIGHT
    assert small.value is not None and np.array_equal(small.value, np.full(4096, 0.5))
    assert (large.value, large.shape, large.dtype) == (None, (4097,), "float32")
    skipped = graph_of(text.format(n=8), skip="fold-constant-of-shape fold-shapes fold-weights")
    assert op_types(skipped) == "ConstantOfShape Add"


def test_shape_arithmetic_is_folded() -> None:
    """x is [2, 3, 4]: gathered 2, times 3 is 6, with 4 behind it: y is [6, 4]."""
    text = (
        "g (float[2,3,4] x) => (float[6,4] y) <int64 i = {0}, int64 k = {3}, int64[1] f = {4},"
        " int64[1] ax = {0}> { s = Shape(x) n = Gather(s, i) m = Mul(n, k) u = Unsqueeze(m, ax)"
        " t = Concat <axis = 0> (u, f) y = Reshape(x, t) }"
    )
    graph = graph_of(text)
    assert op_types(graph) == "Reshape"
    target = graph.tensors["t"]
    assert target.kind is TensorKind.WEIGHT
    assert target.value is not None and target.value.tolist() == [6, 4]
    assert not target.value.flags.writeable
    assert graph.tensors["y"].shape == (6, 4)
    skipped = graph_of(text, skip="fold-shapes fold-weights")
    assert op_types(skipped) == "Shape Gather Mul Unsqueeze Concat Reshape"
    assert skipped.tensors["y"].shape == (6, 4)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("r = Slice(a, b, c)", [20, 30]),  # from 1 to 3
        ("r = Div(a, c)", [3, 6, 10, 13]),  # by 3
        ("n = Neg(a) r = Div(n, c)", [-3, -6, -10, -13]),  # cut towards zero
        ("r = ReduceProd <keepdims = 0, axes = [0]> (a)", 240000),
        ("g = Greater(a, c) r = Where(g, b, c)", [1, 1, 1, 1]),
        ("h = Cast <to = 1> (a) k = Sqrt(h) r = Cast <to = 7> (k)", [3, 4, 5, 6]),
        ("q = Expand(b, c) r = Concat <axis = 0> (q, a)", [1, 1, 1, 10, 20, 30, 40]),
        ("r = Tile(a, b)", [10, 20, 30, 40]),
        ("r = Max(a, c)", [10, 20, 30, 40]),
    ],
)
def test_values_by_hand(expression: str, expected: object) -> None:
    graph = graph_of(
        "g (int64[1] x) => (int64[M] r, int64[1] y)"
        f" <int64[4] a = {{10, 20, 30, 40}}, int64[1] b = {{1}}, int64[1] c = {{3}}>"
        f" {{ {expression} y = Neg(x) }}"
    )
    value = graph.tensors["r"].value
    assert value is not None and value.tolist() == expected


NORM = (
    "<float[2] s = {2, 3}, float[2] b = {1, -1}, float[2] m = {4, 0}, float[2] v = {3, 15}{more}>"
)


def test_batch_norm_folds_into_the_convolution() -> None:
    """With epsilon 1: factors 2/sqrt(4) = 1 and 3/sqrt(16) = 0.75; offsets 1 - 4 = -3 and -1.

    The bias 8, 8 becomes 8 * 1 - 3 = 5 and 8 * 0.75 - 1 = 5; the weights 10, 20 become 10, 15.
    """
    more = ", float[2,1,1,1] w = {10, 20}, float[2] c = {8, 8}"
    graph = graph_of(
        f"g (float[1,1,5,5] x) => (float[1,2,5,5] y) {NORM.replace('{more}', more)}"
        " { [conv] z = Conv(x, w, c) [norm] n = BatchNormalization <epsilon = 1.0> (z, s, b, m, v)"
        " y = Relu(n) }".replace("[conv] ", "").replace("[norm] ", "")
    )
    assert op_types(graph) == "Conv Relu"
    weight, bias = (graph.tensors[name].value for name in graph.ops[0].inputs[1:])
    assert weight is not None and weight.reshape(-1).tolist() == [10, 15]
    assert bias is not None and bias.tolist() == [5, 5]


def test_lone_batch_norm_becomes_scale_shift() -> None:
    graph = graph_of(
        f"g (float[1,2,5,5] x) => (float[1,2,5,5] y) {NORM.replace('{more}', '')}"
        " { y = BatchNormalization <epsilon = 1.0> (x, s, b, m, v) }"
    )
    (op,) = graph.ops
    assert (op.op_type, op.domain, op.inputs[0], dict(op.attributes)) == (
        "ScaleShift", "graphturbo", "x", {},
    )  # fmt: skip
    scale, shift = (graph.tensors[name].value for name in op.inputs[1:])
    assert scale is not None and scale.tolist() == [1, 0.75]
    assert shift is not None and shift.tolist() == [-3, -1]


@pytest.mark.parametrize(
    "nodes",
    [
        "z = Conv(x, w) n = BatchNormalization(z, s, b, m, v) t = Neg(z) y = Add(n, t)",
        "p = Conv(x, w) z = Relu(p) y = BatchNormalization(z, s, b, m, v)",
    ],
)
def test_batch_norm_is_not_folded_past_another_reader(nodes: str) -> None:
    more = ", float[2,1,1,1] w = {10, 20}"
    head = f"g (float[1,1,5,5] x) => (float[1,2,5,5] y) {NORM.replace('{more}', more)}"
    assert "ScaleShift" in op_types(graph_of(f"{head} {{ {nodes} }}"))


def test_batch_norm_in_training_stays() -> None:
    nodes = "y, p, q = BatchNormalization <training_mode = 1> (x, s, b, m, v)"
    head = f"g (float[1,2,5,5] x) => (float[1,2,5,5] y) {NORM.replace('{more}', '')}"
    assert op_types(graph_of(f"{head} {{ {nodes} }}")) == "BatchNormalization"


def test_dead_ops_and_inputs_go() -> None:
    text = "g (float[2] x, float[3] u) => (float[2] y) { a = Neg(u) b = Exp(a) y = Relu(x) }"
    graph = graph_of(text)
    assert (op_types(graph), graph.inputs) == ("Relu", ("x",))
    assert graph.notes == ("input 'u' is not used and left out",)
    assert op_types(graph_of(text, skip="remove-dead-ops")) == "Neg Exp Relu"


def test_results_on_weights_alone_become_weights() -> None:
    """5,000 elements are too many to compute; a transpose is a view and keeps its numbers."""
    graph = graph_of(
        "g (float[2,5000] x) => (float[2,5000] y) <int64[2] n = {5000, 2}>"
        " { w = ConstantOfShape(n) e = Exp(w) t = Transpose <perm = [1, 0]> (e) y = Add(x, t) }"
    )
    assert op_types(graph) == "Add"
    assert graph.tensors["t"].kind is TensorKind.WEIGHT


def test_random_numbers_are_not_folded() -> None:
    graph = graph_of(
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}>"
        " { r = RandomNormalLike(w) y = Add(x, r) }"
    )
    assert op_types(graph) == "RandomNormalLike Add"


RESHAPE = "g (float[1,3,4] x) => (float[M,N] y) <int64[2] s = {{{sizes}}}> {{ y = Reshape(x, s) }}"


@pytest.mark.parametrize("sizes", ["1, 12", "-1, 12", "1, -1", "0, 12"])
def test_reshape_constants_follow_the_batch(sizes: str) -> None:
    graph = graph_of(RESHAPE.format(sizes=sizes), batch=5)
    assert graph.tensors["x"].shape == (5, 3, 4)
    assert graph.tensors["y"].shape == (5, 12)


def test_reshape_that_does_not_lead_with_the_batch_is_refused_with_its_name() -> None:
    with pytest.raises(Exception, match=r"Reshape_0.*cannot give shape \[4, 3\]") as caught:
        graph_of(RESHAPE.format(sizes="4, 3"), batch=5)
    assert getattr(caught.value, "code", "") == "BATCH_MISMATCH"
    with pytest.raises(Exception, match="Reshape_0"):
        graph_of(RESHAPE.format(sizes="1, 12"), batch=5, skip="rescale-batch")


@pytest.mark.parametrize(
    ("sizes", "shape"), [("3, 4", (15, 4)), ("12, 1", (60, 1)), ("3, -1", (15, 4))]
)
def test_a_batch_merged_with_the_axes_behind_it_follows(sizes: str, shape: tuple[int, int]) -> None:
    """As GPT-2 does before its products: 1 sample of 3 rows is 3 rows, 5 samples are 15."""
    assert graph_of(RESHAPE.format(sizes=sizes), batch=5).tensors["y"].shape == shape


@pytest.mark.parametrize(
    "picks",
    ["f = Reshape(x, flat) y = Gather(f, three)", "y = ReduceMean <axes = [0], keepdims = 1> (x)"],
)
def test_a_result_that_does_not_grow_with_the_batch_is_refused(picks: str) -> None:
    """Constants that pick among one sample's elements would pick the first sample's of five."""
    text = (
        "g (float[1,4] x) => (float[n,m] y) <int64[1] flat = {-1}, int64[3,1] three = {0, 1, 2}>"
        f" {{ {picks} }}"
    )
    assert graph_of(text).ops
    with pytest.raises(ModelError, match="does not grow with it") as caught:
        graph_of(text, batch=5)
    assert caught.value.code == "BATCH_MISMATCH"


def test_a_result_that_no_output_needs_may_stay() -> None:
    text = (
        "g (float[1,4] x) => (float[n,m] y)"
        " { u = ReduceMean <axes = [0]> (x) s = Shape(u) y = Relu(x) }"
    )
    assert op_types(graph_of(text, batch=5)) == "Relu"


def test_a_reshape_of_something_else_keeps_its_one() -> None:
    graph = graph_of(
        "g (float[1,3,4] x, float[12] k) => (float[1,3,4] y) <int64[3] s = {1, 3, 4}>"
        " { r = Reshape(k, s) y = Add(x, r) }",
        batch=5,
    )
    assert graph.tensors["r"].shape == (1, 3, 4)
    assert graph.tensors["y"].shape == (5, 3, 4)


def test_symbols_are_bound() -> None:
    text = "g (float[N,3,M] x) => (float[N,3,M] y) { y = Relu(x) }"
    data = model_bytes(text.replace("M", "7"))
    assert data
    assert graph_of(text.replace("M", "7"), batch=9).tensors["y"].shape == (9, 3, 7)
    default = graph_of(text.replace("N", "batch").replace("M", "7"))
    assert default.tensors["y"].shape == (64, 3, 7)
    assert default.notes == ("symbolic dimension 'batch' was not given: 64",)


def test_names_are_unique_and_kept() -> None:
    graph = graph_of(
        "g (float[2] x) => (float[2] d) { a = Relu(x) b = Relu(a) c = Neg(b) d = Neg(c) }"
    )
    assert [op.name for op in graph.ops] == ["Relu_0", "Relu_1", "Neg_2", "Neg_3"]


def test_pass_names_are_unique() -> None:
    assert len(set(pass_names())) == len(pass_names())


UNARY = ("Relu", "Neg", "Identity", "Dropout", "Sigmoid")


@given(
    st.lists(
        st.tuples(st.sampled_from((*UNARY, "Add", "Norm", "Conv")), st.integers(0, 9)), max_size=12
    )
)
def test_clean_up_never_changes_a_number(steps: list[tuple[str, int]]) -> None:
    """Random graphs over [2, 2, 3, 3]: the imported graph and the file give equal outputs."""
    values, nodes = ["x"], []
    for index, (kind, pick) in enumerate(steps):
        source, name = values[pick % len(values)], f"v{index}"
        call = {
            "Add": f"Add({source}, {values[-1]})",
            "Norm": f"BatchNormalization({source}, s, b, m, v)",
            "Conv": f"Conv({source}, w)",
        }.get(kind, f"{kind}({source})")
        nodes.append(f"{name} = {call}")
        values.append(name)
    nodes.append(f"y = Relu({values[-1]})")
    more = ", float[2,2,1,1] w = {0.5, -1, 2, 0.25}"
    text = f"g (float[2,2,3,3] x) => (float[2,2,3,3] y) {NORM.replace('{more}', more)}"
    text = f"{text} {{ {' '.join(nodes)} }}"
    graph = graph_of(text)
    inputs = random_inputs(graph)
    (one,), (other,) = run_model(model_bytes(text), inputs), run_graph(graph, inputs)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * max(1.0, np.abs(one).max()))
