"""The boxes above the pictures: the question, what is varied, strategies, what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from graphturbo_core.sweep.axes import CLUSTER_BATCH
from graphturbo_core.sweep.knobs import COUNT, CYCLES, GB_KEY, LB_KEY, Knob, text_of
from graphturbo_core.sweep.typed_values import MOST_CHARACTERS, ValueReader
from graphturbo_core.units import counted
from graphturbo_ui.session import query, state, what_if
from graphturbo_ui.session.what_if import (
    AS_B,
    ASK,
    BUFFERS,
    CHANGES,
    EXPONENTS,
    FIGURE,
    GAINS,
    MOST_MODELS,
    NOTHING,
    QUESTIONS,
    RANGE,
    VALUES,
    forget_values,
    multiple_text,
)
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.top_bar.labels import plain_text
from graphturbo_ui.top_bar.uploads import box_names
from graphturbo_ui.what_if.metrics import METRICS, Metric
from graphturbo_ui.what_if.points import (
    Bench,
    Span,
    Variant,
    factors_between,
    strategy_names,
    without_batch,
)

DEFAULT_SPAN, DEFAULT_SIZES = (-3, 2), (-3, 0)
MOST_STRATEGIES = 6


@dataclass(frozen=True)
class Question:
    """A question, `ask` of `QUESTIONS`, with its choices.

    `spans`: what is varied; `change`: the name of a change of `CHANGES`; `models`: their labels.
    """

    ask: str
    variants: tuple[Variant, ...]
    spans: tuple[Span, ...] = ()
    metric: Metric = METRICS[0]
    change: str = ""
    models: tuple[str, ...] = ()


def question_box() -> str:
    """The box of the question: one of `QUESTIONS`."""
    ask: str = st.segmented_control(
        "Question", list(QUESTIONS), default=RANGE, required=True, key=ASK, bind="query-params",
        format_func=lambda key: QUESTIONS[key], label_visibility="collapsed",
    )  # fmt: skip
    return ask


def question(ask: str, bench: Bench) -> Question:
    """Draw the boxes of a question and return it with its choices.

    The script runs again where the address changes, so that the bar's link is of the new one.
    """
    with st.container(key="what_if_boxes", horizontal=True, vertical_alignment="top"):
        found = _BOXES[ask](bench)
    if what_if.name_models(ask):
        state.draw_again()
    return found


def _range(bench: Bench) -> Question:
    """One number over a range, or two."""
    keys = {knob.key: knob for knob in bench.knobs}
    default = GB_KEY if GB_KEY in keys else LB_KEY
    with _together("what_if_first"):
        names = ("vary", VALUES["over"])
        first = _knob_box("Vary", names, [*keys], [*keys].index(default), bench)
        spans = [_span(bench, keys[first], "over")]
    parts = set(first.split("+"))
    others = [key for key in keys if not parts & set(key.split("+"))]
    with _together("what_if_second"):
        names = ("vary2", VALUES["over2"])
        second = _knob_box("And vary", names, [NOTHING, *others], 0, bench)
        if second != NOTHING:
            spans.append(_span(bench, keys[second], "over2"))
    variants = _strategies_box(bench)
    if any(span.knob.key == CLUSTER_BATCH for span in spans):
        variants = without_batches(variants)
    metrics = {metric.name: metric for metric in METRICS}
    shown = st.selectbox("Draw", list(metrics), key=FIGURE, bind="query-params", width=180)
    return Question(RANGE, variants, tuple(spans), metrics[shown])


def _gains(bench: Bench) -> Question:
    """Each number of the chip changed by itself."""
    change = st.segmented_control(
        "Change of each number", list(CHANGES), default=next(iter(CHANGES)), required=True,
        key="change", bind="query-params",
        help="A latency or a launch is divided by what the others are multiplied by. A number that "
        "would grow by much more, since it is whole, is left out.",
    )  # fmt: skip
    return Question(GAINS, _strategies_box(bench), change=change)


def _buffers(bench: Bench) -> Question:
    """LB and GB over ranges, for a set of models."""
    keys = {knob.key: knob for knob in bench.knobs}
    spans = []
    for key, name in ((LB_KEY, "lb"), (GB_KEY, "gb")):
        if key in keys:
            with _together(f"what_if_{name}"):
                spans.append(_span(bench, keys[key], name, DEFAULT_SIZES))
    by = st.selectbox(
        "Strategy", [AS_B, *strategy_names(bench.choices)], key="by", bind="query-params",
        width=210,
    )  # fmt: skip
    models = _models_box()
    variants = bench.variants([])[-1:] if by == AS_B else bench.variants([by])[:1]
    return Question(BUFFERS, variants, tuple(spans), models=models or (bench.choices.model,))


_BOXES = {RANGE: _range, GAINS: _gains, BUFFERS: _buffers}


def _models_box() -> tuple[str, ...]:
    """The box of further models, which shows uploads by their files' names.

    It is not bound to the address, which names uploads by their digests: the session writes it.
    """
    files = state.model_names()
    names = box_names(files)
    linked = len(set(st.query_params.get_all(what_if.MODELS)))
    if linked > MOST_MODELS:
        state.note(f"The link names {linked} models. The page shows the first {MOST_MODELS}.")
    return tuple(
        st.multiselect(
            "Models", files, key=what_if.models_box(files), format_func=names.__getitem__,
            max_selections=MOST_MODELS, placeholder="the model above",
            on_change=what_if.take_models, args=(files,),
            help="The model above runs at its batch; every other one at the batch that its file "
            "proposes.",
        )
    )  # fmt: skip


def _together(key: str) -> DeltaGenerator:
    """Boxes of one number, which stand in one line."""
    return st.container(key=key, horizontal=True, vertical_alignment="top", width="content")


def _knob_box(
    label: str, names: tuple[str, str], keys: Sequence[str], place: int, bench: Bench
) -> str:
    """The box `names[0]` of what is varied; another choice empties the values `names[1]`."""
    labels = {knob.key: knob.label for knob in bench.knobs}
    chosen: str = st.selectbox(
        label, keys, place, key=names[0], bind="query-params", width=170,
        format_func=lambda each: labels.get(each, each),
        on_change=forget_values, args=(names[1],),
    )  # fmt: skip
    return chosen


def _span(bench: Bench, knob: Knob, key: str, default: tuple[int, int] = DEFAULT_SPAN) -> Span:
    """The values of a knob: multiples of what it is at present, or numbers that are typed."""
    place = st.container(width=180)
    typed = _values_box(bench, knob, VALUES[key])
    with place.container(key=f"what_if_{key}_{'off' if typed else 'on'}"):
        low, high = st.select_slider(
            f"{knob.label}, multiples", EXPONENTS, default, key=key, bind="query-params",
            format_func=multiple_text, help=knob.per and f"{knob.label} {knob.per}.",
            disabled=bool(typed),
        )  # fmt: skip
    factors = factors_between(low, high, is_fine=high - low < FINE_BELOW)
    return Span(knob, bench.own(knob), factors, bench.most(knob), typed)


def _values_box(bench: Bench, knob: Knob, key: str) -> tuple[int, ...]:
    """The numbers that are typed; below the box, why a part of the text is refused."""
    reader = ValueReader(knob, bench.own(knob), bench.tree, bench.most(knob))
    unit = f" ({reader.unit})" if reader.unit else ""
    with st.container(key=f"what_if_{key}", width=VALUES_PX, gap=None):
        text = st.text_input(
            f"or values{unit}", key=key, bind="query-params", max_chars=MOST_CHARACTERS,
            placeholder=_example(reader),
            help="Values with commas between them; a unit may follow a value. Where the box is "
            "empty, the multiples count.",
        )  # fmt: skip
        found = reader.read(text or "")
        if found.faults:
            rest = len(found.faults) - MOST_FAULTS
            said = [*found.faults[:MOST_FAULTS], *([f"{rest} more"] if rest > 0 else [])]
            if not found.numbers:
                said.append("the multiples are drawn")
            with st.container(key=f"what_if_{key}_refused"):
                st.markdown("  \n".join(safe_text(text, Sink.MARKDOWN, 200) for text in said))
    return found.numbers


def _example(reader: ValueReader) -> str:
    """Half, once and twice of the number at present, in its unit."""
    own = float(text_of(reader.knob, reader.own).partition(" ")[0].replace(",", ""))
    is_whole = reader.knob.unit in (COUNT, CYCLES)
    numbers = [max(1.0, own // 2) if is_whole else own / 2, own, 2 * own]
    return f"e.g. {', '.join(dict.fromkeys(f'{number:.6g}' for number in numbers))}"


VALUES_PX, MOST_FAULTS = 190, 3
FINE_BELOW = 3
"""A range of fewer doublings has points half-way between (our choice: at least five points)."""


def _strategies_box(bench: Bench) -> tuple[Variant, ...]:
    chosen = st.multiselect(
        "Strategies", strategy_names(bench.choices), key="runs", bind="query-params",
        max_selections=MOST_STRATEGIES, placeholder="A and B", width="stretch",
        help="A and B where none is chosen, a search among them left out: a search "
        "(`taso-like`, `best`, `tuned`) runs where it is chosen here. A run bound to a plan is run "
        "without it.",
        format_func=plain_text,
    )  # fmt: skip
    return bench.variants(chosen)


def say_searches(bench: Bench, asked: Question, missing: int) -> None:
    """How long the searches of a question take; that one of A and B is left out."""
    names = [each.strategy for each in asked.variants if query.is_search(each.strategy)]
    left_out = [
        f"{letter.upper()} is a search ({side.strategy}) and is left out; choose it under "
        "Strategies to run it for each point."
        for letter, side in bench.choices.sides.items()
        if query.is_search(side.strategy) and side.strategy not in names
    ]
    with st.container(key="what_if_search"):
        if names and missing:
            shown = safe_text(", ".join(names), Sink.MARKDOWN)
            st.caption(
                f"Search ({shown}): simulates many plans, seconds to minutes per point, one "
                f"point at a time; {counted(missing, 'point')} to come. Cancel ends it. A point "
                "that takes more than 10 minutes is ended."
            )
        if left_out and asked.ask != BUFFERS:
            st.caption(" ".join(left_out))


def without_batches(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants without their cluster batches, which are varied; equal ones once."""
    found: dict[tuple[str, str], Variant] = {}
    for each in variants:
        strategy = without_batch(each.strategy)
        key = strategy, str(sorted(each.options.items()))
        letter = "" if key in found else each.letter
        found[key] = Variant(strategy, each.options, letter)
    return tuple(found.values())
