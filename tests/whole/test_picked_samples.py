"""Constants that import computes from a free batch: is the batch divided, and is the result right?

Each run replays on numbers; where the batch were divided wrongly, it would differ from the model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.pipeline import Imports, RunRequest, run_report
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.note_places import notes_by_place
from graphturbo_core.rounds import divide
from graphturbo_core.semantics.independence import dependence_on_batch
from graphturbo_core.semantics.sample_axis import mixed_samples
from graphturbo_core.strategies.registry import parse_strategy
from tests.data.exports import exported
from tests.soundness import check_right

WIDTH, BATCH = 512, 16
"""8,192 indices for 16 samples, more than import computes of another constant."""
ASSUMED = "samples are assumed independent in 1 op(s) whose indices have no numbers"


def node(call: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(call, inputs.split(), [output], output, **attributes)


COUNTED = (
    node("Shape", "x", "n1", end=1),
    node("Squeeze", "n1 zero", "n"),
    node("Range", "low n one", "numbers"),
    node("Unsqueeze", "numbers one1", "column"),
)
"""The number of each sample, a row for each."""
PICKED = (node("Reshape", "x flat", "all"), node("Gather", "all i", "y"))


def model(*nodes: onnx.NodeProto, **more: object) -> bytes:
    weights = {
        "zero": [0], "low": 0, "one": 1, "one1": [1], "width": WIDTH, "flat": [-1],
        "offsets": np.arange(WIDTH)[None], "nought": np.zeros(1, np.float32), **more,
    }  # fmt: skip
    graph = helper.make_graph(
        [*COUNTED, *nodes], "computed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(each), name) for name, each in weights.items()],
    )  # fmt: skip
    opset = helper.make_opsetid("", 18)
    return bytes(helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString())


def run(data: bytes) -> Report:
    report = run_report(data, RunRequest("m", "graphturbo", "stcp920", BATCH, verify=True))
    check_right(report)
    return report


def is_divided(report: Report) -> bool:
    has_note = any("is not divided" in note for note in report.contract["notes"])  # type: ignore[attr-defined]
    assert report.contract["cluster_batch"] == (BATCH if has_note else BATCH // 4)
    return not has_note


STARTS = node("Mul", "column width", "starts")


@pytest.mark.parametrize(
    ("nodes", "offsets"),
    [
        ((STARTS, node("Add", "starts offsets", "i")), range(WIDTH)),
        ((STARTS, node("Add", "starts offsets", "i")), [0] * WIDTH),
        ((node("Add", "column one", "next"), node("Mul", "next width", "ends"),
          node("Sub", "ends offsets", "i")), range(1, WIDTH + 1)),
    ],
    ids=["all", "the first", "from the end"],
)  # fmt: skip
def test_picks_within_each_sample_are_divided(
    nodes: tuple[onnx.NodeProto, ...], offsets: list[int]
) -> None:
    data = model(*nodes, *PICKED, offsets=np.array(offsets)[None])
    report = run(data)
    assert is_divided(report)
    assert ASSUMED not in report.contract["notes"]  # type: ignore[operator]


FLIPPED = (
    node("Sub", "n one", "last"), node("Sub", "last column", "back"),
    node("Mul", "back width", "starts"), node("Add", "starts offsets", "i"),
)  # fmt: skip
TURNED = (
    node("Add", "column offsets", "sum"), node("Mod", "sum width", "turned"),
    STARTS, node("Add", "starts turned", "i"),
)  # fmt: skip


@pytest.mark.parametrize(
    "nodes",
    [
        FLIPPED,
        TURNED,
        (STARTS, node("Add", "starts offsets", "sum"), node("Sub", "sum one", "i")),
        (node("Expand", "offsets shape", "i"),),
    ],
    ids=["another sample", "others of its own", "one of the sample before", "the first sample"],
)
def test_other_picks_are_not(nodes: tuple[onnx.NodeProto, ...]) -> None:
    shape = node("Concat", "n1 one1", "shape", axis=0)
    assert not is_divided(run(model(shape, *nodes, *PICKED)))


def test_indices_without_numbers_are_assumed_to_stay_in_their_sample() -> None:
    """Offsets in another file: a replay draws 0 and 1 for them."""
    proto = onnx.load_model_from_string(model(STARTS, node("Add", "starts offsets", "i"), *PICKED))
    (offsets,) = (each for each in proto.graph.initializer if each.name == "offsets")
    offsets.ClearField("raw_data")
    offsets.data_location = TensorProto.EXTERNAL
    offsets.external_data.add(key="location", value="elsewhere")
    data = proto.SerializeToString()
    assert is_divided(run(data))
    report = run_report(data, RunRequest("m", "graphturbo", "stcp920", BATCH))
    assert is_divided(report)
    assert ASSUMED in report.contract["notes"]  # type: ignore[operator]
    assert ASSUMED in notes_by_place(report)["throughput"]


@pytest.mark.parametrize("nodes", [FLIPPED, (STARTS, node("Add", "starts offsets", "i"))])
def test_indices_that_are_too_many_for_one_of_the_models_are_not_assumed(
    nodes: tuple[onnx.NodeProto, ...],
) -> None:
    """4 samples have 2,048, which import computes at any limit: their numbers are known."""
    limits = replace(DEFAULT_LIMITS, max_index_elements=0)
    imports, request = Imports(model(*nodes, *PICKED), limits), RunRequest("m", "tvm", batch=BATCH)
    chosen = imports.whole(request), load_profile("stcp920"), parse_strategy("tvm")
    division = divide(imports, request, chosen).division
    assert division.round_sizes == (BATCH,)
    assert ASSUMED not in division.notes


FLOAT = {"to": TensorProto.FLOAT}
COMPUTED = {
    "a mask of the batch": (node("Less", "offsets n", "m"), node("Where", "m x nought", "y")),
    "a place": (
        node("Gather", "x n", "g", axis=1), node("Unsqueeze", "g one1", "g1"),
        node("Mul", "x g1", "y"),
    ),
    "a row of numbers": (node("Cast", "column", "f", **FLOAT), node("Add", "x f", "y")),
    "a column": (node("GatherElements", "x column", "y", axis=1),),
    "a row of a mask": (node("Less", "column one", "m"), node("Where", "m x nought", "y")),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_numbers_that_differ_by_batch_or_sample_are_not_divided(name: str) -> None:
    assert not is_divided(run(model(*COMPUTED[name])))


EQUAL = {
    "a mask of the width": (node("Less", "offsets one", "m"), node("Where", "m x nought", "y")),
    "equal rows": (
        node("Mul", "column low", "same"), node("Cast", "same", "f", **FLOAT),
        node("Add", "x f", "y"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_numbers_that_do_not_differ_are(name: str) -> None:
    assert is_divided(run(model(*EQUAL[name])))


EXPORTS = {
    "convnext_tiny_dynamo": ("convnext_tiny_ts", {}),
    "swin_t_fixed_dynamo": ("swin_t_ts", {"height": 224, "width": 224}),
}
"""Their last pooling is a gather by indices that are computed from the batch. Beside each: the same
network from PyTorch's other exporter, with a GlobalAveragePool, and the sizes that it needs."""


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_are_divided(name: str) -> None:
    imports, request = Imports(exported(name)), RunRequest(name, "tvm", "stcp920", BATCH)
    whole = imports.whole(request)
    for samples in (1, 3, BATCH // 4):
        part = imports.round(request, whole, samples)
        pair = imports.semantics(whole), imports.semantics(part)
        assert dependence_on_batch(*pair) is None
        assert mixed_samples(*pair[::-1], (samples, BATCH)) is None


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["tvm", "graphturbo"])
@pytest.mark.parametrize("name", EXPORTS)
def test_exports_are_as_fast_as_their_twins(name: str, strategy: str) -> None:
    twin, dims = EXPORTS[name]
    found = run_report(exported(name), RunRequest(name, strategy, "stcp920", BATCH))
    other = run_report(exported(twin), RunRequest(twin, strategy, "stcp920", BATCH, dims))
    assert is_divided(found)
    assert is_divided(other)
    rates = [report.contract["throughput_per_s"] for report in (found, other)]
    assert rates[0] > 0.95 * rates[1]  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTS)
def test_samples_of_whole_exports_replay(name: str) -> None:
    """One per cluster: a wrong index would give another sample's class scores."""
    request = RunRequest(name, "graphturbo", "stcp920", 4, verify=True)
    report = run_report(exported(name), request)
    check_right(report)
    assert report.contract["cluster_batch"] == 1
