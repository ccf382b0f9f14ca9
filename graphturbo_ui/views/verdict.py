"""Why B wins or loses: a sentence, eight figures, and in what else the runs differ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from graphturbo_core.report.overview.group_names import in_words, words_of
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.kept_replays import state_text
from graphturbo_core.report.verdict.note_places import VERIFIED, alike, notes_by_place
from graphturbo_core.report.verdict.verdict import (
    NONE_IN_A,
    VerdictRow,
    binding_text,
    sentence,
    verdict_rows,
)
from graphturbo_ui.beside.equal_run import equal_report
from graphturbo_ui.figures import tables
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.shown import nothing, of_runs, reports_of, view
from graphturbo_ui.text import Sink, safe_text

COLUMNS_OF_VERDICT = 4


def notes(runs: Runs) -> None:
    """The runs' notes, counted and closed."""
    found = of_runs(tables.notes, runs)
    if not found:
        nothing()
        return
    with st.expander(f"Notes ({len(found)})"):
        for own in alike(found):
            st.markdown(f"- {safe_text(own[0], Sink.MARKDOWN, 1000)}")
            _others(own[1:])


def verdict(runs: Runs, pending: Runs, beside: Run | str | None) -> None:
    """B's figures with their change against A, and one sentence on why.

    Of one run alone while the other is `pending`, or where it is refused. `beside`: A at B's
    cluster batch, where the two differ.
    """
    reports = reports_of(runs)
    a, b = reports[0], reports[1] if len(reports) > 1 else None
    outcome, reason = (
        safe_text(part, Sink.MARKDOWN, 1000) for part in _said(runs, pending, beside)
    )
    below = of_runs(notes_beside, runs)
    if b is None or a.contract["cluster_batch"] != b.contract["cluster_batch"]:
        st.subheader("Why")
        st.markdown(f"**{outcome}** {reason}")  # with the ratio at equal cluster batches
    else:
        st.subheader("Why", help=outcome)
        st.markdown(reason)
    rows = verdict_rows(a, b)
    for first in range(0, len(rows), COLUMNS_OF_VERDICT):
        shown = rows[first : first + COLUMNS_OF_VERDICT]
        for column, row in zip(st.columns(COLUMNS_OF_VERDICT), shown, strict=False):
            with column:
                _figure(row)
                _beside((*([row.note] if row.note else []), *below.get(row.key, ())))
    states = [f"{name}: {state_text(r)}" for name, r in zip(runs, reports, strict=True)]
    digests = (
        f"Program of {name}: {report.contract['program_sha256']}."
        for name, report in zip(runs, reports, strict=True)
    )
    st.markdown(
        f"Numbers checked against ONNX Runtime (page Verification) — {', '.join(states)}.",
        help=" ".join(digests),
    )
    _beside(below.get(VERIFIED, ()))


def notes_beside(*reports: Report, names: str) -> dict[str, tuple[str, ...]]:
    """The notes that a figure's place shows below it, each with whose it is."""
    owners: dict[tuple[str, str], str] = {}
    for name, report, words in zip(names, reports, words_of(*reports), strict=True):
        for place, notes in notes_by_place(report).items():
            for key in ((place, in_words(note, words)) for note in notes):
                owners[key] = f"{owners[key]} and {name}" if key in owners else name
    found: dict[str, tuple[str, ...]] = {}
    for (place, note), owner in owners.items():
        found[place] = (*found.get(place, ()), f"{owner}: {note}")
    return found


def _beside(notes: Sequence[str]) -> None:
    """What must be known of a figure, right below it; of notes that are alike the first."""
    for own in alike(notes):
        st.caption(f":material/info: {safe_text(own[0], Sink.MARKDOWN, 1000)}")
        _others(own[1:])


def _others(notes: Sequence[str]) -> None:
    """The other notes that are like one, counted and closed."""
    if not notes:
        return
    with st.popover(f"{len(notes):,} more like it"):
        st.markdown("\n".join(f"- {safe_text(note, Sink.MARKDOWN, 300)}" for note in notes))


def _said(runs: Runs, pending: Runs, beside: Run | str | None) -> tuple[str, str]:
    """What the verdict says in words: how the runs stand, and what binds them."""
    if len(runs) > 1:
        equal = equal_report(beside)
        which = beside.key if isinstance(beside, Run) and equal is not None else str(equal)
        return view(f"verdict {which}", partial(_sentence, equal=equal), runs)
    ((name, run),) = runs.items()
    waits = [f"{other} is being computed" for other in pending]
    rest = waits[0] if waits else "the other run is not"
    (words,) = words_of(run.report)
    return f"{name} is there, {rest}.", f"{name} {binding_text(run.report, words)}."


def _sentence(*reports: Report, names: str, equal: Report | str | None) -> tuple[str, str]:
    a, b = reports
    return sentence(a, b, equal, words_of(a, b))


def _change(row: VerdictRow) -> str:
    return row.change if row.change == NONE_IN_A else f"{row.change} · A {row.a}"


def _figure(row: VerdictRow) -> None:
    """One figure: B's value (that of a run alone) and the change, green where it is better."""
    colours = {True: "green", False: "red", None: "off"}
    st.metric(
        row.label,
        row.b or row.a,
        _change(row) if row.b else None,
        delta_color=colours[row.is_better],  # type: ignore[arg-type]  # one of Streamlit's words
        delta_arrow=row.arrow,  # type: ignore[arg-type]  # one of Streamlit's words
        help=f"{define(row.term)} {row.direction.capitalize()}.",
        border=True,
    )
