"""Both sides of XLA's conditions, each on a graph worked out by hand."""

from __future__ import annotations

import pytest

from graphturbo_core.strategies.partitioners.xla_fusion import (
    RULE_ALWAYS,
    RULE_GROWS,
    RULE_HEAVY,
    RULE_KIND,
    RULE_LAST,
    RULE_LIBRARY,
    RULE_REPEATED,
    RULE_REREAD,
    RULE_SEVERAL,
)
from tests.strategies.partitioners.xla_graphs import MAP, kernels, reasons

WIDE = "float[1,8,8,8]"
POOLED = "float[1,4,4,4]"
SHAPES = ", int64[2] flat = {4,64}, int64[8] ends = {0,4,0,0,0,0,0,0}, int64[8] i"
RANGE = ", int64[1] n0 = {0}, int64[1] n4 = {4}, int64[1] n1 = {1}"

PRODUCERS = {
    "Concat<axis = 1>(x, x)": WIDE,
    "Slice(x, n0, n4, n1)": MAP,
    "Pad(x, ends)": WIDE,
    "Reshape(x, flat)": "float[4,64]",
    "Flatten<axis = 2>(x)": "float[4,64]",
    "Gather<axis = 3>(x, i)": MAP,
    "MaxPool<kernel_shape = [2,2], strides = [2,2]>(x)": POOLED,
    "AveragePool<kernel_shape = [2,2], strides = [2,2]>(x)": POOLED,
    "GlobalAveragePool(x)": "float[1,4,1,1]",
    "ReduceMax<axes = [3]>(x)": "float[1,4,8,1]",
    "Transpose<perm = [0,1,3,2]>(x)": MAP,
}
"""Ops that join their one reader, and the shapes of their results."""


@pytest.mark.parametrize("op", PRODUCERS)
def test_what_joins_its_one_reader(op: str) -> None:
    found = kernels(f"a = {op} z = Neg(a)", SHAPES + RANGE, f"{PRODUCERS[op]} z")
    assert found == ["a z"]


LIBRARY = {
    "Conv(x, w)": MAP,
    "ConvTranspose(x, w)": MAP,
    "MatMul(x, w8)": MAP,
    "Gemm(f, wg)": "float[4,6]",
    "Einsum<equation = 'abcd,de->abce'>(x, w8)": MAP,
    "LRN<size = 3>(x)": MAP,
    "Det(x)": "float[1,4]",
}
"""Calls of a library, the last two by fusion kind and without an entry in the table of ops."""
MATRICES = ", float[8,8] w8, float[4,8] f, float[8,6] wg"


@pytest.mark.parametrize("op", LIBRARY)
def test_a_call_of_a_library_joins_neither_side(op: str) -> None:
    value = "f" if "(f" in op else "x"
    call = op.replace(f"({value}", "(a").replace("'", '"')
    body = f"a = Neg({value}) c = {call} z = Relu(c)"
    outputs = f"{LIBRARY[op]} z"
    assert kernels(body, MATRICES, outputs) == ["a", "c", "z"]
    assert {rule for _, rule in reasons(body, MATRICES, outputs)} == {RULE_LIBRARY}


EXPENSIVE = (
    "Exp(x)", "Log(x)", "Tanh(x)", "Pow(x, y)", "Sqrt(x)", "Sigmoid(x)", "Reciprocal(x)",
    "Div(x, y)", "Div(x, v1)", "Softplus(x)", "Gather<axis = 3>(x, i)",
    "MaxPool<kernel_shape = [1,1]>(x)",
)  # fmt: skip
CHEAP = (
    "Neg(x)", "Abs(x)", "Relu(x)", "Floor(x)", "Max(x, v1)", "Mul(x, x)", "Clip(x, v1, v1)",
    "Add(x, y)", "Where(b, x, y)", "Transpose<perm = [0,1,3,2]>(x)",
)  # fmt: skip
OPERANDS = f", {MAP} y, float[1] v1, int64[8] i, bool[1,4,8,8] b"
PAIR = f"{MAP} z, {WIDE} y2"


@pytest.mark.parametrize("op", EXPENSIVE)
def test_what_is_expensive_is_computed_once(op: str) -> None:
    """Not in two readers; in a single reader it is."""
    body = f"a = {op} z = Relu(a) y2 = Concat<axis = 1>(a, a)"
    assert kernels(body, OPERANDS, PAIR, several=False) == ["a", "z", "y2"]
    assert ("a y2", RULE_SEVERAL) in reasons(body, OPERANDS, PAIR)
    assert kernels(f"a = {op} z = Relu(a)", OPERANDS) == ["a z"]


@pytest.mark.parametrize("op", CHEAP)
def test_what_is_cheap_is_computed_in_both_readers(op: str) -> None:
    body = f"a = {op} z = Relu(a) y2 = Concat<axis = 1>(a, a)"
    assert kernels(body, OPERANDS, PAIR) == ["a z", "a y2"]


@pytest.mark.parametrize(
    ("op", "is_expensive"),
    [
        ("Div(p, v2)", False), ("Mod(p, v2)", False), ("Div(p, n2)", True), ("Div(p, q)", True),
        ("Div(p, v8)", True), ("Mod(p, q)", True),
    ],
)  # fmt: skip
def test_a_division_of_integers_by_a_scalar_constant_is_cheap(op: str, is_expensive: bool) -> None:
    """`n2` is a scalar, but an input; `v8` is constant, but a row."""
    inputs = ", int32[1,4,8,8] p, int32[1,4,8,8] q, int32[1] v2, int32[1] n2, int32[8] v8"
    body = f"a = {op} z = Abs(a) y2 = Concat<axis = 1>(a, a)"
    found = kernels(body, inputs, "int32[1,4,8,8] z, int32[1,8,8,8] y2", several=False)
    assert found == (["a", "z", "y2"] if is_expensive else ["a z", "a y2"])


@pytest.mark.parametrize(
    ("source", "target", "is_always"),
    [("int8", 1, True), ("bool", 1, True), ("int8", 6, True),
     ("int16", 1, False), ("int64", 1, False), ("float", 3, False), ("float", 10, False)],
    ids=["s8-f", "b-f", "s8-s32", "s16-f", "s64-f", "f-s8", "f-f16"],
)  # fmt: skip
def test_a_widening_conversion_is_always_repeated(
    source: str, target: int, is_always: bool
) -> None:
    """At 2 bytes per float and 4 per int64; a conversion to as many bytes does not widen."""
    names = {1: "float", 3: "int8", 6: "int32", 10: "float16"}
    body = f"c = Cast<to = {target}>(q) z = Abs(c) y = Concat<axis = 1>(c, c)"
    outputs = f"{names[target]}[1,4,8,8] z, {names[target]}[1,8,8,8] y"
    inputs = f", {source}[1,4,8,8] q"
    assert kernels(body, inputs, outputs) == ["c z", "c y"]
    assert kernels(body, inputs, outputs, repeat=False, several=False) == (
        ["c z", "c y"] if is_always else ["c", "z", "y"]
    )
    first = RULE_ALWAYS if is_always else RULE_REPEATED
    assert reasons(body, inputs, outputs) == [("c y", first), ("c z", RULE_LAST)]


@pytest.mark.parametrize("op", ["Expand", "Tile"])
def test_a_broadcast_is_always_repeated(op: str) -> None:
    """Where nothing else is; a tile is a broadcast and a reshape in XLA, and is not."""
    outputs = "float[2,4,8,8] z, float[2,8,8,8] y"
    body = f"n = Neg(x) b = {op}(n, shape) z = Relu(b) y = Concat<axis = 1>(b, b)"
    inputs = f", int64[4] shape = {{2,{'4,8,8' if op == 'Expand' else '1,1,1'}}}"
    expected = ["n", "b z", "b y"] if op == "Expand" else ["n b", "z", "y"]
    assert kernels(body, inputs, outputs, repeat=False, several=False) == expected
    assert kernels(body, inputs, outputs) == ["n b z", "n b y"]


@pytest.mark.parametrize(("elements", "rule"), [(10, RULE_REREAD), (11, RULE_HEAVY)])
def test_a_reduction_is_heavy_above_ten_elements(elements: int, rule: str) -> None:
    """Of an axis, and of a window that slides by one."""
    inputs = f", float[1,4,8,{elements}] q, int64[1] axes = {{3}}"
    body = "r = ReduceSum(q, axes) z = Add(q, r)"
    assert ("r z", rule) in reasons(body, inputs, f"float[1,4,8,{elements}] z")
    body = f"r = AveragePool<kernel_shape = [1,{elements}]>(q) z = Expand(r, shape)"
    inputs = f", float[1,4,8,16] q, int64[4] shape = {{2,4,8,{17 - elements}}}"
    assert ("r z", rule) in reasons(body, inputs, f"float[2,4,8,{17 - elements}] z")


GROWING = {
    "Add(x, y)": True,
    "Add(x, x)": False,
    "Add(x, p)": False,
    "Max(x, p, r)": False,
    "Add(x, v1)": False,
    "Concat<axis = 1>(h, k)": False,
    "Concat<axis = 1>(h, h)": False,
    "Reshape(f, shape)": False,
    "Where(b, x, y)": True,
    "Where(b, x, v1)": True,
    "Where(b, r, v1)": False,
}
"""Two operands with all axes of the result, and more elements than it has.

A row, a scalar constant and a parameter are no such operands.
"""


@pytest.mark.parametrize("op", GROWING)
def test_what_grows_is_not_computed_beside_a_product_that_reads_it(op: str) -> None:
    inputs = (
        f", {MAP} y, float[8] p, float[8,1] r, float[1] v1, float[1,2,8,8] h, float[1,2,8,8] k,"
        " float[4,64] f, int64[4] shape = {1,4,8,8}, bool[1,4,8,8] b"
    )
    outputs = f"{MAP} c, {MAP} z"
    body = f"s = {op} c = Conv(s, w) z = Abs(s)"
    grows = GROWING[op]
    found = kernels(body, inputs, outputs, several=False)
    assert found == (["s", "c", "z"] if grows else ["s", "s z", "c"])
    assert (("s z", RULE_GROWS) in reasons(body, inputs, outputs)) == grows


def test_scalars_count_where_the_result_is_one() -> None:
    """Two scalar operands of a scalar result; with a constant it is one operand."""
    inputs, outputs = ", float[1,4,1,1] p, float[1,4,1,1] q", "float[1,4,1,1] c, float[1,4,1,1] z"
    text = "s = Add(p, q) c = Conv(s, w) z = Abs(s)"
    assert kernels(text, inputs, outputs, several=False) == ["s", "c", "z"]
    inputs = ", float[1,1,1,1] p, float[1,1,1,1] q, float[1,1,1,1] v1, float[1,1,1,1] wq"
    outputs = "float[1,1,1,1] c, float[1,1,1,1] z"
    text = text.replace("Conv(s, w)", "Conv(s, wq)")
    assert kernels(text, inputs, outputs, several=False) == ["s", "c", "z"]
    text = text.replace("Add(p, q)", "Add(p, v1)")
    assert kernels(text, inputs, outputs, several=False) == ["s", "s z", "c"]


def test_a_product_beside_the_paths_to_the_readers_does_not_matter() -> None:
    """The convolution reads what one reader computes, and no reader of the sum needs it."""
    body, inputs = "s = Add(x, y) a = Abs(s) c = Conv(a, w) z = Neg(s)", f", {MAP} y"
    outputs = f"{MAP} c, {MAP} z"
    assert kernels(body, inputs, outputs, several=False) == ["s a", "s z", "c"]
    body = body.replace("Neg(s)", "Add(s, c)")
    assert kernels(body, inputs, several=False) == ["s", "a", "c", "z"]


def test_a_path_through_several_ops_is_followed_to_its_beginning() -> None:
    """The last reader can compute `b` and the sum, but the product before `b` needs the sum."""
    body = "s = Add(x, y) a = Abs(s) c = Conv(a, w) b = Neg(c) z = Sub(b, s)"
    body = f"{body} u = Concat<axis = 1>(b, b)"
    inputs, outputs = f", {MAP} y", f"{MAP} z, {WIDE} u"
    assert kernels(body, inputs, outputs) == ["s a", "c", "b z", "b u"]
    assert kernels(body, inputs, outputs, several=False) == ["s", "a", "c", "b z", "b u"]
    body = body.replace("Conv(a, w)", "Ceil(a)")
    assert kernels(body, inputs, outputs) == ["s a c b z", "s a c b u"]


def test_an_operand_that_does_not_need_the_sum_is_on_no_path() -> None:
    """The product reads the model's input; where it reads the sum, it is on a path."""
    body = "s = Add(x, y) k = Conv(x, w) z = Sub(s, k) u = Concat<axis = 1>(s, s)"
    inputs, outputs = f", {MAP} y", f"{MAP} z, {WIDE} u"
    assert kernels(body, inputs, outputs, several=False) == ["s u", "k", "s z"]
    body = body.replace("Conv(x, w)", "Conv(s, w)")
    assert kernels(body, inputs, outputs, several=False) == ["s", "k", "z", "u"]


def test_a_shape_is_no_operand() -> None:
    """Of four elements along one axis, as many axes as the result has; another row is one."""
    inputs = ", float[64] p, float[64] q, int64[4] shape = {1,1,1,64}, float[4,1,1,1] wp"
    outputs = "float[1,4,1,64] c, float[1,1,1,64] z"
    body = "s = Reshape(p, shape) c = Conv(s, wp) z = Abs(s)"
    assert kernels(body, inputs, outputs) == ["s", "s z", "c"]
    body = f"r = Reshape(q, shape) {body.replace('Reshape(p, shape)', 'Add(p, r)')}"
    assert kernels(body, inputs, outputs, several=False) == ["r s", "c", "z"]


@pytest.mark.parametrize(
    "op", ["ScatterElements<axis = 3>(c, i, u)", "ScatterND(c, j, t)"], ids=["elements", "nd"]
)
def test_a_scatter_is_in_no_kernel_of_several_results(op: str) -> None:
    """Neither with a sibling, nor with what it reads, nor with what reads it."""
    inputs = ", int64[1,4,8,1] i, float[1,4,8,1] u, int64[1,2] j, float[1,8,8] t"
    outputs = f"{MAP} z, {MAP} a, {MAP} n"
    body = f"k = Conv(x, w) c = Exp(k) a = Neg(c) s = {op} z = Relu(s) n = Abs(s)"
    assert kernels(body, inputs, outputs) == ["k", "c a", "s", "z n"]
    assert ("s z", RULE_KIND) in reasons(body, inputs, outputs)
    assert kernels(body.replace(op, "Floor(c)"), inputs, outputs) == ["k", "c a s z n"]


def test_readers_of_a_models_input_are_no_siblings() -> None:
    body, outputs = "a = Neg({0}) z = Abs({0})", f"{MAP} a, {MAP} z"
    assert kernels(body.format("x"), outputs=outputs) == ["a", "z"]
    assert kernels(f"k = Conv(x, w) {body.format('k')}", outputs=outputs) == ["k", "a z"]
