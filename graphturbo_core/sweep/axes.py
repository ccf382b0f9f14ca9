"""`KEY=V1,V2` -> Axis: a number of the profile, the batch or the cluster batch with its values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import ceil, prod
from typing import Any, cast

from graphturbo_core.errors import OptionError
from graphturbo_core.hardware.profile import profile_tree
from graphturbo_core.plain_yaml import Plain, shown

BATCH, CLUSTER_BATCH = "batch", "cluster_batch"
RUN_KEYS = (BATCH, CLUSTER_BATCH)
"""Keys that are choices of a run, not numbers of the chip."""
MOST_RUNS = 10_000
"""Most runs of a sweep (our choice: a day of a second each)."""
MOST_DIGITS = 18
FACTOR = re.compile(r"x([0-9]{1,6}(?:\.[0-9]{1,6})?|[0-9]{1,15}/[1-9][0-9]{0,14})")
"""A multiple of the chip's own number: `x0.5`, `x3/4`."""
WORDS: dict[str, bool] = {"true": True, "false": False}
Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Axis:
    """A key, `section.name` or `section.rate.format` in a profile, and its values in order.

    Keys with `+` between them have the same value. A value `x0.5` is that multiple of the chip's
    own number at each key, rounded up to a whole number.
    """

    key: str
    values: tuple[Value, ...]


def axes_of(texts: Sequence[str], profile: str) -> tuple[Axis, ...]:
    """The axes of `--vary` options on a chip.

    Raises:
        OptionError: one is no `KEY=V1,V2`, its key is unknown, or something is given twice.
        ProfileError: the profile is neither a shipped name nor a readable file.
    """
    known = (*RUN_KEYS, *_keys(profile_tree(profile)))
    axes = tuple(_axis(text, known) for text in texts)
    keys = [key for axis in axes for key in keys_of(axis.key)]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise OptionError("GIVEN_TWICE", f"{twice!r} is varied twice", "--vary", "give it once")
    return axes


def keys_of(key: str) -> list[str]:
    """The keys of an axis."""
    return key.split("+")


def numbers_at(tree: Mapping[str, Plain], key: str, value: Value) -> dict[str, Value]:
    """The number that each key of an axis has where the axis has `value`, on a chip.

    A multiple of something that is no whole number is left as it is; the profile's schema refuses
    it by name.
    """
    return {name: _multiple(tree, name, value) for name in keys_of(key)}


def _multiple(tree: Mapping[str, Plain], key: str, value: Value) -> Value:
    factor = FACTOR.fullmatch(value) if isinstance(value, str) else None
    own = value_at(tree, key)
    if factor is None or type(own) is not int:
        return value
    return ceil(own * Fraction(factor[1]))


def value_at(tree: Mapping[str, Plain], key: str) -> Plain:
    """The value of a profile's entry; None where the profile has no such entry."""
    part: Any = tree
    for name in (*key.split("."), "value"):
        part = part.get(name) if isinstance(part, Mapping) else None
    return cast(Plain, part)


def check_size(axes: Sequence[Axis], strategies: int) -> None:
    """Check the number of runs.

    Raises:
        OptionError: SWEEP_TOO_LARGE.
    """
    count = strategies * prod(len(axis.values) for axis in axes)
    if count > MOST_RUNS:
        what = f"{count} runs are more than {MOST_RUNS}"
        raise OptionError("SWEEP_TOO_LARGE", what, "--vary", "give fewer values or strategies")


def _axis(text: str, known: Sequence[str]) -> Axis:
    key, _, rest = text.partition("=")
    values = tuple(_value(each.strip()) for each in rest.split(",")) if rest.strip() else ()
    if not key or not values:
        what = f"{shown(text)} is no KEY=V1,V2"
        raise OptionError("BAD_VARY", what, "--vary", "write for instance --vary batch=16,32")
    unknown = next((each for each in keys_of(key) if each not in known), None)
    if unknown is not None:
        near = ", ".join(get_close_matches(unknown, known)) or ", ".join(known[:6])
        what = f"{shown(unknown)} is no key of this profile"
        raise OptionError("UNKNOWN_KEY", what, "--vary", f"choose for instance {near}")
    if len(set(map(repr, values))) < len(values):
        what = f"{shown(key)} has a value twice"
        raise OptionError("GIVEN_TWICE", what, "--vary", "give each value once")
    if not set(keys_of(key)).isdisjoint(RUN_KEYS) and not all(
        type(value) is int and value > 0 for value in values
    ):
        what = f"{key} takes whole numbers from 1"
        raise OptionError("BAD_VARY", what, "--vary", f"write for instance --vary {key}=16,32")
    return Axis(key, values)


def _value(text: str) -> Value:
    """A word, a whole number, a number with a point or an exponent, or else a text."""
    if text in WORDS:
        return WORDS[text]
    if re.fullmatch(rf"-?[0-9]{{1,{MOST_DIGITS}}}", text):
        return int(text)
    if re.fullmatch(rf"-?[0-9.]{{1,{MOST_DIGITS}}}(e-?[0-9]{{1,2}})?", text):
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _keys(tree: Plain, path: str = "") -> Iterator[str]:
    """Paths of all entries of a profile."""
    if not isinstance(tree, dict):
        return
    if path and "value" in tree:
        yield path
        return
    for name, part in tree.items():
        if "." in name or "+" in name:
            continue
        yield from _keys(part, f"{path}.{name}" if path else name)
