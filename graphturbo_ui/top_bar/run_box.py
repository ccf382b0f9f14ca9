"""Contents of the popovers A and B: strategy, cluster batch, plan and options of one run."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.export.edit_list import edit_entries, edits_in
from graphturbo_core.strategies.registry import BEST, STRATEGIES
from graphturbo_core.units import counted
from graphturbo_ui.glossary import define
from graphturbo_ui.session import query, run_state, state
from graphturbo_ui.session.choices import Side
from graphturbo_ui.top_bar.labels import chosen_options
from graphturbo_ui.top_bar.options_form import options_form
from graphturbo_ui.top_bar.renewed import bound, shown

STRATEGY_HELP = (
    "NAME, NAME:LEVEL or NAME:LEVEL@N — type one that is not listed. N is the cluster batch: "
    "how many samples one cluster takes at once."
)
LABELS = {"a": "Strategy of A", "b": "Strategy of B"}
DEFAULTS = {"a": query.DEFAULT_A, "b": query.DEFAULT_B}


def run_box(key: str) -> Side:
    """One run's strategy, cluster batch, plan and options."""
    chosen = _strategy(key)
    box = shown(run_state.cluster_key(key), query.split_strategy(chosen)[1])
    st.number_input(
        f"Cluster batch of {key.upper()}", 0, query.MAX_CLUSTER_BATCH, None,
        placeholder=_without_cluster_batch(chosen), key=box,
        on_change=run_state.take_cluster_batch, args=(key, box),
        help=f"{define('cluster batch')} Nothing or 0: the cluster's whole share at once, or what "
        f"the strategy {BEST} chooses.",
    )  # fmt: skip
    plan = run_state.held_plan(key)
    if plan:
        st.button(
            f"{key.upper()} runs from {plan_text(plan)} · discard",
            key=f"drop_plan_{key}", on_click=run_state.drop_plan, args=(key,),
            icon=":material/close:", width="stretch",
        )  # fmt: skip
    if key == "a":
        st.button(
            "Swap A and B", on_click=run_state.swap_runs, key="swap", width="stretch",
            icon=":material/swap_horiz:",
        )  # fmt: skip
    options_form(key, chosen, bool(plan))
    options = {} if plan else chosen_options(key, chosen)
    return Side(chosen, options, plan, run_state.plan_digest(key))


def plan_text(plan: str) -> str:
    """What a plan file is, in words: with how many edits."""
    count = len(edit_entries(edits_in(plan)))
    return f"an edited plan ({counted(count, 'edit')})" if count else "a plan file"


def _without_cluster_batch(strategy: str) -> str:
    """What a strategy takes where no cluster batch is given."""
    name = query.split_strategy(strategy)[0].partition(":")[0]
    chooses = name in STRATEGIES and STRATEGIES[name].chooses_cluster_batch
    return "chosen by the search" if chooses else "whole share"


def _strategy(key: str) -> str:
    """A strategy box that takes typed names; one that cannot be a strategy is refused."""
    default = DEFAULTS[key]
    chosen = st.selectbox(
        LABELS[key], run_state.strategy_choices(key, default), accept_new_options=True,
        help=STRATEGY_HELP, **bound(key),
    )  # fmt: skip
    fault = query.strategy_fault(chosen or "")
    if fault:
        state.reject(key, fault, default)
    _describe(query.split_strategy(str(chosen))[0].partition(":")[0])
    return str(chosen)


def _describe(name: str) -> None:
    """What a strategy does, and behind "?" its source and where it departs from that."""
    known = STRATEGIES.get(name)
    if known is not None:
        more = "\n".join(f"- {sentence}" for sentence in known.departures)
        source = f"Source: {known.source}."
        text = f"{known.doc[:1].upper()}{known.doc[1:]}."
        st.markdown(text, help=f"{source} What differs here:\n\n{more}" if more else source)
