"""A profile and typed texts per key -> an edited profile: its YAML, and why a text is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any, get_args

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from graphturbo_core.errors import ProfileError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import SPLIT_CAPACITY, parse_profile, profile_tree
from graphturbo_core.hardware.schema import Entry, Profile
from graphturbo_core.plain_yaml import Plain

EDITED = "assumption: edited in the app"
"""Source of a changed number; the value before follows."""
SUFFIX = "-edited"
MAX_NAME = 64
"""Characters of a profile's name."""
SIZES: dict[str, int] = {
    prefix: 1024**power for power, prefix in enumerate(("", "Ki", "Mi", "Gi", "Ti"))
}
THOUSANDS: dict[str, int] = {
    prefix: 1000**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P"))
}
_AMOUNT = re.compile(r"([0-9][0-9,_]{0,24}(?:\.[0-9]{1,9})?) ?([KMGT]i|[kMGTP])?(?:B|Hz)?(?:/s)?")
_UNITS = (
    ("_bytes_per_s", "B/s"),
    ("_bytes", "B"),
    ("_hz", "Hz"),
    ("_cycles", "cycles"),
    ("_elements", "elements"),
)


@dataclass(frozen=True, slots=True)
class EditableKey:
    """A key of a profile with its unit, and what it accepts: a range, or one of `choices`.

    `is_optional`: a profile may leave it out.
    """

    key: str
    unit: str
    bounds: tuple[int, int] | None
    choices: tuple[str, ...]
    is_optional: bool


@dataclass(frozen=True)
class EditedChip:
    """A profile with those edits that are accepted together.

    `changes`: accepted values by key; None removes an optional key. `faults`: the refusal per
    offending key. `waiting`: edits that are left out, with the key whose refusal is the reason.
    """

    data: bytes
    hardware: Hardware
    changes: Mapping[str, Plain]
    faults: Mapping[str, ProfileError]
    waiting: Mapping[str, str]


@cache
def editable_keys() -> Mapping[str, EditableKey]:
    """Every number of the schema by its key, in the schema's order."""
    return {found.key: found for found in _keys(Profile, "")}


def _keys(model: type[BaseModel], prefix: str) -> Iterator[EditableKey]:
    for name, field in model.model_fields.items():
        kinds = [
            kind for kind in (field.annotation, *get_args(field.annotation)) if _is_model(kind)
        ]
        for kind in kinds:
            if issubclass(kind, Entry):
                yield _key(f"{prefix}{name}", kind.model_fields["value"], not field.is_required())
            else:
                yield from _keys(kind, f"{prefix}{name}.")


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _key(key: str, value: FieldInfo, is_optional: bool) -> EditableKey:
    unit = next((unit for ending, unit in _UNITS if key.endswith(ending)), "")
    ranges: list[Any] = [getattr(entry, "func", None) for entry in value.metadata]
    bounds = next(((each.low, each.high) for each in ranges if hasattr(each, "low")), None)
    return EditableKey(key, unit, bounds, _choices(value.annotation), is_optional)


def _choices(kind: Any) -> tuple[str, ...]:
    if kind is bool:
        return ("false", "true")
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind)
    return tuple(text for text in get_args(kind) if isinstance(text, str))


def read_value(key: str, text: str) -> Plain:
    """The value that a text gives `key`: `384 KiB`, `64 GB/s`, `1.5 GHz`, `8`, `true`.

    An empty text is None: no value. A text that is none of these is returned as it is; the
    profile's schema refuses it.
    """
    typed = text.strip()
    field = editable_keys()[key]
    if not typed:
        return None
    if field.choices:
        return {"true": True, "false": False}.get(typed, typed)
    number = _whole(typed)
    return typed if number is None else number


def _whole(text: str) -> int | None:
    """The whole number of a text with an optional prefix and unit; None if it is none."""
    parts = _AMOUNT.fullmatch(text)
    if parts is None:
        return None
    prefix = parts[2] or ""
    scale = SIZES.get(prefix) or THOUSANDS[prefix]
    number = Fraction(re.sub("[,_]", "", parts[1])) * scale
    return number.numerator if number.denominator == 1 else None


def value_text(key: str, value: object) -> str:
    """The shortest text of a value that `read_value` reads exactly: `384 KiB`, not `393216`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    unit = editable_keys()[key].unit
    if not isinstance(value, int) or unit not in ("B", "B/s", "Hz"):
        return str(value)
    scales = SIZES if unit == "B" else THOUSANDS
    for prefix, scale in reversed(scales.items()):
        thousandths = Fraction(value * 1000, scale)
        if value >= scale and thousandths.denominator == 1:
            whole, rest = divmod(thousandths.numerator, 1000)
            digits = f"{whole}.{rest:03}".rstrip("0").rstrip(".")
            return f"{digits} {prefix}{unit}"
    return str(value)


def values_of(name: str, data: bytes | None) -> dict[str, Plain]:
    """The value of every key that a profile gives; keys that it leaves out are None.

    Raises:
        ProfileError: as `profile_tree`.
    """
    return _values(profile_tree(name, data))


def _values(tree: Mapping[str, Plain]) -> dict[str, Plain]:
    found: dict[str, Plain] = {}
    for key in editable_keys():
        entry: Any = tree
        for part in key.split("."):
            entry = entry.get(part) if isinstance(entry, dict) else None
        found[key] = entry.get("value") if isinstance(entry, dict) else None
    return found


def edit_chip(name: str, data: bytes | None, texts: Mapping[str, str]) -> EditedChip:
    """The profile `name` (or `data`, which goes by it) with typed texts at keys of the schema.

    A refused edit is left out, the others are made. Where the refusal names a key that was not
    edited, the latest edit is left out.

    Raises:
        ProfileError: the profile is refused without edits.
    """
    tree = profile_tree(name, data)
    before = _values(tree)
    parse_profile(_written(tree, {}, before), name)
    wanted = {key: read_value(key, text) for key, text in texts.items()}
    changes = {key: value for key, value in wanted.items() if not _is_same(value, before[key])}
    faults: dict[str, ProfileError] = {}
    waiting: dict[str, str] = {}
    while True:
        written = _written(tree, changes, before)
        try:
            return EditedChip(written, parse_profile(written, name), changes, faults, waiting)
        except ProfileError as error:
            blamed = str(error.fields.get("key", ""))
            left_out = blamed if blamed in changes else list(changes)[-1]
            faults[blamed or left_out] = error
            if left_out != blamed:
                waiting[left_out] = blamed
            changes = {key: value for key, value in changes.items() if key != left_out}


def _is_same(value: Plain, other: Plain) -> bool:
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _written(
    tree: Mapping[str, Plain], changes: Mapping[str, Plain], before: Mapping[str, Plain]
) -> bytes:
    """The profile as YAML with these values; one without changes keeps its name.

    Keys are written in the schema's order: equal changes give equal bytes, and one digest.
    """
    edited: Any = deepcopy(dict(tree))
    for key in (key for key in editable_keys() if key in changes):
        value = changes[key]
        *sections, last = key.split(".")
        section = edited
        for part in sections:
            section = section[part]
        if value is None:
            section.pop(last, None)
        else:
            section[last] = {"value": value, "source": _source(key, before[key])}
    if changes:
        edited["name"] = f"{str(edited['name'])[: MAX_NAME - len(SUFFIX)]}{SUFFIX}"
    return yaml.safe_dump(edited, sort_keys=False, allow_unicode=True).encode()


def _source(key: str, before: Plain) -> str:
    if before is None:
        derived = " (derived from the LBs)" if key == SPLIT_CAPACITY else ""
        return f"{EDITED}, was not given{derived}"
    return f"{EDITED}, was {value_text(key, before)}"
