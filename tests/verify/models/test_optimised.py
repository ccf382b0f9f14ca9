"""Models that ONNX Runtime's optimiser has fused: they import, know their shapes, and replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from graphturbo_core.pipeline import RunRequest, run_reports
from sample_models import build_samples
from sample_models.bert import BertSize, bert
from tests.models import model_of
from tests.soundness import check_right
from tests.verify.models.runtime_models import optimised

NORMS = """g (float[2,24,64] x, float[64,64] w) => (float[2,24,64] y)
    <float two = {2}, float e = {0.00001}> {
    a = ReduceMean <axes = [-1]> (x) b = Sub (x, a) c = Pow (b, two)
    d = ReduceMean <axes = [-1]> (c) f = Add (d, e) h = Sqrt (f) i = Div (b, h)
    j = Mul (i, s) k = Add (j, s) l = MatMul (k, w)
    m = Pow (l, two) n = ReduceMean <axes = [-1]> (m) o = Add (n, e) p = Sqrt (o) q = Div (l, p)
    y = Mul (q, s) }"""
"""LayerNorm and RMSNorm in parts, as exporters write them."""


def norms() -> onnx.ModelProto:
    """Of an operator set that has neither as one op; the optimiser writes them all the same."""
    model = model_of(NORMS, opset=13)
    generator = np.random.default_rng(1)
    for name, shape in (("s", (64,)), ("w", (64, 64))):
        drawn = generator.normal(0, 0.2, shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(drawn, name))
    del model.graph.input[1]
    return model


MODELS: dict[str, tuple[Callable[[], onnx.ModelProto], set[str]]] = {
    "bert": (
        lambda: bert(BertSize(2, 64, 4, 100, 64)),
        {"Gelu", "SkipLayerNormalization", "FusedMatMul", "FusedGemm"},
    ),
    "norms": (norms, {"LayerNormalization", "SimplifiedLayerNormalization"}),
    "resnet": (lambda: build_samples.resnet("v15", (1, 1, 1, 1), 8, 32), {"FusedConv"}),
}
"""A small model, and the fused ops that the optimiser makes of it."""
SIZES = {"batch": 2, "sequence": 16}


def plain(name: str) -> onnx.ModelProto:
    """The model of fixed sizes, with seeded numbers where the sample has none."""
    model = MODELS[name][0]()
    generator = np.random.default_rng(0)
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = SIZES[dim.dim_param]
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            drawn = generator.normal(0, 0.1, tuple(tensor.dims)).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(drawn, tensor.name))
    return model


def op_types(model: onnx.ModelProto) -> set[str]:
    """Op types of its nodes."""
    return {node.op_type for node in model.graph.node}


@pytest.mark.parametrize("name", MODELS)
def test_a_fused_model_is_the_model(name: str, tmp_path: Path) -> None:
    """It has the fused ops, no op is opaque, its MACs are the plain one's, and it replays."""
    model = plain(name)
    fused = optimised(model, tmp_path)
    fresh = op_types(fused) - op_types(model)
    assert fresh == MODELS[name][1]
    requests = [
        RunRequest(name, strategy, "generic-4x4", verify=True) for strategy in ("tvm", "graphturbo")
    ]
    before = run_reports(model.SerializeToString(), requests[:1])
    (plain_macs,) = {report.contract["macs"] for report in before}
    for report in run_reports(fused.SerializeToString(), requests):
        check_right(report)
        assert report.contract["macs"] == plain_macs
        assert "no semantics" not in " ".join(map(str, report.contract["notes"]))  # type: ignore[call-overload]
