"""Step 8 on figures of runs: from layerwise to `:full`, and A and B by the size of LB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.units import format_bytes, format_seconds
from graphturbo_ui.learn.yours.texts import YourKnob, YourQuestion, YourStep, YourValue

EQUAL = 0.01
"""Times that differ by less are called equal (our choice)."""
TO_COME = "Other sizes of LB are being simulated; a question comes with them."
A, B, SAME = "A", "B", "neither: within 1 %"


@dataclass(frozen=True)
class Stair:
    """A run of the staircase; `seconds` is None where it is refused."""

    name: str
    words: str
    seconds: float | None
    dram_bytes: int


@dataclass(frozen=True)
class LbPoint:
    """A and B at a size of LB; None where a run is refused. `factor`: over the chip's own."""

    key: str
    label: str
    factor: float
    a: float | None
    b: float | None

    @property
    def winner(self) -> str:
        """Which is faster; empty where one is refused."""
        if self.a is None or self.b is None:
            return ""
        if abs(self.a - self.b) <= EQUAL * min(self.a, self.b):
            return SAME
        return A if self.a < self.b else B


def limit_step(
    stairs: Sequence[Stair],
    points: Sequence[LbPoint],
    bound_s: float,
    names: Mapping[str, str],
    *,
    is_partial: bool = False,
) -> YourStep:
    """The step; `points` by rising size, one of them the chip's own; alone in a partial step."""
    own = next(point for point in points if point.factor == 1)
    asked = next((each for each in points if each.winner and each.factor != 1), None)
    return YourStep(
        claim=_claim(own, bound_s),
        knob=YourKnob(
            "LB per core",
            [
                YourValue(each.key, each.label, _result(each), _is_below(each, asked))
                for each in points
            ],
            own.key,
            asked.key if asked else "",
        ),
        question=_question(asked),
        takeaway=TO_COME if is_partial else _takeaway(points),
        data={
            "bound": bound_s,
            "bound_text": format_seconds(bound_s),
            "names": dict(names),
            "hidden": [each.key for each in points if _is_below(each, asked)],
            "stairs": [
                {
                    "name": each.name,
                    "words": each.words,
                    "seconds": each.seconds,
                    "text": _time(each.seconds),
                    "dram": each.dram_bytes,
                    "dram_text": format_bytes(each.dram_bytes),
                }
                for each in stairs
            ],
            "points": [
                {
                    "key": each.key,
                    "label": each.label,
                    "factor": each.factor,
                    "a": each.a,
                    "b": each.b,
                    "a_text": _time(each.a),
                    "b_text": _time(each.b),
                    "winner": each.winner,
                }
                for each in points
            ],
        },
        notes=("The staircase runs at B's cluster batch, with default options.",),
        is_partial=is_partial,
    )


def _is_below(point: LbPoint, asked: LbPoint | None) -> bool:
    """Whether a point would show the answer."""
    return asked is not None and point.factor <= asked.factor and point.factor != 1


def _time(seconds: float | None) -> str:
    return "refused" if seconds is None else format_seconds(seconds)


def _claim(own: LbPoint, bound_s: float) -> str:
    if own.a is None or own.b is None:
        return "Coarse wins while its pieces fit"
    if own.winner == SAME:
        return f"A and B take {_time(own.b)}, {own.b / bound_s:.2f} times the lower bound"
    fast, slow = (own.b, own.a) if own.winner == B else (own.a, own.b)
    return (
        f"{own.winner} is {slow / fast:.2f} times as fast, and takes {fast / bound_s:.2f} times the"
        " lower bound"
    )


def _result(point: LbPoint) -> str:
    return f"A {_time(point.a)}, B {_time(point.b)}."


def _question(asked: LbPoint | None) -> YourQuestion | None:
    if asked is None:
        return None
    choices = [A, B, SAME]
    return YourQuestion(
        f"With an LB of {asked.label} per core, which is faster?",
        choices,
        choices.index(asked.winner),
        _result(asked),
    )


def _takeaway(points: Sequence[LbPoint]) -> str:
    lost = [point.label for point in points if point.winner == A]
    if lost:
        return f"A is faster where LB has {', '.join(lost)}."
    if any(not point.winner for point in points):
        return "B is not slower at any size at which both run."
    return "B is not slower at any of these sizes."
