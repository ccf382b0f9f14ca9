"""The Chips page without a browser: what it draws, edits, the chip in use, and links."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.hardware.edits import EditedChip, edit_chip, editable_keys
from graphturbo_core.hardware.profile import profile_names
from graphturbo_ui.jobs import Desk
from graphturbo_ui.session import chips
from graphturbo_ui.store import DIGEST_LENGTH, upload_store
from tests.ui.session.app_page import APP, PATIENCE_S, box_of, first_screen, turn_to

LB, GB = "core.lb_data_bytes", "cluster.gb_bytes"


def started(**query: str | list[str]) -> AppTest:
    """The page at an address, drawn once."""
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for key, value in query.items():
        app.query_params[key] = value
    turn_to(app, "chips").run()
    assert not app.exception
    return app


def scene(app: AppTest) -> dict:
    parts = [part.proto for part in app.get("bidi_component")]
    (found,) = [part for part in parts if part.component_name.endswith("chips")]
    return json.loads(found.bytes[:-8])


def names(app: AppTest) -> list[str]:
    return [chip["name"] for chip in scene(app)["chips"]]


def link(app: AppTest) -> dict[str, list[str]]:
    return parse_qs(app.code[0].value.removeprefix("?"))


def notes(app: AppTest) -> str:
    return "\n".join(note.value for note in app.info).replace("\\", "")


def do(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None], heard: object = None
) -> AppTest:
    """Have the component report something: its callback, which comes first, then the page."""
    with monkeypatch.context() as patch:
        patch.setattr(chips, "_heard", lambda _: heard)
        patch.setattr(chips, "restore_upload", act)
        app.run()
    assert not app.exception
    return app


def typed(app: AppTest, monkeypatch: pytest.MonkeyPatch, **texts: str) -> AppTest:
    """Have the editor report these texts; `__` stands for the point of a key."""
    keyed = {key.replace("__", "."): text for key, text in texts.items()}
    heard = {"base": scene(app)["left"], "texts": keyed}
    return do(app, monkeypatch, chips.take_edits, heard)


def test_the_chip_of_the_bar_stands_beside_the_next_one():
    app = started()
    assert names(app) == ["stcp920", "ascend910"]
    assert scene(app)["is_used"]
    assert not app.info
    assert not {"chip_base", "chip_set", "chip_right"} & link(app).keys()
    assert names(started(chip="goya")) == ["goya", "stcp920"]


def test_the_number_format_is_the_bar_s():
    peaks = [scene(started(dtype=name))["figures"][1]["label"] for name in ("fp16", "int8")]
    assert peaks == ["Peak, fp16", "Peak, int8"]


def test_both_chips_can_be_chosen(monkeypatch: pytest.MonkeyPatch):
    app = do(started(), monkeypatch, chips.take_right, "goya")
    assert names(app) == ["stcp920", "goya"]
    assert link(app)["chip_right"] == ["goya"]
    app = do(app, monkeypatch, chips.take_left, "ipu-gc2")
    assert names(app) == ["ipu-gc2", "goya"]
    assert box_of(app, "chip").value == "ipu-gc2"
    app = do(app, monkeypatch, chips.take_left, "no such chip")
    app = do(app, monkeypatch, chips.take_right, "no such chip")
    assert names(app) == ["ipu-gc2", "goya"]
    assert "chip_right" not in link(do(app, monkeypatch, chips.take_right, ""))


def test_edits_change_the_picture_and_the_link(monkeypatch: pytest.MonkeyPatch):
    app = do(started(chip="generic-4x4"), monkeypatch, chips.take_right, chips.EDITOR)
    assert names(app) == ["generic-4x4"]
    typed(app, monkeypatch, core__lb_data_bytes="384 KiB", chip__clusters="none")
    assert names(app) == ["generic-4x4-edited"]
    assert scene(app)["changes"] == 1
    assert link(app)["chip_set"] == [f"{LB}=393216"]
    assert link(app)["chip_right"] == ["edit"]
    assert link(app)["chip"] == ["generic-4x4"]
    typed(app, monkeypatch)
    assert names(app) == ["generic-4x4"]
    assert "chip_set" not in link(app)


def test_edits_belong_to_their_profile(monkeypatch: pytest.MonkeyPatch):
    app = typed(started(chip="generic-4x4"), monkeypatch, core__lb_data_bytes="384 KiB")
    box_of(app, "chip").set_value("goya").run()
    assert names(app) == ["goya", "stcp920"]
    assert "chip_set" not in link(app)
    box_of(app, "chip").set_value("generic-4x4").run()
    assert names(app)[0] == "generic-4x4-edited"


@pytest.mark.parametrize(
    "heard",
    [
        None,
        [],
        {"base": "goya", "texts": {LB: "1 MiB"}},
        {"base": "generic-4x4", "texts": []},
        {"base": "generic-4x4", "texts": {"core.nothing": "1", LB: 3, GB: "1" * 61}},
    ],
)
def test_what_a_browser_reports_is_checked(heard: object, monkeypatch: pytest.MonkeyPatch):
    app = do(started(chip="generic-4x4"), monkeypatch, chips.take_edits, heard)
    assert scene(app)["changes"] == 0
    assert scene(app)["typed"] == {}


def test_an_edited_chip_is_used_by_explore(answering: Desk, monkeypatch: pytest.MonkeyPatch):
    app = typed(started(chip="generic-4x4"), monkeypatch, core__lb_data_bytes="384 KiB")
    assert not scene(app)["is_used"]
    do(app, monkeypatch, chips.use)
    label = box_of(app, "chip").value
    assert label.startswith("generic-4x4-edited.yaml (")
    assert scene(app)["is_used"]
    assert names(app)[0] == "generic-4x4-edited"
    assert link(app)["chip"] == [label]
    assert link(app)["chip_base"] == ["generic-4x4"]
    assert link(app)["chip_set"] == [f"{LB}=393216"]
    turn_to(app, "").run()
    assert not app.exception
    assert first_screen(app)["model"] == "synthetic"  # what the fake worker answers
    assert "--profile generic-4x4-edited.yaml" in app.code[1].value
    turn_to(app, "chips").run()
    do(typed(app, monkeypatch), monkeypatch, chips.use)
    assert box_of(app, "chip").value == "generic-4x4"
    assert scene(app)["is_used"]


def test_a_link_makes_the_edited_chip_again(monkeypatch: pytest.MonkeyPatch):
    app = typed(started(chip="goya"), monkeypatch, cluster__cores="4", core__matrix_depth="2")
    do(app, monkeypatch, chips.use)
    (label,) = link(app)["chip"]
    given = link(app)
    digest = label[-DIGEST_LENGTH - 1 : -1]
    del upload_store()._files[digest]
    again = started(**given)
    assert box_of(again, "chip").value == label
    assert scene(again)["is_used"]
    assert not again.info
    assert {**link(again), "version": []} == {**given, "version": []}


def uploaded_chip(cores: int) -> str:
    """The label of an upload: goya with that many cores per cluster."""
    data = edit_chip("goya", None, {"cluster.cores": str(cores)}).data
    return f"mine.yaml ({upload_store().put('mine.yaml', data)})"


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_link_s_edits_may_begin_from_an_upload(is_gone: bool, monkeypatch: pytest.MonkeyPatch):
    base = uploaded_chip(4)
    app = do(typed(started(chip=base), monkeypatch, core__matrix_depth="2"), monkeypatch, chips.use)
    given = link(app)
    assert given["chip_base"] == [base]
    (label,) = given["chip"]
    if is_gone:
        del upload_store()._files[label[-DIGEST_LENGTH - 1 : -1]]
    again = started(**given)
    assert not again.info
    assert box_of(again, "chip").value == label
    assert "mine.yaml" in box_of(again, "chip").options
    assert scene(again)["is_used"]
    assert scene(again)["left"] == base
    assert {**link(again), "version": []} == {**given, "version": []}


def test_edits_begin_from_no_file_that_is_not_a_chip():
    label = f"model.onnx ({upload_store().put('model.onnx', b'not a profile')})"
    app = started(chip="generic-4x4", chip_base=label, chip_set=[f"{LB}=393216"])
    assert "is not a chip to begin edits from" in notes(app)
    assert label not in box_of(app, "chip").options
    app = started(chip="generic-4x4", chip_right=label)
    assert "not kept here" in notes(app)
    assert label not in box_of(app, "chip").options


def test_the_bar_makes_an_edited_chip_once(monkeypatch: pytest.MonkeyPatch):
    made = []

    def counted(name: str, data: bytes | None, texts: dict[str, str]) -> EditedChip:
        made.append((name, texts))
        return edit_chip(name, data, texts)

    monkeypatch.setattr(chips, "edit_chip", counted)
    chips._edited.cache_clear()
    app = started(chip="generic-4x4", chip_set=[f"{LB}=393216"])
    first = list(made)
    assert ("generic-4x4", {LB: "393216"}) in first
    app.run()
    assert made == first
    typed(app, monkeypatch, core__lb_data_bytes="384 KiB", core__matrix_depth="2")
    assert len(made) == len(first) + 1
    assert chips._edited.cache_info().maxsize == chips.MAX_EDITED


def test_a_link_does_not_stand_for_other_bytes():
    label = f"goya-edited.yaml ({'0' * DIGEST_LENGTH})"
    app = started(chip=label, chip_base="goya", chip_set=["cluster.cores=5"])
    assert "no longer kept here" in notes(app)
    made = hashlib.sha256(edit_chip("goya", None, {"cluster.cores": "5"}).data).hexdigest()
    assert upload_store().get(made[:DIGEST_LENGTH]) is None
    assert box_of(app, "chip").value == "stcp920"


def test_edits_of_a_chip_that_is_gone_are_not_made_to_another():
    app = started(chip=f"mine.yaml ({'0' * DIGEST_LENGTH})", chip_set=[f"{LB}=393216"])
    assert "no longer kept here" in notes(app)
    assert names(app) == ["stcp920", "ascend910"]


def test_an_upload_may_stand_on_the_right():
    data = edit_chip("goya", None, {"cluster.cores": "4"}).data
    label = f"mine.yaml ({upload_store().put('mine.yaml', data)})"
    app = started(chip_right=label)
    assert not app.info
    assert names(app) == ["stcp920", "goya-edited"]
    assert link(app)["chip_right"] == [label]


def test_a_link_s_edits_are_shown():
    app = started(chip="generic-4x4", chip_set=[f"{LB}=393216", "core.matrix_depth=2"])
    assert scene(app)["typed"] == {LB: "384 KiB", "core.matrix_depth": "2"}
    assert names(app)[0] == "generic-4x4-edited"
    assert not app.info
    assert link(app)["chip_set"] == [f"{LB}=393216", "core.matrix_depth=2"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("x=1", "“x=1” is not a number of a chip with its value."),
        (LB, f"“{LB}” is not a number of a chip with its value."),
        (f"{LB}={'1' * 61}", "is not a number of a chip with its value."),
        (f"{LB}=abc", f"The link's change of {LB} is left out: {LB} is abc, write a whole number"),
        ("core.matrix_model=<b>", "The link's change of core.matrix_model is left out"),
        (f"{GB}=0", "remove it or give a GB"),
        ("__class__=1", "is not a number of a chip"),
    ],
)
def test_a_link_s_wrong_edit_is_noted_and_left_out(text: str, note: str):
    app = started(chip="generic-4x4", chip_set=["core.vector_lanes=64", text])
    assert note in notes(app)
    assert scene(app)["typed"] == {"core.vector_lanes": "64"}


def test_a_link_with_too_many_edits_has_none():
    many = ["core.vector_lanes=64"] * (len(editable_keys()) + 1)
    app = started(chip="generic-4x4", chip_set=many)
    assert "The link changes more numbers than a chip has" in notes(app)
    assert scene(app)["changes"] == 0


@pytest.mark.parametrize(
    ("key", "note"),
    [("chip_base", "is not a chip to begin edits from"), ("chip_right", "not kept here")],
)
def test_a_link_s_unknown_chip_is_noted(key: str, note: str):
    app = started(chip="generic-4x4", **{key: "../../etc/passwd"})
    assert note in notes(app)
    assert names(app) == ["generic-4x4", "stcp920"]


def test_the_chip_on_the_right_may_be_the_unedited_one():
    app = started(chip="goya", chip_set="cluster.cores=4", chip_right="goya")
    assert names(app) == ["goya-edited", "goya"]
    assert scene(app)["sentence"].startswith("goya against goya-edited: equal peak, ")


@pytest.mark.parametrize("name", profile_names())
def test_the_file_to_take_is_the_chip(name: str):
    found = scene(started(chip=name))
    assert edit_chip("taken.yaml", found["yaml"].encode(), {}).hardware.name == name


def test_someone_presents():
    assert scene(started(present="1"))["mode"] == "present"
