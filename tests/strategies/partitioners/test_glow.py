"""Glow's stacking on small graphs worked out by hand, and what holds for every graph."""

from __future__ import annotations

import pytest
from hypothesis import given

from graphturbo_core.frontend.passes.clean_up import LAYER_NORM
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.glow import (
    MOST_BUFFERS,
    RULE_AFTER_OTHER,
    RULE_BUFFERS,
    RULE_OTHER_OP,
    RULE_OTHER_SIZE,
    RULE_STACKED,
    Glow,
    stacked_kernels,
)
from graphturbo_core.strategies.partitioners.op_kernels import in_legal_order
from tests.semantics.random_graphs import random_graphs
from tests.strategies.samples import weighted

MAP = "float[1,4,8,8]"
W = "float[4,4,1,1] w"


def kernels(body: str, inputs: str = "", outputs: str = f"{MAP} z", most: int = 64) -> list[str]:
    """Each kernel's ops with spaces."""
    text = f"g ({MAP} x, {W}{inputs}) => ({outputs}) {{ {body} }}"
    return [" ".join(kernel.ops) for kernel in stacked_kernels(weighted(text), most).kernels]


def rules(body: str, inputs: str = "", most: int = 64) -> list[tuple[str, bool]]:
    """The rule that decided at each op but the first, and whether the op joined."""
    text = f"g ({MAP} x, {W}{inputs}) => ({MAP} z) {{ {body} }}"
    return [(each.rule, each.is_taken) for each in stacked_kernels(weighted(text), most).decisions]


def test_a_convolution_takes_no_epilogue() -> None:
    body = "c = Conv(x, w) a = Relu(c) z = Sigmoid(a)"
    assert kernels(body) == ["c", "a z"]
    assert rules(body) == [(RULE_AFTER_OTHER, False), (RULE_STACKED, True)]


def test_an_op_that_is_not_data_parallel_ends_the_stack() -> None:
    """A pooling that keeps the size reads windows; the op after it begins another stack."""
    body = "a = Relu(x) p = MaxPool<kernel_shape = [3,3], pads = [1,1,1,1]>(a) z = Relu(p)"
    assert kernels(body) == ["a", "p", "z"]
    assert rules(body) == [(RULE_OTHER_OP, False), (RULE_AFTER_OTHER, False)]


def test_another_number_of_elements_begins_a_stack() -> None:
    """`b` has 4 elements, `a` and `z` 256: order decides, not dependence."""
    body = "a = Relu(x) b = Relu(y) z = Add(a, b)"
    assert kernels(body, ", float[1,4,1,1] y") == ["a", "b", "z"]
    assert rules(body, ", float[1,4,1,1] y") == [(RULE_OTHER_SIZE, False)] * 2


def test_independent_ops_that_follow_each_other_are_stacked() -> None:
    """Neither reads the other."""
    found = kernels("a = Relu(x) b = Sigmoid(y) z = Add(a, b)", f", {MAP} y")
    assert found == ["a b z"]


def test_shapes_may_differ_where_the_number_of_elements_is_equal() -> None:
    found = kernels(
        "a = Relu(x) b = Sigmoid(y) z = Relu(a) u = Relu(b)",
        ", float[1,8,4,8] y", f"{MAP} z, float[1,8,4,8] u",
    )  # fmt: skip
    assert found == ["a b z u"]


@pytest.mark.parametrize(
    ("most", "stacks"),
    [
        (4, ["a b z"]),  # x, a, b, z
        (3, ["a b", "z"]),
        (2, ["a", "b", "z"]),
    ],
)
def test_a_stack_has_room_for_so_many_buffers(most: int, stacks: list[str]) -> None:
    body = "a = Relu(x) b = Sigmoid(a) z = Tanh(b)"
    assert kernels(body, most=most) == stacks
    assert rules(body, most=most).count((RULE_BUFFERS, False)) == len(stacks) - 1


def test_the_default_is_that_of_the_backend() -> None:
    chain = " ".join(f"a{n + 1} = Relu(a{n})" for n in range(MOST_BUFFERS))
    body = f"a0 = Relu(x) {chain} z = Relu(a{MOST_BUFFERS})"
    assert [len(each.split()) for each in kernels(body)] == [MOST_BUFFERS - 1, 3]


def test_softmax_is_an_instruction_and_layer_norm_is_lowered() -> None:
    assert kernels("a = Relu(x) s = Softmax(a) z = Relu(s)") == ["a", "s", "z"]
    assert Glow().import_passes == (LAYER_NORM,)


OTHERS = {
    "MatMul(a, wm)": MAP,
    "Conv(a, w)": MAP,
    "ConvTranspose(a, w)": MAP,
    "Transpose<perm = [0,1,3,2]>(a)": MAP,
    "Concat<axis = 1>(a, x)": "float[1,8,8,8]",
    "Reshape(a, flat)": "float[4,64]",
    "ReduceMean<axes = [2,3]>(a)": "float[1,4,1,1]",
    "GlobalAveragePool(a)": "float[1,4,1,1]",
    "AveragePool<kernel_shape = [1,1]>(a)": MAP,
    "Softmax(a)": MAP,
}
"""Ops that are not data-parallel. A mean over the last two axes is a pooling in Glow: one too."""


@pytest.mark.parametrize("op", OTHERS)
def test_what_is_a_kernel_of_its_own(op: str) -> None:
    """Its neighbours are stacks, though `Transpose` and others keep the number of elements."""
    body = f"b = Neg(x) a = Relu(b) o = {op} c = Relu(o) z = Neg(c)"
    inputs = ", float[8,8] wm, int64[2] flat = {4,64}"
    assert kernels(body, inputs, f"{OTHERS[op]} z") == ["b a", "o", "c z"]


@pytest.mark.parametrize(
    "op",
    [
        "BatchNormalization(a, v4, v4, v4, v4)",
        "Add(a, v1)",
        "Mul(a, x)",
        "Where(q, a, x)",
        "Exp(a)",
        "Cast<to = 1>(a)",
        "Max(a, x, x)",
    ],
)
def test_what_is_data_parallel(op: str) -> None:
    body = f"b = Neg(x) a = Relu(b) o = {op} c = Relu(o) z = Neg(c)"
    inputs = ", float[4] v4, float[1] v1, bool[1,4,8,8] q"
    assert kernels(body, inputs) == ["b a o c z"]


def test_an_expansion_has_its_results_elements() -> None:
    """It is data-parallel, and as large as what follows: where nothing grows, all are one stack."""
    body = "a = Relu(x) o = Expand(a, shape) z = Neg(o)"
    assert kernels(body, ", int64[4] shape = {2,4,8,8}", "float[2,4,8,8] z") == ["a", "o z"]
    assert kernels(body, ", int64[4] shape = {1,4,8,8}") == ["a o z"]


@given(random_graphs())
def test_kernels_are_runs_of_the_graphs_order(sem: GraphSemantics) -> None:
    found = stacked_kernels(sem).kernels
    assert [op for kernel in found for op in kernel.ops] == [op.name for op in sem.graph.ops]
    assert len(in_legal_order(sem.graph, found)) == len(found)
