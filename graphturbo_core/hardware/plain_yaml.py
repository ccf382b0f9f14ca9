"""Bytes -> plain tree of mappings, lists and scalars: YAML without its surprises.

Refused: more than `MAX_BYTES`, anything but UTF-8, anchors and aliases, explicit tags, several
documents, duplicate keys, keys that are not words, and nesting deeper than `MAX_DEPTH`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

import yaml

from graphturbo_core.errors import ProfileError
from graphturbo_core.limits import DEFAULT_LIMITS

MAX_BYTES = DEFAULT_LIMITS.max_profile_bytes

MAX_DEPTH = 8
"""A profile is four mappings deep; up to eight, the schema gives the better message."""

MAX_SHOWN_CHARACTERS = 60
"""How much of a key or value a message repeats."""

Plain = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,18})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?|\.inf)|\.nan")
_WORDS: dict[str, Plain] = {"true": True, "false": False, "null": None, "~": None, "": None}


def shown(value: object) -> str:
    """`value` as a message may repeat it: one line, printable, at most 60 characters."""
    text = value if isinstance(value, str) else repr(value)
    text = text if text.isprintable() else ascii(text)
    is_short = len(text) <= MAX_SHOWN_CHARACTERS
    return text if is_short else text[: MAX_SHOWN_CHARACTERS - 1] + "…"


def plain_yaml(data: bytes, file_name: str) -> dict[str, Plain]:
    """The mapping that `data` spells.

    Raises:
        ProfileError: the bytes are refused, see the module's docstring.
    """
    text = _decoded(data, file_name)
    try:
        _check_events(text, file_name)
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        _refuse_yaml(error, file_name)
    tree = None if node is None else _plain(node, file_name)
    if not isinstance(tree, dict):
        raise _refusal("the profile is not a mapping of keys", file_name, "start with `name: …`")
    return tree


def _decoded(data: bytes, file_name: str) -> str:
    if len(data) > MAX_BYTES:
        what = f"the profile is larger than {MAX_BYTES} bytes"
        raise ProfileError(
            "PROFILE_TOO_BIG",
            what,
            f"in {shown(file_name)}",
            "give a YAML profile, not a model",
            file=file_name,
            value=len(data),
            range=f"0 to {MAX_BYTES} bytes",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not UTF-8 text"
        raise _refusal(what, file_name, "give a YAML profile, saved as UTF-8") from error


def _check_events(text: str, file_name: str) -> None:
    depth = documents = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        documents += isinstance(event, yaml.DocumentStartEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        problem = _event_problem(event, depth, documents)
        if problem:
            raise _refusal(f"line {_line(event)} {problem[0]}", file_name, problem[1])


def _event_problem(event: yaml.Event, depth: int, documents: int) -> tuple[str, str] | None:
    if getattr(event, "anchor", None) is not None:
        return "uses an anchor or alias (& or *)", "write the value out"
    if getattr(event, "tag", None) is not None:
        return "uses a tag (!)", "write plain values only"
    if depth > MAX_DEPTH:
        return f"nests deeper than {MAX_DEPTH} levels", "a profile has section, key, value, source"
    if documents > 1:
        return "starts a second document", "keep one chip a file"
    return None


def _line(spot: yaml.Event | yaml.Node) -> int:
    return spot.start_mark.line + 1 if spot.start_mark is not None else 0


def _refuse_yaml(error: yaml.YAMLError, file_name: str) -> NoReturn:
    mark = getattr(error, "problem_mark", None)
    line = f" at line {mark.line + 1}" if mark is not None else ""
    problem = shown(str(getattr(error, "problem", None) or "unreadable characters"))
    what = f"the profile is not YAML{line} ({problem})"
    raise _refusal(what, file_name, "correct that line") from error


def _plain(node: yaml.Node, file_name: str) -> Plain:
    if isinstance(node, yaml.MappingNode):
        return _plain_mapping(node.value, file_name)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, file_name) for item in node.value]
    is_quoted = isinstance(node, yaml.ScalarNode) and node.style is not None
    return str(node.value) if is_quoted else _plain_scalar(str(node.value))


def _plain_mapping(
    pairs: Sequence[tuple[yaml.Node, yaml.Node]], file_name: str
) -> dict[str, Plain]:
    mapping: dict[str, Plain] = {}
    for key_node, value_node in pairs:
        line = _line(key_node)
        if not isinstance(key_node, yaml.ScalarNode):
            raise _refusal(f"line {line} has a key that is not a word", file_name, "rename it")
        key = str(key_node.value)
        if key in mapping:
            what = f"key {shown(key)} appears twice (line {line})"
            raise _refusal(what, file_name, "keep one of them", key=key)
        mapping[key] = _plain(value_node, file_name)
    return mapping


def _plain_scalar(text: str) -> Plain:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return text


def _refusal(what: str, file_name: str, change: str, key: str = "") -> ProfileError:
    where = f"in {shown(file_name)}"
    return ProfileError("PROFILE_NOT_YAML", what, where, change, file=file_name, key=key)
