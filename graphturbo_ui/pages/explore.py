"""Explore: one model, one chip, two runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from graphturbo_core.report.verdict.equal_batches import cluster_batch
from graphturbo_ui import frame
from graphturbo_ui.components.link import canvas_link
from graphturbo_ui.equal_run import equal_run
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.session import state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.query import DEFAULT_VIEWS, VIEWS
from graphturbo_ui.views.edit_plan import present_edits
from graphturbo_ui.views.export import export
from graphturbo_ui.views.gantt import gantt
from graphturbo_ui.views.groupings import groupings
from graphturbo_ui.views.memory import memory
from graphturbo_ui.views.passes import passes
from graphturbo_ui.views.sharing import sharing
from graphturbo_ui.views.time import time
from graphturbo_ui.views.verdict import banner, verdict

SHOWN: Mapping[str, Callable[[Runs], None]] = {
    "Groupings": groupings,
    "Memory": memory,
    "Gantt": gantt,
    "Where the time goes": time,
    "Passes": passes,
    "Export": export,
}
"""What draws each view of `VIEWS`."""
INTRO = """
A model runs on a many-core chip as **sub-graphs**. **A** cuts it finely, as ordinary compilers do;
**B** merges coarsely and splits what it merged, so that tensors stay in the cores' buffers.
Both schedules are computed, simulated cycle by cycle, and shown over the same samples.
"""


def show(choices: Choices) -> None:
    """The whole page."""
    st.markdown(INTRO)
    runs = frame.runs_of(choices)
    state.see({name: run.key for name, run in runs.items()})
    frame.wait_for_first(runs)
    present_edits(runs, {name: run for name, run in runs.items() if _is_drawn(run)})
    drawn, pending = frame.outcome(runs)
    beside = equal_run(choices, drawn)
    awaited = _awaited(beside, drawn)
    if drawn:
        _present(drawn, pending, beside)
        sharing(choices, drawn, beside)
    frame.finish({**pending, **awaited})


def _awaited(beside: Run | str | None, drawn: Runs) -> Runs:
    """The run beside A and B, where the page is drawn without it.

    It is looked at before anything is drawn: one that is done by the time the page stands was not
    there for the verdict, and the page has to be drawn again.
    """
    if not isinstance(beside, Run) or beside.is_done:
        return {}
    return {f"A at {cluster_batch(drawn['B'].report)}": beside}


def _is_drawn(run: Run) -> bool:
    return run.is_done and run.refusal is None


def _present(runs: Runs, pending: Runs, beside: Run | str | None) -> None:
    """What is known of finished runs: the verdict, and the views that are chosen."""
    banner(runs)
    with st.container():
        verdict(runs, pending, beside)
    chosen = _chosen_views()
    state.hear(canvas_link(state.marks(), key="link"))
    for name in VIEWS:
        if name in chosen:
            SHOWN[name](runs)


def _chosen_views() -> list[str]:
    """The views that are drawn, one under the other; only these cost time."""
    return st.pills(
        "Views", VIEWS, selection_mode="multi", default=DEFAULT_VIEWS, key="views",
        bind="query-params",
    )  # fmt: skip
