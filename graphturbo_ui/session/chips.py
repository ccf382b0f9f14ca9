"""The session's part of the Chips page: edits of a profile, and the chip beside it.

The address names them as `chip_set`, once per changed number, `chip_base`, and `chip_right`; what a
link names is a stranger's, and is checked here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.hardware.edits import EditedChip, edit_chip, editable_keys, value_text
from graphturbo_core.hardware.profile import profile_names
from graphturbo_ui.session import query, state
from graphturbo_ui.store import DIGEST_LENGTH, upload_store
from graphturbo_ui.text import safe_text

COMPONENT = "chips"
"""Key of the page's component, which reports what somebody does."""
EDITOR = "edit"
"""Stands for the editor where the address names the chip on the right."""
MAX_TEXT = 60
"""Characters that a number may be typed in."""
MAX_NAMED = 120
"""Characters of one `key=value` of a link."""


MAX_EDITED = 64
"""Edited chips of all sessions that are kept, the latest used."""


@dataclass(frozen=True)
class ChipEdits:
    """The profile that edits begin from, by its label, and the typed texts by key."""

    base: str
    texts: Mapping[str, str]


def begin() -> None:
    """Read the page's part of the address, once a session; what is wrong with it is noted."""
    if "chips_begun" in st.session_state:
        return
    st.session_state["chips_begun"] = True
    base = st.query_params.get("chip_base", "")
    if base and not _is_chip(base):
        shown = safe_text(base, max_length=40)
        state.note(f"“{shown}” is not a chip to begin edits from: neither shipped nor kept here.")
        base = ""
    if query.is_upload(base):
        state.list_upload("chip", base)
    chip = st.query_params.get("chip", state.chip_names()[0])
    is_gone = state.kept("chips_named", "") not in ("", chip)
    named = [] if is_gone and not base else st.query_params.get_all("chip_set")
    if base:
        st.session_state["chips_base"] = (chip, base)
    if named:
        _keep_texts(base or chip, _checked(base or chip, named))
    _begin_right(st.query_params.get("chip_right", ""))


def _is_chip(label: str) -> bool:
    """Whether a link's label is a shipped chip, or an upload still here that is a profile."""
    if not query.is_upload(label):
        return label in profile_names()
    try:
        edited_chip(ChipEdits(label, {}))
    except GraphTurboError:  # gone, or another kind of file
        return False
    return True


def _begin_right(label: str) -> None:
    """Show the chip on the right that a link names: a shipped one, or an upload still here."""
    if query.is_upload(label) and _is_chip(label):
        state.list_upload("chip", label)
    if label and label != EDITOR and label not in state.chip_names():
        shown = safe_text(state.short_name(label), max_length=40)
        state.note(f"The link compares with “{shown}”, not kept here.")
    elif label:
        st.session_state["chips_right"] = label


def restore_upload() -> None:
    """Have the edited chip that a link chooses in the store, made from its named differences.

    Before the address is read, which refuses an upload that is gone and takes it out.
    """
    if "begun" in st.session_state:
        return
    st.session_state["chips_named"] = st.query_params.get("chip", "")
    named = query.UPLOAD.fullmatch(st.query_params.get("chip", ""))
    base = st.query_params.get("chip_base", "")
    if named is None or not _is_chip(base):
        return
    texts, faults = _read(st.query_params.get_all("chip_set"))
    if faults or upload_store().get(named[2]) is not None:
        return
    data = edited_chip(ChipEdits(base, texts)).data
    if hashlib.sha256(data).hexdigest()[:DIGEST_LENGTH] == named[2]:
        upload_store().put(named[1], data)


def _read(named: list[str]) -> tuple[dict[str, str], list[str]]:
    """`key=value` texts of a link as edits, and what is wrong with them."""
    if len(named) > len(editable_keys()):
        return {}, ["The link changes more numbers than a chip has: it changes none here."]
    texts: dict[str, str] = {}
    faults = []
    for text in named:
        key, sign, value = text.partition("=")
        if sign and key in editable_keys() and len(text) <= MAX_NAMED and len(value) <= MAX_TEXT:
            texts[key] = value
        else:
            shown = safe_text(text, max_length=60)
            faults.append(f"“{shown}” is not a number of a chip with its value.")
    return texts, faults


def _checked(base: str, named: list[str]) -> dict[str, str]:
    """The edits of a link that this chip accepts; the others are noted."""
    texts, faults = _read(named)
    for note in faults:
        state.note(note)
    try:
        edited = edited_chip(ChipEdits(base, texts))
    except GraphTurboError:
        return {}  # the bar says what is wrong with the chip itself
    for key, fault in edited.faults.items():
        state.note(f"The link's change of {key} is left out: {fault.what}, {fault.change}.")
    return _texts_of(edited)


def _texts_of(edited: EditedChip) -> dict[str, str]:
    return {key: value_text(key, value) for key, value in edited.changes.items()}


def edits() -> ChipEdits:
    """The edits of the chip that the bar shows, or of the profile that it was made from here."""
    chip = str(st.session_state.get("chip") or state.shown_value("chip", state.chip_names()[0]))
    made, base = state.kept("chips_base", ("", ""))
    origin = base if made == chip else chip
    return ChipEdits(origin, _kept_texts().get(origin, {}))


def source_of(label: str) -> tuple[str, bytes | None]:
    """Name and bytes of a chip; None: it is a shipped one.

    Raises:
        GraphTurboError: an uploaded file is no longer kept.
    """
    kept = state.uploaded(label)
    return (kept.name, kept.data) if kept else (label, None)


def edited_chip(found: ChipEdits) -> EditedChip:
    """The chip with the edits that are accepted.

    Raises:
        GraphTurboError: an uploaded file is no longer kept.
    """
    return _edited(*source_of(found.base), tuple(found.texts.items()))


@lru_cache(maxsize=MAX_EDITED)
def _edited(name: str, data: bytes | None, texts: tuple[tuple[str, str], ...]) -> EditedChip:
    """The edited chip, made once: the bar asks for it on every page, and refusals take seconds."""
    return edit_chip(name, data, dict(texts))


def right(base: str) -> str:
    """What stands on the right: a chip's label, or `EDITOR`; by default the next shipped chip."""
    chosen: str = state.kept("chips_right", "")
    if chosen and (chosen == EDITOR or chosen in state.chip_names()):
        return chosen
    return next(name for name in profile_names() if name != base)


def is_used(found: ChipEdits, edited: EditedChip) -> bool:
    """Whether the bar's chip is exactly this one."""
    if not edited.changes:
        return found.base == state.chosen("chip")
    kept = state.uploaded(state.chosen("chip"))
    return kept is not None and kept.data == edited.data


def named() -> tuple[tuple[str, str], ...]:
    """What the address names of the page: nothing where nothing is edited or chosen."""
    found = edits()
    names = []
    chip = str(st.session_state.get("chip") or "")
    if found.base != chip and chip:
        names.append(("chip_base", found.base))
    if found.texts:
        changes = edited_chip(found).changes
        names += [("chip_set", f"{key}={_plain(key, value)}") for key, value in changes.items()]
    chosen = state.kept("chips_right", "")
    return (*names, *([("chip_right", chosen)] if chosen else []))


def _plain(key: str, value: object) -> str:
    """A value as a link writes it: digits, `true`, a word, or nothing."""
    return str(value) if type(value) is int else value_text(key, value)


def take_edits() -> None:
    """Keep what is typed in the editor; keys and lengths are checked as a stranger's."""
    given = _heard("edits")
    if not isinstance(given, dict) or given.get("base") != edits().base:
        return
    texts = given.get("texts")
    pairs = texts.items() if isinstance(texts, dict) else ()
    _keep_texts(
        edits().base,
        {
            key: text
            for key, text in pairs
            if key in editable_keys() and isinstance(text, str) and len(text) <= MAX_TEXT
        },
    )


def take_left() -> None:
    """Choose another chip in the bar, as its box would."""
    label = _heard("left")
    if label in state.chip_names():
        state.set_choices({"chip": label})


def take_right() -> None:
    """Show another chip on the right, or the editor."""
    label = _heard("right")
    if label == EDITOR or label in state.chip_names():
        st.session_state["chips_right"] = label
    elif label == "":
        st.session_state["chips_right"] = ""


def use() -> None:
    """Choose the edited chip in the bar, as an uploaded profile is chosen."""
    found = edits()
    edited = edited_chip(found)
    if not edited.changes:
        state.set_choices({"chip": found.base})
        return
    label = state.choose_upload("chip", f"{edited.hardware.name}.yaml", edited.data)
    st.session_state["chips_base"] = (label, found.base)


def use_numbers(numbers: Mapping[str, int]) -> None:
    """Choose the bar's chip with these numbers as well, as an edit of it; from a callback."""
    found = edits()
    _keep_texts(found.base, {**found.texts, **{key: str(each) for key, each in numbers.items()}})
    use()


def _heard(name: str) -> object:
    return st.session_state[COMPONENT].get(name)


def _keep_texts(base: str, texts: Mapping[str, str]) -> None:
    st.session_state["chips_texts"] = {**_kept_texts(), base: dict(texts)}


def _kept_texts() -> dict[str, dict[str, str]]:
    """Typed texts per profile that they begin from."""
    return state.kept("chips_texts", {})
