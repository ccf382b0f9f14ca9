"""Edits of a plan: as a list of texts, with one edit added or removed, and as a plan file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from graphturbo_core.errors import PlanError
from graphturbo_core.export.plan_read import read_head
from graphturbo_core.export.plan_write import plan_text
from graphturbo_core.strategies.plan_files.edits import (
    NO_EDITS,
    Edits,
    LayersOfNames,
    grouping_constraints,
)

__all__ = [
    "NO_EDITS", "EditEntry", "Edits", "conflicting", "edit_entries", "edits_in", "plan_with",
    "with_apart", "with_cut", "with_merge", "without",
]  # fmt: skip


NO_WORDS: Mapping[str, str] = {}
OF_PARTS = ("pieces", "axis", "residency")
"""Edits of a part; the others are of a tensor."""


@dataclass(frozen=True, slots=True)
class EditEntry:
    """One edit: its key in the file, its name (or place in a list), and its text."""

    key: str
    name: str
    text: str


def edit_entries(edits: Edits, words: Mapping[str, str] = NO_WORDS) -> tuple[EditEntry, ...]:
    """Every edit with its text, in the order of the file's keys.

    `words`: text by the name of a part; a part without one is shown by its name.
    """
    return tuple(_entries(edits, words))


def _entries(edits: Edits, words: Mapping[str, str]) -> Iterator[EditEntry]:
    for key, between in (("merge", " + "), ("keep_apart", " | ")):
        for place, members in enumerate(getattr(edits, key)):
            parts = between.join(words.get(name, name) for name in members)
            yield EditEntry(key, str(place), f"{key.replace('_', ' ')} {parts}")
    for key in ("pieces", "axis", "binding", "scope", "residency"):
        shown = words if key in OF_PARTS else NO_WORDS
        for name, value in getattr(edits, key).items():
            if key == "axis" and name in edits.pieces:
                continue  # one split, with its pieces
            text = f"{key} of {shown.get(name, name)}: {_value_text(value)}"
            along = f", along axis {edits.axis[name]}" if name in edits.axis else ""
            yield EditEntry(key, name, f"{text}{along if key == 'pieces' else ''}")


def _value_text(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return ", ".join(f"piece {piece} {value[piece].value}" for piece in sorted(value))
    word = getattr(value, "value", None)
    if word is not None:
        return str(word)
    parts = (f"{each.name} {getattr(value, each.name)}" for each in fields(value))  # type: ignore[arg-type]  # Cuts, a dataclass
    return ", ".join(parts)


def without(edits: Edits, entry: EditEntry) -> Edits:
    """The edits without one entry, and without names that only this entry uses.

    Pieces of a part go with their axis.
    """
    if entry.key in ("merge", "keep_apart"):
        sets = getattr(edits, entry.key)
        place = int(entry.name)
        left: object = (*sets[:place], *sets[place + 1 :])
    else:
        left = {n: value for n, value in getattr(edits, entry.key).items() if n != entry.name}
    less = replace(edits, **{entry.key: left})  # type: ignore[arg-type]  # of the key's own type
    if entry.key == "pieces":
        less = replace(less, axis={n: axis for n, axis in less.axis.items() if n != entry.name})
    used = {name for names in (*less.merge, *less.keep_apart) for name in names}
    used |= {*less.pieces, *less.axis, *less.residency}
    return replace(less, names={name: ops for name, ops in less.names.items() if name in used})


def conflicting(edits: Edits, layer_of: Mapping[str, int]) -> tuple[EditEntry, ...]:
    """The fewest entries that contradict one another, so that no plan can satisfy all; else none.

    `layer_of`: the layer of each op of the model. Edits of tensors are not looked at. Each entry is
    left out in turn: the check runs once per entry.
    """
    if not _contradict(edits, layer_of):
        return ()
    left = edits
    for entry in reversed(edit_entries(edits)):
        fewer = without(left, entry)
        if _contradict(fewer, layer_of):
            left = fewer
    # Places in a list shift as entries before them go: the sets themselves say which are left.
    return tuple(entry for entry in edit_entries(edits) if _has(left, edits, entry))


def _contradict(edits: Edits, layer_of: Mapping[str, int]) -> bool:
    try:
        titles = [str(layer) for layer in range(1 + max(layer_of.values(), default=0))]
        grouping_constraints(edits, LayersOfNames(layer_of, titles, edits.names))
    except PlanError as error:
        return error.code == "PLAN_CONFLICT"
    return False


def _has(left: Edits, edits: Edits, entry: EditEntry) -> bool:
    """Whether an entry of `edits` is one of those that are `left`."""
    if entry.key in ("merge", "keep_apart"):
        return getattr(edits, entry.key)[int(entry.name)] in getattr(left, entry.key)
    return entry.name in getattr(left, entry.key)


def with_merge(
    edits: Edits, parts: Mapping[str, Sequence[str]], taken: Collection[str] = ()
) -> Edits:
    """The edits with a merge of these parts; `taken`: names of ops, which no part may have."""
    named, names = _named(edits, parts, taken)
    return replace(named, merge=tuple(dict.fromkeys((*named.merge, names))))


def with_apart(
    edits: Edits, parts: Mapping[str, Sequence[str]], taken: Collection[str] = ()
) -> Edits:
    """The edits with these parts kept apart: no layer of one is grouped with one of the other."""
    named, names = _named(edits, parts, taken)
    return replace(named, keep_apart=tuple(dict.fromkeys((*named.keep_apart, names))))


def with_cut(
    edits: Edits, part: tuple[str, Sequence[str]], constrained: Mapping[str, int],
    taken: Collection[str] = (),
) -> Edits:  # fmt: skip
    """The edits with `pieces`, `axis` or both of a part pinned."""
    named, (name,) = _named(edits, dict([part]), taken)
    cuts: dict[str, dict[str, int]] = {
        key: {**getattr(named, key), name: value} for key, value in constrained.items()
    }
    return replace(named, **cuts)  # type: ignore[arg-type]  # `pieces` and `axis` alone


def _named(
    edits: Edits, parts: Mapping[str, Sequence[str]], taken: Collection[str]
) -> tuple[Edits, tuple[str, ...]]:
    """The edits with a name per part; a name already used for other ops gets a dash."""
    names = dict(edits.names)
    found = []
    for wanted, ops in parts.items():
        name = wanted
        while name in taken or names.get(name, tuple(ops)) != tuple(ops):
            name = f"{name}-"
        names[name] = tuple(ops)
        found.append(name)
    return replace(edits, names=names), tuple(found)


def edits_in(text: str) -> Edits:
    """The edits in a plan's text; empty for a plan without edits and record.

    Raises:
        PlanError: it is no plan.
    """
    return read_head(text.encode(), "the plan").edits


def plan_with(text: str, edits: Edits) -> str:
    """Text of a plan of the same run with these edits and without a record.

    Raises:
        PlanError: `text` is no plan, nor the head of one.
    """
    return plan_text(replace(read_head(text.encode(), "the plan"), edits=edits, rounds={}))
