"""The session: choices, uploads, and what the link named. Nothing else touches session state.

Widgets carry the query's names as keys and are bound to it by Streamlit, which replaces the
address in place; here the query is read once, at session start, and what it names wrongly is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, time
from typing import NoReturn, cast

import streamlit as st

from graphturbo_core import pipeline
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import sample_names
from graphturbo_ui.store import DIGEST_LENGTH, Upload, UploadStore
from graphturbo_ui.text import safe_text

DEFAULT_MODEL = "resnet50-slim"
DEFAULT_A, DEFAULT_B = "tvm@2", "graphturbo@16"
DEFAULT_BATCH, MAX_BATCH = 64, 65_536
DEFAULT_FORMAT = "fp16"
RUN_KEYS = ("a", "b")
PLAN_DIGEST = re.compile(rf"[0-9a-f]{{{DIGEST_LENGTH}}}")
_WITHOUT_PLAN = "that run without a plan"
UPLOAD = re.compile(rf"(.{{1,120}}) \(([0-9a-f]{{{DIGEST_LENGTH}}})\)")
STRATEGY = re.compile(r"([a-z][a-z0-9_-]*)(?::([a-z]+))?(?:@([1-9][0-9]{0,5}))?")
WINDOW = re.compile(r"\d{1,15}-\d{1,15}(?:,\d{1,15}-\d{1,15})?")


@dataclass(frozen=True, slots=True)
class QueryField:
    """A name in the address, its default, and what is wrong with a value (empty: nothing)."""

    key: str
    default: str | int
    fault: Callable[[str], str]


@st.cache_resource(show_spinner=False)
def upload_store() -> UploadStore:
    """The server's one store of uploads."""
    return UploadStore(monotonic)


def begin() -> None:
    """Read the address once a session; wrong values are noted and taken out of it."""
    for key, default in st.session_state.pop("rejected", {}).items():
        st.session_state[key] = default
    if "begun" in st.session_state:
        return
    st.session_state["begun"] = True
    query = st.query_params.to_dict()
    notes = []
    for entry in query_fields():
        value = query.get(entry.key)
        fault = "" if value is None else entry.fault(value)
        if fault:
            del st.query_params[entry.key]
            notes.append(_instead(fault, entry.default))
    st.session_state["notes"] = tuple(notes)
    window = query.get("window", "")
    st.session_state["linked_window"] = window if WINDOW.fullmatch(window) else ""
    for key in RUN_KEYS:
        if f"plan_{key}" in st.query_params:
            st.session_state[f"plan_{key}"] = st.query_params[f"plan_{key}"]
    for key in ("model", "chip"):
        if UPLOAD.fullmatch(query.get(key, "")) and key in st.query_params:
            st.session_state[f"{key}_uploads"] = (query[key],)


def query_fields() -> tuple[QueryField, ...]:
    """Everything that the address may name."""
    return (
        QueryField("model", DEFAULT_MODEL, lambda v: _file_fault("model", v, sample_names())),
        QueryField(
            "chip", chip_names()[0], lambda v: _file_fault("chip", v, pipeline.profile_names())
        ),
        QueryField("a", DEFAULT_A, strategy_fault),
        QueryField("b", DEFAULT_B, strategy_fault),
        QueryField("batch", DEFAULT_BATCH, _batch_fault),
        QueryField("dtype", DEFAULT_FORMAT, _format_fault),
        QueryField("verify", "false", _switch_fault),
        *(QueryField(f"plan_{key}", _WITHOUT_PLAN, _plan_fault) for key in RUN_KEYS),
    )


def _file_fault(what: str, value: str, known: Sequence[str]) -> str:
    """A value is a shipped name, or `name (digest)` of an upload that is still here."""
    if value in known:
        return ""
    named = UPLOAD.fullmatch(value)
    shown = safe_text(value, max_length=80)
    if named is None:
        return f"The link names the {what} “{shown}”, which this server does not have."
    if upload_store().get(named[2]) is None:
        return f"The link names the uploaded file “{shown}”, no longer kept here: upload it again."
    return ""


def strategy_fault(value: str) -> str:
    """What is wrong with `NAME[:LEVEL][@CLUSTER_BATCH]`; empty when nothing is."""
    parts = STRATEGY.fullmatch(value)
    info = pipeline.strategies().get(parts[1]) if parts else None
    if parts is None or info is None or (parts[2] and parts[2] not in info.levels):
        return f"“{safe_text(value, max_length=60)}” is not a strategy."
    return ""


def _plan_fault(value: str) -> str:
    if PLAN_DIGEST.fullmatch(value) and upload_store().get(value) is not None:
        return ""
    shown = safe_text(value, max_length=40)
    return f"The link names the plan “{shown}”, not kept here: give it again under Plans."


def _batch_fault(value: str) -> str:
    if value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= MAX_BATCH:
        return ""
    shown = safe_text(value, max_length=40)
    return f"“{shown}” is not a batch: a whole number from 1 to {MAX_BATCH}."


def _format_fault(value: str) -> str:
    if value in number_formats():
        return ""
    return f"“{safe_text(value, max_length=40)}” is not a number format."


def _switch_fault(value: str) -> str:
    if value in ("true", "false"):
        return ""
    return f"“{safe_text(value, max_length=40)}” is neither true nor false."


def ask_for_replay(is_wanted: bool) -> None:
    """Set the switch that has A and B replayed; before it is drawn, so from a callback."""
    st.session_state["verify"] = is_wanted


def _instead(fault: str, default: object) -> str:
    return f"{fault} The page shows {default} instead."


def reject(key: str, fault: str, default: str) -> NoReturn:
    """Give a widget its default back, say why, and run the page again.

    A widget's value can only be set before it is drawn, hence the second run.
    """
    st.session_state["rejected"] = {**st.session_state.get("rejected", {}), key: default}
    st.session_state["notes"] = tuple(dict.fromkeys((*notes(), _instead(fault, default))))
    st.rerun()


def number_formats() -> tuple[str, ...]:
    """Number formats, the default first."""
    rest = (name for name in pipeline.NUMBER_FORMATS if name != DEFAULT_FORMAT)
    return (DEFAULT_FORMAT, *rest)


def notes() -> tuple[str, ...]:
    """What the link named and could not be had."""
    return cast(tuple[str, ...], st.session_state.get("notes", ()))


def linked_windows() -> list[list[int]] | None:
    """Time windows (cycles) that the link asked the Gantt chart to open with."""
    text = cast(str, st.session_state.get("linked_window", ""))
    if not text:
        return None
    return [[int(end) for end in part.split("-")] for part in text.split(",")]


def model_names() -> list[str]:
    """Samples and this session's uploads, the default first."""
    return [DEFAULT_MODEL, *(n for n in sample_names() if n != DEFAULT_MODEL), *_uploads("model")]


def chip_names() -> list[str]:
    """Shipped profiles and this session's uploads, the default first."""
    return [*pipeline.profile_names(), *_uploads("chip")]


def _uploads(key: str) -> tuple[str, ...]:
    return cast(tuple[str, ...], st.session_state.get(f"{key}_uploads", ()))


def strategy_choices(key: str, default: str) -> list[str]:
    """The default first, then every strategy, then what this session chose besides."""
    found = [default, DEFAULT_A, DEFAULT_B]
    for name, info in pipeline.strategies().items():
        found += [name, *(f"{name}:{level}" for level in info.levels[:-1])]
    found += [str(st.session_state.get(key) or ""), st.query_params.get(key, "")]
    return [name for name in dict.fromkeys(found) if name]


def chosen_model() -> str:
    """The label that the model's box shows."""
    return cast(str, st.session_state["model"])


def set_sizes(sizes: Mapping[str, int]) -> None:
    """Give widgets of sizes, by key, their numbers; before they are drawn, so from a callback."""
    st.session_state.update(sizes)


def swap_runs() -> None:
    """A becomes B and B becomes A, with the plans that they hold to."""
    state = st.session_state
    state["a"], state["b"] = state["b"], state["a"]
    first, second = state.get("plan_a", ""), state.get("plan_b", "")
    _name_plan("a", second)
    _name_plan("b", first)


def hold_plan(key: str, widget: str) -> None:
    """Have a run hold to the plan in a text area or an uploader, and take its strategy."""
    given = st.session_state.get(widget)
    st.session_state[f"plan_{key}_refusal"] = None
    if not given:
        return
    data = given.encode() if isinstance(given, str) else given.getvalue()
    try:
        origin = read_plan(data, f"the plan of {key.upper()}").origin
        pipeline.parse_strategy(origin.strategy)
    except GraphTurboError as error:
        st.session_state[f"plan_{key}_refusal"] = error
        return
    _name_plan(key, upload_store().put(f"{key}.plan.yaml", data))
    st.session_state[key] = origin.strategy


def drop_plan(key: str) -> None:
    """Have a run hold to no plan any more."""
    _name_plan(key, "")


def _name_plan(key: str, digest: str) -> None:
    st.session_state[f"plan_{key}"] = digest
    if digest:
        st.query_params[f"plan_{key}"] = digest
    elif f"plan_{key}" in st.query_params:
        del st.query_params[f"plan_{key}"]


def plan_digest(key: str) -> str:
    """The digest of the plan that a run holds to; empty for none."""
    return cast(str, st.session_state.get(f"plan_{key}", ""))


def held_plan(key: str) -> str:
    """The text of that plan; one that is gone is dropped, with a note."""
    digest = plan_digest(key)
    kept = upload_store().get(digest) if digest else None
    if digest and kept is None:
        drop_plan(key)
        gone = f"The plan of {key.upper()} is no longer kept here: give it again under Plans."
        st.session_state["notes"] = tuple(dict.fromkeys((*notes(), gone)))
    return kept.data.decode("utf-8-sig") if kept else ""


def plan_refusal(key: str) -> GraphTurboError | None:
    """Why the last plan given to a run was refused."""
    return cast(GraphTurboError | None, st.session_state.get(f"plan_{key}_refusal"))


def ask_for_files() -> None:
    """Have the runs emit plans and programs from now on."""
    st.session_state["emit"] = True


def are_files_wanted() -> bool:
    """Whether somebody asked for plans and programs."""
    return bool(st.session_state.get("emit"))


def is_upload(label: str) -> bool:
    """Whether a model or chip is named as an upload is: `name (digest)`."""
    return UPLOAD.fullmatch(label) is not None


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
            safe_text(label),
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
    label = f"{name} ({upload_store().put(name, data)})"
    st.session_state[f"{key}_uploads"] = tuple(dict.fromkeys((*_uploads(key), label)))
    st.session_state[key] = label


def refusal(key: str) -> GraphTurboError | None:
    """Why the last upload of `key` was refused."""
    return cast(GraphTurboError | None, st.session_state.get(f"{key}_refusal"))


def remember_choices(choices: object) -> None:
    """Keep what the sidebar says, for the page that is drawn next."""
    st.session_state["choices"] = choices


def choices() -> object:
    """What the sidebar says."""
    return st.session_state["choices"]


def remember(name: str, value: object) -> None:
    """Keep something a canvas told, for links: `window` or `selected`."""
    st.session_state[f"told_{name}"] = value


def shown_since(key: str, content: int) -> float:
    """Since when (seconds of the epoch) a canvas shows what has the hash `content`."""
    last = cast(tuple[int, float] | None, st.session_state.get(f"shown_{key}"))
    if last is None or last[0] != content:
        last = st.session_state[f"shown_{key}"] = (content, time())
    return last[1]


def told_windows() -> Sequence[Sequence[float]] | None:
    """The time windows now in sight, when somebody zoomed."""
    return cast(Sequence[Sequence[float]] | None, st.session_state.get("told_window"))


def dimension_key(symbol: str) -> str:
    """The query name of a symbolic dimension's size."""
    return f"dim_{re.sub(r'[^A-Za-z0-9_.-]', '_', symbol)[:60]}"


def query_of(choices: Mapping[str, str]) -> dict[str, str]:
    """The query that restores what is on screen, window included."""
    windows = told_windows()
    shown = ",".join(f"{int(first)}-{int(last)}" for first, last in windows) if windows else ""
    return {**choices, **({"window": shown} if shown else {})}
