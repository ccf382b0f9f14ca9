"""TensorRT-like kernels on small graphs worked out by hand: both sides of every condition."""

from __future__ import annotations

import pytest
from hypothesis import given

from graphturbo_core.frontend.passes.horizontal import ACTIVATIONS
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.strategies.partitioners.op_kernels import (
    MAX_KERNEL_OPS,
    RULE_MODEL_RESULT,
    in_legal_order,
)
from graphturbo_core.strategies.partitioners.single_reads import (
    RULE_READER_TAKEN,
    RULE_SEVERAL_READERS,
)
from graphturbo_core.strategies.partitioners.tensorrt_like import (
    RULE_ACTIVATION,
    RULE_ENDED,
    RULE_FULL,
    RULE_KIND,
    RULE_LATE,
    RULE_NO_RULE,
    RULE_OFF,
    RULE_OTHER_SHAPE,
    RULE_POINTWISE,
    RULE_POINTWISE_OFF,
    RULE_POINTWISE_SHAPE,
    RULE_READER,
    RULE_REDUCES,
    RULE_RESIDUAL,
    RULE_SCALED,
    RULE_SEVERAL,
    RULE_SHUFFLE,
    RULE_WHOLE,
    layered_kernels,
)
from tests.models import graph_of
from tests.semantics.random_graphs import random_graphs
from tests.strategies.samples import hardware, plan_of, sample_semantics, weighted

MAP = "float[1,4,8,8]"
WEIGHTS = (
    "float[4,4,1,1] w, float[4] vs, float[4,1,1] vb, float[1] v1, float[8] vr, float[1] k,"
    " float[4,1,1] kc"
)


def of_maps(body: str, outputs: str = f"{MAP} z") -> str:
    """A graph of maps; `w` and `v...` are weights, `vr` one per column; `k` and `kc` are none."""
    return f"g ({MAP} x, {MAP} y, {WEIGHTS}) => ({outputs}) {{ {body} }}"


def kernels(text: str, *, has_residual: bool = True, has_pointwise: bool = True) -> list[str]:
    """Each kernel's ops with spaces, in a legal order."""
    sem = weighted(text)
    found = layered_kernels(sem, has_residual=has_residual, has_pointwise=has_pointwise)
    return [" ".join(ops) for ops, _ in in_legal_order(sem.graph, found.kernels)]


def rule(
    text: str, pair: str, *, has_residual: bool = True, has_pointwise: bool = True
) -> tuple[str, bool]:
    """The rule that decided last about a producer and its reader, and whether they are joined."""
    found = layered_kernels(
        weighted(text), has_residual=has_residual, has_pointwise=has_pointwise
    ).decisions
    return next((d.rule, d.is_taken) for d in reversed(found) if " ".join(d.subject) == pair)


NORM = "BatchNormalization(c, vs, vs, vs, vs)"
PRODUCTS = ("Conv(x, w)", "ConvTranspose(x, w)", "Conv(x, w, vs)")


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_product_takes_scale_residual_and_activation(product: str) -> None:
    text = of_maps(f"c = {product} b = Add(c, vb) s = Mul(b, v1) r = Add(y, s) z = Relu(r)")
    assert kernels(text) == ["c b s r z"]
    assert rule(text, "c b") == rule(text, "b s") == (RULE_SCALED, True)
    assert rule(text, "s r") == (RULE_RESIDUAL, True)
    assert rule(text, "r z") == (RULE_ACTIVATION, True)


@pytest.mark.parametrize("product", ["MatMul(x, w)", "Gemm(x, w)", "Gemm(x, w, vb)"])
def test_matrix_products_have_their_channels_last(product: str) -> None:
    text = f"""g (float[4,8] x, float[8,6] w, float[6] vb, float[4,1] vr) => (float[4,6] z) {{
        c = {product} b = Add(c, vb) z = Relu(b) }}"""
    assert kernels(text) == ["c b z"]
    assert rule(text.replace("Add(c, vb)", "Add(c, vr)"), "c b") == (RULE_OTHER_SHAPE, False)


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("Sub(c, vb)", RULE_SCALED),
        ("Div(c, v1)", RULE_SCALED),
        (NORM, RULE_SCALED),
        ("Sub(vb, c)", RULE_KIND),
        ("Div(v1, c)", RULE_KIND),
        ("Mul(c, y)", RULE_KIND),
        ("Mul(c, k)", RULE_KIND),
        ("Mul(c, kc)", RULE_KIND),
        ("Mul(c, vr)", RULE_KIND),
        ("Add(c, k)", RULE_OTHER_SHAPE),
        ("Add(c, vr)", RULE_OTHER_SHAPE),
        ("Add(c, c)", RULE_KIND),
        ("Max(c, vb)", RULE_KIND),
        ("Min(c, vb)", RULE_KIND),
        ("Neg(c)", RULE_KIND),
        ("Add(c, y)", RULE_RESIDUAL),
    ],
)
def test_what_follows_a_product(op: str, reason: str) -> None:
    is_taken = reason in (RULE_SCALED, RULE_RESIDUAL)
    text = of_maps(f"c = Conv(x, w) z = {op}")
    found = [each for each in layered_kernels(weighted(text)).decisions if each.subject[0] == "c"]
    assert [(each.rule, each.is_taken) for each in found] == [(reason, is_taken)]


@pytest.mark.parametrize("operand", ["float[4,6] y", "float[1,1,1] v", "float[1,1] v"])
def test_a_product_is_not_broadcast(operand: str) -> None:
    """The scalar of two axes keeps the shape, that of three axes adds one."""
    result = {"y": "float[4,6]", "v": "float[1,6]"}[operand[-1]]
    result = "float[1,1,6]" if operand == "float[1,1,1] v" else result
    text = f"""g (float[1,8] x, float[8,6] w, {operand}) => ({result} z) {{
        c = MatMul(x, w) z = Add(c, {operand[-1]}) }}"""
    is_scalar = operand == "float[1,1] v"
    assert rule(text, "c z") == ((RULE_SCALED, True) if is_scalar else (RULE_OTHER_SHAPE, False))


@pytest.mark.parametrize("name", sorted(ACTIVATIONS - {"Gelu"}))
def test_one_activation_ends_the_kernel(name: str) -> None:
    text = of_maps(f"c = Conv(x, w) a = {name}(c) z = Relu(a)")
    assert kernels(text) == ["c a", "z"]
    assert rule(text, "a z") == (RULE_ENDED, False)
    assert rule(of_maps(f"c = Conv(x, w) a = {name}(c) z = Add(a, y)"), "a z")[0] == RULE_ENDED


def test_parts_follow_in_one_order() -> None:
    text = of_maps("c = Conv(x, w) r = Add(c, y) z = Mul(r, v1)")
    assert kernels(text) == ["c r", "z"]
    assert rule(text, "r z") == (RULE_LATE, False)
    text = of_maps("c = Conv(x, w) r = Add(c, y) z = Add(r, x)")
    assert rule(text, "r z") == (RULE_LATE, False)


def test_the_later_of_two_products_takes_their_sum() -> None:
    text = of_maps("c = Conv(x, w) d = Conv(y, w) s = Add(c, d) z = Relu(s)")
    assert kernels(text) == ["c", "d s z"]
    assert rule(text, "c s") == (RULE_READER_TAKEN, False)


def test_another_product_is_never_taken() -> None:
    text = of_maps("c = Conv(x, w) z = Conv(c, w)")
    assert kernels(text) == ["c", "z"]
    assert rule(text, "c z") == (RULE_KIND, False)


def test_a_result_that_others_need_ends_the_kernel() -> None:
    text = of_maps("c = Conv(x, w) z = Relu(c) u = Tanh(c)", f"{MAP} z, {MAP} u")
    assert kernels(text) == ["c", "z", "u"]
    assert rule(text, "c z") == (RULE_SEVERAL_READERS, False)
    text = of_maps("c = Conv(x, w) z = Relu(c)", f"{MAP} z, {MAP} c")
    assert rule(text, "c z") == (RULE_MODEL_RESULT, False)


def test_a_swish_is_an_elementwise_kernel_behind_the_product() -> None:
    text = of_maps("c = Conv(x, w) s = Sigmoid(c) z = Mul(c, s)")
    assert kernels(text) == ["c", "s z"]
    assert rule(text, "s z") == (RULE_POINTWISE, True)


def test_residual_sums_can_be_switched_off() -> None:
    text = of_maps("c = Conv(x, w) s = Add(c, y) z = Relu(s)")
    assert kernels(text, has_residual=False) == ["c", "s z"]
    assert rule(text, "c s", has_residual=False) == (RULE_OFF, False)
    text = of_maps("c = Conv(x, w) s = Add(c, vb) z = Relu(s)")
    assert kernels(text, has_residual=False) == ["c s z"]


def test_elementwise_ops_join_their_reader() -> None:
    """A tree: both operands of the sum; the values come from elsewhere."""
    text = of_maps("a = Exp(x) b = Neg(y) c = Where(bx, a, b) z = Log(c)")
    text = text.replace("float[1] k,", "bool[8] bx,")
    assert kernels(text) == ["a b c z"]
    assert rule(text, "a c") == rule(text, "c z") == (RULE_POINTWISE, True)


def test_an_op_with_several_readers_joins_the_kernel_that_has_all() -> None:
    text = of_maps("a = Exp(x) b = Neg(a) c = Tanh(a) z = Add(b, c)")
    assert kernels(text) == ["a b c z"]
    text = of_maps("a = Exp(x) b = Neg(a) z = Tanh(a)", f"{MAP} b, {MAP} z")
    assert kernels(text) == ["a", "b", "z"]
    assert rule(text, "a b") == (RULE_SEVERAL, False)


def test_a_reader_that_is_not_elementwise_ends_the_kernel() -> None:
    text = of_maps("a = Exp(x) b = Neg(a) z = Softmax(b)")
    assert kernels(text) == ["a b", "z"]
    assert rule(text, "b z") == (RULE_READER, False)
    text = of_maps("a = Exp(x) b = Neg(a) z = Softmax(a)", f"{MAP} b, {MAP} z")
    assert rule(text, "a b") == (RULE_READER, False)
    text = of_maps("a = Exp(y) c = Conv(x, w) z = Add(c, a)")
    assert kernels(text) == ["a", "c z"]


def test_a_result_of_the_model_ends_an_elementwise_kernel() -> None:
    text = of_maps("a = Exp(x) z = Neg(a)", f"{MAP} a, {MAP} z")
    assert kernels(text) == ["a", "z"]
    assert rule(text, "a z") == (RULE_MODEL_RESULT, False)


def test_results_of_an_elementwise_kernel_have_one_shape() -> None:
    text = f"g ({MAP} x, float[4,1,1] u) => ({MAP} z) {{ a = Exp(u) b = Exp(x) z = Add(a, b) }}"
    assert kernels(text) == ["a", "b z"]
    assert rule(text, "a z") == (RULE_POINTWISE_SHAPE, False)


def test_an_elementwise_kernel_has_as_many_ops_as_tvm_fuses() -> None:
    """300 in a chain are 44 and 256: the last ones come first."""
    chain = " ".join(f"y{i} = Exp({f'y{i - 1}' if i else 'x'})" for i in range(300))
    text = f"g (float[8] x) => (float[8] y299) {{ {chain} }}"
    assert [len(each.split()) for each in kernels(text)] == [44, MAX_KERNEL_OPS]
    assert rule(text, "y43 y44") == (RULE_FULL, False)


def test_elementwise_kernels_can_be_switched_off() -> None:
    text = of_maps("c = Conv(x, w) r = Relu(c) a = Exp(r) z = Neg(a)")
    assert kernels(text) == ["c r", "a z"]
    assert kernels(text, has_pointwise=False) == ["c r", "a", "z"]
    assert rule(text, "a z", has_pointwise=False) == (RULE_POINTWISE_OFF, False)


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("Softmax(x)", RULE_WHOLE),
        ("InstanceNormalization(x, vs, vs)", RULE_WHOLE),
        ("MaxPool<kernel_shape = [1,1]>(x)", RULE_REDUCES),
        ("ReduceSum(x)", RULE_REDUCES),
        ("Transpose<perm = [0,1,3,2]>(x)", RULE_SHUFFLE),
        ("Flatten(x)", RULE_SHUFFLE),
        ("graphturbo.Unknown(x)", RULE_NO_RULE),
    ],
)
def test_other_ops_are_kernels_of_their_own(op: str, reason: str) -> None:
    text = of_maps(f"b = Exp(x) a = {op} z = Relu(a)".replace("(x", "(b").replace("Exp(b", "Exp(x"))
    if op == "graphturbo.Unknown(x)":
        text = text.replace("{ b", f"<{MAP} a> {{ b")
    text = text.replace(f"=> ({MAP} z)", f"=> ({SHAPES.get(op, MAP)} z)")
    assert kernels(text) == ["b", "a", "z"]
    assert rule(text, "a z") == (reason, False)


SHAPES = {
    "ReduceSum(x)": "float[1,1,1,1]",
    "Flatten(x)": "float[1,256]",
}


@given(random_graphs())
def test_any_graph(sem: GraphSemantics) -> None:
    check_partition(sem)


def check_partition(sem: GraphSemantics) -> None:
    """Each op in one kernel, kernels in a legal order, one result each."""
    found = layered_kernels(sem)
    ordered = in_legal_order(sem.graph, found.kernels)
    assert sorted(op for ops, _ in ordered for op in ops) == sorted(op.name for op in sem.graph.ops)
    for ops, results in ordered:
        makers = {sem.graph.producer[result].name for result in results}
        assert len(makers) == 1 and makers <= set(ops)
    kernel_of = {op: number for number, (ops, _) in enumerate(ordered) for op in ops}
    for each in found.decisions:
        producer, reader = each.subject
        assert each.is_taken == (kernel_of[producer] == kernel_of[reader])


def test_samples() -> None:
    """BERT's products take bias and residual; its Gelu is an elementwise kernel per layer."""
    for model in ("bert-base", "densenet-121", "llama"):
        check_partition(sample_semantics(model, 1))
    sem = sample_semantics("bert-base", 1)
    types = [
        tuple(sem.graph.op_by_name[op].op_type for op in kernel.ops)
        for kernel in layered_kernels(sem).kernels
    ]
    assert types.count(("MatMul", "Add", "Add")) == 24
    assert types.count(("Div", "Erf", "Add", "Mul", "Mul")) == 12


@pytest.mark.parametrize(
    ("weight", "expected"),
    [("k", ["Conv_1 Relu_2"]), ("y", ["Mul_0", "Conv_1 Relu_2"])],
    ids=["constants", "an input"],
)
def test_ops_on_constants_are_folded(weight: str, expected: list[str]) -> None:
    """The importer computes the convolution's weights, if all that they need is constant."""
    text = f"""g (float[1,2,4,4] x, float[2,2,1,1] y) => (float[1,2,4,4] z)
        <float[2,2,1,1] w = {{1.0, 2.0, 3.0, 4.0}}, float[2,2,1,1] k = {{1.0, 0.5, 2.0, 0.0}}> {{
        v = Mul(w, {weight}) c = Conv(x, v) z = Relu(c) }}"""
    graph = graph_of(text)
    found = layered_kernels(analyse(graph)).kernels
    assert [" ".join(ops) for ops, _ in in_legal_order(graph, found)] == expected
    if weight == "k":
        folded = graph.tensors[graph.op_by_name["Conv_1"].inputs[1]].value
        assert folded is not None and folded.ravel().tolist() == [1.0, 1.0, 6.0, 0.0]


@pytest.mark.parametrize(("option", "count"), [("", 3), ("residual", 4), ("pointwise", 4)])
def test_options_change_the_plan(option: str, count: int) -> None:
    """Without rule 2 the sum is a kernel of its own, without rule 5 the two last ops are."""
    text = of_maps("c = Conv(x, w) s = Add(c, y) d = Conv(s, w) e = Exp(d) z = Neg(e)")
    options = {f"tensorrt-like.{option}": "off"} if option else {}
    plan = plan_of(weighted(text), "tensorrt-like", hardware("generic-4x4"), options)
    assert len(plan.kernels) == count
