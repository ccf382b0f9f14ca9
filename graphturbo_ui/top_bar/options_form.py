"""The form of a run's options: common ones first, all others by pass, each a widget by its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import streamlit as st

from graphturbo_core.option_fields import StrategyOption
from graphturbo_core.run_request import options_of_strategy
from graphturbo_ui.session import run_state
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.top_bar.labels import chosen_options
from graphturbo_ui.top_bar.renewed import shown

PINNED = "The plan brings its own options along: discard it to choose others."
COMMON = {
    "graphturbo.blocks": "Merge innermost blocks first",
    "graphturbo.instance_order": "Order of kernels",
    "tvm.weights": "Weights that several cores need",
    "tuned.evaluations": "Plans that the search evaluates",
    "tuned.seed": "Seed of the search",
    "taso-like.budget": "Graphs that the search changes",
}
"""Options that are shown at once, with their names (our choice: what a first look changes)."""
SOURCE = re.compile(r"(Algorithm \d|Eq\. \d)(?:, rule \d)?: ")
"""How an option's text begins where the paper has a name for its pass."""
PASSES = {
    "Algorithm 1": "Splitting (Algorithm 1)",
    "Eq. 1": "Splitting (Algorithm 1)",
    "Algorithm 2": "Merging (Algorithm 2)",
    "Algorithm 3": "Order of kernels (Algorithm 3)",
    "Algorithm 4": "Binding (Algorithm 4)",
    "lowering": "Lowering",
}
MAX_LABEL = 70


def options_form(key: str, strategy: str, has_plan: bool) -> None:
    """The options of run `key`; a run from a plan has the plan's, and the form only says so.

    Groups are drawn only while somebody looks: two dozen widgets cost every other click.
    """
    if has_plan:
        st.caption(PINNED)
        return
    chosen = chosen_options(key, strategy)
    known = options_of_strategy(strategy)
    for name in COMMON:
        if name in known:
            _widget(key, known[name], chosen.get(name, known[name].default))
    for title, options in _groups(known).items():
        count = sum(option.name in chosen for option in options)
        label = f"{title} · {count} changed" if count else title
        with st.expander(label, key=group_key(key, title), on_change="rerun") as box:
            if box.open:
                for option in options:
                    _widget(key, option, chosen.get(option.name, option.default))
    if chosen:
        st.button(
            f"Reset options of {key.upper()}", key=f"reset_{key}",
            on_click=run_state.reset_options, args=(key,), icon=":material/restart_alt:",
            width="stretch",
        )  # fmt: skip


def group_key(key: str, title: str) -> str:
    """The key of a run's group of options."""
    return f"options_{key} {title}"


def _groups(known: Mapping[str, StrategyOption]) -> dict[str, list[StrategyOption]]:
    """All options that are not common, by the pass that they belong to, in the passes' order."""
    found: dict[str, list[StrategyOption]] = {title: [] for title in PASSES.values()}
    for option in known.values():
        if option.name not in COMMON:
            found.setdefault(group_of(option), []).append(option)
    return {title: options for title, options in found.items() if options}


def group_of(option: StrategyOption) -> str:
    """The pass of an option: what its text names first, else the part before the dot."""
    source = SOURCE.match(option.doc)
    prefix = option.name.partition(".")[0]
    return PASSES.get(source[1] if source else prefix, f"Other options of {prefix}")


def label_of(option: StrategyOption) -> str:
    """A common option's own name, else the first words of its text: what holds by default."""
    if option.name in COMMON:
        return COMMON[option.name]
    text = SOURCE.sub("", option.doc, count=1)
    head = re.split(r", |; | \(", text, maxsplit=1)[0]
    return head[:1].upper() + head[1:]


def _texts(option: StrategyOption) -> Iterator[str]:
    yield safe_text(label_of(option), Sink.MARKDOWN, MAX_LABEL)
    yield f"`{option.name}`"


def _widget(key: str, option: StrategyOption, value: str) -> None:
    """A box of choices, or a number within its bounds, that shows `value`."""
    label, words = " ".join(_texts(option)), f"{option.doc}. Default {option.default}."
    first = run_state.option_key(key, option.name)
    if option.bounds is None:
        box = shown(first, value)
        values = dict.fromkeys((*option.values, value))
        st.selectbox(
            label, tuple(values), key=box, help=words,
            on_change=run_state.take_option, args=(key, option.name, box),
        )  # fmt: skip
        return
    box = shown(first, int(value))
    low, high = option.bounds
    st.number_input(
        label, low, high, step=1, key=box, help=words,
        on_change=run_state.take_option, args=(key, option.name, box),
    )  # fmt: skip
