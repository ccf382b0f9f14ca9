"""Measured times in the address: kept as an upload, read again as a stranger's file."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_ui import store
from graphturbo_ui.session.measured import MeasuredFile
from graphturbo_ui.session.query import TIMES_GONE

TEXT = "layer,milliseconds\nstem/conv,1.5\n"


def begun(digest: str) -> AppTest:
    """A session that begins with this digest in its address."""

    def script() -> None:
        import streamlit as st  # noqa: PLC0415 - AppTest runs this text alone

        from graphturbo_ui.session import measured  # noqa: PLC0415

        measured.begin()
        st.session_state["named"] = measured.named()

    app = AppTest.from_function(script)
    app.query_params["measured"] = digest
    app.run()
    assert not app.exception
    return app


def test_a_file_is_kept_under_its_name_and_the_link_reads_its_rows() -> None:
    file = MeasuredFile.of(TEXT.encode(), "mine.csv")
    app = begun(file.digest)
    assert app.session_state["measured_file"] == file
    assert [(row.name, row.milliseconds) for row in file.rows] == [("stem/conv", 1.5)]
    assert app.session_state["named"] == (("measured", file.digest),)


def test_a_file_that_is_no_longer_kept_is_kept_again_while_the_session_has_it() -> None:
    file = MeasuredFile.of(TEXT.encode(), "mine.csv")
    app = begun(file.digest)
    store.upload_store()._files.clear()
    app.run()
    kept = store.upload_store().get(file.digest)
    assert kept is not None
    assert kept.data == TEXT.encode()


@pytest.mark.parametrize("data", [b"layer,seconds\nx,1\n", b"\x89ONNX", b"x" * 2**21])
def test_an_upload_of_another_kind_is_noted_and_not_named(data: bytes) -> None:
    app = begun(store.upload_store().put("<b>", data))
    assert app.session_state["notes"] == (TIMES_GONE,)
    assert app.session_state["named"] == ()


def test_a_refused_file_is_not_kept() -> None:
    data = b"layer,seconds\nnever,1\n"
    with pytest.raises(Exception, match="columns layer and milliseconds"):
        MeasuredFile.of(data, "mine.csv")
    digest = store.UploadStore(lambda: 0.0).put("x", data)
    assert store.upload_store().get(digest) is None
