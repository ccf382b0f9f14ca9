"""Fields of a frozen dataclass -> options of `--set`, and texts -> such a dataclass.

A field made by `choice`, `switch`, `number` or `steps` is an option; its name is `PREFIX.FIELD`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

MAX_DIGITS = 9
"""Most digits of a number; longer ones are refused."""
MAX_STEPS = 256
"""Most steps of a text of steps; longer ones are refused (our choice)."""
BETWEEN_STEPS = "."
"""Stands between the numbers of a text of steps."""
OPTION = "option"
"""Metadata key of a field's `Choice`."""
ON, OFF = "on", "off"

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True)
class StrategyOption:
    """A `--set` option: one of `values`, the first by default, or a whole number in `bounds`.

    `has_steps`: a value may also be numbers with dots between them.
    """

    name: str
    values: tuple[str, ...]
    doc: str
    bounds: tuple[int, int] | None = None
    has_steps: bool = False

    @property
    def default(self) -> str:
        """The value without `--set`."""
        return self.values[0]

    @property
    def choices(self) -> str:
        """Allowed values as text."""
        if self.bounds is None:
            return ", ".join([*self.values, *(["steps as 3.0.1"] if self.has_steps else [])])
        low, high = self.bounds
        return f"{low} to {high} (default {self.default})"

    def accepts(self, value: str) -> bool:
        """Whether the value is allowed."""
        if self.bounds is None:
            return value in self.values or (self.has_steps and _are_steps(value))
        return _is_number(value) and self.bounds[0] <= int(value) <= self.bounds[1]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


def _are_steps(text: str) -> bool:
    steps = text.split(BETWEEN_STEPS, MAX_STEPS)
    return len(steps) <= MAX_STEPS and all(map(_is_number, steps))


@dataclass(frozen=True, slots=True)
class Choice:
    """Allowed values of a field: one of `values`, the first by default, or a number in `bounds`."""

    values: tuple[str, ...]
    doc: str
    bounds: tuple[int, int] | None = None
    is_switch: bool = False
    has_steps: bool = False

    def typed(self, text: str) -> str | int | bool:
        """The field's value for an accepted text."""
        if self.is_switch:
            return text == ON
        return text if self.bounds is None else int(text)


def choice(*values: str, doc: str) -> Any:
    """A field with one of these texts as value, the first by default."""
    return field(default=values[0], metadata={OPTION: Choice(values, doc)})


def switch(doc: str) -> Any:
    """A boolean field, True by default; `on` and `off` as texts."""
    return field(default=True, metadata={OPTION: Choice((ON, OFF), doc, is_switch=True)})


def steps(*values: str, doc: str) -> Any:
    """A field with one of these texts, the first by default, or numbers with dots between them."""
    return field(default=values[0], metadata={OPTION: Choice(values, doc, has_steps=True)})


def number(default: int, bounds: tuple[int, int], doc: str) -> Any:
    """A field with a whole number within `bounds`, both included."""
    return field(default=default, metadata={OPTION: Choice((str(default),), doc, bounds)})


def _choices(owner: type) -> Iterator[tuple[str, Choice]]:
    """The option fields of a dataclass, in their order."""
    for attribute in fields(owner):
        if OPTION in attribute.metadata:
            yield attribute.name, attribute.metadata[OPTION]


def options_of(owner: type, prefix: str) -> tuple[StrategyOption, ...]:
    """The options that the fields of a dataclass define."""
    return tuple(
        StrategyOption(
            f"{prefix}.{name}", values.values, values.doc, values.bounds, values.has_steps
        )
        for name, values in _choices(owner)
    )


def from_texts(
    owner: type[Options], prefix: str, texts: Mapping[str, str], **others: object
) -> Options:
    """Returns an instance with option fields parsed from `texts`, which the options accept.

    `others`: its fields that are not options.
    """
    chosen = {name: values.typed(texts[f"{prefix}.{name}"]) for name, values in _choices(owner)}
    return owner(**chosen, **others)
