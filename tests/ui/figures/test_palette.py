"""Colours: each set is whole, without two alike, and stands out on either theme's ground."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from graphturbo_core.products.program import Cause, InstructionKind
from graphturbo_core.report.canvases.address_canvas import TENSOR_KINDS
from graphturbo_core.sim.trace import Wait
from graphturbo_ui.components.sources import FOLDER
from graphturbo_ui.palette import (
    CAUSE_COLOURS,
    ENGINE_COLOURS,
    HUE_COLOURS,
    KIND_COLOURS,
    KIND_NAMES,
    MUTED,
    TENSOR_COLOURS,
    WAIT_COLOURS,
)
from tests.ui.canvas_page import contrast

SETS = [
    tuple(colours.values())
    for colours in (ENGINE_COLOURS, KIND_COLOURS, WAIT_COLOURS, CAUSE_COLOURS, TENSOR_COLOURS)
]
GROUNDS = ("#ffffff", "#0e1117")
LEAST_CONTRAST = 2.0
"""Of a filled area against the ground, told apart by its neighbours as well: orange on white."""


KIND_WORDS = {"exchange": "core to core", "prefetch": "DMA"}
"""What the page calls an instruction kind, where it is not the library's name."""


def test_kinds_waits_causes_and_tensors_are_those_of_the_library():
    names = [kind.name.lower() for kind in InstructionKind]
    assert list(KIND_NAMES) == [KIND_WORDS.get(name, name) for name in names]
    assert list(WAIT_COLOURS) == [wait.name.lower() for wait in Wait]
    assert list(CAUSE_COLOURS) == [c.name.lower() for c in Cause if c is not Cause.NONE]
    assert tuple(TENSOR_COLOURS) == TENSOR_KINDS


@pytest.mark.parametrize("colours", SETS)
def test_no_two_of_a_set_are_alike_and_all_stand_out(colours: tuple[str, ...]):
    assert all(one != other for one, other in combinations(colours, 2))
    assert min(contrast(c, ground) for c in colours for ground in GROUNDS) >= LEAST_CONTRAST


def test_hues_are_those_of_the_first_screen():
    light, dark = (FOLDER / "colours.css").read_text("utf-8").split('[data-theme="dark"]', 1)
    for theme, css in (("light", light), ("dark", dark)):
        *hues, rest = HUE_COLOURS[theme]
        declared = dict(re.findall(r"--(g\d|rest): (#\w{6})", css.lower()))
        assert declared == {**{f"g{n}": hue for n, hue in enumerate(hues)}, "rest": rest}


def test_only_hues_are_saturated():
    hues = [colour for colours in HUE_COLOURS.values() for colour in colours[:-1]]
    assert max(map(chroma, MUTED)) < min(map(chroma, hues))


def chroma(colour: str) -> float:
    """Largest minus least channel of `#rrggbb`, of 1."""
    channels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return (max(channels) - min(channels)) / 255
