"""The first screen: how B compares with A, groupings, memory and time, in one window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from graphturbo_core.report.overview.headline import beside_text
from graphturbo_core.report.verdict.equal_batches import asked_text
from graphturbo_ui.beside.equal_run import equal_report
from graphturbo_ui.components.sources import FOLDER, OVERVIEW
from graphturbo_ui.figures.canvases import overview_bytes
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.session import drafts, query, run_state, state
from graphturbo_ui.shown import reports_of, view


@dataclass(frozen=True)
class Others:
    """What is computed beside A and B.

    `equal`: A at B's cluster batch, where the two differ; `helps`: a change of the chip for B;
    `best`: the third row of the race; `can_search`: whether it may be asked for.
    """

    equal: Run | str | None
    helps: str
    best: Mapping[str, object]
    can_search: bool


def overview(asked: Runs, runs: Runs, pending: Runs, others: Others) -> None:
    """Draw it; `asked`: all runs, of which `runs` are drawn and `pending` are on their way."""
    reports, equal = reports_of(runs), equal_report(others.equal)
    said = {
        "beside": beside_text(reports[0], reports[1], equal) if reports[1:] else "",
        "state": _state(asked, runs, pending),
        "helps": others.helps,
        "asked": asked_text({name: run.report for name, run in runs.items()}),
        "can_search": "yes" if others.can_search else "",
        **{f"edited_{name}": drafts.edited_text(name.lower()) for name in runs},
        "keys": " ".join(run.key[:16] for run in runs.values()),
    }
    is_presenting = state.is_presenting()
    make = partial(overview_bytes, said=said, is_presenting=is_presenting, best=others.best)
    for style in ("page.css", "presenting.css")[: 1 + is_presenting]:
        st.html(FOLDER / OVERVIEW.name / style)
    with st.container(key="overview_place"):
        OVERVIEW.draw(
            view(f"overview {is_presenting} {said} {others.best}", make, runs),
            on_search_change=partial(run_state.search_beside, is_wanted=True),
            on_leave_best_change=partial(run_state.search_beside, is_wanted=False),
            on_take_best_change=run_state.take_search,
            **{
                f"on_discard_{key}_change": partial(run_state.drop_plan, key)
                for key in query.RUN_KEYS
            },
        )


def _state(asked: Runs, runs: Runs, pending: Runs) -> str:
    """How a run stands that is drawn alone: what became of the other one."""
    if len(runs) > 1:
        return ""
    (name,) = runs
    (other,) = asked.keys() - runs.keys()
    if other in pending:
        fate = "is being computed"
    else:
        fate = "was cancelled" if asked[other].is_cancelled else "was refused"
    return f"{name} alone: {other} {fate}"
