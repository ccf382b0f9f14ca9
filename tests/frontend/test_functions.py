"""Functions that a file defines become what they do, counted first, or are refused by name."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.limits import DEFAULT_LIMITS
from tests.frontend.reference import random_inputs, run_graph, run_model
from tests.models import imported, op_types

HEADER = '<ir_version: 10, opset_import: ["" : 17, "own" : 1]>'


def file_of(graph: str, *functions: str, opset: int = 17) -> bytes:
    domains = f'<domain: "own", opset_import: ["" : {opset}, "own" : 1]>'
    parts = [HEADER, graph, *(f"{domains}\n{function}" for function in functions)]
    return bytes(onnx.parser.parse_model("\n".join(parts)).SerializeToString())


def refusal(data: bytes) -> ModelError:
    with pytest.raises(ModelError) as caught:
        imported(data)
    return caught.value


def assert_same_numbers(data: bytes) -> None:
    graph = imported(data)
    inputs = random_inputs(graph)
    for one, other in zip(run_model(data, inputs), run_graph(graph, inputs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_calls_within_calls() -> None:
    """Each call has values of its own: two of Outer are four of Inner."""
    data = file_of(
        "g (float[2,3] x) => (float[2,3] y) { a = own.Outer(x) y = own.Outer(a) }",
        "Outer (p) => (q) { m = own.Inner(p) n = own.Inner(m) q = Add(n, p) }",
        "Inner (p) => (q) { m = Relu(p) q = Neg(m) }",
    )
    assert op_types(imported(data)) == " ".join(["Relu Neg Relu Neg Add"] * 2)
    assert_same_numbers(data)


def test_attributes_come_from_the_call_or_from_the_default() -> None:
    text = (
        "Cut <axis, slope: float = 0.5> (p) => (q)"
        " { s = Softmax <axis: int = @axis> (p) q = LeakyRelu <alpha: float = @slope> (s) }"
    )
    data = file_of(
        "g (float[2,3] x) => (float[2,3] y)"
        " { a = own.Cut <axis = 0> (x) y = own.Cut <axis = 1, slope = 0.1> (a) }",
        text,
    )
    graph = imported(data)
    assert [dict(op.attributes) for op in graph.ops] == [
        {"axis": 0}, {"alpha": 0.5}, {"axis": 1}, {"alpha": pytest.approx(0.1)},
    ]  # fmt: skip
    assert_same_numbers(data)


def test_an_attribute_that_nobody_gives_is_left_out() -> None:
    data = file_of(
        "g (float[2,3] x) => (float[2,3] y) { y = own.Cut (x) }",
        "Cut <axis> (p) => (q) { q = Softmax <axis: int = @axis> (p) }",
    )
    assert dict(imported(data).ops[0].attributes) == {}


def test_missing_and_handed_on_values() -> None:
    """Clip gets no lower bound; the function's second output is its input.

    ONNX Runtime takes neither, so that numbers are not compared.
    """
    data = file_of(
        "g (float[2] x, float m) => (float[2] y, float[2] z) { y, z = own.Cap (x, , m) }",
        "Cap (p, low, high) => (q, p) { q = Clip (p, low, high) }",
    )
    graph = imported(data)
    assert op_types(graph) == "Clip Identity"
    assert graph.ops[0].inputs == ("x", "", "m")
    assert (graph.ops[1].inputs, graph.outputs) == (("x",), ("y", "z"))


def test_a_function_within_a_branch_that_is_taken() -> None:
    data = file_of(
        "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = If (yes) <"
        "then_branch = t () => (float[2] a) { a = own.Twice(x) }, "
        "else_branch = e () => (float[2] a) { a = Neg(x) }> }",
        "Twice (p) => (q) { q = Add(p, p) }",
    )
    assert op_types(imported(data)) == "Add"


def test_a_branch_within_a_function() -> None:
    """The branch reads the function's own values, which have other names in the graph."""
    data = file_of(
        "g (float[2] x) => (float[2] y) { a = own.Pick(x) y = own.Pick(a) }",
        "Pick (p) => (q) { yes = Constant <value = bool {1}> () m = Neg (p) q = If (yes) <"
        "then_branch = t () => (float[2] a) { a = Relu(m) }, "
        "else_branch = e () => (float[2] a) { a = Abs(p) }> }",
    )
    assert op_types(imported(data)) == "Neg Relu Neg Relu"
    assert_same_numbers(data)


def test_what_comes_out_is_counted_before_it_is_expanded() -> None:
    """Nineteen levels of two calls each: 2 ** 20 nodes out of 2 kB."""
    levels = [f"F{n} (p) => (q) {{ m = own.F{n + 1}(p) q = own.F{n + 1}(m) }}" for n in range(19)]
    data = file_of(
        "g (float[2] x) => (float[2] y) { y = own.F0(x) }",
        *levels,
        "F19 (p) => (q) { m = Relu(p) q = Neg(m) }",
    )
    error = refusal(data)
    assert error.code == "TOO_MANY_OPS"
    assert f"has {2**20} nodes once its functions are expanded" in error.what


def test_so_are_bytes() -> None:
    """A constant of 1 MB, 2,048 times."""
    levels = [f"F{n} (p) => (q) {{ m = own.F{n + 1}(p) q = own.F{n + 1}(m) }}" for n in range(11)]
    data = file_of(
        "g (float[2] x) => (float[2] y) { y = own.F0(x) }",
        *levels,
        "F11 (p) => (q) { c = Constant <value_float = 1.0> () q = Add(p, c) }",
    )
    model = onnx.load_model_from_string(data)
    (last,) = (function for function in model.functions if function.name == "F11")
    table = onnx.numpy_helper.from_array(np.zeros(2**18, np.float32))
    last.node[0].attribute[0].CopyFrom(onnx.helper.make_attribute("value", table))
    error = refusal(model.SerializeToString())
    assert error.code == "TOO_LARGE"
    assert int(error.what.split()[3]) > 2**11 * 2**20 > DEFAULT_LIMITS.max_model_bytes


def test_a_chain_of_calls_may_be_long() -> None:
    """Deeper than Python's own stack."""
    chain = [f"F{n} (p) => (q) {{ q = own.F{n + 1}(p) }}" for n in range(3000)]
    data = file_of(
        "g (float[2] x) => (float[2] y) { y = own.F0(x) }",
        *chain,
        "F3000 (p) => (q) { q = Neg(p) }",
    )
    assert op_types(imported(data)) == "Neg"


@pytest.mark.parametrize(
    "body",
    [
        "q = own.G(p)",
        "yes = Constant <value = bool {1}> () q = If (yes) <then_branch = t () => (float[2] a)"
        " { a = own.G(p) }, else_branch = e () => (float[2] a) { a = Neg(p) }>",
    ],
)
def test_recursion_is_refused(body: str) -> None:
    error = refusal(
        file_of(
            "g (float[2] x) => (float[2] y) { y = own.F(x) }",
            f"F (p) => (q) {{ {body} }}",
            "G (p) => (q) { m = Relu(p) q = own.F(m) }",
        )
    )
    assert (error.code, error.where) == ("RECURSIVE_FUNCTION", "F -> G -> F")


def test_another_operator_set_is_sound_where_the_op_did_not_change() -> None:
    """ReduceSum took its axes as an attribute until 12; Relu is of 14 in 14 and 17."""
    graph = "g (float[2,3] x) => (float[2,3] y) { y = own.F(x) }"
    assert op_types(imported(file_of(graph, "F (p) => (q) { q = Relu(p) }", opset=14))) == "Relu"
    body = "F (p) => (q) { q = ReduceSum <axes = [0]> (p) }"
    error = refusal(file_of(graph, body, opset=12))
    assert error.code == "FUNCTION_OPSET"
    assert "of operator set 12, the model's is 17" in error.what


def test_wrong_calls_and_definitions_are_refused() -> None:
    graph = "g (float[2] x) => (float[2] y) { y = own.F(x, x) }"
    function = "F (p) => (q) { q = Relu(p) }"
    error = refusal(file_of(graph, function))
    assert (error.code, "has 2 inputs" in error.what) == ("BAD_NODE", True)
    assert refusal(file_of(graph, function, function)).code == "DUPLICATE_FUNCTION"
