"""Trained models out of packages: a file classifier, speech, music, text and its direction.

`.ci/run` installs requirements-models.txt and demands them; without the packages they are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from graphturbo_core.pipeline import RunRequest, run_reports
from tests.full import IS_FULL
from tests.soundness import check_right

ARE_REQUIRED = os.environ.get("GRAPHTURBO_REQUIRE_MODELS") == "1"
SIDES = {"p2o.DynamicDimension.1": 96, "p2o.DynamicDimension.2": 128}
CASES: dict[str, tuple[str, str, int, Mapping[str, int]]] = {
    "file type": ("magika", "model.onnx", 2, {}),
    "speech": ("silero-vad", "silero_vad_openvino_16k.onnx", 1, {}),
    "speech in halves": ("silero-vad", "silero_vad_half.onnx", 1, {"sequence": 576}),
    "text detection": ("rapidocr-onnxruntime", "ch_PP-OCRv4_det_infer.onnx", 1, SIDES),
    "text recognition": (
        "rapidocr-onnxruntime", "ch_PP-OCRv4_rec_infer.onnx", 2,
        {"?": 48, "p2o.DynamicDimension.1": 64},
    ),
    "music": ("basic-pitch", "nmp.onnx", 2, {}),
    "text direction": (
        "rapidocr-onnxruntime", "ch_ppocr_mobile_v2.0_cls_infer.onnx", 4, {"?": 48},
    ),
}  # fmt: skip


LONG = ("text recognition", "music", "text direction")
"""Under one strategy, but with GRAPHTURBO_FULL=1."""


def model_file(package: str, name: str) -> bytes:
    """The file out of an installed package, which is not imported."""
    try:
        found = [Path(str(file.locate())) for file in files(package) or () if file.name == name]
    except PackageNotFoundError:
        found = []
    if not found:
        reason = f"{package} is missing: pip install --no-deps -r requirements-models.txt"
        if ARE_REQUIRED:
            pytest.fail(reason)
        pytest.skip(reason)
    return found[0].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_trained_models_compute_what_they_should(case: str) -> None:
    package, name, batch, dims = CASES[case]
    model = model_file(package, name)
    requests = [
        RunRequest(name, strategy, "stcp920", batch, dims, verify=True)
        for strategy in (("graphturbo",) if case in LONG and not IS_FULL else ("tvm", "graphturbo"))
    ]
    for report in run_reports(model, requests):
        check_right(report)
        assert report.contract["verify"]["drawn_weights"] == 0  # type: ignore[index]
