"""The lecture's steps and kept results -> one JSON text for the component that draws them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import urlencode

from graphturbo_core.lecture.links import explore_link
from graphturbo_core.lecture.results import kept_results
from graphturbo_core.lecture.steps import LectureKnob, LectureStep, lecture_steps, own_sentence
from graphturbo_ui.learn.keys import setting_key
from graphturbo_ui.learn.pictures import PICTURES
from graphturbo_ui.palette import (
    CAPACITY_COLOUR,
    CAUSE_COLOURS,
    IMAGE_COLOURS,
    RESOURCE_COLOURS,
    STEEL,
)
from graphturbo_ui.session.learn import LecturePlace, explore_query

REVEALED = {2: "full", 3: "join_12", 6: "rows_8", 8: "full_slow_lb1024"}
"""By step: the run whose setting the control takes when the answer is revealed."""
GIVES_AWAY: Mapping[int, frozenset[str]] = {
    1: frozenset({"full"}),
    2: frozenset({"pieces_2", "full", "pieces_8"}),
    6: frozenset({"rows_8"}),
    8: frozenset({"full_slow_lb1024"}),
}
"""By step: runs whose settings would show the answer; they are locked until it is revealed."""


@cache
def _drawn_steps() -> tuple[LectureStep, ...]:
    """The steps that have a picture, in the lecture's order."""
    return tuple(step for step in lecture_steps() if step.number in PICTURES)


@cache
def knobs() -> Mapping[int, Sequence[str]]:
    """The values that the address may give the control of each step."""
    return {
        step.number: [setting_key(setting) for setting in step.knob.settings]
        for step in _drawn_steps()
    }


def lesson(
    start: LecturePlace, presenting: Sequence[tuple[str, str]], yours: Mapping[str, object]
) -> bytes:
    """All that the page shows; it begins at `start`.

    `presenting`: the part of the address that has Explore presented as well. `yours`: what is
    shown of Explore's model and chip.
    """
    text = {
        "mode": "present" if presenting else "",
        "start": {"step": start.step, "knob": start.knob, "isYours": start.is_yours},
        "yours": yours,
        "own": own_sentence(),
        "steps": [
            {**_texts(each), "explore": _explore(each, presenting), "data": _picture(each)}
            for each in _drawn_steps()
        ],
        "colours": {
            "images": list(IMAGE_COLOURS),
            "causes": dict(CAUSE_COLOURS),
            "neutral": STEEL,
            "dram": RESOURCE_COLOURS["dram"],
            "capacity": CAPACITY_COLOUR,
        },
    }
    return json.dumps(text, separators=(",", ":")).encode()


@cache
def _picture(step: LectureStep) -> Mapping[str, object]:
    return PICTURES[step.number](step, kept_results())


def _explore(step: LectureStep, presenting: Sequence[tuple[str, str]]) -> str:
    """The address of Explore with both runs of the step, from any page of the app."""
    found = explore_link(step.link, kept_results())
    return "./?" + urlencode([*explore_query(found), *presenting])


@cache
def _texts(step: LectureStep) -> Mapping[str, object]:
    question = step.question
    return {
        "key": step.number,
        "minutes": step.minutes,
        "claim": step.claim,
        "described": step.picture,
        "knob": _knob(step.number, step.knob),
        "question": {
            "ask": question.text,
            "choices": [choice.text for choice in question.choices],
            "answer": next(at for at, choice in enumerate(question.choices) if choice.is_right),
            "why": question.answer,
        },
        "takeaway": step.takeaway,
        "notes": [
            ["Often believed:", f"“{step.belief}” {step.correction}"],
            *(["", note] for note in step.notes),
        ],
    }


def _knob(number: int, knob: LectureKnob) -> Mapping[str, object]:
    settings, locked = knob.settings, GIVES_AWAY.get(number, frozenset())
    revealed = [each for each in settings if REVEALED.get(number) in each.runs]
    return {
        "name": f"{knob.label}, {knob.unit}" if knob.unit else knob.label,
        "first": setting_key(settings[knob.first]),
        "revealed": setting_key(revealed[0]) if revealed else None,
        "values": [
            {
                "key": setting_key(each),
                "label": each.label,
                "result": each.sentence,
                "is_hidden": each.is_hidden or not locked.isdisjoint(each.runs),
            }
            for each in settings
        ],
    }
