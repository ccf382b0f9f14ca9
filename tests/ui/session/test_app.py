"""The app without a browser: it runs, it says what a link names wrongly, and it goes on."""

from __future__ import annotations

from pathlib import Path
from threading import Timer

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core import __version__
from graphturbo_ui import frame
from graphturbo_ui.jobs import Desk
from graphturbo_ui.views import overview
from tests.remote import fake_worker
from tests.ui.session.app_page import APP, PATIENCE_S, box_of

RESCUE_S = 20.0
"""After so long a page that waits for B by mistake gets it, so that a test fails and ends."""


@pytest.fixture
def app() -> AppTest:
    """The smallest sample, so that every test but the browser's stays quick."""
    test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    test.query_params["model"] = "teaching-resnet"
    test.query_params["batch"] = "8"
    return test


def said(app: AppTest) -> str:
    """All prose of the page and the help of its headings, without the escapes of Markdown."""
    shown = (*app.markdown, *app.caption, *app.warning)
    texts = [element.value for element in shown] + [each.proto.help for each in app.subheader]
    return "\n".join(texts).replace("\\", "")


def command(app: AppTest) -> str:
    return app.code[1].value


def test_both_runs_are_compared(app: AppTest):
    app.run()
    assert not app.exception
    assert [metric.label for metric in app.metric] == [
        "Throughput (images/s)",
        "Latency",
        "Kernels launched",
        "DRAM traffic",
        "GB traffic",
        "Matrix busy",
        "2+ layers in flight",
        "Gap to bound",
    ]
    assert command(app) == (
        "python -m graphturbo_core compare teaching-resnet --profile stcp920 "
        "--strategies tvm@16,graphturbo@16 --batch 8 --dtype fp16"
    )
    assert app.code[0].value == (
        "?model=teaching-resnet&chip=stcp920&a=tvm%4016&b=graphturbo%4016&batch=8&dtype=fp16"
        f"&version={__version__}"
    )


def test_runs_are_verified_on_request(app: AppTest):
    app.run()
    assert "A: not verified, B: not verified" in said(app)
    app.toggle(key="verify").set_value(True).run()
    assert not app.exception
    assert "A: verified, B: verified" in said(app)
    assert command(app).endswith("--verify")
    assert "verify=true" in app.code[0].value


def test_runs_can_be_swapped(app: AppTest):
    app.run()
    app.button(key="swap").click().run()
    assert "--strategies graphturbo@16,tvm@16" in command(app)


def test_another_strategy_is_computed(app: AppTest):
    app.run()
    box_of(app, "a").set_value("layerwise").run()
    assert not app.exception
    assert "--strategies layerwise,graphturbo@16" in command(app)


@pytest.mark.parametrize(
    ("key", "value", "note"),
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
def test_a_wrong_link_is_said_and_the_default_shown(
    app: AppTest, answering: Desk, key: str, value: str, note: str
):
    app.query_params["views"] = "Export"
    app.query_params[key] = value
    if key != "model":
        app.query_params["model"] = "teaching-resnet"
    app.run()
    assert not app.exception
    assert any(note in shown.value for shown in app.info)


def test_all_that_a_link_names_wrongly_is_one_notice(app: AppTest, answering: Desk):
    app.query_params.update({"model": "nothing", "chip": "none", "a": "foo", "b": "bar"})
    app.run()
    assert not app.exception
    (notice,) = app.info
    head, _, *lines = notice.value.replace("\\", "").split("\n")
    assert head == "Some parts of this link are not available:"
    assert [line.split(". ")[0] for line in lines] == [
        "- The link names the model “nothing”, which this server does not have",
        "- The link names the chip “none”, which this server does not have",
        "- “foo” is not a strategy",
        "- “bar” is not a strategy",
    ]


def test_a_is_shown_while_b_is_under_way(
    app: AppTest, orders: Path, monkeypatch: pytest.MonkeyPatch
):
    (orders / "graphturbo@16").write_text("hold")
    waited: list[frame.Runs] = []
    with monkeypatch.context() as patch:
        patch.setattr(frame, "finish", lambda pending, _: waited.append(pending))
        rescue = Timer(RESCUE_S, fake_worker.forget, [orders])
        rescue.start()
        app.run()
        rescue.cancel()
    assert not app.exception
    assert [list(pending) for pending in waited] == [["B"]]
    assert not waited[0]["B"].is_done
    assert len(app.metric) == 8
    assert "**A is there, B is being computed.**" in said(app)
    fake_worker.forget(orders)
    app.run()
    assert "as fast as A" in said(app)


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the first screen said of a run that is drawn alone, at each drawing."""
    found = []
    draw = overview.overview_bytes

    def noted(*reports, said: dict[str, str], **more) -> bytes:
        found.append(said["state"])
        return draw(*reports, said=said, **more)

    monkeypatch.setattr(overview, "overview_bytes", noted)
    return found


@pytest.mark.parametrize(("refused", "shown"), [("tvm@16", "B"), ("graphturbo@16", "A")])
def test_a_refused_run_leaves_the_other_on_the_page(
    app: AppTest, orders: Path, states: list[str], refused: str, shown: str
):
    name = {"A": "B", "B": "A"}[shown]
    (orders / refused).write_text("refuse")
    app.query_params["views"] = ["Why", "Graph"]
    app.run()
    assert not app.exception
    assert len(app.warning) == 1
    assert f"**{name} cannot be computed:**" in app.warning[0].value
    assert len(app.metric) == 8
    assert states[-1] == f"{shown} alone: {name} was refused"
    assert f"**{shown} is there, the other run is not.**" in said(app)
    assert f"{shown} runs 36 ops as 12 sub-graphs" in said(app)


def test_a_model_that_both_refuse_is_said_once(app: AppTest, orders: Path):
    for strategy in ("tvm@16", "graphturbo@16"):
        (orders / strategy).write_text("refuse")
    app.run()
    assert [warning.value.split(".")[0] for warning in app.warning] == [
        "A and B cannot be computed"
    ]
    assert len(app.metric) == 0


def test_a_model_brings_its_own_sizes(app: AppTest, orders: Path):
    """The form proposes what the file does; a number that somebody gave goes with its model."""
    for strategy in ("tvm@16", "graphturbo@16"):
        (orders / strategy).write_text("refuse")
    app.run()
    assert box_of(app, "batch").value == 8
    box_of(app, "model").set_value("bert-base").run()
    assert not app.exception
    assert box_of(app, "batch").value == 32
    assert box_of(app, "dim_sequence").value == 128
    box_of(app, "dim_sequence").set_value(64).run()
    box_of(app, "model").set_value("llama").run()
    assert box_of(app, "batch").value == 8
    assert box_of(app, "dim_sequence").value == 128
    box_of(app, "model").set_value("resnet50-v1").run()
    assert box_of(app, "batch").value == 64


def test_a_link_to_a_model_proposes_its_sizes(orders: Path):
    for strategy in ("tvm@16", "graphturbo@16"):
        (orders / strategy).write_text("refuse")
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    app.query_params["model"] = "conformer"
    app.run()
    assert not app.exception
    assert box_of(app, "batch").value == 12
    assert box_of(app, "dim_frames").value == 1027
