"""The comparison in the address: named, restored, validated, and bounded on the server."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.comparison import comparison_file
from graphturbo_core.comparison.comparison_file import write_comparison
from graphturbo_ui import store
from graphturbo_ui.session import compared
from graphturbo_ui.session.compared import Comparison
from graphturbo_ui.session.query import COMPARISON_GONE, NO_RUNS
from tests.comparison.runs import run_of
from tests.ui.compare.opened_page import comparison, html_of, opened, run

NAMES = ("tvm@2", "graphturbo@2", "graphturbo:gb@2")


def three(*ticked: int) -> Comparison:
    runs = tuple(map(run_of, NAMES))
    return Comparison(picked=tuple(runs[at].key for at in ticked)).with_runs(runs)


def named(app: AppTest) -> str:
    """The comparison in the link of Share; empty for none."""
    (link,) = [each.value for each in app.code if each.value.startswith("?")]
    return dict(parse_qsl(link[1:])).get("compare", "")


def notes(app: AppTest) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", each.value) for each in app.info]


def test_a_comparison_that_nobody_changed_has_no_name() -> None:
    """An address without one begins with the same rows, so that Back can leave the page."""
    app = opened()
    assert len(comparison(app).runs) == 2
    assert named(run(app)) == ""


def test_rows_that_join_before_a_and_b_are_there_are_a_change() -> None:
    """What the page begins with is A and B alone, however early somebody adds a third."""
    app = opened()
    begun = app.session_state["compared_begun"]
    app.session_state["compared_begun"] = replace(begun, runs=None)
    rows = (*comparison(app).runs, run_of(NAMES[2]))
    app.session_state["compared"] = Comparison().with_runs(rows)
    assert re.fullmatch("[0-9a-f]{16}", named(run(app)))


def test_other_choices_of_a_and_b_give_the_rows_before_a_name() -> None:
    app = opened()
    app.selectbox(key="dtype").select("int8")
    changed = named(run(app))
    assert [each.figures.dtype for each in comparison(app).runs] == ["fp16", "fp16"]
    assert re.fullmatch("[0-9a-f]{16}", changed)
    app.selectbox(key="dtype").select("fp16")
    assert named(run(app)) == ""


def test_a_change_gives_it_the_digest_of_its_file_and_the_address_restores_it() -> None:
    app = opened(three(2))
    app.button(key="compare_pin").click()
    run(app)
    text = write_comparison(comparison(app).runs)
    assert named(app) == hashlib.sha256(text.encode()).hexdigest()[:16] != _digest(*NAMES)
    other = opened(compare=named(app))
    assert comparison(other).runs == comparison(app).runs
    assert (comparison(other).runs[0].name, comparison(other).runs[0].is_pinned) == (NAMES[2], True)
    assert named(run(other)) == named(app)


@pytest.mark.parametrize(
    "data", [b"", b"x", b'{"comparison": 1, "library": "0", "runs": [{}]}', b"\x89ONNX" * 100]
)
def test_a_digest_that_names_no_comparison_is_said_once_and_a_and_b_are_there(data: bytes) -> None:
    digest = store.written_store().put("x", data) if data else "0" * 16
    app = opened(compare=digest)
    assert [note.count(COMPARISON_GONE) for note in notes(app)] == [1]
    assert [each.figures.strategy for each in comparison(app).runs] == ["tvm@2", "graphturbo@2"]
    assert named(run(app)) == ""
    assert len(notes(app)) == 1


def test_an_upload_is_no_comparison_of_a_link() -> None:
    """Digests of models and plans name nothing here: the stores are apart."""
    digest = store.upload_store().put("x", write_comparison([run_of("tvm@2")]).encode())
    assert COMPARISON_GONE in notes(opened(compare=digest))[0]


def test_names_of_a_strangers_comparison_are_text() -> None:
    rude = run_of("tvm@2").model_copy(update={"name": "<img src=x>", "note": "\u202e**b**"})
    digest = store.written_store().put("x", write_comparison([rude]).encode())
    html = html_of(opened(compare=digest))
    assert "<img src=x>" not in html
    assert "&lt;img src=x&gt;" in html
    assert "\u202e" not in html


def test_while_a_run_is_wanted_the_address_has_the_comparison_before() -> None:
    """One entry of the history per choice, however many rows it adds."""

    def script(is_waiting: bool) -> None:
        import streamlit as st  # noqa: PLC0415 - AppTest runs this text alone

        from graphturbo_ui.session import compared, compared_link  # noqa: PLC0415
        from graphturbo_ui.session.compared import Comparison  # noqa: PLC0415
        from tests.comparison.runs import run_of  # noqa: PLC0415

        wanted = ("any",) if is_waiting else ()
        rows = [run_of("tvm@2"), run_of("graphturbo@2")][: 1 + is_waiting]
        compared.keep(Comparison(wanted=wanted).with_runs(rows))
        st.session_state["found"] = compared_link.named(None)

    app = AppTest.from_function(script, kwargs={"is_waiting": False})
    before = run(app).session_state["found"]
    waiting = AppTest.from_function(script, kwargs={"is_waiting": True})
    waiting.session_state["compared_named"] = before[0][1]
    assert run(waiting).session_state["found"] == before
    assert before[0][1] == _digest(NAMES[0])


def _digest(*names: str) -> str:
    text = write_comparison([run_of(name) for name in names])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_a_comparison_without_rows_has_a_name_of_its_own() -> None:
    app = opened(three(0, 1, 2))
    app.button(key="compare_remove").click()
    assert named(run(app)) == NO_RUNS
    assert comparison(opened(compare=NO_RUNS)).runs == ()


def test_the_button_of_share_adds_to_the_comparison_of_the_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anybody looked at it: the app's first page is Explore."""
    digest = store.written_store().put("x", write_comparison([run_of(NAMES[2])]).encode())

    def script() -> None:
        from types import SimpleNamespace  # noqa: PLC0415 - AppTest runs this text alone

        from graphturbo_ui.session import compared_link  # noqa: PLC0415

        compared_link.read_address()
        compared_link.add_both(SimpleNamespace())

    monkeypatch.setattr(compared, "both", lambda _: [])
    app = AppTest.from_function(script)
    app.query_params["compare"] = digest
    assert [each.name for each in comparison(run(app)).runs] == [NAMES[2]]


def test_a_comparison_too_large_for_a_file_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison_file, "MAX_FILE_BYTES", 1000)
    app = opened(three())
    assert "The address does not name this comparison: error: COMPARISON_TOO_BIG" in notes(app)[0]
    assert named(app) == ""


def test_it_is_written_where_it_changed_and_again_where_it_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = store.UploadStore(lambda: 0.0)
    puts: list[str] = []
    put = kept.put
    monkeypatch.setattr(kept, "put", lambda name, data: puts.append(name) or put(name, data))
    for module in ("compared_link", "query"):
        monkeypatch.setattr(f"graphturbo_ui.session.{module}.written_store", lambda: kept)
    app = opened(three())
    run(run(app))
    assert len(puts) == 1
    kept._files.clear()
    assert named(run(app))
    assert len(puts) == 2


def test_a_session_keeps_so_many_bytes_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_OWN_BYTES", 10)
    kept = store.UploadStore(lambda: 0.0)
    stranger = kept.put("theirs", b"0000")
    own: tuple[str, ...] = ()
    for text in (b"1111", b"2222", b"3333"):
        _, own = kept.put_own("mine", text, own)
    found = [upload.data for digest in own if (upload := kept.get(digest))]
    assert found == [b"2222", b"3333"]
    assert kept.get(stranger) is not None
    assert len(kept.put_own("mine", b"4" * 20, own)[1]) == 1


def test_a_file_of_another_session_is_not_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who opens a link writes the same bytes again; their own files go, not that one."""
    monkeypatch.setattr(store, "MAX_OWN_BYTES", 10)
    kept = store.UploadStore(lambda: 0.0)
    theirs, _ = kept.put_own("theirs", b"0000", ())
    digest, own = kept.put_own("mine", b"0000", ())
    assert (digest, own) == (theirs, ())
    for text in (b"1111", b"2222", b"3333", b"4444"):
        _, own = kept.put_own("mine", text, own)
    assert kept.get(theirs) is not None


def test_what_pages_write_makes_no_upload_go() -> None:
    assert store.written_store() is not store.upload_store()
    assert store.written_store().max_bytes < store.upload_store().max_bytes
