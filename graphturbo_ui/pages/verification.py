"""Verification: what replays checked of the two runs, and what came out."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from graphturbo_core.report.verdict.verify_text import outputs
from graphturbo_ui import frame
from graphturbo_ui.figures import tables
from graphturbo_ui.jobs import Runs
from graphturbo_ui.replays.cards import cards_html, explained_html, head_html
from graphturbo_ui.replays.found import replay_of
from graphturbo_ui.session import run_state, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.shown import nothing
from graphturbo_ui.text import Sink, safe_text

STYLE = Path(__file__).parents[1] / "replays" / "replays.css"
INTRO = (
    "A schedule is believed here only once it has been **executed**: every instruction runs in"
    " simulated time on real numbers, on exactly the boxes that it names, in buffers as large as"
    " the chip's. What comes out is compared with ONNX Runtime on the unsplit model."
)


def show(choices: Choices) -> None:
    """The whole page; while runs are waited for, without what other ones left there."""
    runs = frame.runs_of(choices)
    has_one = any(run.is_done and run.refusal is None for run in runs.values())
    place_of = st.container if has_one else st.empty
    is_presenting = state.is_presenting()
    with st.container(key="replays_presenting" if is_presenting else "replays_page"):
        st.html(STYLE)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            sentence = place_of()
            if choices.verify or is_presenting:
                nothing()
            else:
                _offer()
        if not is_presenting:
            st.markdown(INTRO)
        waiting, cards, tabled = st.container(), place_of(), place_of()
        st.html(explained_html())
    if not has_one:
        sentence.html(head_html((), choices.setting()))
    with waiting:
        place = frame.wait_for_first(runs)
        drawn, pending = frame.outcome(runs)
    found = [replay_of(name, run.report) for name, run in drawn.items()]
    sentence.html(head_html(found, choices.setting()))
    if found:
        cards.html(cards_html(found))
    if not is_presenting:
        with tabled.container():
            _tables(drawn)
    frame.finish(pending, place)


def _offer() -> None:
    """A button that has both runs replayed."""
    st.button(
        "Verify A and B", on_click=run_state.ask_for_replay, args=(True,),
        icon=":material/verified:", help="Replays both on this server: seconds to two minutes.",
    )  # fmt: skip


def _tables(runs: Runs) -> None:
    """Every output of the runs that this server replayed."""
    for name, run in runs.items():
        if outputs(run.report):
            strategy = safe_text(run.report.contract["strategy"], Sink.MARKDOWN)
            st.caption(f"Outputs of {name}, {strategy}")
            st.dataframe(tables.output_rows(run.report), hide_index=True, key=f"outputs_{name}")
