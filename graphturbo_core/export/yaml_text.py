"""Plain tree -> YAML text in flow style, which `plain_yaml` reads back unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graphturbo_core.plain_yaml import Plain

WIDTH = 100
"""Most columns of a line with more than one item."""
MAX_SIMPLE_KEY = 1000
"""Most characters of a key without a leading question mark; YAML's limit is 1,024."""

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n"])
"""Words that some YAML readers do not read as text."""
_PRINTABLE_ASCII = range(0x20, 0x7F)
_TWO_DIGITS, _FOUR_DIGITS = 0x100, 0x10000


def scalar(value: str | int | float | bool | None) -> str:
    """YAML text of a scalar; text is ASCII, in quotes where it could be read as another type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        mantissa, has_exponent, exponent = repr(value).partition("e")
        is_whole = has_exponent and "." not in mantissa
        return f"{mantissa}{'.0' if is_whole else ''}{has_exponent}{exponent}"
    if not isinstance(value, str):
        return str(value)
    is_bare = _BARE.fullmatch(value) and value.casefold() not in _WORDS
    return value if is_bare else f'"{"".join(map(_escaped, value))}"'


def _escaped(sign: str) -> str:
    code = ord(sign)
    if code in _PRINTABLE_ASCII:
        return f"\\{sign}" if sign in '"\\' else sign
    if code < _TWO_DIGITS:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _FOUR_DIGITS else f"\\U{code:08x}"


def flow(value: Plain | Mapping[str, Plain] | Sequence[Plain]) -> str:
    """YAML text of a tree on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str) or not isinstance(value, Sequence):
        return scalar(value)
    return "[" + ", ".join(flow(item) for item in value) + "]"


def _key(name: str) -> str:
    text = scalar(name)
    return text if len(text) <= MAX_SIMPLE_KEY else f"? {text} "


def entry(indent: str, key: str, value: Plain | Mapping[str, Plain] | Sequence[Plain]) -> str:
    """YAML text of `key: value`; a long list or mapping continues on further lines."""
    head = f"{indent}{_key(key)}: "
    line = head + flow(value)
    if len(line) <= WIDTH or isinstance(value, str) or not isinstance(value, (Mapping, Sequence)):
        return line + "\n"
    if isinstance(value, Mapping):
        opens, closes = "{", "}"
        items = [f"{_key(name)}: {flow(item)}" for name, item in value.items()]
    else:
        opens, closes, items = "[", "]", [flow(item) for item in value]
    return _wrapped(head + opens, [f"{item}," for item in items[:-1]] + [items[-1] + closes])


def _wrapped(head: str, items: Sequence[str]) -> str:
    """Items in sequence, with a line break before an item that does not fit."""
    indent = " " * (len(head) - len(head.lstrip(" -")) + 4)
    lines, line = [], head
    for item in items:
        if len(line) + 1 + len(item) > WIDTH and line.strip():
            lines.append(line)
            line = indent + item
        else:
            line += item if line.endswith(("[", "{")) else f" {item}"
    return "\n".join([*lines, line]) + "\n"
