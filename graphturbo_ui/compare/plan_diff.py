"""Two ticked runs -> their plans over one graph: what differs in each layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.plan_changes import (
    ASPECTS,
    LayerDifference,
    changes_sentence,
    is_one_graph,
    plan_changes,
)
from graphturbo_core.comparison.plan_picture import plan_diff_buffer
from graphturbo_core.errors import CapacityError
from graphturbo_core.report.report import Report
from graphturbo_ui import frame
from graphturbo_ui.components.sources import PLAN_DIFF
from graphturbo_ui.figures.tables import BOTH, MAX_ROWS, Table
from graphturbo_ui.jobs import Run, Runs, shared_desk
from graphturbo_ui.session import plan_diff, query, reopening, run_state, state
from graphturbo_ui.shown import table, view
from graphturbo_ui.text import Sink, safe_text

OTHER_MODELS = (
    "These two runs are of different models",
    "A plan diff needs layers that both runs have. Tick two runs of one model.",
)
BUSY = ("The server has no place for these runs now", "The plans are drawn once there is one.")
REST = (
    "How weights reach the cores, tile sizes and the order of instructions are not part of it; "
    "Explore's view Export has the plan files' difference entry by entry."
)
SAME_PROGRAMS = "Both programs have the same instructions."


def runs_of_pair(picked: Sequence[ComparedRun]) -> Runs | tuple[str, str]:
    """The runs whose plans are compared, as A and B; or a title and words why there are none."""
    kept = [run.choices for run in picked]
    found = [reopening.asked(run) for run in picked]
    refused = next((each for each in found if isinstance(each, str)), "")
    if all(kept) and len({each.model_sha256 for each in kept if each}) > 1:
        return OTHER_MODELS
    if refused:
        return "The plans of these runs cannot be computed here", refused
    runs: dict[str, Run] = {}
    try:
        for name, key, each in zip("AB", query.RUN_KEYS, found, strict=True):
            assert not isinstance(each, str)
            request, source = each
            (runs[name],) = shared_desk().start([request], source, run_state.plan_diff(key))
    except CapacityError:
        return BUSY
    if not all(run.is_done for run in runs.values()):
        shared_desk().wake()
    return runs


def let_go() -> None:
    """Wait for no plan any more: those under way end unless somebody else waits for them."""
    for key in query.RUN_KEYS:
        shared_desk().leave(run_state.plan_diff(key))


def draw(picked: Sequence[ComparedRun]) -> Runs:
    """Draw the plan diff of two runs; what is still to come of it."""
    found = runs_of_pair(picked)
    if isinstance(found, tuple):
        let_go()
        _say(*found)
        return {}
    pending = {name: run for name, run in found.items() if not run.is_done}
    if pending:
        _say("The plans are being computed", "The picture is drawn once both are there.")
        return pending
    refused = [run.refusal for run in found.values() if run.refusal is not None]
    if any(run.is_cancelled for run in found.values()):
        _say("The plans were not computed", "A run of this pair was cancelled.")
        st.button("Compute the plans", key="plan_diff_again", on_click=run_state.want_plans)
    elif refused:
        _say("A plan of this pair was refused", refused[0].line())
    else:
        _draw_runs(picked, found)
    return {}


def _draw_runs(picked: Sequence[ComparedRun], runs: Runs) -> None:
    """The picture; words where nothing differs, or where the runs have other layers."""
    reports = [run.report for run in runs.values()]
    if not is_one_graph(*reports):
        _say(*OTHER_MODELS)
        return
    layers = shared_desk().view("plan changes", plan_changes, *runs.values())
    if not any(layer.changed for layer in layers):
        _say(changes_sentence(layers), same_text(*reports), tuple(ASPECTS.values()))
        return
    found = reopening.reopened(picked)
    extra = {
        "keys": " ".join(run.key[:16] for run in runs.values()),
        "is_only": plan_diff.is_only_changed(),
        "is_presenting": state.is_presenting(),
        "can_open": not found.why_not,
        "why_not": safe_text(found.why_not, max_length=300),
    }
    make = partial(plan_diff_bytes, layers=layers, extra=extra)
    with st.container(key="plan_diff_place"):
        PLAN_DIFF.draw(
            view(f"plan diff {extra}", make, runs),
            on_only_change=plan_diff.take_only,
            on_explore_change=partial(plan_diff.open_layer, picked),
        )
    if not state.is_presenting():
        table("layers that differ", changed_table, runs)


def plan_diff_bytes(
    *reports: Report,
    layers: Sequence[LayerDifference],
    extra: Mapping[str, object],
    names: str = BOTH,
) -> bytes:
    """The picture's buffer; names of files made safe."""
    a, b = reports
    return plan_diff_buffer((a, b), layers, show=safe_text, extra={**extra, "names": names})


def same_text(a: Report, b: Report) -> str:
    """What is the same where nothing differs, and what was not compared."""
    rest = REST
    if a.contract["program_sha256"] == b.contract["program_sha256"]:
        rest = SAME_PROGRAMS
    chips = [safe_text(report.contract["profile"], max_length=80) for report in (a, b)]
    other = f" The chips differ: {chips[0]} and {chips[1]}." if chips[0] != chips[1] else ""
    return f"Groups, pieces, cores, memory of outputs and order agree in every layer.{other} {rest}"


def changed_table(a: Report, b: Report, names: str = BOTH) -> Table:
    """A row per layer and aspect that differ, with both sides."""
    rows: Table = [
        {
            "layer": each.layer + 1,
            "name": safe_text(each.name),
            "what": ASPECTS[side.aspect],
            names[0]: safe_text(side.a, max_length=400),
            names[1]: safe_text(side.b, max_length=400),
        }
        for each in plan_changes(a, b)
        for side in each.sides
        if side.short
    ]
    return rows[:MAX_ROWS]


def _say(title: str, words: str, same: Sequence[str] = ()) -> None:
    """A card in place of the picture; `same`: what agrees."""
    listed = "".join(f"<li>{safe_text(name, Sink.HTML, 40)}</li>" for name in same)
    st.html(
        f'<div class="compare-card plan-words"><h2>{safe_text(title, Sink.HTML, 300)}</h2>'
        f"{f'<ul>{listed}</ul>' if same else ''}<p>{safe_text(words, Sink.HTML, 900)}</p></div>"
    )


def finish(pending: Runs) -> None:
    """Wait for what the picture needs, then draw the page again."""
    frame.finish(pending)
