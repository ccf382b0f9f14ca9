"""Explore: one model, one chip, two runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from graphturbo_core.report.verdict.binding_change import BindingChange
from graphturbo_core.report.verdict.equal_batches import cluster_batch
from graphturbo_ui import frame
from graphturbo_ui.components.link import canvas_link
from graphturbo_ui.equal_run import equal_run
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.session import state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.query import DEFAULT_VIEWS, VIEWS
from graphturbo_ui.views.edit_plan import plan_edits, present_edits
from graphturbo_ui.views.export import export
from graphturbo_ui.views.gantt import gantt
from graphturbo_ui.views.groupings import groupings
from graphturbo_ui.views.memory import memory
from graphturbo_ui.views.overview import overview
from graphturbo_ui.views.passes import passes
from graphturbo_ui.views.sharing import sharing
from graphturbo_ui.views.time import time
from graphturbo_ui.views.verdict import notes, verdict
from graphturbo_ui.what_helps import change_text, changed_run

SHOWN: Mapping[str, Callable[[Runs], None]] = {
    "Graph": groupings,
    "Every core": gantt,
    "Memory": memory,
    "Algorithms": passes,
    "Plan edits": plan_edits,
    "Export": export,
}
"""What draws each view of `VIEWS`, besides the first, which compares."""
WHY = VIEWS[0]


def show(choices: Choices) -> None:
    """The whole page: the first screen, and below it the views that are chosen."""
    runs = frame.runs_of(choices)
    state.see({name: run.key for name, run in runs.items()})
    frame.wait_for_first(runs)
    drawn, pending = frame.outcome(runs)
    beside, changed = equal_run(choices, drawn), changed_run(choices, drawn)
    awaited = {**_awaited(beside, drawn), **_awaited_change(changed)}
    if drawn:
        overview(drawn, pending, beside, change_text(changed, drawn))
    with st.container():
        present_edits(runs, drawn)
    if drawn:
        _present(drawn, pending, beside)
        sharing(choices, drawn, beside)
    frame.finish({**pending, **awaited})


def _awaited(beside: Run | str | None, drawn: Runs) -> Runs:
    """The run beside A and B, where the page is drawn without it.

    It is looked at before anything is drawn: one that is done by the time the page stands was not
    there for the result line, and the page has to be drawn again.
    """
    if not isinstance(beside, Run) or beside.is_done:
        return {}
    return {f"A at {cluster_batch(drawn['B'].report)}": beside}


def _awaited_change(changed: tuple[BindingChange, Run] | None) -> Runs:
    """The run on a changed chip, where the page is drawn without it."""
    if changed is None or changed[1].is_done:
        return {}
    return {f"B with {changed[0].words}": changed[1]}


def _present(runs: Runs, pending: Runs, beside: Run | str | None) -> None:
    """The views that are chosen, one under the other; only these cost time."""
    chosen = _chosen_views()
    state.hear(canvas_link(state.marks(), key="link"))
    for name in VIEWS:
        if name not in chosen:
            continue
        with st.container(key=f"view_{name.lower().replace(' ', '_')}"):
            if name == WHY:
                verdict(runs, pending, beside)
                time(runs)
            else:
                SHOWN[name](runs)
    notes(runs)


def _chosen_views() -> list[str]:
    return st.pills(
        "Views", VIEWS, selection_mode="multi", default=DEFAULT_VIEWS, key="views",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
