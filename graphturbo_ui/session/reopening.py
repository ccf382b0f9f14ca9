"""Runs of a comparison -> the top bar's choices, and the requests, that compute them again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from graphturbo_core.comparison.compared_run import ComparedRun, RunChoices
from graphturbo_core.errors import GraphTurboError, OptionError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.hardware.profile import parse_profile, profile_names
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_ui.jobs import ALWAYS_EMITTED
from graphturbo_ui.runs import Source
from graphturbo_ui.session import query, run_state, state
from graphturbo_ui.session.compared import WantedRun
from graphturbo_ui.session.query import query_fields
from graphturbo_ui.sizes import proposed_sizes
from graphturbo_ui.store import DIGEST_LENGTH, upload_store
from graphturbo_ui.text import safe_text

SHARED = {
    "model_sha256": "model",
    "dims": "sizes",
    "profile": "chip",
    "profile_text": "chip",
    "batch": "batch",
    "dtype": "number format",
    "skip_passes": "clean-up passes",
}
"""Choices that A and B of Explore have in common, with their words."""
OPEN_KEY = "compared_opens"
FILE_NAME = "profile.yaml"
SAVED = "A saved report does not name the model's file and all choices."
MAX_SIZE = 2**31 - 1
"""Largest size of a model's dimension that the bar takes."""


@dataclass(frozen=True, slots=True)
class Reopened:
    """Labels of the model and chip that the bar shows, or why there are none."""

    model: str = ""
    chip: str = ""
    why_not: str = ""


def reopened(runs: Sequence[ComparedRun]) -> Reopened:
    """Whether these runs (one or two) can be A and B of Explore, and with which files."""
    kept = _resolved(runs)
    if len(kept) < len(runs):
        return Reopened(why_not=SAVED)
    differing = dict.fromkeys(
        words
        for name, words in SHARED.items()
        if any(getattr(each, name) != getattr(kept[0], name) for each in kept)
    )
    if differing:
        words = " and ".join(differing)
        return Reopened(why_not=f"These two differ in {words}, which A and B of Explore share.")
    found = next((each for each in map(_files_of, kept) if each.why_not), None)
    if found is None and any(each.max_instructions is not None for each in kept):
        fault = "Explore has no choice of max_instructions."
        found = Reopened(why_not=f"A choice of it cannot be made here: {fault}")
    return found or _files_of(kept[0])


def _files_of(choices: RunChoices) -> Reopened:
    """The model and chip of a run's choices, or why it cannot be computed here."""
    fault = _fault(choices)
    if fault:
        return Reopened(why_not=f"A choice of it cannot be made here: {fault}")
    model = _model_label(choices)
    if not model:
        name = safe_text(choices.model_name, max_length=60)
        return Reopened(why_not=f"The file of {name} is not kept here: upload it under Model.")
    if not choices.profile_text and choices.profile not in profile_names():
        return Reopened(why_not="The chip's profile is not kept: upload it under Chip.")
    return Reopened(model, choices.profile)


def why_not_again(run: ComparedRun) -> str:
    """Why a row cannot be computed again; empty where it can."""
    if run.choices is None:
        return SAVED
    return _files_of(run.choices).why_not


def wanted_again(run: ComparedRun) -> WantedRun:
    """The run that computes a row again, which keeps its name, note and pin.

    Raises:
        GraphTurboError: `why_not_again` has the reason.
    """
    choices, why_not = run.choices, why_not_again(run)
    if choices is None or why_not:
        raise OptionError("NOT_AGAIN", why_not, safe_text(run.name), "remove the row")
    source = _source(choices, _files_of(choices).model)
    return WantedRun(choices.request(), source, row=run)


def asked(run: ComparedRun) -> tuple[RunRequest, Source] | str:
    """The request of a run with its source, with files to take away; or why there is none here."""
    return SAVED if run.choices is None else asked_with(run.choices)


def asked_with(choices: RunChoices) -> tuple[RunRequest, Source] | str:
    """The same of choices that no run need have."""
    found = _files_of(choices)
    if found.why_not:
        return found.why_not
    return replace(choices.request(), emit=ALWAYS_EMITTED), _source(choices, found.model)


def _source(choices: RunChoices, model: str) -> Source:
    """The files of a run's choices; `model`: its label in the bar."""
    upload = state.uploaded(model)
    data = upload.data if upload else load_sample(model)
    return Source.of(data, choices.profile_text.encode() or None, choices.model_sha256)


def _resolved(runs: Sequence[ComparedRun]) -> list[RunChoices]:
    """The choices of runs that have them; a batch that was not chosen is the one that was run."""
    return [
        run.choices.model_copy(update={"batch": run.choices.batch or run.figures.batch})
        for run in runs
        if run.choices is not None
    ]


def _fault(choices: RunChoices) -> str:
    """What is wrong with choices out of a file, in the words of the address; empty: nothing."""
    faults = {field.key: field.fault for field in query_fields()}
    given = [("a", choices.strategy), ("dtype", choices.dtype)]
    given += [("batch", str(choices.batch))] if choices.batch is not None else []
    given += [("skip", name) for name in choices.skip_passes]
    given += [("set_a", text) for text in query.texts_of(choices.options)]
    found = next(filter(None, (faults[key](value) for key, value in given)), "")
    if not found and any(not 1 <= size <= MAX_SIZE for size in choices.dims.values()):
        found = f"A size of the model is not from 1 to {MAX_SIZE:,}."
    return found or _fault_of_files(choices)


def _fault_of_files(choices: RunChoices) -> str:
    """What is wrong with the texts of a plan and a profile."""
    try:
        if choices.plan:
            parse_strategy(read_plan(choices.plan.encode(), "the run's plan").origin.strategy)
        if choices.profile_text:
            parse_profile(choices.profile_text.encode(), "the run's profile")
    except GraphTurboError as error:
        return error.line()
    return ""


@st.cache_resource(max_entries=64, show_spinner=False)
def _sample_sha256(name: str) -> str:
    return hashlib.sha256(load_sample(name)).hexdigest()


def _model_label(choices: RunChoices) -> str:
    """The label of a sample or of an upload that is still here; empty where there is neither."""
    name, digest = choices.model_name, choices.model_sha256
    if name in sample_names() and _sample_sha256(name) == digest:
        return name
    upload = upload_store().get(digest[:DIGEST_LENGTH])
    if upload is None or upload.sha256 != digest:
        return ""
    return f"{re.sub(r'[()]', '_', upload.name)} ({digest[:DIGEST_LENGTH]})"


def open_in_explore(runs: Sequence[ComparedRun], keys: Sequence[str]) -> None:
    """Set the bar to these runs, which become `keys` of A and B; the page then turns to Explore.

    Called where `reopened` names files.
    """
    found = reopened(runs)
    kept = _resolved(runs)
    if not found.model or not kept:
        return
    first = kept[0]
    state.use_file("model", found.model)
    state.use_file("chip", _chip_label(first))
    dims = {**_proposed(found.model), **first.dims}
    sizes = {query.dimension_key(name): size for name, size in dims.items()}
    shared = {"dtype": first.dtype, "skip": list(first.skip_passes), "batch": first.batch}
    state.set_choices({**shared, **sizes})
    for key, choices in zip(keys, kept, strict=True):
        run_state.choose_run(key, choices.strategy, choices.options, choices.plan)
    st.session_state.pop("seen", None)  # a selection made now is of these runs
    st.session_state[OPEN_KEY] = True


def _proposed(label: str) -> Mapping[str, int]:
    """Sizes that a model's file proposes: those of a run that names none."""
    upload = state.uploaded(label)
    return proposed_sizes(label, upload.data if upload else load_sample(label)).dims


def _chip_label(choices: RunChoices) -> str:
    """The name of a shipped chip; the label of a profile that is kept from now on."""
    if not choices.profile_text:
        return choices.profile
    name = re.sub(r"[()]", "_", safe_text(choices.profile, max_length=80)) or FILE_NAME
    return f"{name} ({upload_store().put(name, choices.profile_text.encode())})"


def is_to_open() -> bool:
    """Whether the page is to turn to Explore, once."""
    return bool(st.session_state.pop(OPEN_KEY, False))
