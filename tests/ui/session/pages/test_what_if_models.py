"""The further models of What-if: uploads by their names on the page, by digests in the address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_ui.jobs import Desk
from graphturbo_ui.pages import what_if as page
from graphturbo_ui.session import what_if
from graphturbo_ui.session.what_if import MODELS, MODELS_BOX, MOST_MODELS, QUESTIONS
from graphturbo_ui.store import upload_store
from graphturbo_ui.what_if.point_desk import PointDesk
from tests.ui.session.app_page import APP, PATIENCE_S, turn_to

SMALL = {"model": "teaching-resnet", "batch": "8", "chip": "generic-4x4", "a": "tvm@2"}
SIZES = {"ask": QUESTIONS["buffers"], "lb_values": "128,256", "gb_values": "1,2"}
OTHER = b"\x12\x01x"
"""The field `producer_name` of an ONNX file: another file with the same graph."""
DIGEST = re.compile(r"[0-9a-f]{16}(?=\)$)")


@pytest.fixture(autouse=True)
def points(desk: Desk, answering: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Points of the page are answered by the fake worker; uploads are those of one test."""
    found = PointDesk(desk)
    monkeypatch.setattr(page, "shared_point_desk", lambda: found)
    yield
    upload_store()._files.clear()


def upload(name: str = "net.onnx", more: bytes = b"") -> str:
    """The label of a kept file: a small sample, and `more` bytes."""
    return f"{name} ({upload_store().put(name, load_sample('teaching-resnet') + more)})"


def digest(label: str) -> str:
    return DIGEST.findall(label)[0]


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def started(*labels: str, **query: str) -> AppTest:
    """A new session whose link names these models."""
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for key, value in {**SMALL, **SIZES, **query}.items():
        app.query_params[key] = value
    if labels:
        app.query_params[MODELS] = list(labels)
    return run(turn_to(app, "what-if"))


def shown(app: AppTest) -> list[str]:
    """Names in the box of further models, as they read."""
    return list(app.multiselect(key=MODELS_BOX).values)


def link(app: AppTest) -> list[str]:
    """What the link of Share names."""
    return parse_qs(app.code[0].value.removeprefix("?")).get(MODELS, [])


def address(app: AppTest) -> list[str]:
    found = app.query_params.get(MODELS, [])
    return [found] if isinstance(found, str) else found


def words(app: AppTest) -> str:
    """All that is read on the page, the link of Share left out."""
    texts = [each.value for each in (*app.markdown, *app.caption, *app.info, *app.warning)]
    boxes = [option for box in (*app.selectbox, *app.multiselect) for option in box.options]
    charts = [part.proto.spec for part in app.get("plotly_chart")]
    tables = [each.value.to_csv() for each in app.dataframe]
    return "\n".join([*texts, *boxes, *charts, *tables])


def choose(app: AppTest, *labels: str) -> AppTest:
    app.multiselect(key=MODELS_BOX).set_value(list(labels))
    return run(app)


def test_uploads_are_shown_by_their_files_and_the_address_has_their_digests() -> None:
    first, second = upload(), upload(more=OTHER)
    app = started(first, second)
    assert shown(app) == ["net.onnx", "net.onnx (2)"]
    assert app.multiselect(key=MODELS_BOX).value == [first, second]
    assert address(app) == link(app) == [first, second]
    app.session_state["what_if_rows"] = True
    run(app)
    assert "net.onnx (2): " in words(app)
    assert [*dict.fromkeys(app.dataframe[0].value["model"])] == shown(app)
    assert [label for label in (first, second) if digest(label) in words(app)] == []


def test_a_choice_is_named_in_the_address_and_a_new_session_has_it() -> None:
    first, second = upload(), upload(more=OTHER)
    app = started(first, second)
    choose(app, second, "dlrm")
    assert address(app) == link(app) == [second, "dlrm"]
    linked = started(*link(app))
    assert linked.multiselect(key=MODELS_BOX).value == [second, "dlrm"]
    assert shown(linked) == ["net.onnx", "dlrm"]  # the other file is none of this session's
    choose(app)
    assert address(app) == link(app) == []
    assert app.multiselect(key=MODELS_BOX).value == []


def test_a_choice_remains_while_another_question_is_asked() -> None:
    label = upload()
    app = started(label)
    for ask, named in (("range", []), ("buffers", [label])):
        app.query_params["ask"] = QUESTIONS[ask]  # which Streamlit's page writes
        app.session_state["ask"] = ask
        assert address(run(app)) == link(app) == named
    assert shown(app) == ["net.onnx"]


def test_back_and_forward_have_the_models_of_their_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    label = upload()
    app = choose(started(label), label, "dlrm")
    for named in ([label], [], [label, "dlrm"]):
        app.query_params.pop(MODELS, None)
        if named:
            app.query_params[MODELS] = named
        with monkeypatch.context() as patch:
            patch.setattr(what_if, "_is_back_or_forward", lambda: True)
            run(app)
        assert app.multiselect(key=MODELS_BOX).value == address(app) == link(app) == named


def test_an_address_that_lags_behind_the_question_is_not_written() -> None:
    """It would be written with the question before."""
    app = started(upload())
    app.segmented_control(key="ask").set_value("gains")
    run(app)
    assert QUESTIONS["buffers"] in app.query_params["ask"]
    assert len(address(app)) == 1


def test_a_link_with_many_unknown_models_says_so() -> None:
    app = started(*(f"unknown {number}" for number in range(100)))
    assert "names the model “unknown 0”, which this server does not have" in app.info[0].value
    assert shown(app) == address(app) == []


def test_a_link_with_an_upload_that_is_gone_names_its_file() -> None:
    app = started("net.onnx (0123456789abcdef)")
    assert "the uploaded file “net\\.onnx”, no longer kept here" in app.info[0].value
    assert "0123456789abcdef" not in words(app)


@pytest.mark.parametrize("is_upload", [False, True])
def test_a_link_with_more_models_than_the_box_takes_has_the_first_ones(is_upload: bool) -> None:
    kept = digest(upload())
    many = [f"net {n}.onnx ({kept})" for n in range(30)] if is_upload else [*sample_names()]
    app = started(*many, *many)
    assert address(app) == link(app) == app.multiselect(key=MODELS_BOX).value == many[:MOST_MODELS]
    (note,) = (each.value for each in app.info)
    assert note == f"The link names {len(many)} models\\. The page shows the first {MOST_MODELS}\\."
    offered = app.multiselect(key=MODELS_BOX).options
    assert len(offered) == len(sample_names()) + (MOST_MODELS if is_upload else 0)


def test_a_name_of_a_stranger_is_shown_as_it_is_and_apart_from_others() -> None:
    kept = digest(upload())
    names = ("a\u202eb.onnx", "a\u202db.onnx", "a\ufffdb.onnx (2)")
    labels = [f"{name} ({kept})" for name in names]
    app = started(*labels)
    assert shown(app) == ["a\ufffdb.onnx", "a\ufffdb.onnx (2)", "a\ufffdb.onnx (2) (2)"]
    assert app.multiselect(key=MODELS_BOX).value == labels
