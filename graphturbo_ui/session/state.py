"""The session: choices, uploads, and what the link named.

Session state is touched here and, for what belongs to a run or a page, in the other modules of
this package; nowhere else.
Widgets carry the query's names as keys and are bound to it by Streamlit, which replaces the
address in place; here the query is read once, at session start, and what it names wrongly is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from time import time
from typing import NoReturn, TypedDict, TypeVar

import streamlit as st

from graphturbo_core import __version__
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.frontend.catalogue import sample_names
from graphturbo_core.hardware.profile import profile_names
from graphturbo_ui.session import what_if
from graphturbo_ui.session.query import (
    DEFAULT_MODEL,
    DEFAULT_VIEWS,
    RENAMED_VIEWS,
    RUN_KEYS,
    UPLOAD,
    WINDOW,
    is_upload,
    options_of,
    query_fields,
    uploads_in,
    version_notes,
)
from graphturbo_ui.session.selection import Selection
from graphturbo_ui.store import Upload, upload_store
from graphturbo_ui.text import safe_text

Value = TypeVar("Value")
FIRST_CHOICES = ("model", "chip", "a", "b", "batch", "dtype")
"""Names of the choices without which nothing is drawn."""
PRESENT = "present"
"""The query name that is 1 while somebody presents."""


class Marks(TypedDict):
    """What canvases show: the selection's text and the time windows; `serial` is its time."""

    serial: float
    selected: str
    windows: Sequence[Sequence[float]] | None


def kept(key: str, default: Value) -> Value:
    """What the session keeps under `key`, which is of the default's type; else the default."""
    found: Value = st.session_state.get(key, default)
    return found


def begin() -> None:
    """Read the address once a session; wrong values are noted and taken out of it."""
    for key, default in st.session_state.pop("rejected", {}).items():
        st.session_state[key] = default
    if "begun" in st.session_state:
        return
    _rename_views()
    st.session_state["begun"] = True
    query = st.query_params.to_dict()
    notes = []
    for entry in query_fields():
        values = st.query_params.get_all(entry.key)
        fault = next(filter(None, map(entry.fault, values)), "")
        if fault:
            del st.query_params[entry.key]
            notes.append(_instead(fault, entry.default))
    notes += version_notes(query.get("version", __version__), __version__)
    st.session_state["notes"] = tuple(notes)
    mark(Selection.read(query.get("selected")), _read_windows(query.get("window", "")))
    for key in RUN_KEYS:
        if f"plan_{key}" in st.query_params:
            st.session_state[f"plan_{key}"] = st.query_params[f"plan_{key}"]
        st.session_state[f"set_{key}"] = options_of(st.query_params.get_all(f"set_{key}"))
    for key, box in (("model", "model"), ("chip", "chip"), ("models", "model")):
        for label in uploads_in(st.query_params.get_all(key)):
            list_upload(box, label)


def shown_value(key: str, default: str) -> str:
    """What the widget of a query name is about to show, before it is drawn."""
    found = st.session_state.get(key) or st.query_params.get(key) or default
    return str(found)


def is_presenting() -> bool:
    """Whether the page is shown to an audience, without the bar."""
    return bool(st.query_params.get(PRESENT) == "1")


def presenting_query() -> list[tuple[str, str]]:
    """The part of the address that says whether the page is shown to an audience."""
    return [(PRESENT, "1")] if is_presenting() else []


def present() -> None:
    """Hide the bar; the address says so, and Back returns."""
    st.query_params[PRESENT] = "1"


def leave_presenting() -> None:
    """Show the bar again."""
    if PRESENT in st.query_params:
        del st.query_params[PRESENT]


def _rename_views() -> None:
    """Views by today's names, where a link has those from before; the page begins once more.

    A widget reads the address as it was when the script began, hence the second run.
    """
    named = st.query_params.get_all("views")
    if RENAMED_VIEWS.keys() & set(named):
        today = dict.fromkeys(RENAMED_VIEWS.get(name, name) for name in named)
        st.query_params["views"] = list(today)
        draw_again()


def draw_again() -> NoReturn:
    """Run the script again, unless a visitor did something meanwhile, which runs it anyway.

    Streamlit's own request would replace the address and the page of the visitor's by those of the
    script that runs. Looking into the session gives way to what came.
    """
    _ = "begun" in st.session_state
    st.rerun()


def _instead(fault: str, default: object) -> str:
    return f"{fault} The page shows {default} instead."


def reject(key: str, fault: str, default: str) -> NoReturn:
    """Give a widget its default back, say why, and run the page again.

    A widget's value can only be set before it is drawn, hence the second run.
    """
    st.session_state["rejected"] = {**st.session_state.get("rejected", {}), key: default}
    note(_instead(fault, default))
    draw_again()


def note(text: str) -> None:
    """Say this above the page, once, until the session ends."""
    st.session_state["notes"] = tuple(dict.fromkeys((*notes(), text)))


def notes() -> tuple[str, ...]:
    """What the link named and could not be had."""
    return kept("notes", ())


def _read_windows(text: str) -> list[list[int]] | None:
    """Time windows (cycles) of the runs, as a link names them."""
    if not WINDOW.fullmatch(text):
        return None
    return [[int(end) for end in part.split("-")] for part in text.split(",")]


def dismiss_notes() -> None:
    """Say none of them again, also when the address is opened once more."""
    st.session_state["notes"] = ()
    st.query_params.pop("version", None)  # what is wrong in the others is taken out at the start


def mark(selected: Selection | None, windows: Sequence[Sequence[float]] | None) -> None:
    """Have all canvases show this selection and these time windows (cycles, one a run)."""
    st.session_state["marks"] = {
        "serial": time(),
        "selected": selected.text() if selected else "",
        "windows": windows,
    }


def select(selected: Selection | None) -> None:
    """Have all canvases show this selection; time windows stay."""
    mark(selected, told_windows())


def see(runs: Mapping[str, str]) -> None:
    """Take the runs at hand, each with its key; what was marked of one that changed is forgotten.

    Time windows stay while A is the same.
    """
    before = kept("seen", runs)
    st.session_state["seen"] = runs
    changed = {name for name, key in runs.items() if before.get(name) != key}
    selected, windows = selection(), told_windows()
    is_lost = selected is not None and selected.run in changed
    if is_lost or (windows and "A" in changed):
        mark(None if is_lost else selected, None if "A" in changed else windows)


def marks() -> Marks:
    """What canvases are to show, as `components/link.py` gives it to them."""
    found: Marks = st.session_state["marks"]
    return found


def hear(told: Mapping[str, object]) -> None:
    """Keep what the canvases told, unless Python has given them something since."""
    if told.get("serial") == marks()["serial"]:
        st.session_state["told"] = told


def _now_shown() -> Marks:
    told: Marks | None = st.session_state.get("told")
    return told if told and told["serial"] == marks()["serial"] else marks()


def selection() -> Selection | None:
    """What is selected now."""
    return Selection.read(_now_shown()["selected"])


def table_key(name: str, picked: str) -> str:
    """The key of the table `name` that has `picked` ticked.

    It is a new one, so that the table is drawn anew, where something else is ticked by now.
    """
    serial, shown = kept(f"ticked_{name}", (0, ""))
    if shown != picked:
        serial += 1
        st.session_state[f"ticked_{name}"] = (serial, picked)
    return f"pick_{name}_{serial}"


def picked_row(name: str, stands_for: Sequence[Selection]) -> Selection | None:
    """What the row ticked in the table `name` stands for; None where no row is ticked any more."""
    serial, _ = kept(f"ticked_{name}", (0, ""))
    rows = st.session_state[f"pick_{name}_{serial}"].selection.rows
    found = stands_for[rows[0]] if rows and rows[0] < len(stands_for) else None
    st.session_state[f"ticked_{name}"] = (serial, found.text() if found else "")
    return found


def picked_point(key: str) -> tuple[int, int] | None:
    """Trace and place in it of the point picked in the chart `key`; None where it was given up."""
    points = st.session_state[key].selection.points
    return (points[0]["curve_number"], points[0]["point_index"]) if points else None


def told_windows() -> Sequence[Sequence[float]] | None:
    """The time windows now in sight, when somebody zoomed."""
    return _now_shown()["windows"]


def model_names() -> list[str]:
    """Samples and this session's uploads, the default first."""
    return [DEFAULT_MODEL, *(n for n in sample_names() if n != DEFAULT_MODEL), *_uploads("model")]


def chip_names() -> list[str]:
    """Shipped profiles and this session's uploads, the default first."""
    return [*profile_names(), *_uploads("chip")]


def _uploads(key: str) -> tuple[str, ...]:
    return kept(f"{key}_uploads", ())


def chosen(key: str) -> str:
    """The label that the box of the model, or of the chip, shows."""
    label: str = st.session_state[key]
    return label


def set_choices(values: Mapping[str, object]) -> None:
    """Give widgets of the bar, by key, these values; before they are drawn, so from a callback."""
    st.session_state.update(values)


def keep_drawn(values: Mapping[str, object]) -> None:
    """Keep choices that could be drawn, by the keys of their widgets, as a way back to them."""
    st.session_state["drawn"] = dict(values)


def drawn_before() -> Mapping[str, object]:
    """The choices that were drawn last; nothing where none were."""
    return kept("drawn", {})


def last_drawn() -> Mapping[str, object]:
    """The same; those of a new session, where none were."""
    return drawn_before() or {
        field.key: field.default for field in query_fields() if field.key in FIRST_CHOICES
    }


def short_name(label: str) -> str:
    """A model's or chip's name without the digest of an upload."""
    named = UPLOAD.fullmatch(label)
    return named[1] if named else label


def uploaded(label: str) -> Upload | None:
    """The kept file behind `name (digest)`, or None when `label` is no upload.

    Raises:
        GraphTurboError: the file is no longer kept.
    """
    named = UPLOAD.fullmatch(label)
    if named is None:
        return None
    found = upload_store().get(named[2])
    if found is None:
        raise GraphTurboError(
            "UPLOAD_GONE",
            "an uploaded file is kept for an hour after its last use, and this one is gone",
            safe_text(short_name(label)),
            "upload it again",
        )
    return found


def take_upload(key: str, check: Callable[[bytes, str], object]) -> None:
    """Keep the file just dropped on the uploader of `key` and choose it, unless it is refused."""
    dropped = st.session_state.get(f"{key}_file")
    st.session_state[f"{key}_refusal"] = None
    if dropped is None:
        return
    data = dropped.getvalue()
    name = re.sub(r"[()]", "_", safe_text(dropped.name, max_length=80))
    try:
        check(data, name)
    except GraphTurboError as error:
        st.session_state[f"{key}_refusal"] = error
        return
    choose_upload(key, name, data)


def choose_upload(key: str, name: str, data: bytes) -> str:
    """Keep a file as an upload of `key` and choose it; gives its label. From a callback."""
    label = f"{name} ({upload_store().put(name, data)})"
    use_file(key, label)
    return label


def list_upload(key: str, label: str) -> None:
    """Have the box of `key` offer an upload that is kept."""
    st.session_state[f"{key}_uploads"] = tuple(dict.fromkeys((*_uploads(key), label)))


def use_file(key: str, label: str) -> None:
    """Choose a model or chip by the label of a shipped or kept file; from a callback."""
    if is_upload(label):
        list_upload(key, label)
    st.session_state[key] = label


def refusal(key: str) -> GraphTurboError | None:
    """Why the last upload of `key` was refused."""
    return kept(f"{key}_refusal", None)


def remember_choices(choices: object) -> None:
    """Keep what the bar says, for the page that is drawn next."""
    st.session_state["choices"] = choices


def choices() -> object:
    """What the bar says."""
    return st.session_state["choices"]


def shown_since(key: str, content: int) -> float:
    """Since when (seconds of the epoch) a canvas shows what has the hash `content`."""
    last: tuple[int, float] | None = st.session_state.get(f"shown_{key}")
    if last is None or last[0] != content:
        last = st.session_state[f"shown_{key}"] = (content, time())
    return last[1]


def shown_views() -> list[tuple[str, str]]:
    """The views of Explore as the address names them; nothing where they are the default ones."""
    named = st.query_params.get_all("views") or DEFAULT_VIEWS
    shown: Sequence[str] = st.session_state.get("views", named)
    return [("views", view) for view in shown or ("",)] if tuple(shown) != DEFAULT_VIEWS else []


def seen_query() -> list[tuple[str, str]]:
    """The part of a link that restores what is in sight: views, selection, times, What-if."""
    chosen, windows = selection(), told_windows()
    named = [*shown_views(), *what_if.query()]
    if chosen:
        named.append(("selected", chosen.text()))
    if windows:
        text = ",".join(f"{int(first)}-{int(last)}" for first, last in windows)
        named.append(("window", text))
    return named
