"""Verification: what a replay checked of the two runs, and what came out."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.kept_replays import kept_replay, kept_text
from graphturbo_core.report.verdict.verify_text import (
    fault_text,
    is_wrong,
    verification_text,
    was_verified,
)
from graphturbo_ui import frame
from graphturbo_ui.figures import tables
from graphturbo_ui.jobs import Runs
from graphturbo_ui.session import state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.shown import nothing
from graphturbo_ui.text import Sink, safe_text

INTRO = """
A schedule is believed here only once it has been **executed**: every instruction runs in simulated
time on real numbers, on exactly the boxes that it names, in buffers as large as the chip's. What
comes out is compared with ONNX Runtime on the unsplit model.
"""
CHECKED = """
- Every read finds what its op needs: the right box, written before, not overwritten since.
- No two buffers share a byte while both are in use; every compute stays in its own core's memory.
- Partial sums begin once, are added to in order, and are read when they are whole.
- Graph outputs agree with the unsplit model within what rounding explains: reduction lengths times
  the precision of the number type, summed along the way from input to output.
- Numbers are float32 or the model's own type; weights that a file leaves out are drawn from a seed.
- Not checked: the bits of the run's number format, and the order of bytes inside a buffer.
"""
KEPT = """
`docs/verified.json` has these replays. The checks of every change compute the Program's digest
again and compare it with the kept one.
"""
TOLERANCE = """
Difference and tolerance are **shares of the output's magnitude**: divided by the largest absolute
number of that output. A difference of 1e-6 means that an output of up to 10 differs by at most
0.00001.

The tolerance is a bound on rounding and follows from the model alone. A sum of n terms is rounded
n times, and each rounding in float32 errs by at most 6e-8 of its result (half a unit in the last
place). Errors add up from input to output, and count twice, as ONNX Runtime rounds too. So deeper
models have larger tolerances. The replay also checks each read on its own.
"""


def show(choices: Choices) -> None:
    """The whole page."""
    st.title("Verification")
    st.markdown(INTRO)
    if choices.verify:
        nothing()
    else:
        _offer()
    runs = frame.runs_of(choices)
    place = frame.wait_for_first(runs)
    drawn, pending = frame.outcome(runs)
    with st.container():  # what comes after keeps its place, however many are drawn
        for name in drawn:
            _outcome(name, drawn)
    st.subheader("What a replay checks")
    st.markdown(CHECKED)
    st.subheader("Tolerance")
    st.markdown(TOLERANCE)
    frame.finish(pending, place)


def _offer() -> None:
    """A button that has both runs replayed."""
    with st.container():
        st.markdown("Replay A and B on this server: seconds to two minutes.")
        st.button(
            "Verify A and B", on_click=state.ask_for_replay, args=(True,),
            icon=":material/verified:",
        )  # fmt: skip


def _outcome(name: str, runs: Runs) -> None:
    """One run: the verdict, every output, and the first wrong instruction if there is one."""
    report = runs[name].report
    st.subheader(f"{name} · {safe_text(report.contract['strategy'], Sink.MARKDOWN)}")
    if not was_verified(report):
        _kept(report)
        return
    text = safe_text(verification_text(report), Sink.MARKDOWN, 1000)
    (st.error if is_wrong(report) else st.success)(text)
    fault = fault_text(report)
    if fault:
        st.markdown(f"First wrong instruction: {safe_text(fault, Sink.MARKDOWN, 1000)}")
    st.dataframe(tables.output_rows(report), hide_index=True, key=f"outputs_{name}")


def _kept(report: Report) -> None:
    """The kept replay of exactly this Program, or that there is none."""
    kept = kept_replay(report)
    if kept is None:
        st.caption("Not replayed.")
        return
    whole = f"Program: sha256 {kept['program_sha256']}. {KEPT}"
    st.markdown(f":material/verified: This Program was {kept_text(kept)}.", help=whole)
