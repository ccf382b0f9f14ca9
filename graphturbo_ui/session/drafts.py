"""Edits that somebody makes from the graph: kept per run until they are run, or undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from graphturbo_core.export.edit_list import (
    NO_EDITS,
    EditEntry,
    Edits,
    edit_entries,
    edits_in,
    plan_with,
    without,
)
from graphturbo_core.units import counted
from graphturbo_ui.session import run_state, state


@dataclass(frozen=True)
class Draft:
    """Edits of a run, and what they began from: another model or plan begins anew."""

    origin: tuple[str, str]
    edits: Edits


def _origin(key: str) -> tuple[str, str]:
    return state.chosen("model"), run_state.plan_digest(key)


def held_edits(key: str) -> Edits:
    """The edits of the plan that a run holds to."""
    held = run_state.held_plan(key)
    return edits_in(held) if held else NO_EDITS


def edited_text(key: str) -> str:
    """`Plan edited: 2 changes`, of a run that holds to a plan; `From a plan file` without edits."""
    if not run_state.held_plan(key):
        return ""
    count = len(edit_entries(held_edits(key)))
    return f"Plan edited: {counted(count, 'change')}" if count else "From a plan file"


def draft(key: str) -> Edits:
    """The edits of a run as they stand, those of its plan to begin with."""
    kept: Draft | None = st.session_state.get(f"draft_{key}")
    if kept is not None and kept.origin == _origin(key):
        return kept.edits
    return held_edits(key)


def change_draft(key: str, edits: Edits) -> None:
    """Have a run's edits be these; nothing is run yet."""
    st.session_state[f"draft_{key}"] = Draft(_origin(key), edits)


def undo(key: str, entry: EditEntry) -> None:
    """Take one edit back."""
    change_draft(key, without(draft(key), entry))


def undo_all(key: str) -> None:
    """Take all edits back."""
    change_draft(key, NO_EDITS)


def run_draft(key: str, target: str, head: str, before: Mapping[str, float]) -> None:
    """Have the run `target` hold to the edits of `key`; without edits it holds to no plan.

    `head`: a plan of the run that the edits are for, with whatever edits. `before`: the figures to
    compare with.
    """
    edits = draft(key)
    st.session_state[f"before_{target}"] = before
    if edits == NO_EDITS:
        run_state.drop_plan(target)
    else:
        run_state.hold_plan_text(target, plan_with(head, edits))
    change_draft(target, edits)


def figures_before(key: str) -> Mapping[str, float]:
    """The figures that a run had before its edits were run; nothing where it has no edits."""
    return state.kept(f"before_{key}", {})
