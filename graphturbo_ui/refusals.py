"""Refusals on the page: which run, what, where, and what to change, by buttons where it is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
MOST_OTHER_WORDS = 8
"""Words in a row in which two texts may differ to be joined to one (our choice)."""
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


def show_refused_run(error: GraphTurboError, run: str) -> None:
    """The same in one row, below which the pictures of the other run are in sight.

    What is wrong and the buttons come first; where it is and what else helps stand in a popover.
    """
    st.html(STYLE)
    with st.container(key=_key("refusal", run), horizontal=True, vertical_alignment="center"):
        what = safe_text(error.what, Sink.MARKDOWN, 1000)
        st.warning(f"**{run} cannot be computed:** {what}", icon=":material/info:")
        _buttons(remedies(error, run))
        with st.popover("Details", key=_key("details", run)):
            st.markdown("  \n".join(_details(error)))


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
    parts = [
        f"{run} cannot be computed." if run else "",
        f"**{_sentence(safe_text(error.what, Sink.MARKDOWN, 1000))}**",
        *_details(error),
    ]
    st.warning("  \n".join(part for part in parts if part), icon=":material/info:")


def _details(error: GraphTurboError) -> list[str]:
    """Lines on where it is, what to change, and the code."""
    where = _sentence(safe_text(error.where, Sink.MARKDOWN, 1000))
    change = safe_text(error.change, Sink.MARKDOWN, 1000)
    helps = f"What helps: {change}" if change else ""
    code = f"Code {safe_text(error.code, Sink.MARKDOWN)}"
    return [part for part in (where, helps, code) if part]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def remedies(error: GraphTurboError, run: str) -> list[Remedy]:
    """What buttons offer against a refusal of these runs."""
    found = []
    keys = [key for key in query.RUN_KEYS if key.upper() in run.split()]
    is_of_size = error.code in OF_SIZE and not error.fields.get("at_any_batch")
    if is_of_size and (large := [key for key in keys if not _takes_one(key)]):
        found.append(_one_at_once(large))
    if (is_of_size or error.code in OF_BATCH) and st.session_state.get("batch", 1) != 1:
        found.append(
            Remedy(
                "Use batch 1 instead", f"batch_of_one {run}", state.set_choices, ({"batch": 1},),
                "Most exports are made for one sample; the whole page then runs one."
                if error.code in OF_BATCH else "The whole page then runs one sample.",
            )
        )  # fmt: skip
    if isinstance(error, PlanError) and (kept := [k for k in keys if run_state.plan_digest(k)]):
        found.append(_without_plan(kept))
    return found


def _without_plan(keys: Sequence[str]) -> Remedy:
    plans = "plan" if len(keys) == 1 else "plans"
    label = f"Discard the {plans} of {_names(keys)}"
    return Remedy(label, f"without_plan {' '.join(keys)}", _drop_plans, tuple(keys))


def _drop_plans(*keys: str) -> None:
    for key in keys:
        run_state.drop_plan(key)


def _names(keys: Sequence[str]) -> str:
    """`A`; `A and B`."""
    return " and ".join(key.upper() for key in keys)


def _takes_one(key: str) -> bool:
    return query.split_strategy(str(st.session_state.get(key) or ""))[1] == 1


def _one_at_once(keys: Sequence[str]) -> Remedy:
    heads = {key: query.split_strategy(str(st.session_state.get(key) or ""))[0] for key in keys}
    return Remedy(
        f"Use cluster batch 1 for {_names(keys)}", f"cluster_of_one {' '.join(keys)}",
        state.set_choices, ({key: f"{head}@1" for key, head in heads.items()},),
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


def _offer(found: Sequence[Remedy], run: str) -> None:
    if found:
        with st.container(horizontal=True, key=_key("remedies", run)):
            _buttons(found)


def _buttons(found: Sequence[Remedy]) -> None:
    for remedy in found:
        st.button(
            remedy.label, key=remedy.key, on_click=remedy.act, args=remedy.args,
            help=remedy.help or None,
        )  # fmt: skip


def one_per_cause(refused: Mapping[str, GraphTurboError]) -> Iterator[tuple[GraphTurboError, str]]:
    """A refusal and the names of its runs, `A and B`, for each code with its remedies.

    `refused`: the refusal of each run by its name. Where the texts differ, one says both.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, error in refused.items():
        kinds = (remedy.key.split()[0] for remedy in remedies(error, name))
        groups.setdefault((type(error).__name__, error.code, *kinds), []).append(name)
    for names in groups.values():
        yield _joint({name: refused[name] for name in names}), " and ".join(names)


def _joint(refused: Mapping[str, GraphTurboError]) -> GraphTurboError:
    """One refusal with the texts of all."""
    first = next(iter(refused.values()))
    if len(refused) == 1:
        return first
    return type(first)(
        first.code,
        joined({name: error.what for name, error in refused.items()}),
        joined({name: error.where for name, error in refused.items()}),
        joined({name: error.change for name, error in refused.items()}),
        **first.fields,
    )


def joined(texts: Mapping[str, str]) -> str:
    """One text of two runs: what they share once, the words in which they differ with the run.

    `A schedule by tvm (A) and glow (B) needs …`; two that differ in more are given in turn.
    """
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    words = {name: text.split() for name, text in texts.items()}
    start = _shared([*words.values()])
    foot = _shared([own[start:][::-1] for own in words.values()])
    others = {name: own[start : len(own) - foot] for name, own in words.items()}
    if start + foot == 0 or max(map(len, others.values())) > MOST_OTHER_WORDS:
        return "; ".join(f"{name}: {text}" for name, text in texts.items() if text)
    own = [_named(name, " ".join(part)) for name, part in others.items() if part]
    whole = next(iter(words.values()))
    return " ".join([*whole[:start], " and ".join(own), *whole[len(whole) - foot :]])


def _named(name: str, text: str) -> str:
    """`tvm (A)`; a comma at the end comes after the name."""
    return f"{text[:-1]} ({name})," if text.endswith(",") else f"{text} ({name})"


def _shared(texts: list[list[str]]) -> int:
    """How many words at the start all have."""
    count = 0
    for words in zip(*texts, strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count
