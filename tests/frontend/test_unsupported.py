"""All ops that import cannot type are named in one refusal, with what they stand for."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import ModelError
from tests.models import imported, model_bytes

LOOP = (
    "<body = b (int64 i, bool c, float[4] s) => (bool d, float[4] t)"
    " { d = Identity(c) t = Relu(s) }>"
)


def refusal(text: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        imported(model_bytes(text))
    return caught.value


def test_one_op_is_told_as_many_are_and_says_why() -> None:
    """At two bytes a float: MatMul reads 8 and 32 and writes 8; NonZero reads 8 of these 56."""
    error = refusal(
        "g (float[1,4] x) => (int64[M] y) <float[4,4] w = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}>"
        " { m = MatMul(x, w) p = NonZero(m) y = Shape(p) }"
    )
    assert error.code == "UNSUPPORTED_OPS"
    assert error.what == (
        "1 op is not supported (a shape that depends on data): NonZero 'NonZero_1' has no static "
        "output shape, output 'p' depends on data"
    )
    assert error.where == (
        "it touches 14.3 % of the bytes that are known; 1 op after that not checked; "
        "16 MACs in the 1 other op"
    )
    assert error.change == (
        "export the model without NonZero, or with a result of fixed size (a mask, a top k)"
    )
    assert error.fields["ops"] == (("NonZero_1", "NonZero", "DYNAMIC_SHAPE"),)


def test_all_kinds_are_named_with_their_shares() -> None:
    """At two bytes a float: MatMul reads 8 and 32 and writes 8, which is 48 of 16 MACs.

    Both Loops read 4 floats, a count of 4 bytes and a bool: 13 each; the two NonZero and Unknown 8
    each; Seq 8. So 2 * 13 + 4 * 8 = 58 of 58 + 48 = 106 are known, 54.7%; Shape and Neg read
    nothing that is known.
    """
    error = refusal(
        "g (float[1,4] x, float[4] v, int64 n, bool c) => (int64[N] y, float[4] z)"
        " <float[4,4] w = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}>"
        " { m = MatMul(x, w)"
        f" a = Loop (n, c, v) {LOOP} b = Loop (n, c, v) {LOOP}"
        " p = NonZero(m) q = NonZero(m) r = own.Unknown(m) u = SequenceConstruct(v)"
        " y = Shape(p) z = Neg(a) }".replace(") <body", ") <body")
    )
    assert error.code == "UNSUPPORTED_OPS"
    assert error.what == (
        "6 ops are not supported: 2 Loop (control flow); 2 NonZero (a shape that depends on data); "
        "1 SequenceConstruct (no tensor); 1 own.Unknown (no ONNX operator and no recorded type)"
    )
    assert error.where == (
        "they touch 54.7 % of the bytes that are known; 2 ops after that not checked; "
        "16 MACs in the 1 other op"
    )
    assert error.fields["ops"][0][1:] == ("Loop", "SUB_GRAPH")  # type: ignore[index]


def test_an_if_that_hangs_on_an_unsupported_op_is_named_beside_it() -> None:
    error = refusal(
        "g (float[4] x) => (float[4] y) { p = NonZero(x) s = Shape(p) e = ReduceMax(s)"
        " c = Cast <to = 9> (e) y = If (c) <then_branch = t () => (float[4] a) { a = Relu(x) },"
        " else_branch = f () => (float[4] a) { a = Neg(x) }> }"
    )
    assert [code for _, _, code in error.fields["ops"]] == ["DYNAMIC_SHAPE"]  # type: ignore[attr-defined]


def test_many_types_are_cut_and_all_of_them_kept() -> None:
    nodes = " ".join(f"v{n} = own.T{n:02}(x)" for n in range(25))
    error = refusal(f"g (float[4] x) => (float[4] y) {{ {nodes} y = Sum(v0, v1) }}")
    assert "1 own.T19" in error.what
    assert error.what.endswith("; 5 more types")
    assert len(error.fields["ops"]) == 25  # type: ignore[arg-type]
