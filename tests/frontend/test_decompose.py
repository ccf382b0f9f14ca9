"""Softmax and layer norm in Relay's parts: the same numbers, and kernels counted by hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnxruntime import InferenceSession

from graphturbo_core.frontend.clean_up import DECOMPOSE
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.ir.graph import Graph
from graphturbo_core.pipeline import RunRequest, run_report, run_reports
from graphturbo_core.report.report import Report
from graphturbo_core.rounds import Imports
from graphturbo_core.semantics.table import analyse
from graphturbo_core.strategies.relay import relay_layers
from tests.frontend.reference import run_graph
from tests.models import graph_of, imported, model_bytes, op_types

DECOMPOSED = {"tvm.normalisation": "decomposed"}
SOFTMAX = "ReduceMax Sub Exp ReduceSum Div"
NORM = "ReduceMean Sub Mul ReduceMean Add Sqrt Sub Div"


def parts_of(text: str, opset: int = 17) -> Graph:
    return imported(model_bytes(text, opset), ImportOptions("test", extra_passes=(DECOMPOSE,)))


def softmax(axis: str, opset: int) -> tuple[str, int]:
    return f"g (float[4,6,5] x) => (float[4,6,5] y) {{ y = Softmax {axis} (x) }}", opset


def norm(attributes: str, parameters: str, dtype: str = "float") -> str:
    ones = "1,2,3,4,5"
    return f"""g ({dtype}[4,6,5] x) => ({dtype}[4,6,5] y)
        <{dtype}[5] s = {{{ones}}}, {dtype}[5] b = {{{ones}}}>
        {{ y = LayerNormalization {attributes} (x, {parameters}) }}"""


EQUAL = {
    "softmax of the last axis": (*softmax("", 17), SOFTMAX),
    "softmax of an axis": (*softmax("<axis = 1>", 13), SOFTMAX),
    "softmax of all axes from one": (*softmax("", 12), SOFTMAX),
    "softmax of all": (*softmax("<axis = -3>", 9), SOFTMAX),
    "layer norm": (norm("", "s, b"), 17, f"{NORM} Mul Add"),
    "layer norm without shift": (norm("<epsilon = 0.5>", "s"), 17, f"{NORM} Mul"),
    "layer norm of two axes": (norm("<axis = 1>", "s, b"), 17, f"{NORM} Mul Add"),
    "layer norm in doubles": (norm("<axis = -1>", "s, b", "double"), 17, f"{NORM} Mul Add"),
}


@pytest.mark.parametrize(("text", "opset", "types"), EQUAL.values(), ids=EQUAL)
def test_parts_give_what_onnx_runtime_gives_for_the_whole(
    text: str, opset: int, types: str
) -> None:
    graph = parts_of(text, opset)
    assert op_types(graph) == types
    dtype = np.dtype(graph.tensors["x"].dtype)
    x = np.random.default_rng(7).normal(3, 2, (4, 6, 5)).astype(dtype)
    session = InferenceSession(model_bytes(text, opset), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"x": x})
    (found,) = run_graph(graph, {"x": x})
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


def test_nothing_is_taken_apart_unless_asked_for() -> None:
    assert op_types(graph_of(EQUAL["layer norm"][0])) == "LayerNormalization"


@pytest.mark.parametrize(
    "text",
    [
        norm("", "s, b", "float16"),
        """g (float[4,5] x, float[5] s) => (float[4,5] y, float[4,1] m)
            { y, m = LayerNormalization (x, s) }""",
    ],
    ids=["16 bits", "its mean is read"],
)
def test_what_stays_whole_is_told(text: str) -> None:
    graph = parts_of(text)
    assert op_types(graph) == "LayerNormalization"
    assert graph.notes[-1] == "1 softmax or layer norm ops stay whole: 16 bits, or statistics"


def test_statistics_that_nobody_reads_go() -> None:
    text = """g (float[4,5] x, float[5] s) => (float[4,5] y) { y, m = LayerNormalization (x, s) }"""
    assert op_types(parts_of(text)) == f"{NORM} Mul"


BLOCK = """block (float[n,16,32] x, float[32,32] w, float[32] s, float[32] v)
    => (float[n,16,32] y) {
    q = MatMul (x, w)
    k = Transpose <perm = [0,2,1]> (x)
    a = MatMul (q, k)
    c = Relu (a)
    p = Softmax (c)
    o = MatMul (p, x)
    r = Add (o, x)
    t = LayerNormalization (r, s, v)
    y = Relu (t)
}"""


def block() -> bytes:
    """The weights of BLOCK as initializers."""
    model = onnx.load_from_string(model_bytes(BLOCK))
    rng = np.random.default_rng(0)
    for name in ("w", "s", "v"):
        (value,) = (each for each in model.graph.input if each.name == name)
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        numbers = rng.normal(size=shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(numbers, name))
        model.graph.input.remove(value)
    return bytes(model.SerializeToString())


def layers(options: Mapping[str, str]) -> list[str]:
    request = RunRequest("block", "tvm", batch=4, options=options)
    graph = Imports(block()).whole(request)
    return [
        " ".join(graph.op_by_name[name].op_type for name in layer.ops)
        for layer in relay_layers(analyse(graph))
    ]


def test_relay_s_kernels_by_hand() -> None:
    """Each reduction ends a kernel and takes what leads to it alone. The exponential is read by the
    sum and by the quotient: it goes with the difference before it, in a kernel of its own. What
    follows the layer norm joins its last part, where it found an op of its own kind before."""
    assert layers({}) == [
        "MatMul", "Transpose", "MatMul Relu", "Softmax", "MatMul Add", "LayerNormalization", "Relu",
    ]  # fmt: skip
    assert layers(DECOMPOSED) == [
        "MatMul", "Transpose", "MatMul Relu",
        "ReduceMax", "Sub Exp", "ReduceSum", "Div",
        "MatMul Add",
        "ReduceMean", "Sub Mul ReduceMean", "Add Sqrt Sub Div Mul Add Relu",
    ]  # fmt: skip


@pytest.mark.parametrize("profile", ["generic-4x4", "goya"])
def test_it_replays(profile: str) -> None:
    request = RunRequest("block", "tvm@1", profile, 4, options=DECOMPOSED, verify=True)
    contract = run_report(block(), request).contract
    assert contract["kernels"] == contract["sub_graphs_fine"] == 11
    found: dict[str, object] = dict(contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found
    assert float(str(found["max_abs_error"])) > 0  # other sums than those of the whole op


def sub_graphs(report: Report) -> object:
    return report.contract["sub_graphs_fine"]


def test_of_a_comparison_tvm_alone_has_it() -> None:
    """The runs share an import where they may; what tvm asks for is no other run's."""
    asked = [
        RunRequest("block", strategy, batch=4, options=options)
        for strategy, options in (
            ("tvm", {}), ("tvm", DECOMPOSED), ("graphturbo", DECOMPOSED), ("layerwise", DECOMPOSED),
        )
    ]  # fmt: skip
    whole, decomposed, *others = run_reports(block(), asked)
    assert (sub_graphs(whole), sub_graphs(decomposed)) == (7, 11)
    assert [sub_graphs(each) for each in others] == [7, 7]
    assert "tvm.normalisation" not in others[0].contract["options"]  # type: ignore[operator]


def test_a_plan_of_it_is_run_again() -> None:
    request = RunRequest("block", "tvm", "generic-4x4", 4, options=DECOMPOSED, emit=("plan",))
    first = run_report(block(), request)
    again = RunRequest(
        "block", "tvm", "generic-4x4", 4, options=DECOMPOSED, plan=first.text("plan")
    )
    assert run_report(block(), again).contract["cycles"] == first.contract["cycles"]
