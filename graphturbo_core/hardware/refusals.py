"""Schema error -> ProfileError: file, key, value, and allowed range."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from graphturbo_core.errors import ProfileError
from graphturbo_core.hardware.schema import Entry, Profile
from graphturbo_core.plain_yaml import shown


def invalid(file_name: str, key: str, value: object, what: str, change: str) -> ProfileError:
    """The refusal of one key's value; `change`: the allowed range."""
    where = f"in {shown(file_name)}"
    return ProfileError(
        "PROFILE_INVALID", what, where, change, file=file_name, key=key, value=value, range=change
    )


def unsupported(file_name: str, key: str, value: object, feature: str) -> ProfileError:
    """The refusal of a valid profile with a feature that lowering does not support."""
    return ProfileError(
        "PROFILE_UNSUPPORTED",
        f"{key} is {shown(value)}: {feature} is not supported yet",
        f"in {shown(file_name)}",
        "choose another chip or change that key",
        file=file_name,
        key=key,
        value=value,
    )


def refusal(error: ValidationError, file_name: str) -> ProfileError:
    """The first problem; an unknown key before a missing one, which it often misspells."""
    problems = error.errors(include_url=False)
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    key = _key(first)
    what, change = _problem(first, key)
    return invalid(file_name, key, first["input"], what, change)


def _key(problem: ErrorDetails) -> str:
    """Path of the faulty key; an entry's value has the entry's path."""
    path = [str(part) for part in problem["loc"]]
    is_value = path[-1:] == ["value"] and problem["type"] not in {"missing", "extra_forbidden"}
    return ".".join(path[:-1] if is_value else path)


def _problem(problem: ErrorDetails, key: str) -> tuple[str, str]:
    """Description of the fault, and what to change."""
    kind = problem["type"]
    if kind == "missing":
        return f"key {shown(key)} is missing", _missing_change(key)
    if kind == "extra_forbidden":
        near = get_close_matches(key, [path for path, _ in _keys(Profile)], n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        return f"key {shown(key)} is not known", f"remove or rename it{meant}"
    what = f"{shown(key)} is {shown(problem['input'])}"
    if kind in {"model_type", "model_attributes_type"}:
        is_entry = dict(_keys(Profile)).get(key, False)
        return what, f"write {'{value: …, source: …}' if is_entry else 'a mapping of keys'}"
    return what, problem["msg"].replace("Input should be", "write").replace(
        "String should", "it must"
    )


def _missing_change(key: str) -> str:
    last = key.rpartition(".")[2]
    if last in {"value", "source"}:
        return "write {value: …, source: …}"
    return "add it with its value and source" if "." in key else "add it"


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Every key path of the schema, and whether it is an entry (value and source)."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        kinds = [
            kind for kind in (field.annotation, *get_args(field.annotation)) if _is_model(kind)
        ]
        is_entry = any(issubclass(kind, Entry) for kind in kinds)
        yield path, is_entry
        for kind in () if is_entry else kinds:
            yield from _keys(kind, f"{path}.")


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
