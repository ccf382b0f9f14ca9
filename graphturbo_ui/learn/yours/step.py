"""The bar's choices -> a step of the lecture on them: drawn, awaited, or why it does not fit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from urllib.parse import urlencode

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.lecture.yours.cutting import cut_of
from graphturbo_core.lecture.yours.traffic import traffic_of
from graphturbo_core.lecture.yours.waiting import is_listed, order_of
from graphturbo_core.report.overview.hues import hues_of
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_ui.jobs import Runs, WorkerError
from graphturbo_ui.learn.yours import runs as asked
from graphturbo_ui.learn.yours.cut_step import cut_step
from graphturbo_ui.learn.yours.limit_step import LbPoint, Stair, limit_step
from graphturbo_ui.learn.yours.order_step import order_step
from graphturbo_ui.learn.yours.texts import YourStep
from graphturbo_ui.learn.yours.traffic_step import traffic_step
from graphturbo_ui.session import query, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.text import safe_text
from graphturbo_ui.what_if.point_desk import Answer

BUG = "A run met a bug of ours. The server's log has the details."
WAITING = "The runs are being simulated."
UNEQUAL = (
    "A and B take {a:,} and {b:,} samples at once: bytes per cluster cannot be compared. Choose"
    " equal cluster batches above."
)
NOT_CUT = (
    "No group of B is cut between samples alone, so there is nothing to pour. Choose a graphturbo"
    " strategy for B, a larger batch, or a chip with smaller LBs."
)
NO_ORDER = "B has one order only. Choose graphturbo, graphturbo:order or graphturbo:full for B."
NO_PIECES = "No group of B is cut into pieces: depth first and breadth first are the same order."
TOO_MANY = "B has too many kernels or buffers for this picture. Choose a larger cluster batch."
NOT_VARIED = "{} holds to a plan file or is a search. Choose a strategy that takes seconds."
NO_TIME = "A and B are refused on this chip: {}"
ORDERED = ("order", "full")


@dataclass(frozen=True)
class Found:
    """A step that is there, or why not; `wait`: for what is to come, then the page is drawn.

    A step with a wait is there in part.

    `has_points`: its runs are points of a sweep.
    """

    step: YourStep | None = None
    why: str = ""
    wait: asked.Wait | None = None
    has_points: bool = False

    def shown(self, number: int) -> Mapping[str, object]:
        """As the component takes it."""
        if self.step is not None:
            return self.step.shown(number)
        return {"key": number, "why": self.why, "is_waiting": self.wait is not None}


def your_step(choices: Choices, number: int) -> Found:
    """The step of that number on the bar's choices."""
    if number not in STEPS:
        return Found()
    try:
        return STEPS[number](choices)
    except GraphTurboError as error:
        what = ", ".join(filter(None, (error.what, error.where)))
        why = f"Refused: {what}. {error.change[:1].upper()}{error.change[1:]}."
        return Found(why=safe_text(why, max_length=600))
    except WorkerError:
        return Found(why=BUG)


def offer(choices: Choices, number: int, found: Found) -> Mapping[str, object]:
    """What the component gets of the bar's choices, and of the step that is computed on them."""
    address = choices.address()
    has_own = bool(found.step or found.why)
    return {
        "name": safe_text(state.short_name(choices.model), max_length=24),
        "sentence": sentence_of(choices),
        "explore": "./?" + urlencode([*address, *state.presenting_query()]),
        "possible": list(STEPS),
        "key": hashlib.sha256(repr(address).encode()).hexdigest()[:16],
        "steps": {number: found.shown(number)} if has_own else {},
    }


def names_of(choices: Choices) -> Mapping[str, str]:
    """`A · tvm@16`, by `a` and `b`; they are not broken into lines."""
    return {
        key: f"{key.upper()}\u00a0·\u00a0{safe_text(side.strategy, max_length=40)}"
        for key, side in choices.sides.items()
    }


def sentence_of(choices: Choices) -> str:
    """What a step on the bar's choices runs on."""
    model, chip = (state.short_name(name) for name in (choices.model, choices.chip))
    sides = " and ".join(names_of(choices).values())
    return safe_text(
        f"Explore's model and chip: {model} on {chip}, batch {choices.batch:,}; {sides}.",
        max_length=300,
    )


def _traffic(choices: Choices) -> Found:
    runs = asked.both_runs(choices)
    if missing := _missing(runs):
        return missing
    found = {name: traffic_of(run.report) for name, run in runs.items()}
    a, b = (found[key].samples for key in query.RUN_KEYS)
    if a != b:
        return Found(why=UNEQUAL.format(a=a, b=b))
    return Found(traffic_step(found, names_of(choices)))


def _cut(choices: Choices) -> Found:
    runs = asked.run_of_b(choices)
    if missing := _missing(runs):
        return missing
    found = cut_of(runs["b"].report)
    return Found(cut_step(found)) if found else Found(why=NOT_CUT)


def _order(choices: Choices) -> Found:
    side = choices.sides["b"]
    spec = parse_strategy(side.strategy)
    if side.plan or spec.name != "graphturbo" or spec.level not in ORDERED:
        return Found(why=NO_ORDER)
    runs = asked.two_orders(choices)
    if missing := _missing(runs):
        return missing
    reports = {name: run.report for name, run in runs.items()}
    if all(group["pieces"] == 1 for group in reports["depth"].tables["groups"]):
        return Found(why=NO_PIECES)
    if not all(map(is_listed, reports.values())):
        return Found(why=TOO_MANY)
    orders = {name: order_of(report) for name, report in reports.items()}
    hues = {name: hues_of(report, report).of_group for name, report in reports.items()}
    return Found(order_step(orders, hues))


def _missing(runs: Runs) -> Found | None:
    """Of runs that are not all there: the wait, or why one never comes.

    Raises:
        GraphTurboError: one is refused.
        WorkerError: one met a bug.
    """
    for name, run in runs.items():
        if run.is_cancelled:
            return Found(why=f"{name.upper()} was cancelled. Choose the other network, then this.")
        if run.is_done and run.refusal is not None:
            raise run.refusal
    if all(run.is_done for run in runs.values()):
        return None
    return Found(why=WAITING, wait=asked.report_wait(runs))


def _limits(choices: Choices) -> Found:
    for key, side in choices.sides.items():
        if side.plan or query.strategy_fault(side.strategy) or query.is_search(side.strategy):
            return Found(why=NOT_VARIED.format(key.upper()))
    found = asked.limit_points(choices)
    own = found.sizes[Fraction(1)]
    wait = asked.point_wait(found) if found.missing else None
    if any(answer and answer.fault for _, answer in found.all):
        return Found(why=BUG, has_points=True)
    if not found.has_first:
        return Found(why=WAITING, wait=wait, has_points=True)
    bound = next((a.figures["lower_bound_s"] for _, a in own if a and a.figures), None)
    if bound is None:
        return Found(why=NO_TIME.format(own[0][1].refusal if own[0][1] else ""), has_points=True)
    stairs = [
        Stair(name, asked.STAIRS[name], _seconds(answer), _dram(answer))
        for name, (_, answer) in found.stairs.items()
    ]
    sizes = found.sizes if wait is None else {Fraction(1): own}
    points = [
        LbPoint(
            f"x{float(factor):g}", found.labels[factor], float(factor),
            *(_seconds(answer) for _, answer in both),
        )
        for factor, both in sizes.items()
    ]  # fmt: skip
    step = limit_step(stairs, points, float(bound), names_of(choices), is_partial=wait is not None)
    return Found(step, wait=wait, has_points=True)


def _seconds(answer: Answer | None) -> float | None:
    return float(answer.figures["latency_s"]) if answer and answer.figures else None


def _dram(answer: Answer | None) -> int:
    if not answer or not answer.figures:
        return 0
    return sum(int(answer.figures[name]) for name in ("dram_read_bytes", "dram_write_bytes"))


STEPS: Mapping[int, Callable[[Choices], Found]] = {1: _traffic, 2: _cut, 4: _order, 8: _limits}
"""The steps that can be shown on another model and chip."""
