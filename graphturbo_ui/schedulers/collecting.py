"""The strategies' runs of this session: those that are there, and those under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from graphturbo_core.comparison.figures import RunFigures
from graphturbo_core.comparison.from_report import figures_of
from graphturbo_core.comparison.side_by_side.kernel_picture import KernelPicture, kernel_picture
from graphturbo_core.comparison.side_by_side.time_words import NamedRun
from graphturbo_ui.compare.adding import other_strategies, rewrite_searches, search
from graphturbo_ui.compare.collecting import FAULT
from graphturbo_ui.jobs import Run, WorkerError, shared_desk
from graphturbo_ui.progress import Bar, of_several, pause
from graphturbo_ui.session import query, run_state, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.compared import WantedRun


@dataclass(frozen=True)
class SchedulerAnswer:
    """What became of a strategy's run: its figures and kernels, or why it has none."""

    strategy: str
    figures: RunFigures | None = None
    picture: KernelPicture | None = field(default=None, repr=False)
    refusal: str = ""


@dataclass(frozen=True)
class Schedulers:
    """All strategies in their order; `answers` of those that are there, by strategy.

    `is_stopped`: somebody cancelled the others.
    """

    wanted: tuple[WantedRun, ...]
    answers: Mapping[str, SchedulerAnswer]
    is_stopped: bool = False

    @property
    def drawn(self) -> list[SchedulerAnswer]:
        """Those with figures."""
        return [each for each in self.answers.values() if each.figures is not None]

    @property
    def runs(self) -> list[NamedRun]:
        """Their figures by name."""
        return [NamedRun(name_of(each.strategy), each.figures) for each in self.drawn
                if each.figures is not None]  # fmt: skip

    @property
    def waiting(self) -> list[str]:
        """Names of the strategies that are not there yet."""
        return [
            name_of(each.request.strategy)
            for each in self.wanted
            if each.request.strategy not in self.answers
        ]


def name_of(strategy: str) -> str:
    """A strategy without its cluster batch, which all of them have in common."""
    return query.split_strategy(strategy)[0]


def wanted_runs(choices: Choices) -> list[WantedRun]:
    """One run per column: strategies without a search, then the searches that are wanted."""
    rewrites = rewrite_searches(choices) if choices.rewrites else ()
    return [*other_strategies(choices), *rewrites, *(search(choices) if choices.best else ())]


def collect(choices: Choices) -> Schedulers:
    """Take what is finished, and have more begun unless somebody stopped them."""
    wanted = wanted_runs(choices)
    keys = {each.key for each in wanted}
    shelf: dict[str, SchedulerAnswer] = run_state.scheduler_shelf(keys)
    is_stopped = run_state.are_schedulers_stopped()
    while True:
        asked = {
            each.key: (each.request, each.source)
            for each in wanted
            if each.key not in shelf and not is_stopped
        }
        done = run_state.schedulers().advance(shared_desk(), asked)
        shelf |= {key: _answer(run) for key, run in done if key in keys and not run.is_cancelled}
        if not done:
            break
    answers = {each.request.strategy: shelf[each.key] for each in wanted if each.key in shelf}
    return Schedulers(tuple(wanted), answers, is_stopped)


def _answer(run: Run) -> SchedulerAnswer:
    name = run.request.strategy
    try:
        refused = run.refusal
    except WorkerError:
        return SchedulerAnswer(name, refusal=FAULT)
    if refused is not None:
        return SchedulerAnswer(name, refusal=refused.line())
    desk = shared_desk()
    figures = desk.view("compared figures", figures_of, run)
    return SchedulerAnswer(name, figures, desk.view("kernel picture", kernel_picture, run))


def wait(place: DeltaGenerator, choices: Choices, now: Schedulers) -> None:
    """Show how far the runs are until one more is there; the page is then drawn again.

    The bar is drawn at every poll: Streamlit takes a click only where something is drawn.
    """
    if not now.waiting:
        return
    with place.container(
        border=True, key="schedulers_waiting", horizontal=True, vertical_alignment="center"
    ):
        if now.is_stopped:
            st.markdown(f"Not run: {_listed(now.waiting)}.", width="stretch")
            st.button("Go on", key="schedulers_go_on", on_click=run_state.go_on_with_schedulers)
            return
        drawn = st.empty()
        st.button(
            "Cancel", key="schedulers_cancel", on_click=_cancel, icon=":material/cancel:",
            help="Finished runs remain here.",
        )  # fmt: skip
        while True:
            if len(collect(choices).waiting) < len(now.waiting):
                state.draw_again()
            first = run_state.schedulers().first
            shown = _progress(first, now)
            drawn.progress(shown.share, shown.text)
            pause(first)


def _progress(first: Run | None, now: Schedulers) -> Bar:
    """Share of the runs that are there, and what is done now."""
    done, count = len(now.answers), len(now.wanted)
    name = name_of(first.request.strategy) if first is not None else ""
    return of_several(first, f"{name}, {done + 1} of {count}", done, count)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cancel() -> None:
    run_state.stop_schedulers()
    run_state.schedulers().leave(shared_desk())
