"""Attention and gated perceptrons of oneDNN Graph on small graphs, both sides of conditions."""

from __future__ import annotations

from itertools import pairwise

import pytest

from graphturbo_core.strategies.partitioners.onednn import matched_kernels
from graphturbo_core.strategies.partitioners.onednn_patterns import RULE_ATTENTION, RULE_GATED
from tests.strategies.partitioners.onednn_graphs import CONSTANTS, check_partition, kernels, rule
from tests.strategies.samples import sample_semantics

ROWS = "float[2,4,8] q, float[2,8,4] k, float[2,4,8] u"
SQUARE = "float[2,4,4]"


def attention(body: str, inputs: str = "", outputs: str = "float[2,4,8] z") -> str:
    named = f"{ROWS}, {SQUARE} m, bool[2,4,4] b, {CONSTANTS}{inputs}"
    return f"g ({named}) => ({outputs}) {{ {body} }}"


SCORES = "s = MatMul(q, k)"
CONTEXT = "z = MatMul(p, u)"


@pytest.mark.parametrize(
    ("between", "ops"),
    [
        ("p = Softmax(s)", "s p z"),
        ("c = Div(s, v1) p = Softmax(c)", "s c p z"),
        ("c = Mul(v1, s) p = Softmax<axis = 2>(c)", "s c p z"),
        ("c = Div(s, v1) a = Add(c, m) p = Softmax(a)", "s c a p z"),
        ("a = Add(m, s) p = Softmax(a)", "s a p z"),
        ("a = Where(b, s, v1) p = Softmax(a)", "s a p z"),
        ("a = Where(b, v1, s) p = Softmax(a)", "s a p z"),
    ],
)
def test_attention_is_one_kernel(between: str, ops: str) -> None:
    text = attention(f"{SCORES} {between} {CONTEXT}")
    assert kernels(text, 0) == [ops]
    names = ops.split()
    for pair in pairwise(names):
        assert rule(text, " ".join(pair)) == (RULE_ATTENTION, True)


@pytest.mark.parametrize(
    "between",
    [
        "p = Softmax<axis = 1>(s)",
        "c = Div(v1, s) p = Softmax(c)",
        "c = Div(s, m) p = Softmax(c)",
        "a = Add(s, s) p = Softmax(a)",
        "a = Sub(s, m) p = Softmax(a)",
        "a = Add(s, m) c = Div(a, v1) p = Softmax(c)",
        "p = Relu(s)",
    ],
    ids=["axis", "quotient", "scale", "twice", "mask", "order", "no softmax"],
)
def test_what_looks_like_attention_is_not(between: str) -> None:
    assert kernels(attention(f"{SCORES} {between} {CONTEXT}"))[-1] == "z"


def test_a_mask_that_broadcasts_the_scores_is_not_attention() -> None:
    """Five masks per score make five results; one mask makes one."""
    body = f"{SCORES} a = Add(s, m5) p = Softmax(a) {CONTEXT}"
    for count, expected in ((1, ["s a p z"]), (5, ["s", "a", "p", "z"])):
        axes = "2,4" if count == 1 else f"{count},2,4"
        text = attention(body, f", float[{axes},4] m5", f"float[{axes},8] z")
        assert kernels(text) == expected


def test_attention_ends_where_its_values_leave() -> None:
    """Both sides of three conditions: another reader, a result, the probabilities' place."""
    body = f"{SCORES} p = Softmax(s) {CONTEXT}"
    assert kernels(attention(body)) == ["s p z"]
    outputs = f"float[2,4,8] z, {SQUARE} "
    assert kernels(attention(f"{body} y = Neg(p)", outputs=f"{outputs}y")) == ["s", "p", "z", "y"]
    assert kernels(attention(body, outputs=f"{outputs}p")) == ["s", "p", "z"]
    turned = f"{SCORES} p = Softmax(s) z = MatMul(m, p)"
    assert kernels(attention(turned, outputs=f"{SQUARE} z")) == ["s", "p", "z"]


def test_attention_takes_the_transpose_and_reshape_behind_it() -> None:
    body = f"{SCORES} p = Softmax(s) c = MatMul(p, u) t = Transpose<perm = [1,0,2]>(c)"
    assert kernels(attention(body.replace("t =", "z ="), outputs="float[4,2,8] z")) == ["s p c z"]
    flat = "float[4,16] z"
    assert kernels(attention(f"{body} z = Flatten(t)", outputs=flat)) == ["s p c t z"]
    text = attention(f"{body} r = Relu(t) z = Flatten(r)", outputs=flat)
    assert kernels(text) == ["s p c t", "r", "z"]


def gated(body: str, outputs: str = "float[2,8] z") -> str:
    weights = "float[8,6] w0, float[8,6] w1, float[6,8] w2, float[2,6] m"
    return f"g (float[2,8] x, float[2,8] y, {weights}) => ({outputs}) {{ {body} }}"


@pytest.mark.parametrize(
    ("between", "ops"),
    [
        ("m0 = Mul(a, b)", "a b m0 z"),
        ("r = Relu(a) m0 = Mul(r, b)", "a b r m0 z"),
        ("r = Relu(b) m0 = Mul(a, r)", "a b r m0 z"),
        ("g0 = Sigmoid(a) r = Mul(a, g0) m0 = Mul(b, r)", "a b g0 r m0 z"),
    ],
)
def test_a_gated_perceptron_is_one_kernel(between: str, ops: str) -> None:
    text = gated(f"a = MatMul(x, w0) b = MatMul(x, w1) {between} z = MatMul(m0, w2)")
    assert kernels(text, 0) == [ops]
    assert rule(text, "m0 z") == (RULE_GATED, True)


@pytest.mark.parametrize(
    "body",
    [
        "a = MatMul(x, w0) b = MatMul(y, w1) m0 = Mul(a, b) z = MatMul(m0, w2)",
        "a = MatMul(x, w0) b = MatMul(x, w1) r = Relu(a) s = Relu(b) m0 = Mul(r, s)"
        " z = MatMul(m0, w2)",
        "a = MatMul(x, w0) b = MatMul(x, w1) m0 = Add(a, b) z = MatMul(m0, w2)",
        "a = MatMul(x, w0) b = MatMul(x, w1) r = Neg(a) m0 = Mul(r, b) z = MatMul(m0, w2)",
        "a = MatMul(x, w0) m0 = Mul(a, m) z = MatMul(m0, w2)",
    ],
    ids=["operand", "two activations", "sum", "other op", "one product"],
)
def test_what_looks_like_a_gated_perceptron_is_not(body: str) -> None:
    assert kernels(gated(body))[-1] == "z"


def test_a_gated_perceptron_ends_in_a_third_product() -> None:
    body = "a = MatMul(x, w0) b = MatMul(x, w1) m0 = Mul(a, b) z = Neg(m0)"
    assert kernels(gated(body, "float[2,6] z")) == ["b", "a m0", "z"]
    body = "a = MatMul(x, w0) b = MatMul(x, w1) m0 = Mul(a, b) z = MatMul(m0, w2)"
    assert kernels(gated(body, "float[2,8] z, float[2,6] b")) == ["b", "a m0", "z"]


@pytest.mark.parametrize(("model", "attentions"), [("bert-base", 12), ("llama", 32)])
def test_attention_of_samples(model: str, attentions: int) -> None:
    """One per layer; in Llama also one gated perceptron per layer."""
    sem = sample_semantics(model, 1)
    check_partition(sem)
    types = [
        tuple(sem.graph.op_by_name[op].op_type for op in kernel.ops)
        for kernel in matched_kernels(sem).kernels
    ]
    tail = ("Softmax", "MatMul", "Transpose", "Reshape")
    assert types.count(("MatMul", "Div", "Add", *tail)) == attentions
    assert sum(each.count("MatMul") == 3 for each in types) == (32 if model == "llama" else 0)
