"""Around the picture: how many points are there, the point picked, all points, and the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic, sleep

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from graphturbo_core.sweep.axes import CLUSTER_BATCH, RUN_KEYS, numbers_at, value_at
from graphturbo_core.sweep.knobs import number_for, text_of
from graphturbo_core.sweep.table import sweep_csv
from graphturbo_core.sweep.tasks import FAULT, OK, REFUSED, row_of_figures
from graphturbo_core.units import counted
from graphturbo_ui.runs import Run
from graphturbo_ui.session import chips, query, state, what_if
from graphturbo_ui.shown import csv_button
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.top_bar.uploads import box_names
from graphturbo_ui.what_if.controls import Question
from graphturbo_ui.what_if.metrics import METRICS
from graphturbo_ui.what_if.point_desk import Answer, Hands, PointDesk, reason_of
from graphturbo_ui.what_if.points import AskedPoint, Bench, Variant, without_batch

POLL_SECONDS = 0.1
DRAWN_AGAIN_SECONDS = 0.6
"""Least time between two pictures with more points (our choice: drawing one takes a tenth)."""
TABLE = "what_if_table"
MOST_FAULTS = 3
"""Errors that are listed above the picture; the table has all."""


def progress(count: int, to_come: ToCome, hands: Hands) -> DeltaGenerator | None:
    """How many points are there; the place of the bar while more are to come."""
    with st.container(key="what_if_progress", horizontal=True, vertical_alignment="center"):
        place = st.empty()
        if not to_come.all:
            place.caption(f"{counted(count, 'run')}, all computed.")
            return None
        words = "Go on" if hands.is_stopped else "Cancel"
        if hands.is_stopped:
            place.caption(f"{count - to_come.all} of {counted(count, 'run')} computed.")
        else:
            _show_progress(place, count, to_come, hands)
        st.button(words, key="stop_points", on_click=hands.turn)
        return None if hands.is_stopped else place


def _show_progress(place: DeltaGenerator, count: int, to_come: ToCome, hands: Hands) -> None:
    left_s = hands.seconds_left(to_come.runs, to_come.searches)
    left = "" if left_s is None else f", about {left_s:.0f} s left"
    done = count - to_come.all
    text = f"**Simulating** {done} of {counted(count, 'run')}{left}{_searching(hands.search)}"
    place.progress(done / count, text)


def _searching(run: Run | None) -> str:
    """What the search under way is at, and since when."""
    if run is None:
        return ""
    at = run.at[0] if run.at else None
    share = f" {100 * at.done // at.total} %," if at is not None and at.total else ""
    name = safe_text(run.request.strategy, Sink.MARKDOWN)
    return f" · {name}:{share} {monotonic() - run.asked_s:.0f} s"


@dataclass(frozen=True, slots=True)
class ToCome:
    """How many points have no answer yet: runs, and searches, which take minutes."""

    runs: int
    searches: int

    @classmethod
    def of(cls, points: Sequence[AskedPoint], answers: Sequence[Answer | None]) -> ToCome:
        """The same of points and their answers."""
        missing = [p for p, answer in zip(points, answers, strict=True) if answer is None]
        searches = sum(1 for point in missing if query.is_search(point.request.strategy))
        return cls(len(missing) - searches, searches)

    @property
    def all(self) -> int:
        """Both."""
        return self.runs + self.searches


def wait(
    desk: PointDesk, points: Sequence[AskedPoint], hands: Hands, place: DeltaGenerator | None
) -> None:
    """Wait until more points are there, then draw the page again.

    The bar is drawn at every look: Streamlit takes a click only where something is drawn.
    """
    begun_s, finished = monotonic(), 0
    while True:
        finished += desk.advance(points, hands)
        to_come = ToCome.of(points, desk.answers(points, hands))
        is_time = monotonic() - begun_s >= DRAWN_AGAIN_SECONDS
        if not to_come.all or (finished and is_time):
            state.draw_again()
        if place is not None:
            _show_progress(place, len(points), to_come, hands)
        sleep(POLL_SECONDS)


def below(
    bench: Bench, question: Question, points: Sequence[AskedPoint], answers: Sequence[Answer | None]
) -> None:
    """The point that is picked, the table of all points, and how to compute them elsewhere."""
    by_key = {point.key: answer for point, answer in zip(points, answers, strict=True)}
    picked = next((point for point in points if point.key == what_if.picked()), None)
    with st.container(key="what_if_picked"):
        if picked is None:
            st.caption("Click a point, or tick a row of the table, to use its chip.")
        else:
            _show_picked(bench, picked, by_key[picked.key])
    with st.expander("Table of points", on_change="rerun", key="what_if_rows") as box:
        if box.open:
            keys = [point.key for point in points]
            names = box_names(state.model_names())
            st.dataframe(
                [_row(bench, p, a, names) for p, a in zip(points, answers, strict=True)],
                hide_index=True, key=TABLE, selection_mode="single-row",
                on_select=partial(what_if.take_row, TABLE, keys),
            )  # fmt: skip
    if question.ask == what_if.RANGE:
        _offer_files(bench, question, points, answers)


def _values_text(bench: Bench, point: AskedPoint) -> str:
    knobs = {knob.key: knob for knob in bench.knobs}
    named = [
        f"{knobs[key].label} "
        f"{text_of(knobs[key], number_for(knobs[key], bench.own(knobs[key]), value))}"
        for key, value in point.point.values
    ]
    return ", ".join(named) or "the chip as it is"


def _row(
    bench: Bench, point: AskedPoint, answer: Answer | None, names: Mapping[str, str]
) -> Mapping[str, object]:
    """A row of the table; `names`: what the boxes call each model."""
    figures = answer.figures if answer is not None else {}
    return {
        "model": safe_text(names.get(point.model, point.request.model_name)),
        "changed": _values_text(bench, point),
        "strategy": safe_text(point.request.strategy),
        **{m.axis: m.value(figures) if figures else None for m in METRICS},
        "kernels": figures.get("kernels"),
        "refused": safe_text(answer.refusal, max_length=300) if answer is not None else "",
        "bug of ours": safe_text(answer.fault, max_length=300) if answer is not None else "",
    }


def _show_picked(bench: Bench, point: AskedPoint, answer: Answer | None) -> None:
    strategy = safe_text(point.request.strategy, Sink.MARKDOWN)
    said = f"**{strategy}**, {_values_text(bench, point)}"
    if answer is not None and answer.figures:
        said += " · " + " · ".join(
            f"{metric.name} {metric.text(metric.value(answer.figures))}" for metric in METRICS
        )
    elif answer is not None and answer.fault:
        said += f" · bug of ours: {safe_text(answer.fault, Sink.MARKDOWN, 300)}"
    elif answer is not None:
        said += f" · refused: {safe_text(answer.refusal, Sink.MARKDOWN, 300)}"
    st.markdown(said)
    if answer is None or answer.figures:
        st.button(
            "Use this chip and batch", key="use_point", on_click=_use, args=(bench, point),
            icon=":material/memory:",
            help="All pages then show A and B there. The chip becomes an edit of the present one; "
            "Chips shows what is changed and takes it back.",
        )  # fmt: skip


def _use(bench: Bench, point: AskedPoint) -> None:
    """Choose the model, chip, batch and cluster batch of a point."""
    values = dict(point.point.values)
    numbers = {
        name: int(number)
        for key, value in values.items()
        if key not in RUN_KEYS
        for name, number in numbers_at(bench.tree, key, value).items()
        if number != value_at(bench.tree, name)
    }
    state.set_choices({"model": point.model, "batch": point.request.batch or 1})
    if CLUSTER_BATCH in values:
        for key, side in bench.choices.sides.items():
            strategy = f"{without_batch(side.strategy)}@{values[CLUSTER_BATCH]}"
            state.set_choices({key: strategy})
    if numbers:
        chips.use_numbers(numbers)


def _offer_files(
    bench: Bench, question: Question, points: Sequence[AskedPoint], answers: Sequence[Answer | None]
) -> None:
    """The same table as a file, and the command that computes it."""
    axes = [span.axis for span in question.spans]

    def table() -> str:
        rows = [
            row_of_figures(point.point, answer.figures, _status(answer), reason_of(answer))
            for point, answer in zip(points, answers, strict=True)
            if answer is not None
        ]
        return sweep_csv(axes, rows)

    with st.container(key="what_if_files"):
        csv_button("Points as CSV", table, "sweep.csv", "points_csv")
        st.caption("The same table on the command line")
        st.code(commands(bench, question), language=None, wrap_lines=True)


def _status(answer: Answer) -> str:
    """The status of a row, as the command `sweep` names it."""
    if answer.fault:
        return FAULT
    return REFUSED if answer.refusal else OK


def show_faults(
    bench: Bench, points: Sequence[AskedPoint], answers: Sequence[Answer | None], hands: Hands
) -> None:
    """Runs that met a bug of ours, with its text: an error, and no limit of the chip."""
    found = [(p, a.fault) for p, a in zip(points, answers, strict=True) if a and a.fault]
    if not found:
        return
    lines = [
        f"- {safe_text(point.request.strategy, Sink.MARKDOWN)}, {_values_text(bench, point)}: "
        f"{safe_text(fault, Sink.MARKDOWN, 300)}"
        for point, fault in found[:MOST_FAULTS]
    ]
    rest = len(found) - MOST_FAULTS
    lines += [f"- and {rest} more, in the table of points"] if rest > 0 else []
    head = (
        f"{len(found)} of {counted(len(points), 'run')} met a bug of ours, which is no "
        "limit of the chip. The other points go on; the server's log has the details."
    )
    with st.container(key="what_if_faults"):
        st.error("\n".join([head, "", *lines]), icon=":material/error:")
        st.button("Run them again", key="run_faults_again", on_click=hands.run_again)


def commands(bench: Bench, question: Question) -> str:
    """The command line of the same sweep; one per set of options where they differ."""
    choices = replace(bench.choices, verify=False)
    vary = [f"{span.knob.key}={','.join(map(str, span.axis.values))}" for span in question.spans]
    varied = [word for text in vary for word in ("--vary", text)]
    by_options: dict[str, list[Variant]] = {}
    for variant in question.variants:
        by_options.setdefault(str(sorted(variant.options.items())), []).append(variant)
    lines = []
    for number, variants in enumerate(by_options.values(), 1):
        own = ["--strategies", ",".join(variant.strategy for variant in variants), *varied]
        own += ["--csv", "sweep.csv" if len(by_options) == 1 else f"sweep-{number}.csv"]
        lines.append(choices.command_of(["sweep"], own, variants[0].options))
    return "\n".join(lines)
