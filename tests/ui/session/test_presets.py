"""Settings by one click: the batches of the paper's ten rows, or the same cluster batch."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from benchmarks.paper.rows import ROWS
from graphturbo_core.comparison.published import PaperBatches, paper_batches
from graphturbo_core.frontend.catalogue import sample_names

SCRIPT = """
import streamlit as st
from graphturbo_ui.top_bar.presets import offer_presets

st.session_state.setdefault("a", "tvm@4")
st.session_state.setdefault("b", "graphturbo:lb@8")
st.session_state.setdefault("batch", 32)
offer_presets(st.session_state["model"], {})
"""


def test_the_presets_are_the_paper_s_rows() -> None:
    seen = set()
    for row in ROWS.values():
        for variant in row.variants:
            expected = PaperBatches(row.batch, row.tvm_batch, row.batch_of_others)
            found = paper_batches(variant.sample, variant.dims)
            assert found == expected, variant
            seen.add(variant.sample)
    lengths = [{"sequence": n} for n in (128, 256, 384, 512)]
    others = [name for name in sample_names() if name not in seen]
    assert others and not any(paper_batches(name, dims) for name in others for dims in lengths)


def test_a_model_or_length_that_the_paper_did_not_run_has_none() -> None:
    assert paper_batches("llama", {}) is None
    assert paper_batches("bert-base", {"sequence": 100}) is None
    assert paper_batches("mine (0123456789abcdef)", {"sequence": 128}) is None


def bar_of(model: str) -> AppTest:
    app = AppTest.from_string(SCRIPT)
    app.session_state["model"] = model
    return app.run()


def chosen(app: AppTest) -> tuple[object, ...]:
    assert not app.exception
    return tuple(app.session_state[key] for key in ("a", "b", "batch"))


def test_the_paper_s_button_sets_its_batches() -> None:
    app = bar_of("resnet50-slim").button(key="preset_paper").click().run()
    assert chosen(app) == ("tvm@2", "graphturbo@16", 64)
    assert bar_of("llama").button(key="preset_paper").disabled


def test_the_other_button_gives_a_the_cluster_batch_of_b() -> None:
    app = bar_of("llama").button(key="preset_equal").click().run()
    assert chosen(app) == ("tvm@8", "graphturbo:lb@8", 32)
    app.session_state["b"] = "graphturbo"
    app = app.run().button(key="preset_equal").click().run()
    assert chosen(app) == ("tvm", "graphturbo", 32)
