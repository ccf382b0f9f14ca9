"""Text that somebody typed -> values of a knob: `1, 2, 4 MiB`, and why a part of it is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from graphturbo_core.hardware.edits import SIZES, THOUSANDS, editable_keys
from graphturbo_core.plain_yaml import Plain
from graphturbo_core.sweep.axes import Value, numbers_at
from graphturbo_core.sweep.knobs import (
    BYTES,
    CYCLES,
    HERTZ,
    RATE,
    Knob,
    exact_value_for,
    text_of,
)

MOST_VALUES = 24
"""Values of one number in a picture (our choice: a tick of the axis for each)."""
MOST_CHARACTERS = 300
SHOWN_CHARACTERS = 30
_PART = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([A-Za-z/]{0,8})")
_LEADING_ZERO = re.compile(r"0[0-9].*")


def _units(unit: str) -> Mapping[str, int]:
    """Spellings of a unit in lower case, each with what it multiplies by."""
    prefixes = {BYTES: {**THOUSANDS, **SIZES}, RATE: {**THOUSANDS, **SIZES}, HERTZ: THOUSANDS}
    found = {f"{prefix}{unit}".lower(): scale for prefix, scale in prefixes.get(unit, {}).items()}
    return found or {unit.lower(): 1}


@dataclass(frozen=True, slots=True)
class TypedValues:
    """Numbers that a text names, rising, each once; `faults`: why other parts of it are refused."""

    numbers: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueReader:
    """A knob with what limits its values.

    - `own`: the number at present; its unit is that of values without one.
    - `tree`: the chip, whose schema has the limits of a number of the chip.
    - `most`: the largest value of a choice of the run.
    """

    knob: Knob
    own: int
    tree: Mapping[str, Plain]
    most: int | None = None

    @property
    def unit(self) -> str:
        """The unit of the number at present as pages show it: `MiB`; empty for a count."""
        return text_of(self.knob, self.own).partition(" ")[2]

    def read(self, text: str) -> TypedValues:
        """The values of a text: parts between commas.

        1. A part without a unit has that of the next part with one, so `9, 14 GB/s` is two rates.
        2. Where none follows, it has the unit at present.
        3. A part that is no value of the knob is refused by itself; the others count.
        """
        if len(text) > MOST_CHARACTERS:
            return TypedValues((), (f"the text is longer than {MOST_CHARACTERS} characters",))
        parts = [part.strip() for part in re.split("[,;]", text) if part.strip()]
        if len(parts) > MOST_VALUES:
            return TypedValues((), (f"{len(parts)} values are more than {MOST_VALUES}",))
        numbers: list[int] = []
        faults: list[str] = []
        unit, known = self.unit, _units(self.knob.unit)
        for part in reversed(parts):
            found = _PART.fullmatch(part)
            written = found[2] if found else ""
            number = self._number(part, written or unit)
            unit = written if written.lower() in known and written else unit
            if isinstance(number, str):
                faults.append(number)
            elif number in numbers:
                faults.append(f"{_quoted(part)} is given twice")
            else:
                numbers.append(number)
        return TypedValues(tuple(sorted(numbers)), tuple(reversed(faults)))

    def _number(self, part: str, unit: str) -> int | str:
        """The number of a part in the profile's unit, or why it is refused."""
        found, units = _PART.fullmatch(part), _units(self.knob.unit)
        example = text_of(self.knob, self.own).replace(",", "")
        if found is None and part.startswith("-"):
            return f"{_quoted(part)} is below 1"
        if found is None or unit.lower() not in units:
            return f"{_quoted(part)} is no value of {self.knob.label}; write for instance {example}"
        if _LEADING_ZERO.fullmatch(found[1]) and "." not in found[1]:
            return f"{_quoted(part)} begins with 0; write thousands without a comma"
        exact = Fraction(found[1]) * units[unit.lower()]
        if exact.denominator != 1:
            return f"{_quoted(part)} is no whole number{_of(self.knob)}"
        return self._fault(part, exact.numerator) or exact.numerator

    def _fault(self, part: str, number: int) -> str:
        """Why a number is out of the range of its key; empty where it is in it."""
        if number < 1:
            return f"{_quoted(part)} is below 1"
        if self.most is not None and number > self.most:
            return f"{_quoted(part)} is above {text_of(self.knob, self.most)}, the most here"
        if self.knob.is_run:
            return ""
        value = exact_value_for(self.knob, self.own, number)
        for key, each in numbers_at(self.tree, self.knob.key, value).items():
            if fault := _bound_fault(self.knob, key, each):
                return f"{_quoted(part)} is {fault}"
        return ""


def _bound_fault(knob: Knob, key: str, number: Value) -> str:
    """`above 1 TiB, the most that a profile may have`; empty for a number in the schema's range."""
    field = editable_keys().get(key)
    if field is None or field.bounds is None:
        return ""
    low, high = field.bounds
    if int(number) < low:
        return f"below {text_of(knob, low)}, the least that a profile may have"
    if int(number) > high:
        return f"above {text_of(knob, high)}, the most that a profile may have"
    return ""


def _of(knob: Knob) -> str:
    """` of bytes`: what a number of the knob counts in a profile."""
    names = {BYTES: "bytes", RATE: "B/s", HERTZ: "Hz", CYCLES: "cycles"}
    return f" of {names[knob.unit]}" if knob.unit in names else ""


def _quoted(part: str) -> str:
    short = part if len(part) <= SHOWN_CHARACTERS else f"{part[: SHOWN_CHARACTERS - 1]}…"
    return f"“{short}”"
