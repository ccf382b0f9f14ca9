"""The views below the first screen: those that are chosen, one under the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from graphturbo_ui.components.link import canvas_link
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.measured.view import measured_times
from graphturbo_ui.session import state
from graphturbo_ui.session.query import DEFAULT_VIEWS, VIEWS
from graphturbo_ui.views.edit_plan import plan_edits, present_edits
from graphturbo_ui.views.export import export
from graphturbo_ui.views.gantt import gantt
from graphturbo_ui.views.groupings import groupings
from graphturbo_ui.views.memory import memory
from graphturbo_ui.views.passes import passes
from graphturbo_ui.views.time import time
from graphturbo_ui.views.verdict import notes, verdict

SHOWN: Mapping[str, Callable[[Runs], None]] = {
    "Graph": groupings,
    "Every core": gantt,
    "Memory": memory,
    "Algorithms": passes,
    "Export": export,
}
"""What draws each view of `VIEWS` from the runs at hand; other views need more than these."""
WHY, EDITS = "Why", "Plan edits"


def below(
    asked: Runs, runs: Runs, pending: Runs, beside: Run | str | None, above: DeltaGenerator
) -> None:
    """The views that are chosen, then the runs' notes; only these views cost time.

    `asked` are all runs, of which `runs` are drawn and `pending` are on their way. Edits of plans
    stand in their own view where it is open, else in the place `above` the views.
    """
    chosen = st.pills(
        "Views", VIEWS, selection_mode="multi", default=DEFAULT_VIEWS, key="views",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    state.hear(canvas_link(state.marks(), key="link"))
    with above:
        present_edits(asked, runs, is_elsewhere=EDITS in chosen)
    for name in VIEWS:
        if name not in chosen:
            continue
        with st.container(key=f"view_{name.lower().replace(' ', '_')}"):
            if name == WHY:
                verdict(runs, pending, beside)
                time(runs)
                measured_times(runs)
            elif name == EDITS:
                plan_edits(asked, runs)
            else:
                SHOWN[name](runs)
    notes(runs)
