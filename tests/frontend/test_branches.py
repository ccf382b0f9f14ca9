"""An If whose condition import can compute becomes its branch; what stays open is refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from graphturbo_core.errors import ModelError
from tests.models import imported, model_of, op_types

BRANCHES = (
    "<then_branch = t () => (float[2] a) { a = Relu(x) },"
    " else_branch = e () => (float[2] a) { n = Neg(x) a = Abs(n) }>"
)


def data_of(text: str) -> bytes:
    return bytes(model_of(text).SerializeToString())


@pytest.mark.parametrize(("size", "ops"), [(2, "Relu Exp"), (3, "Neg Abs Exp")])
def test_shapes_decide(size: int, ops: str) -> None:
    """Whether x has two elements is known at import."""
    text = (
        f"g (float[{size}] x) => (float[{size}] z) <int64[1] two = {{2}}>"
        f" {{ s = Shape(x) c = Equal(s, two) y = If (c) {BRANCHES} z = Exp(y) }}"
    )
    assert op_types(imported(data_of(text.replace("float[2] a", f"float[{size}] a")))) == ops


def test_data_decides_nothing() -> None:
    """What is drawn from the data stays open, also behind a branch that is taken."""
    text = (
        "g (float[2] x, bool b) => (float[2] z) <bool yes = {1}>"
        f" {{ y = If (yes) {BRANCHES} z = If (b) {BRANCHES} }}"
    )
    with pytest.raises(ModelError, match="If 'If_1' has a sub-graph") as caught:
        imported(data_of(text))
    assert caught.value.fields["ops"] == (("If_1", "If", "SUB_GRAPH"),)


def test_a_branch_within_a_branch() -> None:
    inner = f"<then_branch = t2 () => (float[2] b) {{ b = If (no) {BRANCHES} }}, "
    outer = inner + "else_branch = e2 () => (float[2] b) { b = Exp(x) }>"
    text = (
        "g (float[2] x) => (float[2] y) <bool yes = {1}, bool no = {0}>"
        f" {{ y = If (yes) {outer} }}"
    )
    graph = imported(data_of(text))
    assert op_types(graph) == "Neg Abs"
    assert graph.outputs == ("y",)


def test_a_branch_within_reads_what_is_around_it() -> None:
    """The inner branch reads a value of the outer one, which has a new name by then."""
    inner = BRANCHES.replace("Relu(x)", "Relu(m)")
    text = (
        "g (float[2] x, float[2] m0) => (float[2] y) <bool yes = {1}> { y = If (yes)"
        f" <then_branch = t2 () => (float[2] b) {{ m = Exp(x) b = If (yes) {inner} }},"
        " else_branch = e2 () => (float[2] b) { b = Exp(m0) }> }"
    )
    graph = imported(data_of(text))
    assert op_types(graph) == "Exp Relu"
    assert graph.ops[1].inputs == graph.ops[0].outputs


def test_a_condition_may_follow_from_another_branch() -> None:
    """The second If asks for the shape of what the first one gives."""
    text = (
        "g (float[2] x) => (float[2] z) <bool yes = {1}, int64[1] two = {2}>"
        f" {{ z = If (c) {BRANCHES} y = If (yes) {BRANCHES} s = Shape(y) c = Equal(s, two) }}"
    )
    assert op_types(imported(data_of(text))) == "Relu"


def both_taken() -> onnx.ModelProto:
    """Two Ifs whose branches use the same names, hold weights, and hand on what is outside."""
    weight = numpy_helper.from_array(np.array([1, 2], np.float32), "w")
    outs = [helper.make_tensor_value_info(name, 1, [2]) for name in ("a", "x", "a")]
    nodes = [helper.make_node("Add", ["x", "w"], ["a"])]
    branch = helper.make_graph(nodes, "b", [], outs, [weight])
    ifs = [
        helper.make_node(
            "If", ["c"], [f"a{i}", f"x{i}", f"again{i}"], then_branch=branch, else_branch=branch
        )
        for i in range(2)
    ]
    total = helper.make_node("Sum", ["a0", "x0", "again0", "a1", "x1", "again1"], ["y"])
    graph = helper.make_graph(
        [*ifs, total],
        "g",
        [helper.make_tensor_value_info("x", 1, [2])],
        [helper.make_tensor_value_info("y", 1, [2])],
        [numpy_helper.from_array(np.array(True), "c")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_names_of_branches_stay_apart() -> None:
    """x = [3, 5]: twice (x + w) + x + (x + w) is 2 * (3 x + 2 w) = 22, 38."""
    model = both_taken()
    given = np.array([3, 5], np.float32)
    (wanted,) = ReferenceEvaluator(model).run(None, {"x": given})
    assert wanted.tolist() == [22, 38]
    graph = imported(model.SerializeToString())
    assert op_types(graph) == "Add Add Sum"
    weights = [tensor for tensor in graph.tensors.values() if tensor.value is not None]
    assert [tensor.value.tolist() for tensor in weights if tensor.value is not None] == [[1, 2]] * 2
    adds = {op.outputs[0]: "x" for op in graph.ops[:2]}
    assert [adds.get(name, name) for name in graph.ops[2].inputs] == ["x"] * 6
    assert len(adds) == 2


def test_many_branches_cost_in_line() -> None:
    """Taken one at a time, each with a look at all nodes, these took minutes."""
    count = 3000
    chain = " ".join(f"y{n + 1} = If (yes) {BRANCHES.replace('x', f'y{n}')}" for n in range(count))
    text = f"g (float[2] y0) => (float[2] y{count}) <bool yes = {{1}}> {{ {chain} }}"
    assert len(imported(data_of(text)).ops) == count


def test_conditions_that_hang_on_branches_are_followed_some_way() -> None:
    def chain(count: int) -> bytes:
        inner = " ".join(
            f"c{n + 1} = If (c{n}) <then_branch = t () => (bool a) {{ a = Not(no) }},"
            " else_branch = e () => (bool a) { a = Identity(no) }>"
            for n in range(count)
        )
        text = f"g (float[2] x) => (float[2] y) <bool c0 = {{1}}, bool no = {{0}}> {{ {inner}"
        return data_of(f"{text} y = If (c{count}) {BRANCHES} }}")

    assert op_types(imported(chain(20))) == "Relu"
    with pytest.raises(ModelError, match="not supported"):
        imported(chain(80))


@pytest.mark.parametrize("kept", ["then_branch", "else_branch"])
def test_an_if_without_its_branch_is_refused(kept: str) -> None:
    text = f"g (float[2] x) => (float[2] y) <bool yes = {{1}}> {{ y = If (yes) {BRANCHES} }}"
    model = model_of(text)
    then = model.graph.node[0].attribute[0]
    if kept == "else_branch":
        then.name = "other"
    else:
        then.g.output.append(onnx.ValueInfoProto(name="x"))
    with pytest.raises(ModelError, match="has no then_branch with 1 outputs"):
        imported(model.SerializeToString())
