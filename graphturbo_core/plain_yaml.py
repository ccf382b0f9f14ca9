"""Bytes -> plain tree of mappings, lists and scalars: a safe subset of YAML.

Refused: files that are too large or too deeply nested for their kind, other encodings than UTF-8,
anchors and aliases, explicit tags, several documents, duplicate keys, and keys that are not words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from graphturbo_core.errors import GraphTurboError

MAX_SHOWN_CHARACTERS = 60
"""Characters of a key or value that a message repeats."""

Plain = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,18})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?|\.inf)|\.nan")
_WORDS: dict[str, Plain] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class YamlKind:
    """One kind of file: its name in messages, its limits, and the texts of its refusals.

    `code`: start of the refusals' codes. `right_file`, `start`, `depth_hint`, `one_document`:
    advice for a file that is too big, no mapping, too deep, or several documents.
    """

    noun: str
    code: str
    error: Callable[..., GraphTurboError]
    max_bytes: int
    max_depth: int
    right_file: str
    start: str
    depth_hint: str
    one_document: str
    loader: Any = yaml.SafeLoader


def shown(value: object) -> str:
    """Text of `value` for a message: one line, printable, at most 60 characters."""
    text = value if isinstance(value, str) else repr(value)
    text = text if text.isprintable() else ascii(text)
    is_short = len(text) <= MAX_SHOWN_CHARACTERS
    return text if is_short else text[: MAX_SHOWN_CHARACTERS - 1] + "…"


def plain_yaml(data: bytes, file_name: str, kind: YamlKind) -> dict[str, Plain]:
    """The mapping that `data` encodes.

    Raises:
        GraphTurboError: of the kind's class; the bytes are refused, see the module's docstring.
    """
    return _Reader(kind, file_name).tree(data)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one file of a kind."""

    kind: YamlKind
    file_name: str

    def tree(self, data: bytes) -> dict[str, Plain]:
        text = self._decoded(data)
        try:
            self._check_events(text)
            node = yaml.compose(text, self.kind.loader)
        except yaml.YAMLError as error:
            self._refuse_yaml(error)
        tree = None if node is None else self._plain(node)
        if not isinstance(tree, dict):
            raise self._refusal(f"the {self.kind.noun} is not a mapping of keys", self.kind.start)
        return tree

    def _decoded(self, data: bytes) -> str:
        kind, most = self.kind, self.kind.max_bytes
        if len(data) > most:
            raise kind.error(
                f"{kind.code}_TOO_BIG",
                f"the {kind.noun} is larger than {most} bytes",
                f"in {shown(self.file_name)}",
                kind.right_file,
                file=self.file_name,
                value=len(data),
                range=f"0 to {most} bytes",
            )
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            what = f"byte {error.start} is not UTF-8 text"
            raise self._refusal(what, f"give a YAML {kind.noun}, saved as UTF-8") from error

    def _check_events(self, text: str) -> None:
        depth = documents = 0
        for event in yaml.parse(text, self.kind.loader):
            documents += isinstance(event, yaml.DocumentStartEvent)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            problem = self._event_problem(event, depth, documents)
            if problem:
                raise self._refusal(f"line {_line(event)} {problem[0]}", problem[1])

    def _event_problem(
        self, event: yaml.Event, depth: int, documents: int
    ) -> tuple[str, str] | None:
        if getattr(event, "anchor", None) is not None:
            return "uses an anchor or alias (& or *)", "write the value out"
        if getattr(event, "tag", None) is not None:
            return "uses a tag (!)", "write plain values only"
        if depth > self.kind.max_depth:
            return f"nests deeper than {self.kind.max_depth} levels", self.kind.depth_hint
        if documents > 1:
            return "starts a second document", self.kind.one_document
        return None

    def _refuse_yaml(self, error: yaml.YAMLError) -> NoReturn:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark is not None else ""
        problem = shown(str(getattr(error, "problem", None) or "unreadable characters"))
        what = f"the {self.kind.noun} is not YAML{line} ({problem})"
        raise self._refusal(what, "correct that line") from error

    def _plain(self, node: yaml.Node) -> Plain:
        if isinstance(node, yaml.MappingNode):
            return self._plain_mapping(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item) for item in node.value]
        is_quoted = isinstance(node, yaml.ScalarNode) and node.style not in _PLAIN_STYLES
        return str(node.value) if is_quoted else _plain_scalar(str(node.value))

    def _plain_mapping(self, pairs: Sequence[tuple[yaml.Node, yaml.Node]]) -> dict[str, Plain]:
        mapping: dict[str, Plain] = {}
        for key_node, value_node in pairs:
            line = _line(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._refusal(f"line {line} has a key that is not a word", "rename it")
            key = str(key_node.value)
            if key in mapping:
                what = f"key {shown(key)} appears twice (line {line})"
                raise self._refusal(what, "keep one of them", key)
            mapping[key] = self._plain(value_node)
        return mapping

    def _refusal(self, what: str, change: str, key: str = "") -> GraphTurboError:
        where, code = f"in {shown(self.file_name)}", f"{self.kind.code}_NOT_YAML"
        return self.kind.error(code, what, where, change, file=self.file_name, key=key)


_PLAIN_STYLES = (None, "")
"""Styles of an unquoted scalar: None in PyYAML's own parser, an empty text in libyaml."""


def _line(spot: yaml.Event | yaml.Node) -> int:
    return spot.start_mark.line + 1 if spot.start_mark is not None else 0


def _plain_scalar(text: str) -> Plain:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return text
