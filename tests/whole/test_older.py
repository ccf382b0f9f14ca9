"""What was written before still works: plan files, a link, `--set` names, keys of the JSON."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.cli import main
from graphturbo_core.export.plan_file import chip_digest
from graphturbo_core.hardware.profile import load_profile, profile_names
from tests.ui.session.app_page import APP, PATIENCE_S, first_screen

OLDER = Path(__file__).resolve().parents[1] / "data" / "older"
"""Written by the program before its packages were moved and LB's division was made one value."""
DIGESTS = {
    "stcp920": "6475b6f5f636f4f3", "ascend910": "235ce659f16aefa1",
    "generic-4x4": "b63b3990ea415b6d", "goya": "c41d18c82da91b64",
    "ipu-gc2": "50e8c1416867e58c", "learn-1x4": "c02f25212eabe00e",
    "stcp920-10mib": "73feebb88c954c0f",
}  # fmt: skip
"""Of the shipped chips, as plan files of then name them."""
PLANS = {
    "order": ("graphturbo:order@4", 4.2316e-05, 1, 244),
    "pooled": ("graphturbo@4", 1.5728e-05, 1, 3358),
}
"""Of each plan file the strategy, and the latency in seconds, kernels and instructions of then."""
LINK = (
    "model=teaching-resnet&chip=generic-4x4&a=tvm%402&b=graphturbo%3Aorder%404&batch=16&dtype=int8"
    "&skip=fold-batch-norm&set_b=graphturbo.peak%3Dliteral&set_b=lowering.tiles%3D2&views=Gantt"
    "&version=0.1.0"
)


@pytest.mark.parametrize("name", PLANS)
def test_an_older_plan_runs_as_then(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    plan = OLDER / f"{name}.plan.yaml"
    assert main(["run", "teaching-resnet", "--plan", str(plan), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    strategy, latency_s, kernels, instructions = PLANS[name]
    assert found["strategy"].partition("@")[0] == strategy.partition("@")[0]
    assert (found["latency_s"], found["kernels"]) == (latency_s, kernels)
    assert found["instructions"] == instructions


def test_an_older_plan_can_be_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (OLDER / "order.plan.yaml").read_text(encoding="utf-8")
    edited = tmp_path / "edited.plan.yaml"
    edited.write_text(text.replace("  pieces: {}", "  pieces: {g1: 2}", 1), encoding="utf-8")
    assert main(["run", "teaching-resnet", "--plan", str(edited), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"] == 2


def test_older_plans_are_for_the_same_chips() -> None:
    assert {name: chip_digest(load_profile(name)) for name in profile_names()} == DIGESTS


def test_an_older_link_restores_what_it_names() -> None:
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for key, value in parse_qsl(LINK):
        app.query_params[key] = [*app.query_params.get(key, []), value]
    app.run()
    assert not app.exception
    assert not app.info
    assert str(first_screen(app)["beside"]).startswith("A and B also differ in ")
    assert app.button_group(key="views").value == ["Every core"]
    assert [app.selectbox(key=key).value for key in ("model", "chip", "a", "b")] == [
        "teaching-resnet", "generic-4x4", "tvm@2", "graphturbo:order@4",
    ]  # fmt: skip
    assert app.session_state["set_b"] == {"graphturbo.peak": "literal", "lowering.tiles": "2"}
    assert app.number_input(key="batch").value == 16
