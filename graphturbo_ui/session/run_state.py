"""The session's part that belongs to one run, `a` or `b`: strategy, options, plan, and patience.

What is no widget's value is written into the address here, by callbacks alone: once a click.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.registry import BEST, parse_strategy
from graphturbo_ui.feeding import Feed
from graphturbo_ui.runs import Run, Visitor
from graphturbo_ui.session import query, state
from graphturbo_ui.store import upload_store

REWRITES = "rewrites"
"""Query name of the switch that adds the rewrite searches to Schedulers."""
PAIR_NAME, ONLY = "pair", "changed"
"""Query names of the two runs of the plan diff, and of its toggle."""
EQUAL_PLACES = ("headline", "pair")
"""Sentences of Compare that give a ratio at equal cluster batches."""


def ask_for_replay(is_wanted: bool) -> None:
    """Set the switch that has A and B replayed; before it is drawn, so from a callback."""
    st.session_state["verify"] = is_wanted


def visitor() -> Visitor:
    """Who this session is for the desk: it ends runs that no session waits for."""
    found: Visitor = st.session_state.setdefault("visitor", Visitor())
    return found


def beside() -> Visitor:
    """Who waits in this session for the run that a verdict compares with besides A and B."""
    found: Visitor = st.session_state.setdefault("beside", Visitor())
    return found


def changed_chip() -> Visitor:
    """Who waits in this session for B on a changed chip."""
    found: Visitor = st.session_state.setdefault("changed_chip", Visitor())
    return found


def searched() -> Visitor:
    """Who waits in this session for the run of a search beside A and B."""
    found: Visitor = st.session_state.setdefault("searched", Visitor())
    return found


def lecture() -> Visitor:
    """Who waits in this session for runs of the lecture that A and B are not."""
    found: Visitor = st.session_state.setdefault("lecture_visitor", Visitor())
    return found


def want_lecture() -> None:
    """Cancelled runs of the lecture are wanted again."""
    for each in (visitor(), lecture()):
        each.cancelled.clear()


def compared() -> Feed:
    """The comparison's runs that are under way in this session."""
    found: Feed = st.session_state.setdefault("compared_feed", Feed())
    return found


def schedulers() -> Feed:
    """The runs of the page Schedulers that are under way in this session."""
    found: Feed = st.session_state.setdefault("schedulers_feed", Feed())
    return found


def scheduler_shelf(keys: Collection[str]) -> dict[str, Any]:
    """What the page Schedulers knows of the runs with these keys; of others it is forgotten.

    Other keys are other choices in the bar, whose runs are wanted though earlier ones were
    cancelled.
    """
    found: dict[str, Any] = st.session_state.setdefault("schedulers_shelf", {})
    wanted = frozenset(keys)
    if st.session_state.get("schedulers_stopped") != wanted:
        go_on_with_schedulers()
    st.session_state["schedulers_keys"] = wanted
    for key in found.keys() - wanted:
        del found[key]
    return found


def stop_schedulers() -> None:
    """No more runs of these choices are wanted on the page Schedulers."""
    st.session_state["schedulers_stopped"] = st.session_state["schedulers_keys"]


def go_on_with_schedulers() -> None:
    """They are wanted again."""
    st.session_state["schedulers_stopped"] = None


def are_schedulers_stopped() -> bool:
    """Whether somebody cancelled the runs of these choices."""
    return st.session_state.get("schedulers_stopped") is not None


def plan_diff(key: str) -> Visitor:
    """Who waits in this session for the plan of `a` or `b` of the plan diff."""
    found: Visitor = st.session_state.setdefault(f"plan_diff_visitor_{key}", Visitor())
    return found


def equal_runs(place: str) -> Visitor:
    """Who waits on Compare for a run at an equal cluster batch; `place`: one of EQUAL_PLACES."""
    found: Visitor = st.session_state.setdefault(f"equal_visitor_{place}", Visitor())
    return found


def want_plans() -> None:
    """Cancelled runs of the plan diff are wanted again."""
    for key in query.RUN_KEYS:
        plan_diff(key).cancelled.clear()


def pair_query() -> list[tuple[str, str]]:
    """The part of a link that restores the plan diff."""
    return [(name, value) for name in (PAIR_NAME, ONLY) for value in st.query_params.get_all(name)]


def visitors_of(run: Run) -> tuple[Visitor, ...]:
    """As whom this session waits for a run: A and B, those beside them, and those of pages."""
    plans = (plan_diff(key) for key in query.RUN_KEYS)
    equal = (equal_runs(place) for place in EQUAL_PLACES)
    own = (
        visitor(), beside(), changed_chip(), searched(), lecture(),
        *compared().visitors_of(run), *schedulers().visitors_of(run), *plans, *equal,
    )  # fmt: skip
    return tuple(each for each in own if each in run.visitors) or (visitor(),)


def search_beside(is_wanted: bool) -> None:
    """Set the switch that has a schedule searched beside A and B; before it is drawn."""
    st.session_state["best"] = is_wanted
    search_again()


def are_rewrites_searched() -> bool:
    """Whether Schedulers has the rewrite searches: as the address says, until somebody clicks."""
    found = st.session_state.setdefault(REWRITES, st.query_params.get(REWRITES) == "true")
    return bool(found)


def search_rewrites(is_wanted: bool) -> None:
    """Add the rewrite searches to Schedulers, or leave them out."""
    st.session_state[REWRITES] = is_wanted


def search_again() -> None:
    """A search that was cancelled is wanted again."""
    searched().cancelled.clear()


def take_search() -> None:
    """B becomes the search, which is computed already, and no other one is searched."""
    drop_plan("b")
    _set_options("b", {})
    st.session_state["b"] = BEST
    search_beside(is_wanted=False)


def strategy_choices(key: str, default: str) -> list[str]:
    """The default first, then every strategy, then what this session chose besides."""
    found = [default, *query.every_strategy()]
    found += [str(st.session_state.get(key) or ""), st.query_params.get(key, "")]
    return [name for name in dict.fromkeys(found) if name]


def cluster_key(key: str) -> str:
    """The key of the first box of a run's cluster batch."""
    return f"cluster_{key}"


def take_cluster_batch(key: str, box: str) -> None:
    """Write a box's number into the strategy's text; nothing and 0 stand for the whole share."""
    head, _ = query.split_strategy(str(st.session_state[key]))
    batch = st.session_state[box]
    st.session_state[key] = f"{head}@{batch}" if batch else head


def option_key(key: str, name: str) -> str:
    """The key of the first box of an option of a run."""
    return f"set_{key} {name}"


def set_options(key: str) -> dict[str, str]:
    """The options of a run that are not at their default, of whatever strategy."""
    return state.kept(f"set_{key}", {})


def take_option(key: str, name: str, box: str) -> None:
    """Keep what an option's box says, unless it is the default."""
    value = str(st.session_state[box])
    kept = {other: text for other, text in set_options(key).items() if other != name}
    if value != strategy_options()[name].default:
        kept[name] = value
    _set_options(key, kept)


def reset_options(key: str) -> None:
    """Give all options of a run their defaults back."""
    _set_options(key, {})


def _set_options(key: str, options: Mapping[str, str]) -> None:
    st.session_state[f"set_{key}"] = dict(sorted(options.items()))
    _name(f"set_{key}", query.texts_of(options))


def _name(key: str, texts: list[str]) -> None:
    """Put these under `key` into the address, or take it out."""
    if texts:
        st.query_params[key] = texts
    elif key in st.query_params:
        del st.query_params[key]


def swap_runs() -> None:
    """A becomes B and B becomes A, with their options and the plans that they hold to."""
    session = st.session_state
    session["a"], session["b"] = session["b"], session["a"]
    plans, options = plan_digest("a"), set_options("a")
    _name_plan("a", plan_digest("b"))
    _name_plan("b", plans)
    _set_options("a", set_options("b"))
    _set_options("b", options)


def hold_plan(key: str, widget: str) -> None:
    """Have a run hold to the plan in a text area or an uploader, and take its strategy."""
    given = st.session_state.get(widget)
    st.session_state[f"plan_{key}_refusal"] = None
    if not given:
        return
    _hold(key, given.encode() if isinstance(given, str) else given.getvalue())


def hold_plan_text(key: str, text: str) -> None:
    """Have a run hold to the plan of this text, and take its strategy."""
    _hold(key, text.encode())


def _hold(key: str, data: bytes) -> None:
    try:
        origin = read_plan(data, f"the plan of {key.upper()}").origin
        parse_strategy(origin.strategy)
    except GraphTurboError as error:
        st.session_state[f"plan_{key}_refusal"] = error
        return
    _name_plan(key, upload_store().put(f"{key}.plan.yaml", data))
    st.session_state[key] = origin.strategy


def choose_run(key: str, strategy: str, options: Mapping[str, str], plan: str) -> None:
    """Have a run be this one; from a callback. `plan`: the text of a plan file, or empty."""
    st.session_state[key] = strategy
    _set_options(key, options)
    drop_plan(key)
    if plan:
        _hold(key, plan.encode())


def drop_plan(key: str) -> None:
    """Have a run hold to no plan any more."""
    _name_plan(key, "")


def _name_plan(key: str, digest: str) -> None:
    st.session_state[f"plan_{key}"] = digest
    _name(f"plan_{key}", [digest] if digest else [])


def plan_digest(key: str) -> str:
    """The digest of the plan that a run holds to; empty for none."""
    return state.kept(f"plan_{key}", "")


def held_plan(key: str) -> str:
    """The text of that plan; one that is gone is dropped, with a note."""
    digest = plan_digest(key)
    kept = upload_store().get(digest) if digest else None
    if digest and kept is None:
        drop_plan(key)
        state.note(f"The plan of {key.upper()} is no longer kept here: give it again under Export.")
    return kept.data.decode("utf-8-sig") if kept else ""


def plan_refusal(key: str) -> GraphTurboError | None:
    """Why the last plan given to a run was refused."""
    return state.kept(f"plan_{key}_refusal", None)


def ask_for_files() -> None:
    """Have the runs emit plans and programs from now on."""
    st.session_state["emit"] = True


def are_files_wanted() -> bool:
    """Whether somebody asked for plans and programs."""
    return bool(st.session_state.get("emit"))
