"""The top bar without a browser: labels at first and after changes, options, Present."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.errors import ModelError, ProfileError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import PROFILES_FOLDER, profile_names
from graphturbo_core.run_request import options_of_strategy
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.registry import STRATEGIES
from graphturbo_ui import store
from graphturbo_ui.jobs import Desk
from graphturbo_ui.top_bar import labels, options_form, renewed, uploads
from tests.ui.session.app_page import APP, PATIENCE_S, box_of

QUERY = {"model": "teaching-resnet", "batch": "8", "views": "Export"}


def opened(**query: str | list[str]) -> AppTest:
    test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for key, value in {**QUERY, **query}.items():
        test.query_params[key] = value
    return run(test)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def bar(app: AppTest) -> list[str]:
    """Labels of all popovers, from left to right, as they read."""
    shown = [each.proto.popover.label for each in app.get("popover")]
    return [label.replace("*", "").replace("\\", "") for label in shown]


def test_labels_show_the_defaults_at_the_first_run(answering: Desk) -> None:
    app = run(AppTest.from_file(str(APP), default_timeout=PATIENCE_S))
    assert bar(app)[:8] == [
        "GraphTurbo Explorer", "Model resnet50-slim", "Chip stcp920", "Batch 64", "A, fine tvm@16",
        "B, coarse graphturbo@16", "Settings", "Share",
    ]  # fmt: skip


def test_labels_show_what_a_link_names_and_what_is_chosen_then(answering: Desk) -> None:
    app = opened(a="graphturbo:lb@4", b="astitch", set_a=["lowering.tiles=8"], chip="goya")
    assert bar(app)[1:6] == [
        "Model teaching-resnet", "Chip goya", "Batch 8", "A, coarse · 1 option graphturbo:lb@4",
        "B, fine astitch",
    ]  # fmt: skip
    box_of(app, "model").set_value("bert-base")
    run(app)
    assert bar(app)[1:4] == ["Model bert-base", "Chip goya", "Batch · sequence 128 32"]
    box_of(app, "batch").set_value(5)
    box_of(app, "b").set_value("layerwise")
    run(app)
    assert bar(app)[3:6:2] == ["Batch · sequence 128 5", "B, fine layerwise"]


def test_a_strategy_is_described_with_its_source(answering: Desk) -> None:
    texts = {each.value: each.proto.help for each in opened(a="xla@2").markdown}
    said = "Loops between products fused, cheap ops computed again (XLA)."
    assert texts[said].startswith("Source: XLA")
    assert all(sentence in texts[said] for sentence in STRATEGIES["xla"].departures)


def test_an_upload_is_labelled_by_its_file_name(answering: Desk) -> None:
    digest = store.upload_store().put("my *net*.onnx", load_sample("teaching-resnet"))
    app = opened(model=f"my *net*.onnx ({digest})")
    assert r"my \*net\*\.onnx" in app.get("popover")[1].proto.popover.label


def test_a_box_names_uploads_by_their_files_and_the_address_by_their_digests(
    answering: Desk,
) -> None:
    data = load_sample("teaching-resnet")
    first, second = (store.upload_store().put("net.onnx", each) for each in (data, data + b"\0"))
    label = f"net.onnx ({first})"
    app = opened(model=label)
    box = box_of(app, "model")
    assert (box.value, box.options[-1]) == (label, "net.onnx")
    assert [name for name in box.options if first in name] == []
    box.set_value("teaching-resnet")
    run(app)
    assert box_of(app, "model").value == "teaching-resnet"
    box_of(app, "model").set_value(label)
    run(app)
    assert (box_of(app, "model").value, bar(app)[1]) == (label, "Model net.onnx")
    assert f"model=net.onnx+%28{first}%29" in app.code[0].value
    assert uploads.box_names(["bert-base", label, f"net.onnx ({second})"]) == {
        "bert-base": "bert-base",
        label: "net.onnx",
        f"net.onnx ({second})": "net.onnx (2)",
    }


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("notes.txt", b"just text", "the name does not end in .onnx"),
        ("notes.onnx", b"just text", "it begins with 'just text'"),
        ("empty.onnx", b"", "the file is empty (0 bytes)"),
        ("cut.onnx", load_sample("teaching-resnet")[:300], "300 bytes do not parse as protobuf"),
    ],
)
def test_a_file_that_is_no_model_is_refused_by_name(name: str, data: bytes, why: str) -> None:
    with pytest.raises(ModelError) as refused:
        uploads.check_model(data, name)
    assert refused.value.what == f"this is not an ONNX model: {name}"
    assert refused.value.where == why
    assert "NAME.onnx" in refused.value.change


def test_a_file_that_is_no_profile_is_refused_by_name() -> None:
    with pytest.raises(ProfileError, match=r"this is not a chip profile: chip\.json"):
        uploads.check_profile(b"{}", "chip.json")
    with pytest.raises(ProfileError, match="not a mapping of keys"):
        uploads.check_profile(b"hello", "chip.yaml")


@pytest.mark.parametrize(("own", "now"), [("model", "b"), ("model~1", "b"), ("model~2", "c")])
def test_a_box_that_is_replaced_changes_nothing(
    own: str, now: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third box is there; the browser sends `c` of one of them."""
    session = {"boxes of model": 2, "model": "b", "model~1": "a", "model~2": "b", own: "c"}
    monkeypatch.setattr(renewed, "st", SimpleNamespace(session_state=session))
    taken: list[str] = []
    renewed._taken("model", own, lambda: taken.append(own))
    assert (session["model"], taken) == (now, [own] if now == "c" else [])


def test_every_shipped_chip_has_its_facts() -> None:
    facts = {name: "".join(labels.chip_facts(name)) for name in profile_names()}
    assert facts["stcp920"] == (
        "4 clusters × 8 cores · LB 1.25 MiB · GB 8 MiB · 27 GB/s DRAM per cluster"
    )
    assert facts["ascend910"].startswith("1 cluster × 32 cores")
    assert "· no GB ·" in facts["ipu-gc2"]
    assert len(facts) == len(list(PROFILES_FOLDER.glob("*.yaml")))


@pytest.mark.parametrize("strategy", [*STRATEGIES, "graphturbo:plus"])
def test_every_option_is_common_or_in_one_group(strategy: str) -> None:
    known = options_of_strategy(strategy)
    groups = options_form._groups(known)
    grouped = [option.name for options in groups.values() for option in options]
    common = [name for name in options_form.COMMON if name in known]
    assert sorted([*grouped, *common]) == sorted(known)
    assert list(groups)[-1].startswith("Other options of") or list(groups)[-1] == "Lowering"


def test_options_have_names_in_words() -> None:
    options = strategy_options()
    names = {name: options_form.label_of(option) for name, option in options.items()}
    assert names["graphturbo.peak"] == "The true peak of the largest piece"
    assert names["graphturbo.merging"] == "No part with weights is cut into more pieces"
    assert names["lowering.pool_share"] == "Weights have 1/N of a pooled LB"
    assert all(text[0].isupper() for text in names.values())
    assert set(options_form.COMMON) <= set(options)


def test_present_is_in_the_address_until_it_is_left(answering: Desk) -> None:
    app = opened()
    app.button(key="bar_present").click()
    run(app)
    assert app.query_params["present"] == "1"
    assert len(app.get("popover")) >= 8


def test_a_selection_does_not_fall_out_of_the_link(answering: Desk) -> None:
    app = opened(selected="b-group-1", views=["Every core", "Export"])
    assert "selected=b-group-1" in app.code[0].value
    assert "views=Every+core&views=Export" in app.code[0].value
