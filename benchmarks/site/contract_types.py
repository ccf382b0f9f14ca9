"""Types of the JSON of `run --json`, as rows: one section per type, one row per key."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.report.contract import Contract
from graphturbo_core.report.json_form import TABLES, KernelTimes
from graphturbo_core.report.tables import Tables

PLAIN = {str: "text", int: "integer", float: "number", bool: "true or false", type(None): "null"}
NOT_IN_JSON = "index"
"""A column of the tables that equals a row's place in the list."""
RUN = "run"
"""Name of the first section: keys of the whole run."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a section: its type in words, and whether a run may lack it."""

    section: str
    name: str
    type_text: str
    is_optional: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """A type in words, and the sections that it names."""

    text: str
    sections: Mapping[str, type]


def keys() -> tuple[Key, ...]:
    """Every key of the JSON, section by section, in the order in which they are named."""
    return tuple(_walk(RUN, _run_hints(), frozenset()))


def _run_hints() -> dict[str, object]:
    rows = typing.get_type_hints(Tables)
    hints: dict[str, object] = dict(typing.get_type_hints(Contract))
    hints["kernel_times"] = Sequence[KernelTimes]
    hints |= {key: Sequence[typing.get_args(rows[name])[0]] for key, name in TABLES.items()}
    return hints


def _walk(section: str, hints: Mapping[str, object], optional: frozenset[str]) -> Iterator[Key]:
    """Keys of a section, then those of the sections that it names."""
    named: dict[str, type] = {}
    for name, hint in hints.items():
        part = _part(hint, name)
        named |= part.sections
        yield Key(section, name, part.text, name in optional)
    for name, entry in named.items():
        own = typing.get_type_hints(entry)
        own.pop(NOT_IN_JSON, None)
        yield from _walk(name, own, entry.__optional_keys__)  # type: ignore[attr-defined]


def _part(hint: object, name: str) -> _Part:
    """A type in words; a nested one is a section with the name of its key."""
    if typing.is_typeddict(hint):
        return _Part(f"[{name}](#{name})", {name: typing.cast(type, hint)})
    if hint in PLAIN:
        return _Part(PLAIN[typing.cast(type, hint)], {})
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        parts = [_part(each, name) for each in inner]
        sections = {key: value for part in parts for key, value in part.sections.items()}
        return _Part(" or ".join(part.text for part in parts), sections)
    of_values = _part(inner[-1], name)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _Part(f"object: name to {of_values.text}", of_values.sections)
    return _Part(f"list of {of_values.text}", of_values.sections)
