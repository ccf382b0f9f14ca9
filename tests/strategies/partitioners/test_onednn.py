"""Chains of oneDNN Graph on small graphs worked out by hand: both sides of every condition."""

from __future__ import annotations

import pytest
from hypothesis import given

from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.onednn import (
    RULE_BATCH_NORM,
    RULE_BIAS,
    RULE_DEPTHWISE,
    RULE_DEPTHWISE_LATE,
    RULE_KIND,
    RULE_MOST,
    RULE_NO_CHAIN,
    RULE_NORM_LATE,
    RULE_NOT_ONE_BY_ONE,
    RULE_ONLY_RELU,
    RULE_POST_OP,
    RULE_SHAPE,
    matched_kernels,
)
from graphturbo_core.strategies.partitioners.op_kernels import RULE_MODEL_RESULT
from graphturbo_core.strategies.partitioners.single_reads import (
    MOST_SEARCHED,
    RULE_NOT_CONVEX,
    RULE_READER_TAKEN,
    RULE_SEVERAL_READERS,
    RULE_SEVERAL_RESULTS,
)
from tests.semantics.random_graphs import random_graphs
from tests.strategies.partitioners.onednn_graphs import MAP, check_partition, kernels, of_maps, rule
from tests.strategies.samples import hardware, plan_of, sample_semantics


def test_a_convolution_takes_bias_and_post_ops() -> None:
    text = of_maps("c = Conv(x, w) b = Add(c, vb) r = Relu(b) z = Add(y, r)")
    assert kernels(text) == ["c b r z"]
    assert rule(text, "c b") == (RULE_BIAS, True)
    assert rule(text, "b r") == rule(text, "r z") == (RULE_POST_OP, True)


@pytest.mark.parametrize(
    ("body", "pair"),
    [
        ("c = Conv(x, w, vs) z = Add(c, vb)", "c z"),
        ("c = Conv(x, w) r = Relu(c) z = Add(r, vb)", "r z"),
        ("c = Conv(x, w) b = Add(c, vb) z = Add(b, vb)", "b z"),
        ("c = Conv(x, w) z = Add(c, y)", "c z"),
        ("c = Conv(x, w) z = Add(c, v1)", "c z"),
        ("c = Conv(x, w) z = Mul(c, vb)", "c z"),
        ("c = Conv(x, w) z = Add(c, k)", "c z"),
        ("c = MaxPool<kernel_shape = [1,1]>(x) z = Add(c, vr)", "c z"),
    ],
    ids=[
        "own bias",
        "late",
        "second",
        "activation",
        "scalar",
        "product",
        "no weight",
        "no product",
    ],
)
def test_any_other_sum_is_a_binary_post_op(body: str, pair: str) -> None:
    text = of_maps(body, ", float[4,1,1] k, float[8] vr")
    assert rule(text, pair) == (RULE_POST_OP, True)


def test_a_bias_is_no_post_op_of_the_limit() -> None:
    text = of_maps("c = Conv(x, w) b = Add(c, vb) z = Relu(b)")
    assert kernels(text, 0) == ["c b", "z"]
    assert rule(text, "b z", 0) == (RULE_MOST, False)
    text = of_maps("c = Conv(x, w, vs) z = Add(c, vb)")
    assert kernels(text, 0) == ["c", "z"]


def test_a_chain_has_at_most_four_post_ops() -> None:
    """The fifth begins a chain of its own."""
    text = of_maps("c = Conv(x, w) p = Relu(c) q = Exp(p) r = Abs(q) s = Tanh(r) z = Log(s)")
    assert kernels(text) == ["c p q r s", "z"]
    assert rule(text, "s z") == (RULE_MOST, False)
    assert kernels(text, 5) == ["c p q r s z"]


def norm_text(body: str) -> str:
    """BatchNormalization in the text; each of its four parameters is `vs`."""
    return of_maps(body.replace("Norm(", "BatchNormalization(").replace("#", "vs, vs, vs, vs"))


def test_a_convolution_takes_a_batch_norm_once() -> None:
    text = norm_text("c = Conv(x, w) b = Add(c, vb) n = Norm(b, #) z = Relu(n)")
    assert kernels(text) == ["c b n z"]
    assert rule(text, "b n") == (RULE_BATCH_NORM, True)
    text = norm_text("c = Conv(x, w) n = Norm(c, #) z = Norm(n, #)")
    assert kernels(text) == ["c n", "z"]
    assert rule(text, "n z") == (RULE_NORM_LATE, False)


def test_a_batch_norm_comes_before_other_post_ops_of_a_convolution() -> None:
    text = norm_text("c = Conv(x, w) r = Relu(c) z = Norm(r, #)")
    assert kernels(text) == ["c r", "z"]
    assert rule(text, "r z") == (RULE_NORM_LATE, False)
    text = norm_text("c = ConvTranspose(x, w) z = Norm(c, #)")
    assert rule(text, "c z") == (RULE_NORM_LATE, False)


def test_a_batch_norm_alone_takes_one_relu() -> None:
    text = norm_text("n = Norm(x, #) r = Relu(n) z = Relu(r)")
    assert kernels(text) == ["n r", "z"]
    assert rule(text, "n r") == (RULE_POST_OP, True)
    assert rule(text, "r z") == (RULE_ONLY_RELU, False)
    text = norm_text("n = Norm(x, #) z = Tanh(n)")
    assert rule(text, "n z") == (RULE_ONLY_RELU, False)


def test_a_scale_shift_is_a_batch_norm() -> None:
    """DenseNet has them before convolutions; the importer makes them."""
    found = matched_kernels(sample_semantics("densenet-121", 1))
    firsts = [kernel.ops for kernel in found.kernels if kernel.ops[0] == "block1/layer1/a/norm"]
    assert firsts == [("block1/layer1/a/norm", "block1/layer1/a/relu")]


WIDE = (
    ", float[4,4,3,3] wide, float[4,1,3,3] wd, float[4,1,3,3] we, float[4,2,3,3] wg,"
    " float[4,2,1,1] wh"
)
DEEP = "<pads = [1,1,1,1], group = 4>"


def deep(body: str) -> str:
    """`Deep` is a depthwise convolution, `Wide` a plain one of 3 x 3, `Half` one of 2 groups."""
    plain = "Conv<pads = [1,1,1,1]>"
    half = "Conv<pads = [1,1,1,1], group = 2>"
    replaced = body.replace("Deep", f"Conv{DEEP}").replace("Wide", plain).replace("Half", half)
    return of_maps(replaced, WIDE)


def test_a_convolution_of_single_elements_takes_a_depthwise_one() -> None:
    text = deep("c = Conv(x, w) d = Deep(c, wd) z = Relu(d)")
    assert kernels(text) == ["c d z"]
    assert rule(text, "c d") == (RULE_DEPTHWISE, True)


@pytest.mark.parametrize(
    ("body", "pair", "reason"),
    [
        ("c = Wide(x, wide) z = Deep(c, wd)", "c z", RULE_NOT_ONE_BY_ONE),
        ("c = Deep(x, we) z = Deep(c, wd)", "c z", RULE_NOT_ONE_BY_ONE),
        ("c = Conv<group = 2>(x, wh) z = Deep(c, wd)", "c z", RULE_NOT_ONE_BY_ONE),
        ("c = Conv(x, w) r = Relu(c) z = Deep(r, wd)", "r z", RULE_DEPTHWISE_LATE),
        ("c = Conv(x, w) d = Deep(c, wd) z = Deep(d, we)", "d z", RULE_DEPTHWISE_LATE),
        ("c = Conv(x, w) z = Half(c, wg)", "c z", RULE_KIND),
        ("c = Conv(x, w) z = Conv(c, w)", "c z", RULE_KIND),
    ],
    ids=[
        "after 3x3",
        "after depthwise",
        "after two groups",
        "after a post-op",
        "second",
        "two groups",
        "one group",
    ],
)
def test_other_second_convolutions_end_the_chain(body: str, pair: str, reason: str) -> None:
    assert rule(deep(body), pair) == (reason, False)


def test_a_batch_norm_does_not_follow_the_depthwise_convolution() -> None:
    body = "c = Conv(x, w) d = Deep(c, wd) z = BatchNormalization(d, vs, vs, vs, vs)"
    assert rule(deep(body), "d z") == (RULE_NORM_LATE, False)


POST_OPS = {
    "Abs(c)": True, "Clip(c, v1, v2)": True, "Elu(c)": True, "Exp(c)": True,
    "HardSigmoid(c)": True, "HardSwish(c)": True, "LeakyRelu(c)": True, "Log(c)": True,
    "Mish(c)": True, "Sigmoid(c)": True, "Softplus(c)": True, "Relu(c)": True, "Round(c)": True,
    "Sqrt(c)": True, "Tanh(c)": True, "Mul(c, c)": True, "Add(c, y)": True, "Add(y, c)": True,
    "Sub(c, y)": True, "Div(c, y)": True, "Mul(y, c)": True, "Max(c, y)": True, "Min(y, c)": True,
    "Sub(y, c)": False, "Div(y, c)": False, "Add(c, c)": False, "Max(c, y, x)": False,
    "Erf(c)": False, "Neg(c)": False, "Pow(c, v1)": False, "Identity(c)": False,
}  # fmt: skip
"""What may follow a convolution: the chain is the first operand of a difference or quotient."""


@pytest.mark.parametrize("op", POST_OPS)
def test_what_is_a_post_op(op: str) -> None:
    text = of_maps(f"c = Conv(x, w) z = {op}")
    assert rule(text, "c z") == ((RULE_POST_OP, True) if POST_OPS[op] else (RULE_KIND, False))


@pytest.mark.parametrize(("exponent", "is_square"), [("2.0", True), ("3.0", False)])
def test_a_power_of_two_is_a_square(exponent: str, is_square: bool) -> None:
    text = f"""g ({MAP} x, float[4,4,1,1] w) => ({MAP} z) <float p = {{{exponent}}}> {{
        c = Conv(x, w) z = Pow(c, p) }}"""
    assert rule(text, "c z") == ((RULE_POST_OP, True) if is_square else (RULE_KIND, False))
    text = f"g ({MAP} x) => ({MAP} z) <float p = {{{exponent}}}> {{ c = Pow(x, p) z = Relu(c) }}"
    assert rule(text, "c z") == ((RULE_POST_OP, True) if is_square else (RULE_NO_CHAIN, False))


def test_a_chain_is_not_broadcast() -> None:
    text = of_maps("p = GlobalAveragePool(x) r = Relu(p) z = Mul(r, y)")
    assert kernels(text) == ["p r", "z"]
    assert rule(text, "r z") == (RULE_SHAPE, False)


def test_a_second_reader_ends_a_chain() -> None:
    text = of_maps("c = Conv(x, w) z = Relu(c) u = Tanh(c)", outputs=f"{MAP} z, {MAP} u")
    assert kernels(text) == ["c", "z", "u"]
    assert rule(text, "c z") == (RULE_SEVERAL_READERS, False)


def test_a_reader_that_depends_on_the_chain_through_another_op_is_not_convex() -> None:
    """The sum reads `c` and what `d` makes of it: with `c` and the sum, `d` would be between."""
    text = of_maps("c = Conv(x, w) d = Conv(c, w) z = Add(c, d)")
    assert kernels(text) == ["c", "d z"]
    assert rule(text, "c d") == (RULE_NOT_CONVEX, False)


def test_the_search_for_that_reason_ends() -> None:
    """A reader within the limit is found, one beyond it is not."""
    for between, reason in ((2, RULE_NOT_CONVEX), (MOST_SEARCHED + 1, RULE_SEVERAL_READERS)):
        chain = " ".join(f"d{i + 1} = Neg(d{i})" for i in range(between))
        text = of_maps(f"c = Conv(x, w) d0 = Neg(c) {chain} z = Add(c, d{between})")
        assert rule(text, "c d0") == (reason, False)


def test_a_result_of_the_model_ends_a_chain() -> None:
    text = of_maps("c = Conv(x, w) z = Relu(c)", outputs=f"{MAP} z, {MAP} c")
    assert kernels(text) == ["c", "z"]
    assert rule(text, "c z") == (RULE_MODEL_RESULT, False)


def test_several_used_results_end_a_chain() -> None:
    pool = "MaxPool<kernel_shape = [1,1]>(x)"
    text = of_maps(f"p, i = {pool} z = Relu(p)", outputs=f"{MAP} z, int64[1,4,8,8] i")
    assert rule(text, "p z") == (RULE_SEVERAL_RESULTS, False)
    assert kernels(of_maps(f"p, i = {pool} z = Relu(p)")) == ["p z"]


GATED = {
    "s = Sigmoid(c) z = Mul(c, s)": "c s z",
    "s = HardSigmoid(c) z = Mul(s, c)": "c s z",
    "p = Softplus(c) t = Tanh(p) z = Mul(c, t)": "c p t z",
    "d = Div(c, v1) e = Erf(d) a = Add(e, v2) z = Mul(c, a)": "c d e a z",
    "d = Mul(v1, c) e = Erf(d) a = Add(v2, e) z = Mul(a, c)": "c d e a z",
}
"""Swish, HardSwish, Mish, Gelu twice."""


@pytest.mark.parametrize("body", GATED)
def test_a_gate_is_one_post_op(body: str) -> None:
    text = of_maps(f"c = Conv(x, w) {body}")
    assert kernels(text, 1) == [GATED[body]]
    assert kernels(text, 0)[0] == "c"


@pytest.mark.parametrize(
    "body",
    [
        "s = Sigmoid(c) z = Add(c, s)",
        "s = Tanh(c) z = Mul(c, s)",
        "s = Sigmoid(c) t = Relu(s) z = Mul(c, t)",
        "d = Div(c, y) e = Erf(d) a = Add(e, v2) z = Mul(c, a)",
        "d = Div(c, v1) e = Erf(d) a = Add(e, y) z = Mul(c, a)",
    ],
)
def test_what_looks_like_a_gate_ends_the_chain(body: str) -> None:
    text = of_maps(f"c = Conv(x, w) {body}")
    assert kernels(text)[0] == "c"


def test_a_gate_with_a_reader_outside_ends_the_chain() -> None:
    body = "c = Conv(x, w) s = Sigmoid(c) z = Mul(c, s)"
    text = of_maps(f"{body} u = Exp(s)", outputs=f"{MAP} z, {MAP} u")
    assert kernels(text)[0] == "c"
    assert kernels(of_maps(body, outputs=f"{MAP} z, {MAP} s"))[0] == "c"
    text = of_maps(f"{body} u = Exp(c)", outputs=f"{MAP} z, {MAP} u")
    assert kernels(text)[0] == "c"


def test_two_convolutions_in_one_sum() -> None:
    """The first in the graph's order takes it."""
    text = of_maps("c = Conv(x, w) d = Conv(y, w) z = Add(c, d)")
    assert kernels(text) == ["d", "c z"]
    assert rule(text, "d z") == (RULE_READER_TAKEN, False)


ANCHORS = {
    "Softmax<axis = 1>(x)": True, "LogSoftmax<axis = 1>(x)": True,
    "InstanceNormalization(x, vs, vt)": True, "AveragePool<kernel_shape = [1,1]>(x)": True,
    "Add(x, y)": True, "Mul(x, x)": True, "Tanh(x)": True,
    "ConvTranspose(x, w)": True, "Concat<axis = 1>(x)": False, "Cast<to = 1>(x)": False,
    "Transpose<perm = [0,1,3,2]>(x)": False, "Neg(x)": False, "Where(vw, x, y)": False,
    "Max(x, y, y)": False,
}  # fmt: skip
"""Ops that begin a chain."""


@pytest.mark.parametrize("op", ANCHORS)
def test_which_ops_begin_a_chain(op: str) -> None:
    text = of_maps(f"a = {op} z = Relu(a)", ", bool[8] vw")
    assert rule(text, "a z") == ((RULE_POST_OP, True) if ANCHORS[op] else (RULE_NO_CHAIN, False))


def test_reductions_and_resizes_begin_a_chain() -> None:
    text = (
        f"g ({MAP} x) => (float z) <int64[4] n = {{0,1,2,3}}> {{ a = ReduceMax(x, n) z = Abs(a) }}"
    )
    assert kernels(text.replace("float z", "float[1,1,1,1] z")) == ["a z"]
    text = f"""g ({MAP} x) => (float[1,4,16,16] z) <float[4] n = {{1.0,1.0,2.0,2.0}}> {{
        a = Resize(x, , n) z = Relu(a) }}"""
    assert kernels(text) == ["a z"]


def test_earlier_priorities_take_readers_first() -> None:
    """Pools come before binary ops, which come before unary ones: not the graph's order."""
    text = of_maps("t = Tanh(y) p = MaxPool<kernel_shape = [1,1]>(x) z = Add(t, p)")
    assert kernels(text) == ["t", "p z"]
    text = of_maps("t = Tanh(y) s = Add(x, y) z = Mul(t, s)")
    assert kernels(text) == ["t", "s z"]


@given(random_graphs())
def test_any_graph(sem: GraphSemantics) -> None:
    check_partition(sem)


def test_the_option_changes_the_plan() -> None:
    """26 ops. With one post-op per chain: the stem, 3 kernels per block of 4 (the last Relu is the
    third), the shortcut, 3 at the end. With more, 2 kernels per block.
    """
    sem, chip = sample_semantics("teaching-resnet", 4), hardware("generic-4x4")
    counts = [
        len(plan_of(sem, "onednn", chip, {"onednn.most_post_ops": most}).kernels)
        for most in ("0", "1", "4")
    ]
    assert counts == [26, 17, 13]
