"""Biases of matrix products, single-op activations and normalisations in oneDNN's chains."""

from __future__ import annotations

import pytest

from graphturbo_core.strategies.partitioners.onednn import (
    RULE_BIAS,
    RULE_KIND,
    RULE_NO_CHAIN,
    RULE_ONLY_RELU,
    RULE_POST_OP,
    matched_kernels,
)
from tests.semantics.models import semantics
from tests.strategies.partitioners.onednn_graphs import MAP, kernels, of_maps, rule
from tests.strategies.samples import with_weights

ROWS = "float[4,8] x, float[8,6] w, float[6] vb, float[4,1] vr, float[6] k, float[1] v1"


def of_rows(body: str) -> str:
    """A matrix product of rows: `vb` is a weight per column, `vr` per row, `k` is no weight."""
    return f"g ({ROWS}) => (float[4,6] z) {{ {body} }}"


@pytest.mark.parametrize("product", ["MatMul(x, w)", "Gemm(x, w)"])
@pytest.mark.parametrize(
    ("operand", "is_bias"), [("vb", True), ("vr", False), ("k", False), ("v1", False)]
)
def test_a_bias_of_a_matrix_product_is_along_its_last_axis(
    product: str, operand: str, is_bias: bool
) -> None:
    """Any other sum is a post-op, which needs room in the chain."""
    text = of_rows(f"c = {product} z = Add(c, {operand})")
    assert rule(text, "c z") == (RULE_BIAS if is_bias else RULE_POST_OP, True)
    assert kernels(text, 0) == (["c z"] if is_bias else ["c", "z"])
    assert kernels(text) == ["c z"]


def test_a_bias_of_a_convolution_is_along_its_second_axis() -> None:
    """The same weight is a bias of a matrix product with its columns."""
    text = of_maps("c = Conv(x, w) z = Add(c, vr)", ", float[8] vr")
    assert rule(text, "c z") == (RULE_POST_OP, True)
    text = of_maps("c = MatMul(x, wm) z = Add(c, vr)", ", float[8] vr, float[8,8] wm")
    assert rule(text, "c z") == (RULE_BIAS, True)
    text = of_maps("c = MatMul(x, wm) z = Add(c, vb)", ", float[8,8] wm")
    assert rule(text, "c z") == (RULE_POST_OP, True)


def test_a_gemm_with_its_own_bias_takes_no_other() -> None:
    text = of_rows("c = Gemm(x, w, vb) z = Add(c, vb)")
    assert rule(text, "c z") == (RULE_POST_OP, True)
    assert kernels(text, 0) == ["c", "z"]


NEWER = {"Gelu(c)": 20, 'Gelu<approximate = "tanh">(c)': 20, "Swish(c)": 24}
"""Activations that are one op from an opset on."""


def newer_kernels(text: str, opset: int) -> list[list[str]]:
    found = matched_kernels(with_weights(semantics(text, opset))).kernels
    return [list(kernel.ops) for kernel in found]


@pytest.mark.parametrize("op", NEWER)
def test_an_activation_in_one_op_is_one_post_op(op: str) -> None:
    """Four of them fit, five do not; and each begins a chain."""
    ops = ["c", "a0", "a1", "a2", "a3"]
    chain = " ".join(f"a{n} = {op.replace('(c)', f'({ops[n]})')}" for n in range(4))
    last = op.replace("(c)", "(a3)")
    text = of_maps(f"c = Conv(x, w) {chain} z = {last}")
    assert newer_kernels(text, NEWER[op]) == [ops, ["z"]]
    text = of_maps(f"n = Neg(x) c = Neg(n) a = {op} z = Relu(a)")
    assert newer_kernels(text, NEWER[op]) == [["a", "z"], ["n"], ["c"]]


NORMS = {
    "LayerNormalization<axis = 3>(x, v8, v8)": 17,
    "GroupNormalization<num_groups = 2>(x, v4, v4)": 21,
    "InstanceNormalization(x, v4, v4)": 17,
}


@pytest.mark.parametrize("op", NORMS)
def test_a_normalisation_takes_post_ops(op: str) -> None:
    """A batch norm takes a Relu alone; an op that is no post-op ends both chains."""
    inputs = ", float[8] v8, float[4] v4"
    for rest, expected in (
        ("r = Tanh(a) s = Add(r, y) z = Relu(s)", [["a", "r", "s", "z"]]),
        ("z = Neg(a)", [["a"], ["z"]]),
    ):
        text = of_maps(f"a = {op} {rest}", inputs).replace("{ a", f"<{MAP} a> {{ a")
        assert newer_kernels(text, NORMS[op]) == expected


def test_what_ends_chains_of_normalisations() -> None:
    text = of_maps("a = LayerNormalization<axis = 3>(x, v8, v8) z = Neg(a)", ", float[8] v8")
    assert rule(text, "a z") == (RULE_KIND, False)
    text = of_maps("a = BatchNormalization(x, vs, vt, vs, vt) z = Tanh(a)")
    assert rule(text, "a z") == (RULE_ONLY_RELU, False)


@pytest.mark.parametrize(
    "after", ["Transpose<perm = [1,0]>(c)", "Reshape(c, shape)", "Cast<to = 1>(c)"]
)
def test_what_moves_data_behind_a_product_ends_the_chain(after: str) -> None:
    """Newer versions of oneDNN take it (a departure); its reader is a kernel too."""
    shape = "float[6,4]" if "Cast" not in after else "float[4,6]"
    text = f"""g ({ROWS}, int64[2] shape) => ({shape} z) <int64[2] shape = {{6,4}}> {{
        c = MatMul(x, w) t = {after} z = Relu(t) }}""".replace(", int64[2] shape)", ")")
    assert kernels(text) == ["c", "t", "z"]
    assert rule(text, "c t") == (RULE_KIND, False)
    assert rule(text, "t z") == (RULE_NO_CHAIN, False)


def test_a_choice_behind_a_product_ends_the_chain() -> None:
    text = of_maps("c = MatMul(x, wm) z = Where(b, c, y)", ", float[8,8] wm, bool[1,4,8,8] b")
    assert kernels(text) == ["c", "z"]
    assert kernels(text.replace("Where(b, c, y)", "Add(c, y)")) == ["c z"]
