"""How far apart two right results may be: the roundings counted by hand for each family of ops."""

from __future__ import annotations

import pytest

from graphturbo_core.semantics.table import analyse
from graphturbo_core.verify.replay.tolerance import (
    COARSE_ROUNDOFF,
    QUANTISED_STEP,
    TRANSCENDENTAL_ROUNDOFFS,
    in_steps,
    is_coarse,
    least_magnitudes,
    relative_tolerances,
    roundoff,
)
from tests.models import graph_of

SINGLE = 2.0**-24
HALF = 2.0**-11


def tolerance(text: str, output: str = "y") -> float:
    return relative_tolerances(analyse(graph_of(text, opset=21)))[output]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("g (float[2,8] a, float[8,3] b) => (float[2,3] y) { y = MatMul(a, b) }", 8 + 1),
        (
            "g (float[1,2,5] x, float[4,2,3] w) => (float[1,4,3] y) { y = Conv(x, w) }",
            2 * 3 + 1,
        ),
        ("g (float[2] a, float[2] b) => (float[2] y) { y = Add(a, b) }", 1),
        ("g (float[2] a) => (float[2] y) { y = Exp(a) }", TRANSCENDENTAL_ROUNDOFFS),
        (
            "g (float[2] a, int64 i) => (float[2] y) { y = CumSum(a, i) }",
            2 * 2 + TRANSCENDENTAL_ROUNDOFFS,
        ),
    ],
)
def test_an_op_rounds_so_often(text: str, terms: int) -> None:
    """A product sums K terms and a bias; an opaque op may sum all it reads, twice."""
    assert tolerance(text) == 2 * terms * SINGLE


def test_a_sum_of_five_is_five_terms_and_normalises() -> None:
    """Five summed, twice for what may normalise; one operation an element read, none after."""
    text = "g (float[2,5] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceSum(x, a) }"
    assert tolerance(text) == 2 * (1 + 2 * 5) * SINGLE


def test_errors_of_a_chain_add() -> None:
    """Two additions and the longer of two ways: 1, 1 + 1, and 1 + 1 + 1 roundings."""
    text = (
        "g (float[2] a, float[2] b) => (float[2] y) { c = Add(a, b) d = Sub(c, b) y = Add(c, d) }"
    )
    assert [tolerance(text, name) / SINGLE / 2 for name in "cdy"] == [1, 2, 3]


def test_the_coarsest_type_in_which_an_op_may_compute_counts() -> None:
    assert tolerance("g (float16[2] a) => (float16[2] y) { y = Neg(a) }") == 2 * HALF
    assert tolerance("g (float16[2] a) => (float[2] y) { y = Cast <to=1> (a) }") == 2 * HALF
    assert tolerance("g (float[2] a) => (float16[2] y) { y = Cast <to=10> (a) }") == 2 * HALF


def test_a_float_of_a_byte_is_widened_before_anything_is_computed() -> None:
    """17 is float8e4m3fn: its numbers are exact, rounding to it is not."""
    text = "g (float[2] x) => (float[2] y) { q = Cast <to=17> (x) y = Cast <to=1> (q) }"
    assert tolerance(text, "q") == 2 * COARSE_ROUNDOFF
    assert tolerance(text, "y") == 2 * (COARSE_ROUNDOFF + SINGLE)
    assert tolerance("g (float8e4m3fn[2] x) => (float[2] y) { y = Cast <to=1> (x) }") == 2 * SINGLE


def test_integers_are_exact_but_for_small_ones_rounded_from_floats() -> None:
    assert tolerance("g (int64[2] a, int64[2] b) => (int64[2] y) { y = Add(a, b) }") == 0
    assert tolerance("g (int8[2] a, int8[2] b) => (int8[2] y) { y = Max(a, b) }") == 0
    assert tolerance("g (float[2] a, float[2] b) => (bool[2] y) { y = Less(a, b) }") == 0
    text = (
        "g (float[2] x) => (int8[2] y) <float s = {0.5}, int8 z = {0}>"
        " { y = QuantizeLinear(x, s, z) }"
    )
    assert tolerance(text) == 2 * QUANTISED_STEP


def test_types() -> None:
    assert roundoff("bfloat16") == 2.0**-8
    assert roundoff("int32") == 0
    assert [is_coarse(name) for name in ("float8e5m2", "float4e2m1", "float16", "int8")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert [in_steps(name) for name in ("float8e5m2", "int4", "uint8", "float32", "int32")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_a_function_counts_from_one_and_hands_that_on() -> None:
    """Errors of a sigmoid close to 0 are roundoffs of 1, also after a move, but not after a sum."""
    text = "g (float[1,2] x) => (float[2,1] z) { s = Sigmoid(x) t = Transpose(s) z = Add(t, t) }"
    assert least_magnitudes(analyse(graph_of(text))) == {"s": 1.0, "t": 1.0, "z": 0.0}
