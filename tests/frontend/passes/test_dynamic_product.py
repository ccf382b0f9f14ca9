"""A product that quantises its data first becomes two ops, and computes the same."""

from __future__ import annotations

import pytest

from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.semantics.table import analyse
from graphturbo_core.semantics.work import total_macs
from tests.models import graph_of, imported, model_bytes, model_of, op_types
from tests.soundness import check_right

HEAD = "g (float[4,6,8] x) => (float[4,6,3] y)"
WEIGHT = f"uint8[8,3] w = {{{','.join(str(7 * place % 256) for place in range(24))}}}"
NUMBERS = f"<{WEIGHT}, float s = {{0.1}}, uint8 z = {{90}}, float[3] b = {{0.5, -1, 2}}>"
CALLS = ("(x, w, s)", "(x, w, s, z)", "(x, w, s, z, b)", "(x, w, s, , b)")


@pytest.mark.parametrize("call", CALLS)
def test_it_is_a_quantisation_and_a_product(call: str) -> None:
    """4 * 6 * 3 results of 8 products each, at the rate of bytes."""
    text = f"{HEAD} {NUMBERS} {{ y = com.microsoft.DynamicQuantizeMatMul {call} }}"
    graph = graph_of(text)
    assert op_types(graph) == "DynamicQuantizeLinear MatMulIntegerToFloat"
    assert [graph.tensors[name].shape for name in graph.ops[0].outputs] == [(4, 6, 8), (), ()]
    semantics = analyse(graph)
    assert not semantics.opaque_ops
    assert semantics.by_op[graph.ops[1].name].is_of_bytes
    assert total_macs(semantics) == 4 * 6 * 3 * 8
    request = RunRequest("product", "graphturbo", "generic-4x4", verify=True)
    report = run_report(model_bytes(text), request)
    check_right(report)
    assert report.contract["verify"]["max_abs_error"] == 0  # type: ignore[index, call-overload]


def test_names_that_are_there_are_not_taken_again() -> None:
    """The second op and what it reads are called as the first part and its result would be."""
    model = model_of(
        f"{HEAD} {NUMBERS} {{ a = com.microsoft.DynamicQuantizeMatMul {CALLS[0]} y = Relu (a) }}"
    )
    first, second = model.graph.node
    first.name, second.name = "product", "product/quantise"
    first.output[0] = second.input[0] = "product/bytes"
    graph = imported(model.SerializeToString())
    assert [op.name for op in graph.ops] == ["product/quantise_", "product", "product/quantise"]
    assert [op.outputs[0] for op in graph.ops] == ["product/bytes_", "product/bytes", "y"]


def test_it_is_left_as_it_is_without_the_pass() -> None:
    text = f"{HEAD} {NUMBERS} {{ y = com.microsoft.DynamicQuantizeMatMul {CALLS[0]} }}"
    graph = graph_of(text, skip="split-dynamic")
    assert op_types(graph) == "DynamicQuantizeMatMul"
    assert graph.tensors["y"].shape == (4, 6, 3)
