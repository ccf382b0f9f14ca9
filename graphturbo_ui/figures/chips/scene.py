"""Chips, edits and choices -> what the Chips component shows, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.hardware.edits import EditedChip, editable_keys, value_text
from graphturbo_core.report.chips.chip_parts import (
    LABELS,
    PARTS,
    ChipNumber,
    number_texts,
    numbers_of,
)
from graphturbo_core.report.chips.chip_text import compare_text, one_text, ratio_text
from graphturbo_core.report.chips.chip_view import ChipView
from graphturbo_core.report.chips.derived import FIGURES, DerivedFigure
from graphturbo_ui.figures.chips.picture import SCALES, SHORT_SCALES, chip_pictures
from graphturbo_ui.text import safe_text

LEGEND = (
    "Dotted underline or dashed edge: an assumption. Point at a part or a figure for keys, sources "
    "and arithmetic"
)
SHORT_LEGEND = "Dotted underline or dashed edge: an assumption."
"""In front of an audience: larger type, one line each."""
CLICK = "; click a part of A to edit its numbers"
MAX_TITLE, MAX_SOURCE = 90, 400


@dataclass(frozen=True)
class LeftChip:
    """The chip on the left: the profile that edits begin from, by its label, and the edits.

    `base`: the profile's name; `before`: its values; `texts`: what is typed at its keys.
    `is_used`: whether the runs of Explore are on exactly this chip.
    """

    label: str
    view: ChipView
    base: str
    before: Mapping[str, object]
    texts: Mapping[str, str]
    edited: EditedChip
    is_used: bool


@dataclass(frozen=True)
class RightChip:
    """The chip that the left one is compared with; while somebody edits, the unedited profile."""

    label: str
    view: ChipView
    is_editor: bool


def chips_scene(left: LeftChip, right: RightChip, chips: Sequence[str], mode: str) -> bytes:
    """Everything on the page; `chips`: labels to choose from; `mode`: `present` or empty.

    The editor's picture has ratios to the unedited profile, the right chip's to the left one.
    """
    views = [right.view, left.view] if right.is_editor else [left.view, right.view]
    pictures = [
        _chip(view, other, svg)
        for view, other, svg in zip(views, views[::-1], chip_pictures(views), strict=True)
    ]
    scene = {
        "mode": mode,
        "sentence": _sentence(left, right),
        "chips": pictures[1:] if right.is_editor else pictures,
        "figures": _figures(views[0], views[1]),
        "names": ["before", "edited"] if right.is_editor else ["A", "B"],
        "base": safe_text(left.base, max_length=80),
        "left": left.label,
        "right": right.label,
        "options": [[label, safe_text(label, max_length=80)] for label in chips],
        "editor": _editor(left) if right.is_editor else None,
        "typed": dict(left.texts),
        "changes": len(left.edited.changes),
        "refused": len(
            left.texts.keys() & (left.edited.faults.keys() | left.edited.waiting.keys())
        ),
        "is_used": left.is_used,
        "yaml": left.edited.data.decode(),
        "scales": SHORT_SCALES if mode else SCALES,
        "legend": SHORT_LEGEND if mode else f"{LEGEND}{CLICK}.",
    }
    return json.dumps(scene).encode()


def _sentence(left: LeftChip, right: RightChip) -> str:
    name, other = left.view.name, right.view.name
    if right.is_editor and not left.edited.changes:
        return safe_text(one_text(name, left.view.figures), max_length=200)
    first, second = (left.view, right.view) if right.is_editor else (right.view, left.view)
    names = (name, other) if right.is_editor else (other, name)
    text = compare_text(names[0], first.figures, names[1], second.figures)
    return safe_text(text, max_length=200)


def _chip(view: ChipView, other: ChipView, svg: str) -> dict[str, object]:
    others = numbers_of(other.parts)
    return {
        "name": safe_text(view.name),
        "title": safe_text(view.title, max_length=MAX_TITLE),
        "svg": svg,
        "notes": [safe_text(note, max_length=200) for note in view.notes],
        "parts": {
            part.name: {
                "title": part.title,
                "count": f"×{part.count:,} in the chip" if part.count > 1 else "",
                "rows": [_row(number, others.get(number.key)) for number in part.numbers],
            }
            for part in view.parts
        },
    }


def _row(number: ChipNumber, other: ChipNumber | None) -> dict[str, object]:
    """One number for the tip, with its source and the other chip's where it differs."""
    return {
        "key": number.key,
        "label": number.label,
        "text": safe_text(number.text),
        "exact": safe_text(number.exact),
        "source": safe_text(number.source, max_length=MAX_SOURCE),
        "assumed": number.is_assumption,
        "other": safe_text(other.text) if other and other.value != number.value else "",
    }


def _figures(first: ChipView, second: ChipView) -> list[dict[str, object]]:
    """Every figure that one of them has, in the order of the figures."""
    own, others = ({each.name: each for each in view.figures} for view in (first, second))
    names = [name for name in FIGURES if name in own or name in others]
    return [_figure(own.get(name), others.get(name)) for name in names]


def _figure(first: DerivedFigure | None, second: DerivedFigure | None) -> dict[str, object]:
    """A figure of both chips; the larger one has a share of 1, and a missing one is None."""
    found = [figure for figure in (first, second) if figure]
    most = max(figure.value for figure in found)
    ratio = ratio_text(second.value, first.value) if first and second else ""
    return {
        "name": found[0].name,
        "label": found[0].label,
        "ratio": "" if ratio == "equal" else ratio,
        "values": [_value(first, most), _value(second, most)],
    }


def _value(figure: DerivedFigure | None, most: float) -> dict[str, object] | None:
    if figure is None:
        return None
    share = figure.value / most if most else 0.0
    return {
        "text": figure.text,
        "share": share,
        "assumed": figure.is_assumption,
        "arithmetic": safe_text(figure.arithmetic, max_length=300),
        "keys": list(figure.keys),
    }


def _editor(left: LeftChip) -> list[dict[str, object]]:
    """The profile's numbers by part, each with what is typed and what is wrong with it."""
    groups: dict[str, list[dict[str, object]]] = {name: [] for name in PARTS}
    for key in editable_keys():
        groups[LABELS[key][0]].append(_field(key, left))
    found: list[dict[str, object]] = []
    for name, fields in groups.items():
        if fields:
            found.append({"part": name, "title": PARTS[name], "fields": fields})
    return found


def _field(key: str, left: LeftChip) -> dict[str, object]:
    field = editable_keys()[key]
    before, edited = left.before[key], left.edited
    was = value_text(key, before)
    fault = edited.faults.get(key)
    wait = edited.waiting.get(key)
    texts = [f"{fault.what}: {fault.change}" if fault else "", f"waits for {wait}" if wait else ""]
    low, high = field.bounds or (0, 0)
    span = f"{number_texts(key, low)[0]} to {number_texts(key, high)[0]}" if field.bounds else ""
    return {
        "key": key,
        "label": LABELS[key][1],
        "text": left.texts.get(key, was),
        "original": was,
        "was": was or "not given",
        "choices": [*([""] if field.is_optional else []), *field.choices] if field.choices else [],
        "range": span + (", may be left empty" if field.is_optional else ""),
        "fault": safe_text(". ".join(text for text in texts if text), max_length=300),
        "changed": key in edited.changes,
    }
