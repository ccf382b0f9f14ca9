"""The session's part of the plan diff: which two runs the address names, and the toggle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import streamlit as st

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.hardware.profile import profile_names
from graphturbo_ui.jobs import Source
from graphturbo_ui.session import compared, query, reopening, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.compared import WantedRun
from graphturbo_ui.session.run_state import ONLY, PAIR_NAME
from graphturbo_ui.session.selection import Selection
from graphturbo_ui.text import safe_text

PAIR = 2
"""Runs of a plan diff."""
ON = " on "
COMPONENT = "plan_diff"
_NAMED, _ONLY = "plan_diff_named", "plan_diff_only"


def is_only_changed() -> bool:
    """Whether what is the same in both is folded."""
    return bool(state.kept(_ONLY, False))


def begin(choices: Choices) -> None:
    """Have a link's pair computed and ticked; name the ticked pair in the address.

    Streamlit empties the address when the page changes. The script runs again where the address
    changes, so that the bar's link is of the new one.
    """
    _read_link(choices)
    _tick()
    if _write(choices):
        state.draw_again()


def _read_link(choices: Choices) -> None:
    """Take the pair and the toggle of a link, once a session."""
    if _NAMED in st.session_state:
        return
    st.session_state[_ONLY] = st.query_params.get(ONLY) == "1"
    rows = {run.key for run in compared.comparison().runs}
    keys: list[str] = []
    wanted: list[WantedRun] = []
    for name in list(dict.fromkeys(st.query_params.get_all(PAIR_NAME)))[:PAIR]:
        run = None if name in rows else _wanted(name, choices)
        if name in rows:
            keys.append(name)
        elif run is not None:
            keys.append(run.key)
            wanted.append(run)
        else:
            shown = safe_text(name, max_length=60)
            state.note(f"The link names the run “{shown}”, which is not in this comparison.")
    is_pair = len(keys) == PAIR
    st.session_state[_NAMED] = tuple(keys) if is_pair else ()
    if is_pair:
        compared.want(wanted)


def _tick() -> None:
    """Tick the pair that a link names, once both runs are here."""
    keys: Sequence[str] = state.kept(_NAMED, ())
    now = compared.comparison()
    if keys and set(keys) <= {run.key for run in now.runs}:
        compared.keep(replace(now, picked=tuple(keys)))
        st.session_state[_NAMED] = ()


def _write(choices: Choices) -> bool:
    """Name the ticked pair and the toggle in the address; whether that changes it."""
    now = compared.comparison()
    keys: Sequence[str] = state.kept(_NAMED, ())
    if keys:
        return False
    picked = [run for run in now.runs if run.key in now.picked]
    names = list(_names(picked, choices)) if len(picked) == PAIR else []
    values = {PAIR_NAME: names, ONLY: ["1"] if names and is_only_changed() else []}
    is_changed = False
    for name, wanted in values.items():
        if st.query_params.get_all(name) != wanted:
            is_changed = True
            if wanted:
                st.query_params[name] = wanted
            else:
                del st.query_params[name]
    return is_changed


def _names(runs: Sequence[ComparedRun], choices: Choices) -> Iterator[str]:
    """`A`, `B`, `STRATEGY on CHIP` of a run as the bar's other choices have it, else its digest."""
    for run in runs:
        own = run.choices
        names = (*([f"{own.strategy}{ON}{own.profile}"] if own else []), *"BA")
        known = {found.choices.key: name for name in names if (found := _wanted(name, choices))}
        yield known.get(run.key, run.key)


def _wanted(name: str, choices: Choices) -> WantedRun | None:
    """The run that a name in the address stands for; None for none."""
    both = dict(zip("AB", compared.both(choices), strict=True))
    strategy, is_on, chip = name.partition(ON)
    if name in both:
        return both[name]
    if not is_on or query.strategy_fault(strategy):
        return None
    request = replace(both["B"].request, strategy=strategy, options={}, plan="", verify=False)
    if chip == request.profile:
        return WantedRun(request, choices.source)
    if chip not in profile_names():
        return None
    source = Source.of(choices.source.model, None, choices.source.model_sha256)
    return WantedRun(replace(request, profile=chip), source)


def take_only() -> None:
    """Keep what the toggle was set to in the browser."""
    st.session_state[_ONLY] = _heard("only") is True


def open_layer(runs: Sequence[ComparedRun]) -> None:
    """Open the pair as A and B in Explore, with the layer that was chosen selected."""
    layer = _heard("explore")
    if type(layer) is int and 0 <= layer < runs[-1].figures.sub_graphs_fine:
        reopening.open_in_explore(runs, query.RUN_KEYS)
        state.select(Selection("B", "layer", layer))


def _heard(name: str) -> object:
    """A value that the picture reports in the event that is handled now."""
    return st.session_state[COMPONENT].get(name)
