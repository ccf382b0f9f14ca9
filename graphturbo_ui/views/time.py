"""Where the time goes: roofline, stalls, bytes by cause, and every layer's share."""

from __future__ import annotations

from functools import partial

import streamlit as st

from graphturbo_core.report.report import Report
from graphturbo_ui.charts import chart, chart_to_pick
from graphturbo_ui.figures.accounting import (
    busy_figure,
    busy_targets,
    ledger_figure,
    ledger_rows,
    path_figure,
    path_rows,
    stall_figure,
    stall_table,
)
from graphturbo_ui.figures.bound_steps import bound_step_figure, bound_step_rows
from graphturbo_ui.figures.cluster_batches import batch_figure, batch_rows, batch_table
from graphturbo_ui.figures.group_tables import otherwise_table
from graphturbo_ui.figures.layer_tables import csv_text, layer_selections, layer_table, samples_text
from graphturbo_ui.figures.roofline import left_out_text, roofline_figure, roofline_targets
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.shown import (
    csv_button,
    of_runs,
    reports_of,
    table,
    table_to_pick,
    view,
)

ROOFLINE = (
    "A dot is a layer in one round on one cluster: its multiply-accumulates over the time from its "
    "first start to its last end in each kernel. Layers that overlap share that time. Under the "
    "slope DRAM limits it, under the flat roof the matrix engines do. A click selects the layer."
)
STEPS = (
    "Each bar is as long as the run. It begins with the lower bound of the resource that is named "
    "beside it. Then follow what this resource does beyond that, such as tiles that do not fill an "
    "array, and what it waits for (mean of its engines). Waits for data have a pattern per source. "
    "The last move counts: data that come from DRAM through GB count as GB's; the critical path "
    "goes on."
)
OTHERWISE = (
    "Between two common ends of sub-graphs, what `graphturbo` would do with the same layers at the "
    "same cluster batch. Both times are simulated, and each column sums to its plan's round."
)
BATCHES = (
    "`best` without `@N` chooses the cluster batch. A bar begins with the time below which no "
    "schedule with this cluster batch can be: its rounds follow one another, and each reads all "
    "weights. The rest is what the fastest schedule that was simulated takes beyond it. The dashed "
    "line is the schedule that was taken: a bound beyond it needs no simulation. With "
    "`best.goal=dram` a bar is DRAM's time for the least traffic, without a bound."
)
PATH = (
    "Each bar is as long as the run. Its parts are what the run waited for, step by step from its "
    "last cycle back to its first: an engine, a channel, bytes on their way, launch or barrier. "
    "Every core draws the same path (K)."
)
STALLS = (
    "Every cycle of every engine is accounted for, so each bar sums to 100 %. "
    "Idle clusters count as nothing to do."
)


def time(runs: Runs) -> None:
    """Roofline, stall accounting, byte ledger, busy time of layers, and the table of layers."""
    st.subheader("Time breakdown", help=f"{define('stall')} {define('layer')}")
    st.markdown("**Roofline**", help=f"{ROOFLINE} {of_runs(left_out_text, runs)}")
    chart_to_pick(
        view("roofline", roofline_figure, runs), "roofline",
        "Achieved MAC/s of every layer over its operational intensity, under the chip's roofs",
        of_runs(roofline_targets, runs), runs,
    )  # fmt: skip
    st.markdown("**From the lower bound to the time**", help=f"{STEPS} {define('lower bound')}")
    words = "Time of each run, cut into its lower bound and what separates it from that"
    chart(view("bound_steps", bound_step_figure, runs), "bound_steps", words, runs)
    table("steps from the lower bound", bound_step_rows, runs)
    _cluster_batches(runs)
    _otherwise(runs)
    st.markdown("**Critical path**", help=f"{PATH} {define('critical path')}")
    words = "Time of each resource on the critical path"
    chart(view("path", path_figure, runs), "path", words, runs)
    table("critical path", path_rows, runs)
    st.markdown("**What the engines did**", help=STALLS)
    words = "Shares of the makespan per engine kind"
    chart(view("stalls", stall_figure, runs), "stalls", words, runs)
    table("stalls", stall_table, runs)
    st.markdown("**Why bytes moved**")
    chart(view("ledger", ledger_figure, runs), "ledger", "Bytes over DRAM and GB by cause", runs)
    table("bytes by cause", ledger_rows, runs)
    st.markdown("**Layer by layer**", help=of_runs(samples_text, runs))
    chart_to_pick(
        view("busy", busy_figure, runs), "busy",
        "Busy time of every layer by engine kind", of_runs(busy_targets, runs), runs,
    )  # fmt: skip
    table_to_pick("layers", layer_table, layer_selections, runs)
    csv_button("Layers as CSV", partial(of_runs, _csv, runs), "layers.csv", "take_layers")


def _cluster_batches(runs: Runs) -> None:
    """Those that a search compared; their place is empty without one."""
    with st.container():
        if any(batch_rows(report) for report in reports_of(runs)):
            st.markdown("**Cluster batches compared**", help=BATCHES)
            words = "Time with each cluster batch, and the lower bound of all its schedules"
            chart(view("batches", batch_figure, runs), "batches", words, runs)
            table("cluster batches", batch_table, runs)


def _otherwise(runs: Runs) -> None:
    """What the paper's method decides otherwise; its place is empty without a search."""
    with st.container():
        if any(report.tables["otherwise"] for report in reports_of(runs)):
            st.markdown("**What the paper's method decides otherwise**", help=OTHERWISE)
            st.dataframe(view("otherwise", otherwise_table, runs), hide_index=True)


def _csv(*reports: Report, names: str) -> str:
    return csv_text(layer_table(*reports, names=names))
