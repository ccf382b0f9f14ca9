"""A step's control and question as the component takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MOST_CHOICES = 4


@dataclass(frozen=True)
class YourValue:
    """A value of the control; `is_hidden`: it would show the answer."""

    key: str
    label: str
    result: str
    is_hidden: bool = False


@dataclass(frozen=True)
class YourKnob:
    """A control; `revealed`: the value that it takes with the answer, empty for none."""

    name: str
    values: Sequence[YourValue]
    first: str
    revealed: str = ""


@dataclass(frozen=True)
class YourQuestion:
    """A question with answers to choose from; `answer` is the place of the right one."""

    ask: str
    choices: Sequence[str]
    answer: int
    why: str


@dataclass(frozen=True)
class YourStep:
    """What a step says and draws; `question`: None where there is nothing to predict.

    `is_partial`: some of its runs are to come, and so are its question and the rest of its picture.
    """

    claim: str
    knob: YourKnob
    question: YourQuestion | None
    takeaway: str
    data: Mapping[str, object]
    notes: Sequence[str] = field(default_factory=tuple)
    is_partial: bool = False

    def shown(self, number: int) -> Mapping[str, object]:
        """As the component takes it."""
        knob, question = self.knob, self.question
        return {
            "key": number,
            "claim": self.claim,
            "described": self.claim,
            "knob": {
                "name": knob.name,
                "first": knob.first,
                "revealed": knob.revealed or None,
                "values": [vars(value) for value in knob.values],
            },
            "question": vars(question) if question else None,
            "takeaway": self.takeaway,
            "notes": [["", note] for note in self.notes],
            "data": self.data,
            "is_partial": self.is_partial,
        }


def answers(right: str, others: Sequence[tuple[float, str]], value: float) -> tuple[list[str], int]:
    """The right text among others, by rising value, and its place; equal texts once."""
    found: dict[str, float] = {right: value}
    for number, text in others:
        if len(found) < MOST_CHOICES:
            found.setdefault(text, number)
    texts = sorted(found, key=lambda text: found[text])
    return texts, texts.index(right)
