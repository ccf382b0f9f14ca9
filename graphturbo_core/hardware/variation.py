"""A profile with one number changed, as YAML, to measure the effect of an assumption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from enum import Enum
from fractions import Fraction
from math import ceil
from typing import Any, cast, get_args

import yaml
from pydantic import BaseModel

from graphturbo_core.hardware.hardware import Sourced
from graphturbo_core.hardware.profile import profile_tree
from graphturbo_core.hardware.schema import Entry, Profile
from graphturbo_core.plain_yaml import Plain

HALF, DOUBLE = "half", "double"
TWICE = 2
"""Assumed numbers are halved and doubled (design, section 6)."""


def changed_profile(name_or_path: str, key: str, value: Plain) -> bytes:
    """The profile with the number at `key` (`section.name` or `section.rate.format`) replaced.

    Raises:
        ProfileError: the profile is not a readable file, or not plain YAML.
    """
    return varied_profile(name_or_path, {key: value})


def varied_profile(name_or_path: str, changes: Mapping[str, Plain]) -> bytes:
    """The profile with the numbers at these keys replaced.

    Raises:
        ProfileError: as `changed_profile`.
    """
    tree = varied_tree(profile_tree(name_or_path), changes)
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True).encode()


def varied_tree(tree: Mapping[str, Plain], changes: Mapping[str, Plain]) -> dict[str, Plain]:
    """A copy of a profile's sections and entries with the numbers at these keys replaced."""
    varied: Any = deepcopy(dict(tree))
    for key, value in changes.items():
        section = varied
        for name in key.split("."):
            section = section[name]
        section["value"] = value
    return cast(dict[str, Plain], varied)


def scaled_profile(name: str, data: bytes | None, key: str, factor: Fraction) -> bytes:
    """The profile `name` (or `data`, which goes by it) with the whole number at `key` scaled.

    The product is rounded up, so that more is never the same.

    Raises:
        ProfileError: as `changed_profile`.
    """
    tree = profile_tree(name, data)
    section: Any = tree
    for part in key.split("."):
        section = section[part]
    section["value"] = ceil(int(section["value"]) * factor)
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True).encode()


def other_values(number: Sourced) -> tuple[tuple[str, Plain], ...]:
    """Returns half and double of a number, or the other choices, each with a label.

    A whole number is halved rounding down. Values that the profile's schema refuses are returned
    too: the refusal is a result.
    """
    if isinstance(number.value, str):
        return tuple((choice, _plain(choice)) for choice in _choices(number))
    if not number.value:
        return ()
    half = number.value // TWICE if isinstance(number.value, int) else number.value / TWICE
    return ((HALF, half), (DOUBLE, number.value * TWICE))


def _choices(number: Sourced) -> Iterator[str]:
    """Alternative values of a text, in the order of the schema."""
    kind = _value_type(number.key.split("."))
    if isinstance(kind, type) and issubclass(kind, Enum):
        found = tuple(str(member.value) for member in kind)
    else:
        found = ("False", "True") if kind is bool else get_args(kind)
    return (choice for choice in found if choice != number.value)


def _plain(choice: str) -> Plain:
    return {"False": False, "True": True}.get(choice, choice)


def _value_type(path: list[str]) -> Any:
    """The type of the value at a path of the schema."""
    model: type[BaseModel] = Profile
    for name in path:
        annotation = model.model_fields[name].annotation
        (model,) = (kind for kind in (annotation, *get_args(annotation)) if _is_model(kind))
    assert issubclass(model, Entry)
    return model.model_fields["value"].annotation


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
