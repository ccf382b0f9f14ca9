"""Refusals on the page: which run, what, where, and what to change, by buttons where it is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from graphturbo_core.errors import (
    CapacityError,
    GraphTurboError,
    MeasurementError,
    ModelError,
    OptionError,
    PlanError,
    ProfileError,
)
from graphturbo_ui.session import query, run_state, state
from graphturbo_ui.text import Sink, safe_text

OF_BATCH = frozenset({"BATCH_DEPENDENT", "BATCH_FIXED", "BATCH_MISMATCH", "BATCH_RESHAPE"})
"""Refusals of a model at this batch, which its own batch may not meet with."""
OF_SIZE = frozenset({"DRAM_FULL", "GB_FULL", "OUT_OF_MEMORY", "TOO_MANY_INSTRUCTIONS"})
"""Refusals of a run that is too large; fewer samples make it smaller, unless `at_any_batch`."""
TITLES: tuple[tuple[type[GraphTurboError], str], ...] = (
    (ModelError, "This model cannot be used as it is"),
    (ProfileError, "This chip cannot be used"),
    (CapacityError, "This run is too large"),
    (PlanError, "The plan cannot be followed"),
    (OptionError, "This choice cannot be used"),
    (MeasurementError, "These times cannot be used"),
)
STYLE = Path(__file__).with_name("refusals.css")


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of the choices that a button makes."""

    label: str
    key: str
    act: Callable[..., None]
    args: tuple[object, ...] = ()
    help: str = ""


def show_refusal(error: GraphTurboError, run: str = "") -> None:
    """A refusal, calmly: of which run, what, where, and what to change.

    `run`: the names of the runs, `A`, `B` or `A and B`; without one it is of a file or a choice.
    """
    _say(error, run)
    _offer(remedies(error, run), run)


def show_page_of_refusal(error: GraphTurboError, run: str = "") -> None:
    """The same where nothing else can be drawn: the whole page, with a way back."""
    st.html(STYLE)
    with st.container(key=_key("refused", run)):
        st.header(_title(error), anchor=False)
        _say(error, run)
        _offer([*remedies(error, run), way_back()], run)
        st.caption("Another model, chip, batch or strategy can be chosen in the bar above.")


def offer_way_back() -> None:
    """The way back alone: below refusals of both runs that differ."""
    _offer([way_back()], "back")


def _title(error: GraphTurboError) -> str:
    if error.code == "UPLOAD_GONE":
        return "The uploaded file is gone"
    return next(
        (title for kind, title in TITLES if isinstance(error, kind)), "This cannot be computed"
    )


def _say(error: GraphTurboError, run: str) -> None:
    change = safe_text(error.change, Sink.MARKDOWN, 1000)
    parts = [
        f"{run} cannot be computed." if run else "",
        f"**{_sentence(safe_text(error.what, Sink.MARKDOWN, 1000))}**",
        _sentence(safe_text(error.where, Sink.MARKDOWN, 1000)),
        f"What helps: {change}" if change else "",
        f"Code {safe_text(error.code, Sink.MARKDOWN)}",
    ]
    st.warning("  \n".join(part for part in parts if part), icon=":material/info:")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def remedies(error: GraphTurboError, run: str) -> list[Remedy]:
    """What buttons offer against a refusal of these runs."""
    found = []
    keys = [key for key in query.RUN_KEYS if key.upper() in run.split()]
    is_of_size = error.code in OF_SIZE and not error.fields.get("at_any_batch")
    if is_of_size:
        found += [_one_at_once(key) for key in keys if not _takes_one(key)]
    if (is_of_size or error.code in OF_BATCH) and st.session_state.get("batch", 1) != 1:
        found.append(
            Remedy(
                "Use batch 1 instead", f"batch_of_one {run}", state.set_choices, ({"batch": 1},),
                "Most exports are made for one sample; the whole page then runs one."
                if error.code in OF_BATCH else "The whole page then runs one sample.",
            )
        )  # fmt: skip
    if isinstance(error, PlanError):
        found += [
            Remedy(
                f"Discard the plan of {key.upper()}", f"without_plan {key}",
                run_state.drop_plan, (key,),
            )
            for key in keys
            if run_state.plan_digest(key)
        ]  # fmt: skip
    return found


def _takes_one(key: str) -> bool:
    return query.split_strategy(str(st.session_state.get(key) or ""))[1] == 1


def _one_at_once(key: str) -> Remedy:
    head, _ = query.split_strategy(str(st.session_state.get(key) or ""))
    return Remedy(
        f"Use cluster batch 1 for {key.upper()}", f"cluster_of_one {key}",
        state.set_choices, ({key: f"{head}@1"},),
        "Each cluster then takes one sample at once, and the rest in rounds.",
    )  # fmt: skip


def way_back() -> Remedy:
    """The choices that were drawn last; those of a new session, where none were."""
    drawn = state.last_drawn()
    model, chip = (
        safe_text(state.short_name(str(drawn[key])), Sink.MARKDOWN, 60) for key in ("model", "chip")
    )
    return Remedy(f"Back to {model} on {chip}", "way_back", state.set_choices, (drawn,))


def _key(name: str, run: str) -> str:
    """Key of a container for these runs."""
    return f"{name} {run}".strip().replace(" ", "_").lower()


def _offer(found: list[Remedy], run: str) -> None:
    if not found:
        return
    with st.container(horizontal=True, key=_key("remedies", run)):
        for remedy in found:
            st.button(
                remedy.label, key=remedy.key, on_click=remedy.act, args=remedy.args,
                help=remedy.help or None,
            )  # fmt: skip
