"""Models as ONNX Runtime's quantiser leaves them: 8-bit layers replay to the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    quantize_dynamic,
    quantize_static,
)

from graphturbo_core.frontend.numbers import with_numbers
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.pipeline import RunRequest, run_report
from sample_models import build_samples
from sample_models.bert import BertSize, bert
from tests.models import model_of
from tests.soundness import check_right
from tests.verify.models.runtime_models import optimised

SEED = 7
BATCH = 4


class Noise(CalibrationDataReader):
    """Two batches of noise for one input; `shape` is that of a sample."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.name, self.shape = name, shape
        self.left = 2

    def get_next(self) -> Mapping[str, np.ndarray] | None:
        self.left -= 1
        if self.left < 0:
            return None
        random = np.random.default_rng(self.left)
        return {self.name: random.standard_normal((BATCH, *self.shape), np.float32)}


def layers_of(data: bytes, name: str, dtype: str) -> set[str]:
    """Op types of the layers of a run that replays right."""
    request = RunRequest(name, "graphturbo", "stcp920", BATCH, dtype=dtype, verify=True)
    report = run_report(data, request)
    check_right(report)
    layers = report.contract["layers"]
    assert isinstance(layers, list)
    return {layer["op_types"].split("+")[0] for layer in layers}


@pytest.mark.filterwarnings("ignore")  # the quantiser's own
@pytest.mark.parametrize("style", [QuantFormat.QDQ, QuantFormat.QOperator])
def test_a_quantised_network_of_convolutions(style: QuantFormat, tmp_path: Path) -> None:
    """A layer between dequantise and quantise is one layer of 8-bit numbers."""
    plain, quantised = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    model = build_samples.resnet("slim", (1, 1, 1, 1), 16, 32)
    plain.write_bytes(with_numbers(model.SerializeToString(), SEED, DEFAULT_LIMITS).data)
    quantize_static(plain, quantised, Noise("image", (3, 32, 32)), quant_format=style)
    found = layers_of(quantised.read_bytes(), "quantised", "int8")
    assert "QLinearConv" in found
    assert "Conv" not in found


def runs_without_opaque_ops(model: onnx.ModelProto, name: str) -> None:
    """It replays right, and every op has semantics."""
    report = run_report(
        model.SerializeToString(),
        RunRequest(name, "graphturbo", "stcp920", dtype="int8", verify=True),
    )
    check_right(report)
    assert "no semantics" not in " ".join(map(str, report.contract["notes"]))  # type: ignore[call-overload]


@pytest.mark.filterwarnings("ignore")
def test_the_optimiser_lays_bytes_with_channels_last(tmp_path: Path) -> None:
    plain, quantised = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    model = build_samples.resnet("slim", (1, 1, 1, 1), 16, 32)
    plain.write_bytes(with_numbers(model.SerializeToString(), SEED, DEFAULT_LIMITS).data)
    quantize_static(
        plain, quantised, Noise("image", (3, 32, 32)), quant_format=QuantFormat.QOperator
    )
    fused = optimised(onnx.load(quantised), tmp_path, "ORT_ENABLE_ALL")
    found = {node.op_type for node in fused.graph.node if node.domain == "com.microsoft"}
    assert {"QLinearConv", "NhwcMaxPool", "QLinearAdd", "QLinearGlobalAveragePool"} <= found
    runs_without_opaque_ops(fused, "channels last")


@pytest.mark.filterwarnings("ignore")
def test_an_optimised_encoder_that_quantises_on_the_way(tmp_path: Path) -> None:
    plain, quantised = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    model = bert(BertSize(1, 64, 4, 500, 16), {"batch": 2, "sequence": 8})
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = {"batch": 2, "sequence": 8}[dim.dim_param]
    plain.write_bytes(with_numbers(model.SerializeToString(), SEED, DEFAULT_LIMITS).data)
    quantize_dynamic(plain, quantised)
    fused = optimised(onnx.load(quantised), tmp_path)
    found = {node.op_type for node in fused.graph.node if node.domain == "com.microsoft"}
    assert {"DynamicQuantizeMatMul", "MatMulIntegerToFloat"} <= found
    runs_without_opaque_ops(fused, "encoder")


@pytest.mark.filterwarnings("ignore")
def test_a_dynamically_quantised_encoder(tmp_path: Path) -> None:
    plain, quantised = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    model = bert(BertSize(1, 64, 4, 500, 16), {"batch": 2, "sequence": 8})
    plain.write_bytes(with_numbers(model.SerializeToString(), SEED, DEFAULT_LIMITS).data)
    quantize_dynamic(plain, quantised)
    assert "DynamicQuantizeLinear" in layers_of(quantised.read_bytes(), "encoder", "fp16")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("is_by_channel", [False, True])
@pytest.mark.parametrize("style", [QuantFormat.QDQ, QuantFormat.QOperator])
def test_a_quantised_network_of_matrices(
    style: QuantFormat, is_by_channel: bool, tmp_path: Path
) -> None:
    """Every Gemm is one layer of 8-bit numbers, whichever way the quantiser wrote it."""
    plain, quantised = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    text = (
        f"g (float[{BATCH},96] x, float[200,96] wa, float[200] wb, float[200,50] wc, float[50] wd)"
        f" => (float[{BATCH},50] y) {{ a = Gemm <transB = 1> (x, wa, wb) b = Relu (a)"
        " y = Gemm (b, wc, wd) }"
    )
    plain.write_bytes(with_seeded_weights(text))
    quantize_static(
        plain, quantised, Noise("x", (96,)), quant_format=style, per_channel=is_by_channel
    )
    found = layers_of(quantised.read_bytes(), "quantised", "int8")
    assert found == {"QuantizeLinear", "QGemm"}


def with_seeded_weights(text: str) -> bytes:
    """The model, its inputs that begin with w seeded weights."""
    model = model_of(text)
    generator = np.random.default_rng(SEED)
    for value in [value for value in model.graph.input if value.name.startswith("w")]:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        drawn = generator.normal(0, 0.1, shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(drawn, value.name))
        model.graph.input.remove(value)
    return bytes(model.SerializeToString(deterministic=True))


@pytest.mark.filterwarnings("ignore")
def test_a_dynamically_quantised_recurrent_network(tmp_path: Path) -> None:
    """Samples are quantised together: the batch is not divided over the clusters."""
    plain, quantised = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    text = (
        "g (float[6,4,24] x, float[2,128,24] wa, float[2,128,32] wb, float[2,256] wc)"
        " => (float[6,2,4,32] y, float[2,4,32] h)"
        ' { y, h = LSTM <hidden_size = 32, direction = "bidirectional"> (x, wa, wb, wc) }'
    )
    plain.write_bytes(with_seeded_weights(text))
    quantize_dynamic(plain, quantised)
    model = onnx.load(quantised)
    assert [node.op_type for node in model.graph.node] == ["DynamicQuantizeLSTM"]
    runs_without_opaque_ops(model, "recurrent")
