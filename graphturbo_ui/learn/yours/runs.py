"""The runs that a step needs on Explore's model and chip, and their wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic, sleep
from typing import TypeVar

import streamlit as st

from graphturbo_core.comparison.ladder import KERNEL_WORDS, RUNG_WORDS
from graphturbo_core.sweep.axes import Axis
from graphturbo_core.sweep.knobs import LB_KEY, Knob, text_of, value_for
from graphturbo_ui.frame import wait_for
from graphturbo_ui.jobs import Runs, shared_desk
from graphturbo_ui.session import query, run_state, state, what_if
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.what_if.point_desk import Answer, Hands, shared_point_desk
from graphturbo_ui.what_if.points import AskedPoint, Bench, Variant

POLL_SECONDS = 0.1
FACTORS = tuple(Fraction(2) ** exponent for exponent in range(-2, 3))
"""Sizes of LB over the chip's own (our choice)."""
ORDER = "graphturbo.instance_order"
STAIRS: Mapping[str, str] = {
    **KERNEL_WORDS,
    **{f"graphturbo:{level}": RUNG_WORDS[level] for level in ("gb", "lb", "order", "full")},
}
"""Strategies of the staircase, and what each step adds."""
Wait = Callable[[], None]
T = TypeVar("T")


def both_runs(choices: Choices) -> Runs:
    """A and B, by `a` and `b`."""
    requests = [choices.request(key) for key in query.RUN_KEYS]
    runs = shared_desk().start(requests, choices.source, run_state.visitor())
    return dict(zip(query.RUN_KEYS, runs, strict=True))


def run_of_b(choices: Choices) -> Runs:
    """B alone."""
    (run,) = shared_desk().start([choices.request("b")], choices.source, run_state.lecture())
    return {"b": run}


def two_orders(choices: Choices) -> Runs:
    """B depth first and breadth first."""
    base = replace(choices.request("b"), verify=False)
    options = {name: text for name, text in base.options.items() if name != ORDER}
    requests = [
        replace(base, options=options),
        replace(base, options={**options, ORDER: "breadth-first"}),
    ]
    runs = shared_desk().start(requests, choices.source, run_state.lecture())
    return dict(zip(("depth", "breadth"), runs, strict=True))


def report_wait(runs: Runs) -> Wait:
    """Wait for the first of these that is not there, with progress; the page is drawn again."""

    def wait() -> None:
        for name, run in runs.items():
            if not run.is_done:
                shared_desk().wake()
                wait_for(run, name.upper() if name in query.RUN_KEYS else name)
                break
        state.draw_again()

    return wait


@dataclass(frozen=True)
class LimitPoints:
    """Runs of step 8 with the answers that are there; stairs by strategy, A and B by LB's size."""

    stairs: Mapping[str, tuple[AskedPoint, Answer | None]]
    sizes: Mapping[Fraction, tuple[tuple[AskedPoint, Answer | None], ...]]
    labels: Mapping[Fraction, str]

    @property
    def missing(self) -> int:
        """How many answers are to come."""
        return sum(answer is None for _, answer in self.all)

    @property
    def first(self) -> int:
        """How many of `all`, at their beginning, the step is drawn with in part."""
        return len(self.stairs) + len(self.sizes[Fraction(1)])

    @property
    def has_first(self) -> bool:
        """Whether the step can be drawn in part."""
        return all(answer is not None for _, answer in self.all[: self.first])

    @property
    def all(self) -> list[tuple[AskedPoint, Answer | None]]:
        """Every run: those first without which nothing is drawn."""
        return own_first(self.stairs.values(), self.sizes)


def own_first(stairs: Iterable[T], sizes: Mapping[Fraction, Sequence[T]]) -> list[T]:
    """The staircase, A and B at the chip's own LB, then at its other sizes."""
    others = (each for factor, pair in sizes.items() if factor != 1 for each in pair)
    return [*stairs, *sizes[Fraction(1)], *others]


def limit_points(choices: Choices) -> LimitPoints:
    """The runs of step 8, of which some more are begun.

    Raises:
        GraphTurboError: the chip is refused.
    """
    bench = Bench.of(choices)
    _, samples = query.split_strategy(choices.sides["b"].strategy)
    at = f"@{samples}" if samples else ""
    stairs = bench.at([], [Variant(f"{name}{at}") for name in STAIRS])
    pair = [Variant(side.strategy, side.options) for side in choices.sides.values()]
    knob = next((each for each in bench.knobs if each.key == LB_KEY), None)
    factors = FACTORS if knob else (Fraction(1),)
    sizes, labels = {}, {}
    for factor in factors:
        axes = [] if knob is None else [_axis(bench, knob, factor)]
        sizes[factor] = bench.at(axes, pair)
        labels[factor] = text_of(knob, float(bench.own(knob) * factor)) if knob else "its size"
    points = own_first(stairs, sizes)
    desk, hands = shared_point_desk(), what_if.hands(Hands)
    desk.learn(bench.known(points))
    desk.advance(points, hands)
    found = dict(zip((p.key for p in points), desk.answers(points, hands), strict=True))
    return LimitPoints(
        {name: (point, found[point.key]) for name, point in zip(STAIRS, stairs, strict=True)},
        {size: tuple((p, found[p.key]) for p in both) for size, both in sizes.items()},
        labels,
    )


def _axis(bench: Bench, knob: Knob, factor: Fraction) -> Axis:
    return Axis(LB_KEY, (value_for(knob, bench.own(knob), factor),))


def point_wait(found: LimitPoints) -> Wait:
    """Wait for more answers, with progress; the page is drawn again once all are there."""
    points = [point for point, _ in found.all]

    def wait() -> None:
        desk, hands = shared_point_desk(), what_if.hands(Hands)
        place, begun_s = st.empty(), monotonic()
        while True:
            desk.advance(points, hands)
            answers = desk.answers(points, hands)
            missing = answers.count(None)
            done = len(points) - missing
            place.progress(done / len(points), f"**Simulating** {done} of {len(points)} runs")
            is_more = missing < found.missing and monotonic() - begun_s > 1
            begins = not found.has_first and None not in answers[: found.first]
            if not missing or begins or is_more:
                state.draw_again()
            sleep(POLL_SECONDS)

    return wait
