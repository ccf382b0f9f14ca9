"""Wanted runs -> finished ones in the comparison, with progress and a way out."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from graphturbo_core.comparison.compared_run import MAX_NAME, ComparedRun, default_name
from graphturbo_core.comparison.from_report import figures_of
from graphturbo_core.units import format_seconds
from graphturbo_ui.jobs import Run, WorkerError, shared_desk
from graphturbo_ui.progress import Bar, of_several, pause
from graphturbo_ui.session import compared, compared_link, run_state, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.compared import WantedRun
from graphturbo_ui.text import safe_text

FAULT = "met a bug of ours; the server's log has the details"


def collect() -> None:
    """Take what is finished into the comparison, and have more of the wanted runs begun."""
    while True:
        wanted = {each.key: each for each in compared.comparison().wanted}
        asked = {key: (each.request, each.source) for key, each in wanted.items()}
        done = run_state.compared().advance(shared_desk(), asked)
        for key, run in done:
            if key in wanted:
                _take(wanted[key], run)
        if not done:
            return


def add_both(choices: Choices) -> None:
    """Have A and B join the comparison: at once where they are computed."""
    compared_link.add_both(choices)
    collect()


def _take(wanted: WantedRun, run: Run) -> None:
    """Keep a finished run's figures, or why it has none."""
    compared.change(lambda now: now.without_wanted(wanted))
    if run.is_cancelled:
        return
    try:
        refused = run.refusal
    except WorkerError:
        _refuse(wanted, FAULT)
        return
    if refused is not None:
        _refuse(wanted, refused.line())
        return
    figures = shared_desk().view("compared figures", figures_of, run)
    name = default_name(figures, is_from_plan=bool(wanted.choices.plan))
    if wanted.file_name:
        name = safe_text(f"{figures.strategy} from {wanted.file_name}", max_length=MAX_NAME)
    found = ComparedRun(name=name, choices=wanted.choices, figures=figures)
    compared.change(lambda now: now.joined(found))
    if wanted.row is not None:
        line = _again_text(wanted.row, found)
        compared.change(lambda now: now.saying(line))


def _again_text(before: ComparedRun, now: ComparedRun) -> str:
    """How a row's time has changed with the version that computed it."""
    times = (
        f"{format_seconds(run.figures.latency_s)} by version {safe_text(run.figures.version)}"
        for run in (now, before)
    )
    return f"{safe_text(before.name)}, computed again: {', '.join(times)}."


def _refuse(wanted: WantedRun, why: str) -> None:
    request = wanted.request
    line = f"{request.strategy} on {request.profile}: {why}"
    compared.change(lambda now: now.refusing(safe_text(line, max_length=1000)))


def wait(place: DeltaGenerator) -> None:
    """Show how far the wanted runs are, until one more is there; the page is then drawn again.

    The bar is drawn at every poll: Streamlit takes a click only where something is drawn.
    """
    now = compared.comparison()
    if not now.wanted:
        return
    with place.container(
        border=True, key="compare_waiting", horizontal=True, vertical_alignment="center"
    ):
        drawn = st.empty()
        st.button(
            "Cancel", key="compare_cancel", on_click=cancel, icon=":material/cancel:",
            help="Finished runs remain in the comparison.",
        )  # fmt: skip
        while True:
            collect()
            if compared.comparison() is not now:
                state.draw_again()
            first = run_state.compared().first
            shown = _progress(first)
            drawn.progress(shown.share, shown.text)
            pause(first)


def _progress(first: Run | None) -> Bar:
    """Share of the asked runs that are there, and what is done now."""
    now = compared.comparison()
    done, count = len(now.asked) - len(now.wanted), len(now.asked)
    return of_several(first, f"run {done + 1} of {count}", done, count)


def cancel() -> None:
    """Wait for no run any more: those under way end unless somebody else waits for them."""
    compared.give_up()
    run_state.compared().leave(shared_desk())
