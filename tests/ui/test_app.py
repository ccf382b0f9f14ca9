"""The app without a browser: it runs, it says what a link names wrongly, and it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[2] / "app.py"
PATIENCE_S = 120


@pytest.fixture
def app() -> AppTest:
    """The smallest sample, so that every test but the browser's stays quick."""
    test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    test.query_params["model"] = "teaching-resnet"
    test.query_params["batch"] = "8"
    return test


def command(app: AppTest) -> str:
    return app.code[1].value


def test_both_runs_are_compared(app: AppTest):
    app.run()
    assert not app.exception
    assert [metric.label for metric in app.metric] == [
        "Throughput",
        "Latency",
        "Kernels launched",
        "DRAM traffic",
        "GB traffic",
        "Matrix busy",
        "Layers overlap",
        "Gap to bound",
    ]
    assert command(app) == (
        "python -m graphturbo_core compare teaching-resnet --profile stcp920 "
        "--strategies tvm@2,graphturbo@16 --batch 8 --dtype fp16"
    )
    assert app.code[0].value == (
        "?model=teaching-resnet&chip=stcp920&a=tvm%402&b=graphturbo%4016&batch=8&dtype=fp16"
    )


def test_runs_can_be_swapped(app: AppTest):
    app.run()
    app.button[0].click().run()
    assert "--strategies graphturbo@16,tvm@2" in command(app)


def test_another_strategy_is_computed(app: AppTest):
    app.run()
    app.selectbox(key="a").set_value("layerwise").run()
    assert not app.exception
    assert "--strategies layerwise,graphturbo@16" in command(app)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("model", "nothing", "which this server does not have"),
        ("model", "a.onnx (0123456789abcdef)", "no longer kept here"),
        ("chip", "nothing", "which this server does not have"),
        ("a", "tvm:nothing", "is not a strategy"),
        ("b", "graphturbo@0", "is not a strategy"),
        ("batch", "0", "is not a batch"),
        ("dtype", "fp1", "is not a number format"),
    ],
)
def test_a_wrong_link_is_said_and_the_default_shown(app: AppTest, key: str, value: str, said: str):
    app.query_params[key] = value
    if key != "model":
        app.query_params["model"] = "teaching-resnet"
    app.run()
    assert not app.exception
    assert any(said in note.value for note in app.info)
