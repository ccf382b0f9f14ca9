"""The eight steps in order, with the numbers of the kept results in their sentences."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from graphturbo_core.lecture.facts import Facts, filled
from graphturbo_core.lecture.results import LectureResults, kept_results
from graphturbo_core.lecture.step import (
    LectureChoice,
    LectureKnob,
    LectureLink,
    LectureQuestion,
    LectureSetting,
    LectureStep,
)
from graphturbo_core.lecture.texts import (
    borders,
    groups,
    limits,
    order,
    overlap,
    pieces,
    places,
    traffic,
)

__all__ = [
    "LectureChoice",
    "LectureKnob",
    "LectureLink",
    "LectureQuestion",
    "LectureSetting",
    "LectureStep",
    "lecture_steps",
    "own_sentence",
    "steps_of",
]
OWN = (
    "A network and a chip of the lesson's own: {images} images; {cores} cores, each with a local"
    " buffer (LB) of {lb_kib} KiB for data; one global buffer (GB) of {gb_kib} KiB; DRAM behind it."
)
"""What every step runs on."""
TEMPLATES = tuple(
    module.STEP for module in (traffic, pieces, groups, order, places, borders, overlap, limits)
)
"""The steps with fields in place of numbers."""


@cache
def lecture_steps() -> tuple[LectureStep, ...]:
    """The steps with the kept numbers.

    Raises:
        GraphTurboError: LECTURE_FILE, the kept results cannot be read.
    """
    return steps_of(kept_results())


def own_sentence() -> str:
    """What every step runs on, with the kept numbers."""
    return filled(OWN, Facts(kept_results()))


def steps_of(results: LectureResults) -> tuple[LectureStep, ...]:
    """The steps with the numbers of these results."""
    facts = Facts(results)
    return tuple(_filled_step(step, facts) for step in TEMPLATES)


def _filled_step(step: LectureStep, facts: Facts) -> LectureStep:
    settings = tuple(
        replace(each, label=filled(each.label, facts), sentence=filled(each.sentence, facts))
        for each in step.knob.settings
    )
    choices = tuple(replace(each, text=filled(each.text, facts)) for each in step.question.choices)
    question = LectureQuestion(
        filled(step.question.text, facts), choices, filled(step.question.answer, facts)
    )
    return replace(
        step,
        claim=filled(step.claim, facts),
        picture=filled(step.picture, facts),
        knob=replace(step.knob, settings=settings),
        question=question,
        takeaway=filled(step.takeaway, facts),
        belief=filled(step.belief, facts),
        correction=filled(step.correction, facts),
        notes=tuple(filled(note, facts) for note in step.notes),
    )
