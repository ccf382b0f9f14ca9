"""One or two ticked runs: name, note, the way to Explore, what differs, and their plan diff."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from graphturbo_core.comparison.compared_run import MAX_NAME, MAX_NOTE, ComparedRun
from graphturbo_core.comparison.grouping import is_one_model
from graphturbo_core.comparison.sentences import choice_changes, figure_sentences
from graphturbo_core.units import counted
from graphturbo_ui.compare import again, equal_run, plan_diff
from graphturbo_ui.compare.equal_run import Beside
from graphturbo_ui.compare.run_table import grouping_rows
from graphturbo_ui.jobs import Runs
from graphturbo_ui.session import compared, reopening
from graphturbo_ui.session.plan_diff import PAIR
from graphturbo_ui.text import Sink, safe_text


def act_on(picked: Sequence[ComparedRun]) -> Runs:
    """Buttons for the ticked runs, and what one or two have; runs that the plan diff waits for."""
    keys = [run.key for run in picked]
    are_pinned = all(run.is_pinned for run in picked)
    with st.container(horizontal=True, key="compare_actions", vertical_alignment="center"):
        st.markdown(f"**{counted(len(picked), 'run')} ticked**", width="content")
        _button("Unpin" if are_pinned else "Pin", "pin", "keep", compared.pin, keys, not are_pinned)
        _button("Move up", "up", "arrow_upward", compared.move, keys, -1)
        _button("Move down", "down", "arrow_downward", compared.move, keys, 1)
        _button("Remove", "remove", "delete", compared.remove, keys)
        again.offer_ticked(picked)
        if len(picked) <= PAIR:
            _explore(picked)
    if len(picked) == 1:
        _words(picked[0])
    if len(picked) != PAIR:
        plan_diff.let_go()
        equal_run.let_go_of_pair()
        return {}
    a, b = picked
    beside = equal_run.of_pair(a, b)
    _differences(a, b, beside)
    return {**beside.pending, **plan_diff.draw(picked)}


def _button(label: str, key: str, icon: str, act: object, *args: object) -> None:
    st.button(
        label, key=f"compare_{key}", icon=f":material/{icon}:", on_click=act,  # type: ignore[arg-type]
        args=args,
    )  # fmt: skip


def _explore(picked: Sequence[ComparedRun]) -> None:
    """The button that opens the runs in Explore, off with the reason where it cannot."""
    found = reopening.reopened(picked)
    keys = ("a", "b") if len(picked) == PAIR else ("b",)
    st.button(
        "Open as A and B in Explore" if len(picked) == PAIR else "Open as B in Explore",
        key="compare_open", icon=":material/open_in_new:",
        disabled=bool(found.why_not), help=found.why_not or None,
        on_click=reopening.open_in_explore, args=(picked, keys),
    )  # fmt: skip
    if found.why_not:
        st.caption(safe_text(found.why_not, Sink.MARKDOWN, 300), width="content")


def _words(run: ComparedRun) -> None:
    """Boxes for the name and the note."""
    name, note = st.columns([1, 2])
    name_key, note_key = f"compare_name_{run.key}", f"compare_note_{run.key}"
    name.text_input(
        "Name", run.name, MAX_NAME, key=name_key, on_change=compared.rename,
        args=(run.key, name_key),
    )  # fmt: skip
    note.text_input(
        "Note", run.note, MAX_NOTE, key=note_key, on_change=compared.take_note,
        args=(run.key, note_key), placeholder="why this run is here",
    )  # fmt: skip


def _differences(a: ComparedRun, b: ComparedRun, beside: Beside) -> None:
    """Choices and figures in sentences; layers that are grouped differently as a table."""
    names = [safe_text(run.name, Sink.HTML) for run in (a, b)]
    st.html(f'<h2 class="compare-title">What differs: A {names[0]}, B {names[1]}</h2>')
    words, groups = st.columns([1, 1], gap="large")
    with words:
        sentences = [change.sentence() for change in choice_changes(a, b)]
        _list("Choices", sentences or ["All choices are the same."])
        _list("Figures", figure_sentences(a, b, beside.runs, beside.why_not))
    with groups:
        _groupings(a, b)


def _list(title: str, sentences: Sequence[str]) -> None:
    lines = "\n".join(f"- {safe_text(line, Sink.MARKDOWN, 600)}" for line in sentences)
    st.markdown(f"**{title}**\n\n{lines}")


def _groupings(a: ComparedRun, b: ComparedRun) -> None:
    st.markdown("**Plan: layers that are grouped or cut differently**")
    if not is_one_model(a.figures, b.figures):
        st.caption("The runs have other models, so their layers cannot be matched.")
        return
    rows = grouping_rows(a, b)
    if not rows:
        st.caption("Both runs group and cut all layers in the same way.")
        return
    st.dataframe(rows, hide_index=True, key="compare_groupings")
    st.caption("Explore's view Export has the difference of two plan files entry by entry.")
