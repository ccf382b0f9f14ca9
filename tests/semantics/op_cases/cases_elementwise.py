"""A one-op model of every elementwise op and every reduction in the table."""

from __future__ import annotations

from graphturbo_core.semantics.ops.elementwise import BINARY, UNARY, VARIADIC
from graphturbo_core.semantics.ops.reduction import REDUCTIONS
from tests.semantics.op_cases.cases import Case

_NEWEST = 24
_ELSEWHERE = {"BitCast", "BitwiseNot", "SwiGLU"}
"""Ops with a case of their own in `cases_dense`: newer ones, and integers."""
_TYPES = {
    **dict.fromkeys(("Not", "And", "Or", "Xor"), ("bool", "bool")),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), ("int32", "int32")),
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
                    ("float", "bool")),
    **dict.fromkeys(("IsNaN", "IsInf"), ("float", "bool")),
    "BitShift": ("uint8", "uint8"),
}  # fmt: skip
"""Element types of operands and result where they are not float."""
_ATTRIBUTES = {"BitShift": 'direction = "LEFT"', "Cast": "to = 1", "Mod": "fmod = 1"}


def _call(op: str) -> str:
    return f"{op} <{_ATTRIBUTES[op]}>" if op in _ATTRIBUTES else op


def _unary(op: str) -> Case:
    kind, result = _TYPES.get(op, ("float", "float"))
    text = f"g ({kind}[2,3,4] x) => ({result}[2,3,4] y) {{ y = {_call(op)} (x) }}"
    return Case(f"{op} elementwise", text, _NEWEST, is_tight=False)


def _binary(op: str) -> Case:
    kind, result = _TYPES.get(op, ("float", "float"))
    text = f"g ({kind}[2,3,4] a, {kind}[3,1] b) => ({result}[2,3,4] y) {{ y = {_call(op)} (a, b) }}"
    return Case(f"{op} broadcast", text, _NEWEST, is_tight=False)


def _variadic(op: str) -> Case:
    text = f"g (float[2,3] a, float[3] b, float[2,1] c) => (float[2,3] y) {{ y = {op}(a, b, c) }}"
    return Case(f"{op} of three", text, _NEWEST, is_tight=False)


def _reduction(op: str) -> Case:
    head = "g (float[2,3,4] x) => (float[2,4] y) <int64[1] a = {1}>"
    text = f"{head} {{ y = {op} <keepdims = 0> (x, a) }}"
    return Case(f"{op} of an axis", text, 18, is_tight=False)


CASES = (
    *(_unary(op) for op in sorted(UNARY.keys() - _ELSEWHERE - {"Dropout"})),
    *(_binary(op) for op in sorted(BINARY.keys() - _ELSEWHERE - {"Where"})),
    *(_variadic(op) for op in sorted(VARIADIC)),
    *(_reduction(op) for op in sorted(REDUCTIONS)),
    Case("where", "g (bool[2,1] c, float[2,3] a, float[3] b) => (float[2,3] y) "
         "{ y = Where(c, a, b) }", is_tight=False),
    Case("dropout", "g (float[2,3] x) => (float[2,3] y) { y = Dropout(x) }"),
    Case("cast like", "g (float[2,3] x, int32[1] t) => (int32[2,3] y) { y = CastLike(x, t) }",
         is_tight=False),
    Case("scale and shift", "g (float[2,3,4] x, float[3] s, float[3] b) => (float[2,3,4] y) "
         "{ y = graphturbo.ScaleShift(x, s, b) }"),
    Case("squeeze", "g (float[2,1,3] x) => (float[2,3] y) <int64[1] a = {1}> "
         "{ y = Squeeze(x, a) }"),
    Case("arg min", "g (float[2,3,4] x) => (int64[2,1,4] y) { y = ArgMin <axis = 1> (x) }",
         is_tight=False),
)  # fmt: skip
