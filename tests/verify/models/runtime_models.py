"""Models as ONNX Runtime fuses them for a CPU."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnxruntime


def optimised(
    model: onnx.ModelProto, folder: Path, level: str = "ORT_ENABLE_EXTENDED"
) -> onnx.ModelProto:
    """What ONNX Runtime runs in place of the model, fused for a CPU."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.optimized_model_filepath = str(folder / "optimised.onnx")
    options.log_severity_level = 4
    onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return onnx.load(options.optimized_model_filepath)
