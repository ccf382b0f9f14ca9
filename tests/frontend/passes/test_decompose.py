"""Softmax and layer norm in Relay's parts: the same numbers, and kernels counted by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from onnxruntime import InferenceSession

from graphturbo_core.errors import InvariantError
from graphturbo_core.frontend.passes.clean_up import LAYER_NORM, SOFTMAX, decomposed
from graphturbo_core.ir.graph import Graph
from graphturbo_core.pipeline import RunRequest, run_report, run_reports
from graphturbo_core.report.report import Report
from graphturbo_core.rounds import Imports
from graphturbo_core.semantics.table import analyse
from graphturbo_core.strategies.baselines.stitch import stitched_kernels
from graphturbo_core.strategies.layers.relay import relay_layers
from sample_models.bert import BertSize, bert
from sample_models.vit import VitSize, vit
from tests.frontend.passes.decomposed_block import DECOMPOSED, RELAY, WHOLE, block
from tests.frontend.reference import run_graph
from tests.full import paired
from tests.models import graph_of, model_bytes, op_types

SOFTMAX_PARTS = "ReduceMax Sub Exp ReduceSum Div"
NORM = "ReduceMean Sub Mul ReduceMean Add Sqrt Sub Div"


def parts_of(text: str, opset: int = 17) -> Graph:
    return decomposed(graph_of(text, opset), (LAYER_NORM, SOFTMAX))


def softmax(axis: str, opset: int) -> tuple[str, int]:
    return f"g (float[4,6,5] x) => (float[4,6,5] y) {{ y = Softmax {axis} (x) }}", opset


def norm(attributes: str, parameters: str, dtype: str = "float") -> str:
    ones = "1,2,3,4,5"
    return f"""g ({dtype}[4,6,5] x) => ({dtype}[4,6,5] y)
        <{dtype}[5] s = {{{ones}}}, {dtype}[5] b = {{{ones}}}>
        {{ y = LayerNormalization {attributes} (x, {parameters}) }}"""


EQUAL = {
    "softmax of the last axis": (*softmax("", 17), SOFTMAX_PARTS),
    "softmax of an axis": (*softmax("<axis = 1>", 13), SOFTMAX_PARTS),
    "softmax of all axes from one": (*softmax("", 12), SOFTMAX_PARTS),
    "softmax of all": (*softmax("<axis = -3>", 9), SOFTMAX_PARTS),
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
    assert graph.notes[-1] == (
        "1 op(s) of type LayerNormalization not decomposed: 16 bits, or statistics are read"
    )


def test_parts_keep_the_op_they_came_from() -> None:
    graph = parts_of(norm("", "s, b"))
    assert graph.undecomposed is not None
    assert {op.origin for op in graph.ops} == {op.name for op in graph.undecomposed.ops}
    with pytest.raises(InvariantError, match="comes from 'other', which is not an op"):
        replace(graph, ops=(replace(graph.ops[0], origin="other"), *graph.ops[1:])).check()
    beside = replace(graph.undecomposed.ops[0], name="beside")
    whole = replace(graph.undecomposed, ops=(*graph.undecomposed.ops, beside))
    with pytest.raises(InvariantError, match="nothing is left of 'beside'"):
        replace(graph, undecomposed=whole).check()


def test_a_graph_without_such_ops_is_itself() -> None:
    graph = graph_of("g (float[4] x) => (float[4] y) { y = Relu (x) }")
    assert decomposed(graph, (LAYER_NORM, SOFTMAX)) is graph


def test_statistics_that_nobody_reads_go() -> None:
    text = """g (float[4,5] x, float[5] s) => (float[4,5] y) { y, m = LayerNormalization (x, s) }"""
    assert op_types(parts_of(text)) == f"{NORM} Mul"


def graph(strategy: str, options: Mapping[str, str]) -> Graph:
    return Imports(block()).whole(RunRequest("block", strategy, batch=4, options=options))


def kernels_of(options: Mapping[str, str]) -> list[str]:
    """Op types of each of Relay's groups, in the graph that `tvm` runs."""
    run = graph("tvm", options)
    return [
        " ".join(run.op_by_name[name].op_type for name in layer.ops)
        for layer in relay_layers(analyse(run))
    ]


MEAN, VARIANCE = "ReduceMean", "Sub Mul ReduceMean"
REST = "Add Sqrt Sub Div Mul Add Relu"
SOFTMAX_KERNELS = ["ReduceMax", "Sub Exp", "ReduceSum", "Div Mul"]
HEAD = ["MatMul", "Transpose", "MatMul Relu"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [*HEAD, "Softmax Mul", "MatMul Add", MEAN, VARIANCE, REST]),
        (RELAY, [*HEAD, "Softmax Mul", "MatMul Add", MEAN, VARIANCE, REST]),
        (WHOLE, [*HEAD, "Softmax Mul", "MatMul Add", "LayerNormalization", "Relu"]),
        (DECOMPOSED, [*HEAD, *SOFTMAX_KERNELS, "MatMul Add", MEAN, VARIANCE, REST]),
    ],
    ids=["default", "relay", "whole", "decomposed"],
)
def test_relay_s_kernels_by_hand(options: Mapping[str, str], expected: list[str]) -> None:
    """Softmax takes the product after it, as a convolution does, and nothing before it.

    Each reduction ends a kernel and takes what leads to it alone. The exponential is read by the
    sum and by the quotient: it goes with the difference before it, in a kernel of its own. What
    follows the layer norm joins its last part, and finds no op to join where the norm is one.
    """
    assert kernels_of(options) == expected


@pytest.mark.parametrize(
    ("options", "softmax_types", "norm_types"),
    [
        ({}, "Softmax", "LayerNormalization"),
        ({"astitch.normalisation": "xla"}, SOFTMAX_PARTS, f"{NORM} Mul Add"),
    ],
    ids=["default", "xla"],
)
def test_astitch_stitches_what_xla_makes_of_them(
    options: Mapping[str, str], softmax_types: str, norm_types: str
) -> None:
    """Between two products everything is one kernel, whether it is one op or ten."""
    run = graph("astitch", options)
    kernels = stitched_kernels(analyse(run))
    assert [" ".join(run.op_by_name[op].op_type for op in kernel.ops) for kernel in kernels] == [
        "Transpose", "MatMul", "MatMul", f"Relu {softmax_types} Mul", "MatMul",
        f"Add {norm_types} Relu",
    ]  # fmt: skip


@pytest.mark.parametrize("profile", ["generic-4x4", "goya"])
@pytest.mark.parametrize(("options", "count"), [(RELAY, 8), (WHOLE, 7), (DECOMPOSED, 11)])
def test_it_replays(profile: str, options: Mapping[str, str], count: int) -> None:
    request = RunRequest("block", "tvm@1", profile, 4, options=options, verify=True)
    contract = run_report(block(), request).contract
    assert (contract["kernels"], contract["sub_graphs_fine"]) == (count, 7)
    found: dict[str, object] = dict(contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found
    assert float(str(found["max_abs_error"])) > 0 or options == WHOLE  # other sums than the op's


SIZES = {
    "bert": bert(BertSize(2, 64, 4, 5000, 16), {"batch": 2, "sequence": 8}),
    "vit": vit(VitSize(1, 64, 4, 8, 32, 10)),
}


VALUES = (("tvm", "relay"), ("tvm", "whole"), ("astitch", "stitched"), ("astitch", "xla"))


@pytest.mark.parametrize(
    ("own", "model", "profile"),
    paired(VALUES, SIZES, ["generic-4x4", "stcp920"]),
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_transformers_replay_with_either_value(
    own: tuple[str, str], model: str, profile: str
) -> None:
    """Layers are the model's; `tvm` has two more kernels per layer norm that it takes apart.

    But for the last norm of the ViT, whose last part takes the choice of the class token after it.
    """
    strategy, value = own
    options = {f"{strategy}.normalisation": value}
    request = RunRequest(model, f"{strategy}@2", profile, 4, options=options, verify=True)
    contract = run_report(SIZES[model].SerializeToString(), request).contract
    assert dict(contract["verify"])["ok"]  # type: ignore[call-overload]
    if strategy == "tvm":
        layers, more = {"bert": (35, 2 * 5), "vit": (20, 2 * 3 - 1)}[model]
        assert contract["sub_graphs_fine"] == layers
        assert contract["kernels"] == layers + (more if value == "relay" else 0)


def kernels(report: Report) -> object:
    return report.contract["kernels"]


def test_of_a_comparison_tvm_alone_has_it() -> None:
    """The runs share an import where they may; what tvm asks for is no other run's."""
    asked = [
        RunRequest("block", strategy, batch=4, options=options)
        for strategy, options in (
            ("tvm", {}), ("tvm", DECOMPOSED), ("graphturbo", DECOMPOSED), ("layerwise", DECOMPOSED),
        )
    ]  # fmt: skip
    whole, parts, *others = run_reports(block(), asked)
    assert (kernels(whole), kernels(parts), kernels(others[1])) == (8, 11, 10)
    assert "tvm.normalisation" not in others[0].contract["options"]  # type: ignore[operator]


def test_runs_share_layers_and_bound_whichever_graph_they_run() -> None:
    """Memory bars, tables, colours and the contract have the layers of the model as it is."""
    asked = [
        RunRequest("block", strategy, "generic-4x4", 4, options=DECOMPOSED)
        for strategy in ("tvm", "graphturbo")
    ]
    first, second = run_reports(block(), asked)
    shared = ("index", "name", "op_types")
    rows = [
        [tuple(row[key] for key in shared) for row in report.tables["layers"]]
        for report in (first, second)
    ]
    assert rows[0] == rows[1]
    assert [types for _, _, types in rows[0]] == [
        "MatMul", "Transpose", "MatMul+Relu", "Softmax+Mul", "MatMul+Add", "LayerNormalization",
        "Relu",
    ]  # fmt: skip
    for key in ("lower_bound_s", "macs", "sub_graphs_fine", "compulsory_dram_bytes"):
        assert first.contract[key] == second.contract[key], key


def test_what_parts_do_is_booked_to_the_layer_they_come_from() -> None:
    """The last part of the layer norm and the activation after it are one kernel, of two layers."""
    request = RunRequest("block", "tvm", "generic-4x4", 4, options=DECOMPOSED)
    report = run_report(block(), request)
    nodes = report.tables["graph_nodes"]
    layer_of = np.array([row["layer"] for row in nodes])
    assert np.array_equal(report.arrays["layer"], layer_of[report.arrays["op"]])
    softmax_line, norm_line, relu_line = 4, 8, 9  # places of these lines in BLOCK
    parts = [(row["origin"], row["layer"]) for row in nodes if "/" in str(row["op"])]
    assert parts == [(softmax_line, 3)] * 5 + [(norm_line, 5)] * 10
    assert (nodes[-1]["origin"], nodes[-1]["layer"], nodes[-1]["group"]) == (relu_line, 6, 10)
    last = next(row for row in report.tables["groups"] if row["layers"] == 2)
    assert (last["name"], last["ops"]) == ("g11", 7)
    assert all(row["window_s"] > 0 for row in report.tables["layers"])  # type: ignore[operator]


def test_a_plan_of_it_is_run_again() -> None:
    request = RunRequest("block", "tvm", "generic-4x4", 4, options=DECOMPOSED, emit=("plan",))
    first = run_report(block(), request)
    again = RunRequest(
        "block", "tvm", "generic-4x4", 4, options=DECOMPOSED, plan=first.text("plan")
    )
    assert run_report(block(), again).contract["cycles"] == first.contract["cycles"]
