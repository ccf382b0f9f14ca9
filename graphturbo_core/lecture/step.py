"""LectureStep: what one step of the lecture consists of; its sentences name numbers as fields."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LectureSetting:
    """A position of a knob: the runs that the picture shows then, and a sentence on them.

    `is_hidden`: it appears when the question has been answered.
    """

    label: str
    runs: tuple[str, ...]
    sentence: str
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class LectureKnob:
    """The one control of a step. `first`: the setting that is shown at first."""

    label: str
    unit: str
    settings: tuple[LectureSetting, ...]
    first: int


@dataclass(frozen=True, slots=True)
class LectureChoice:
    """An answer to choose."""

    text: str
    is_right: bool = False


@dataclass(frozen=True, slots=True)
class LectureQuestion:
    """A question to predict; one choice is right, `answer` is shown after a choice."""

    text: str
    choices: tuple[LectureChoice, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class LectureLink:
    """Two runs by name to open in Explore, with views."""

    a: str
    b: str
    views: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LectureStep:
    """One step: a claim as its title, a picture, a knob, a question, a sentence to take home.

    `key`: its name in the address. `picture`: the picture in words. `belief` is a misconception,
    `correction` what holds instead. `notes`: for the teacher.
    """

    number: int
    key: str
    minutes: int
    claim: str
    picture: str
    knob: LectureKnob
    question: LectureQuestion
    takeaway: str
    belief: str
    correction: str
    link: LectureLink
    notes: tuple[str, ...]
