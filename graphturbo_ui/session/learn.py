"""The session's part of Learn: which step is shown, and its control's value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from graphturbo_core.lecture.links import ExploreQuery
from graphturbo_ui.session import run_state, state
from graphturbo_ui.store import upload_store
from graphturbo_ui.text import safe_text

COMPONENT = "learn"
"""Key of the page's component, which reports where somebody is."""
STEP, KNOB, NETWORK = "step", "knob", "network"
"""Query names of the step, of the value of its control, and of what it is shown on."""
YOURS = "yours"
"""The network of who shows steps on Explore's model and chip."""
YOUR_KNOB = re.compile(r"[a-z0-9.-]{0,30}")
STEP_NUMBER = re.compile(r"[1-9]")
_PLACE = "learn_place"


@dataclass(frozen=True)
class LecturePlace:
    """A step by its number, and the value of its control by its key; empty: the first one.

    `is_yours`: it is shown on Explore's model and chip, where that is possible.
    """

    step: int
    knob: str = ""
    is_yours: bool = False


def place(known: Mapping[int, Sequence[str]]) -> LecturePlace:
    """Where the page begins; the address names it. `known`: values of the control, per step."""
    named = st.query_params.get(STEP, "")
    knob = st.query_params.get(KNOB, "")
    network = st.query_params.get(NETWORK, "")
    if not named and not network:
        found: LecturePlace = state.kept(_PLACE, LecturePlace(min(known)))
        if _PLACE in st.session_state:
            _name(found)
        return found
    if network not in ("", YOURS):
        state.note(f"“{safe_text(network, max_length=20)}” is not a network of the lecture.")
    is_yours = network == YOURS
    step = int(named) if STEP_NUMBER.fullmatch(named) else 0 if named else min(known)
    if step not in known:
        state.note(f"“{safe_text(named, max_length=20)}” is not a step of the lecture.")
        step = min(known)
    if knob and not _is_value(knob, known[step], is_yours):
        state.note(f"Step {step} cannot be set to “{safe_text(knob, max_length=20)}”.")
        knob = ""
    found = LecturePlace(step, knob, is_yours)
    st.session_state[_PLACE] = found
    if (str(found.step), found.knob) != (named, st.query_params.get(KNOB, "")) or (
        network and not is_yours
    ):
        _name(found)
        state.draw_again()
    return found


def _is_value(knob: str, known: Sequence[str], is_yours: bool) -> bool:
    """Whether the control may have this value; of other models it is any text of a key's form."""
    return knob in known or (is_yours and YOUR_KNOB.fullmatch(knob) is not None)


def take_place(known: Mapping[int, Sequence[str]]) -> None:
    """Keep where somebody went, and have the address name it; from the component's callback."""
    given = st.session_state[COMPONENT].get("place")
    if not isinstance(given, dict):
        return
    step, knob, is_yours = given.get("step"), given.get("knob"), given.get("isYours") is True
    if not isinstance(step, int) or step not in known or not isinstance(knob, str):
        return
    if not _is_value(knob, known[step], is_yours):
        return
    found = LecturePlace(step, knob, is_yours)
    before = st.session_state.get(_PLACE)
    if is_yours and not (before and before.is_yours):
        run_state.want_lecture()
    st.session_state[_PLACE] = found
    _name(found)


def explore_query(found: ExploreQuery) -> list[tuple[str, str]]:
    """The address of Explore with both runs; the files that they need are kept as uploads."""
    named = dict(found.query)
    views = [(name, value) for name, value in found.query if name not in ("model", "chip")]
    if found.chip is not None:
        file = f"{named['chip']}.yaml"
        named["chip"] = f"{file} ({upload_store().put(file, found.chip)})"
    plans = [
        (f"plan_{key}", upload_store().put(f"{key}.plan.yaml", text.encode()))
        for key, text in found.plans.items()
    ]
    return [("model", named["model"]), ("chip", named["chip"]), *views, *plans]


def _name(found: LecturePlace) -> None:
    """Write the place into the address."""
    st.query_params[STEP] = str(found.step)
    if found.knob:
        st.query_params[KNOB] = found.knob
    elif KNOB in st.query_params:
        del st.query_params[KNOB]
    if found.is_yours:
        st.query_params[NETWORK] = YOURS
    elif NETWORK in st.query_params:
        del st.query_params[NETWORK]


def place_query() -> list[tuple[str, str]]:
    """The part of the address that names the step, its control and its network."""
    names = (STEP, KNOB, NETWORK)
    return [(name, st.query_params[name]) for name in names if name in st.query_params]
