"""What every layer holds of LB and GB, how full they are over time, and which buffer lies where."""

from __future__ import annotations

import streamlit as st

from graphturbo_ui.charts import chart_to_pick
from graphturbo_ui.components.addresses import ADDRESSES
from graphturbo_ui.figures import tables
from graphturbo_ui.figures.buffers import address_summary, buffer_count, buffer_table
from graphturbo_ui.figures.canvases import address_bytes
from graphturbo_ui.figures.memory import memory_figure, memory_targets
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.session import state
from graphturbo_ui.shown import names_of, of_runs, reports_of, selected_ops, table, view

CLICK = (
    "A click on a bar selects its layer in all views. A layer has the colour of its sub-graph of "
    "B, as on the first screen."
)
HINT = (
    "A rectangle is a buffer: its bytes, from its first write to its last use; what is bare is "
    "free. Of LB one core is shown, the fullest first. The time axis is the Gantt chart's. Hover "
    "names a buffer, a click selects its op. Ctrl or ⌘ + wheel zooms, and so does the wheel after "
    "a click; keys: W A S D, arrows, + and -, 0 shows all, [ and ] step through buffers, "
    "Esc leaves."
)


def memory(runs: Runs) -> None:
    """LB and GB of every layer as bars under their capacity lines; then the address map."""
    st.subheader("Memory", help=f"{CLICK} {define('LB')} {define('GB')}")
    chart_to_pick(
        view("memory", memory_figure, runs),
        "memory",
        "LB and GB use of every layer with capacity lines",
        of_runs(memory_targets, runs),
        runs,
    )
    table("memory", tables.memory_table, runs)
    addresses(runs)


def addresses(runs: Runs) -> None:
    """How full LB and GB are over time, and every buffer at its addresses."""
    summary = of_runs(address_summary, runs)
    st.markdown("**Occupancy and addresses over time**", help=f"{summary}\n\n{HINT}")
    ADDRESSES.draw(view("addresses", address_bytes, runs))
    with st.expander("Table of buffers", on_change="rerun", key="table_buffers") as box:
        if box.open:
            _buffers(runs)


def _buffers(runs: Runs) -> None:
    """Rows of the buffers in sight, of the selected ops where some are selected."""
    reports, windows, ops = reports_of(runs), state.told_windows(), selected_ops(runs)
    rows = buffer_table(*reports, names=names_of(runs), windows=windows, ops=ops)
    st.dataframe(rows, hide_index=True)
    limits = ["in the time in sight"] * bool(windows) + ["of the selected ops"] * (ops is not None)
    said = f" {' and '.join(limits)}" if limits else ""
    st.caption(f"{len(rows):,} of {buffer_count(*reports):,} buffers{said}.")
