"""Plans edited from the graph: what can be changed at a sub-graph, and the edits made so far."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from graphturbo_core.export.edit_list import (
    NO_EDITS,
    EditEntry,
    Edits,
    conflicting,
    edit_entries,
    with_apart,
    with_cut,
    with_merge,
)
from graphturbo_core.report.edit_choices import EditChoices, edit_choices
from graphturbo_core.report.overview.group_names import words_of
from graphturbo_core.report.part_words import part_words
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.verdict import figures_of, since_text
from graphturbo_core.units import counted
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.session import drafts, query, run_state, state
from graphturbo_ui.session.selection import selected_in
from graphturbo_ui.shown import nothing
from graphturbo_ui.text import Sink, safe_text

EDITABLE = "graphturbo"
"""The strategy that merges and splits; the others' plans have nothing to edit at a sub-graph."""
MAX_MERGED = 1000
"""Sub-graphs that one edit merges: a plan file takes no more members."""


CONTRADICTORY = "Two edits contradict each other: undo one of them first."
NOTHING_CHOSEN = (
    "No sub-graph is selected: click one on the first screen or in the graph, or press Edit plan "
    "in the line at the foot of the window."
)
HOW = (
    "Select a sub-graph of a run that merges and splits: what can be changed at it appears here. "
    "Below it stand the edits made so far; they count from the next run on."
)


def plan_edits(asked: Runs, runs: Runs) -> None:
    """What can be changed at what is selected, and right below it the edits made so far.

    `asked` are all runs, of which `runs` are drawn.
    """
    st.subheader("Plan edits", help=f"{define('edit')}\n\n{HOW}")
    selected = state.selection()
    if selected is None:
        st.caption(NOTHING_CHOSEN)
    else:
        nothing()
    reports = {name: run.report for name, run in runs.items()}
    words = dict(zip(reports, words_of(*reports.values()), strict=True))
    for name, run in asked.items():
        with st.container():
            if name in reports and selected is not None and selected.run in reports:
                ops = selected_in(selected, reports)[name]
                _offer(name, reports[name], ops, words[name])
        _present(name, run, runs)


def _offer(name: str, report: Report, ops: Collection[int], words: Mapping[str, str]) -> None:
    """What can be changed at these ops, where the run merges and splits."""
    strategy = report.contract["strategy"]
    if not strategy.startswith(EDITABLE) or "edits" not in report.files:
        return
    groups = sorted({n["group"] for n in report.tables["graph_nodes"] if n["index"] in ops})
    if not groups:
        return
    with st.expander(f"Edit the plan of {name} here", key=f"edit_{name}", expanded=True):
        if len(groups) == 1:
            _one(name.lower(), report, edit_choices(report, groups[0]), words)
        else:
            _several(name.lower(), report, groups[:MAX_MERGED])


def _one(key: str, report: Report, found: EditChoices, names: Mapping[str, str]) -> None:
    """Cut it, merge it with a neighbour, or fix how it is split."""
    taken = frozenset(node["op"] for node in report.tables["graph_nodes"])
    st.markdown(
        f"**{safe_text(_title(names[found.name]), Sink.MARKDOWN)}**: "
        f"{counted(len(found.layers), 'layer')}, {_split_text(found)}."
    )
    cut, merge, split = st.columns(3)
    with cut:
        _cut(key, found, taken)
    with merge:
        _merge(key, found, names, taken)
    with split:
        _split(key, found, taken)


def _split_text(found: EditChoices) -> str:
    if found.axis < 0:
        return "not split"
    return f"{counted(found.pieces, 'piece')} along {found.along or found.axis_names[found.axis]}"


def _title(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"


def _cut(key: str, found: EditChoices, taken: frozenset[str]) -> None:
    layers = list(found.layers)
    place = st.selectbox(
        "Cut after layer", range(len(layers) - 1), key=f"cut_at_{key}",
        format_func=lambda at: safe_text(layers[at]), placeholder="it has one layer",
        disabled=len(layers) < 2,  # noqa: PLR2004  # two sides
    )  # fmt: skip
    st.button(
        "Forbid this merge", key=f"forbid_{key}", on_click=_forbid, args=(key, found, place, taken),
        disabled=place is None, icon=":material/content_cut:",
    )  # fmt: skip


def _forbid(key: str, found: EditChoices, place: int, taken: frozenset[str]) -> None:
    parts = found.parts_around(place)
    drafts.change_draft(key, with_apart(drafts.draft(key), parts, taken))


def _merge(key: str, found: EditChoices, names: Mapping[str, str], taken: frozenset[str]) -> None:
    other = st.selectbox(
        "Neighbour", list(found.neighbours), key=f"neighbour_{key}",
        format_func=lambda name: safe_text(_title(names[name])), disabled=not found.neighbours,
        placeholder="it has none",
    )  # fmt: skip
    parts = {found.name: found.ops, **({other: found.neighbours[other]} if other else {})}
    st.button(
        "Force this merge", key=f"force_{key}", on_click=_force, args=(key, parts, taken),
        disabled=other is None, icon=":material/merge:",
    )  # fmt: skip


def _force(key: str, parts: Mapping[str, Sequence[str]], taken: frozenset[str]) -> None:
    drafts.change_draft(key, with_merge(drafts.draft(key), parts, taken))


def _split(key: str, found: EditChoices, taken: frozenset[str]) -> None:
    axes = list(range(len(found.extents)))
    axis = st.selectbox(
        "Split along", axes, index=max(found.axis, 0) if axes else None,
        key=f"axis_{key}_{found.name}", disabled=not axes,
        format_func=lambda at: f"{found.axis_names[at]} (size {found.extents[at]})",
    )  # fmt: skip
    counts = found.piece_counts(-1 if axis is None else axis)
    pieces = st.selectbox(
        "Pieces", counts, key=f"pieces_{key}_{found.name}_{axis}",
        index=counts.index(found.pieces) if found.pieces in counts else 0,
        help=define("piece"),
    )  # fmt: skip
    cut = {"pieces": pieces} if axis is None else {"pieces": pieces, "axis": axis}
    st.button(
        "Fix axis and pieces", key=f"fix_{key}", on_click=_fix, args=(key, found, cut, taken),
        disabled=axis is None, icon=":material/push_pin:",
    )  # fmt: skip


def _fix(key: str, found: EditChoices, cut: Mapping[str, int], taken: frozenset[str]) -> None:
    part = (found.name, found.ops)
    drafts.change_draft(key, with_cut(drafts.draft(key), part, cut, taken))


def _several(key: str, report: Report, groups: Sequence[int]) -> None:
    """What is selected lies in several sub-graphs of this run: they can be merged."""
    inside = set(groups)
    names = {group: report.tables["groups"][group]["name"] for group in groups}
    parts: dict[str, tuple[str, ...]] = {name: () for name in names.values()}
    for node in report.tables["graph_nodes"]:
        if node["group"] in inside:
            name = names[node["group"]]
            parts[name] = (*parts[name], node["op"])
    taken = frozenset(node["op"] for node in report.tables["graph_nodes"])
    st.markdown(f"What is selected lies in {len(groups)} sub-graphs of this run.")
    st.button(
        "Force their merge", key=f"force_{key}", on_click=_force, args=(key, parts, taken),
        icon=":material/merge:",
    )  # fmt: skip


def present_edits(asked: Runs, runs: Runs, is_elsewhere: bool = False) -> None:
    """The edits of each run, unless the view of plan edits has them; `asked`, `runs`: as there.

    Those of refused runs are among them, so that what a run was refused for can be undone.
    """
    for name, run in asked.items():
        with st.container():
            if not is_elsewhere:
                _present(name, run, runs)


def _present(name: str, run: Run, runs: Runs) -> None:
    """The edits of a run with a way back, and what they changed once they have been run."""
    key = name.lower()
    edits, applied = drafts.draft(key), drafts.held_edits(key)
    if edits != NO_EDITS or applied != NO_EDITS:
        report = _report_for(name, runs)
        at_odds = _at_odds(edits, report)
        with st.container(border=True, key=f"edits_{name}"):
            with st.container(horizontal=True, vertical_alignment="center"):
                title = f"**Edits of {name}'s plan**"
                st.markdown(title, help=define("edit"), width="content")
                _run_buttons(key, edits, applied, (run, name in runs), bool(at_odds))
            with st.container():
                _list(key, edits, report, at_odds)
    else:
        nothing()
    before = drafts.figures_before(key)
    if before and name in runs and edits == applied:
        st.caption(f"{name}: {since_text(before, runs[name].report)}")
    else:
        nothing()


def _report_for(name: str, drawn: Runs) -> Report | None:
    """The run's report; that of the other run, with the same layers, while it has none."""
    run = drawn.get(name) or next(iter(drawn.values()), None)
    return run.report if run is not None else None


def _at_odds(edits: Edits, report: Report | None) -> tuple[tuple[str, str], ...]:
    """Key and name of each edit that contradicts another one; none without a report."""
    if report is None:
        return ()
    layer_of = {node["op"]: node["layer"] for node in report.tables["graph_nodes"]}
    return tuple((entry.key, entry.name) for entry in conflicting(edits, layer_of))


def _list(
    key: str, edits: Edits, report: Report | None, at_odds: Collection[tuple[str, str]]
) -> None:
    """One line per edit, with its way back; parts are shown by their layers in `report`."""
    entries = edit_entries(edits, part_words(edits.names, report))
    opposed = [entry for entry in entries if (entry.key, entry.name) in at_odds]
    for entry in entries:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Undo", key=f"undo_{key} {entry.key} {entry.name}", on_click=drafts.undo,
                args=(key, entry), icon=":material/undo:",
            )  # fmt: skip
            st.markdown(safe_text(entry.text, Sink.MARKDOWN, 300))
            if entry in opposed:
                st.markdown(f":material/warning: {_odds_text(entry, opposed)}")


def _odds_text(entry: EditEntry, opposed: Sequence[EditEntry]) -> str:
    """Why no plan can have an edit with the others that it contradicts, and the way out."""
    others = [safe_text(each.text, Sink.MARKDOWN, 120) for each in opposed if each is not entry]
    if not others:
        return "No plan can have this: a layer is never cut. Undo it."
    joined = " and ".join(f"“{text}”" for text in others)
    return f"**Contradicts** {joined}: undo one of them."


def _run_buttons(
    key: str, edits: Edits, applied: Edits, at: tuple[Run, bool], is_refused: bool
) -> None:
    """Run again, run beside it, or undo all: `at` is the run, and whether it is drawn.

    `is_refused`: no plan can have all edits, so none is run.
    """
    run, is_drawn = at
    head = run.report.text("edits") if is_drawn else run_state.held_plan(key)
    before = figures_of(run.report) if is_drawn else drafts.figures_before(key)
    why_not = CONTRADICTORY if is_refused else None
    other = next(each for each in query.RUN_KEYS if each != key)
    st.button(
        f"Run {key.upper()} again", key=f"run_edits_{key}", on_click=drafts.run_draft,
        args=(key, key, head, before), disabled=edits == applied or not head or is_refused,
        icon=":material/play_arrow:", help=why_not,
    )  # fmt: skip
    st.button(
        f"Run as {other.upper()}, beside {key.upper()}", key=f"beside_{key}",
        on_click=drafts.run_draft, args=(key, other, head, before),
        disabled=edits in (applied, NO_EDITS) or not head or is_refused,
        icon=":material/compare_arrows:", help=why_not,
    )  # fmt: skip
    st.button(
        "Undo all", key=f"undo_all_{key}", on_click=drafts.undo_all, args=(key,),
        disabled=edits == NO_EDITS, icon=":material/undo:",
    )  # fmt: skip
