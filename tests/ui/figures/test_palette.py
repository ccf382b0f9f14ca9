"""Colours: each set is whole, without two alike, and stands out on either theme's ground."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pytest

from graphturbo_core.products.program import Cause, InstructionKind
from graphturbo_core.report.canvases.address_canvas import TENSOR_KINDS
from graphturbo_core.sim.trace import Wait
from graphturbo_ui.components.sources import FOLDER
from graphturbo_ui.figures.bound_steps import STEP_WORDS
from graphturbo_ui.palette import (
    CAUSE_COLOURS,
    ENGINE_COLOURS,
    FIR,
    GREY,
    HUE_COLOURS,
    IMAGE_COLOURS,
    KIND_COLOURS,
    KIND_NAMES,
    LIT,
    MUTED,
    MUTED_WAITS,
    PLUM,
    RESOURCE_COLOURS,
    STEP_COLOURS,
    TENSOR_COLOURS,
    WAIT_COLOURS,
    WAITED_FOR,
)
from tests.ui.canvas_page import contrast

SETS = [
    tuple(colours.values())
    for colours in (
        ENGINE_COLOURS, KIND_COLOURS, WAIT_COLOURS, CAUSE_COLOURS, TENSOR_COLOURS, RESOURCE_COLOURS
    )
]  # fmt: skip
GROUNDS = ("#ffffff", "#0e1117")
DARK_GROUNDS = ("#0e1117", "#10161e", "#14181f")
"""Of a page, of the app's page, of a card."""
LEAST_ON_DARK = 0.08
"""OKLab distance of two colours of a chart."""
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


TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
"""OKLab (Ottosson 2020) from linear sRGB, by way of the cube roots of the first."""
DEFICIENT = (
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
              [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
              [-0.011820, 0.042940, 0.968881]]),
    np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
              [0.004733, 0.691367, 0.303900]]),
)  # fmt: skip
"""Protanopia, deuteranopia, tritanopia on linear sRGB (Machado et al. 2009, severity 1)."""


def test_hues_are_those_of_the_first_screen():
    light, dark = (FOLDER / "colours.css").read_text("utf-8").split('[data-theme="dark"]', 1)
    for theme, css in (("light", light), ("dark", dark)):
        *hues, rest = HUE_COLOURS[theme]
        declared = dict(re.findall(r"--(g\d|rest): (#\w{6})", css.lower()))
        assert declared == {**{f"g{n}": hue for n, hue in enumerate(hues)}, "rest": rest}


def test_only_hues_are_saturated():
    hues = [colour for colours in HUE_COLOURS.values() for colour in colours[:-1]]
    assert max(map(chroma, (*MUTED, *MUTED_WAITS))) < min(map(chroma, hues))


def test_no_cause_of_bytes_has_a_colour_of_an_engine_and_no_step_one_of_another():
    assert not {*CAUSE_COLOURS.values()} & {*ENGINE_COLOURS.values()}
    assert least_distance([*CAUSE_COLOURS.values()]) > 0.089
    drawn = {
        (STEP_COLOURS.get(step) or CAUSE_COLOURS[step], step.startswith(WAITED_FOR))
        for step in STEP_WORDS
    }
    assert len(drawn) == len(STEP_WORDS)


def test_muted_colours_are_as_far_apart_as_is_said():
    assert least_distance(MUTED) == pytest.approx(0.089, abs=0.001)


def test_a_wait_has_no_colour_of_an_engine_and_both_breakdowns_have_the_same():
    others = {*ENGINE_COLOURS.values(), *KIND_COLOURS.values(), *CAUSE_COLOURS.values(), GREY}
    assert not others & {*WAIT_COLOURS.values()}
    assert RESOURCE_COLOURS["barrier"] == STEP_COLOURS["barrier"] == WAIT_COLOURS["barrier"]


def test_waits_are_as_far_from_each_other_and_from_all_else_as_is_said():
    assert least_distance(MUTED_WAITS) == pytest.approx(0.096, abs=0.001)
    greyed = (*MUTED, GREY)
    first, second = (labs_of(c)[0] for c in (MUTED_WAITS, [*greyed, *HUE_COLOURS["light"]]))
    found = min(np.linalg.norm(one - other) for one in first for other in second)
    assert found == pytest.approx(0.066, abs=0.001)


GREYED = (*MUTED, PLUM, FIR, *MUTED_WAITS, GREY)


def test_on_a_dark_ground_any_two_colours_are_as_far_apart_as_is_said():
    """Each chart of the page has some of them: the steps to the bound have all but one."""
    lit = [LIT[colour] for colour in GREYED]
    pairs = combinations(labs_of(lit)[0], 2)
    least = min(float(np.linalg.norm(one - other)) for one, other in pairs)
    assert least == pytest.approx(0.083, abs=0.001)
    assert least >= LEAST_ON_DARK
    sets = [least_distance([*{LIT[colour] for colour in colours}]) for colours in SETS]
    assert min(sets) == pytest.approx(0.082, abs=0.001)
    assert min(sets) >= LEAST_ON_DARK
    assert min(contrast(colour, ground) for colour in lit for ground in DARK_GROUNDS) >= 4.5
    hues = HUE_COLOURS["dark"][:-1]
    assert max(map(chroma_of, lit)) < 0.0905 < min(map(chroma_of, hues))


def test_on_a_dark_ground_a_colour_has_nearly_the_tint_that_it_has_on_a_light_one():
    for colour in GREYED[:-1]:
        one, other = (labs_of([each])[0][0] for each in (colour, LIT[colour]))
        turn = np.arctan2(one[2], one[1]) - np.arctan2(other[2], other[1])
        assert abs((turn + np.pi) % (2 * np.pi) - np.pi) < np.radians(30), colour
        assert other[0] > one[0], colour


def test_images_are_as_far_apart_as_is_said_and_no_cause_of_bytes():
    assert least_distance(IMAGE_COLOURS) == pytest.approx(0.0595, abs=0.001)
    images, causes = (labs_of(colours)[0] for colours in (IMAGE_COLOURS, CAUSE_COLOURS.values()))
    assert min(np.linalg.norm(one - other) for one in images for other in causes) >= 0.055
    assert max(map(chroma, IMAGE_COLOURS)) <= max(map(chroma, MUTED))
    assert min(contrast(c, ground) for c in IMAGE_COLOURS for ground in GROUNDS) >= LEAST_CONTRAST


def labs_of(colours: Iterable[str]) -> list[np.ndarray]:
    """OKLab of each colour: in normal vision, and in each deficient one."""
    linear = np.array([[int(c[at : at + 2], 16) / 255 for at in (1, 3, 5)] for c in colours])
    linear = np.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
    seen = [linear, *(np.clip(linear @ matrix.T, 0, 1) for matrix in DEFICIENT)]
    return [np.cbrt(rgb @ TO_CONES.T) @ TO_LAB.T for rgb in seen]


def least_distance(colours: Sequence[str]) -> float:
    """The least distance between two of the colours, in any vision."""
    pairs = [pair for lab in labs_of(colours) for pair in combinations(lab, 2)]
    return min(float(np.linalg.norm(one - other)) for one, other in pairs)


def chroma_of(colour: str) -> float:
    """OKLab's chroma."""
    ((_, a, b),) = labs_of([colour])[0]
    return float(np.hypot(a, b))


def chroma(colour: str) -> float:
    """Largest minus least channel of `#rrggbb`, of 1."""
    channels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return (max(channels) - min(channels)) / 255
