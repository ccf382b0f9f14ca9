"""Chips: two profiles as drawn hierarchies, each number with its source; edit one and use it."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.hardware.edits import values_of
from graphturbo_core.hardware.profile import read_profile
from graphturbo_core.report.chips.chip_view import ChipView, chip_view
from graphturbo_ui.components.sources import CHIPS, FOLDER
from graphturbo_ui.figures.chips.scene import LeftChip, RightChip, chips_scene
from graphturbo_ui.session import chips, state
from graphturbo_ui.session.choices import Choices


def show(choices: Choices) -> None:
    """The whole page: one screen."""
    found = chips.edits()
    edited = chips.edited_chip(found)
    before = values_of(*chips.source_of(found.base))
    view = chip_view(edited.hardware, choices.dtype)
    left = LeftChip(
        found.base,
        view,
        state.short_name(found.base),
        before,
        found.texts,
        edited,
        chips.is_used(found, edited),
    )
    right = _right(found.base, choices.dtype)
    mode = "present" if state.is_presenting() else ""
    for style in ("page.css", "presenting.css")[: 1 + bool(mode)]:
        st.html(FOLDER / CHIPS.name / style)
    with st.container(key="chips_place"):
        CHIPS.draw(
            chips_scene(left, right, state.chip_names(), mode),
            on_edits_change=chips.take_edits,
            on_left_change=chips.take_left,
            on_right_change=chips.take_right,
            on_use_change=chips.use,
        )


def _right(base: str, number_format: str) -> RightChip:
    """The chip on the right; the unedited profile while the editor stands there."""
    chosen = chips.right(base)
    is_editor = chosen == chips.EDITOR
    label = base if is_editor else chosen
    return RightChip(label, _view(label, number_format), is_editor)


def _view(label: str, number_format: str) -> ChipView:
    return chip_view(read_profile(*chips.source_of(label)), number_format)
