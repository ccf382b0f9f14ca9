"""Handout, worksheet and plan are those of the kept results; their numbers are fields too."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from benchmarks.lecture.__main__ import FOLDER, pages
from graphturbo_core.lecture.facts import Facts, filled
from graphturbo_core.lecture.printed.drawing import (
    LABEL,
    VALUE,
    WIDTH,
    PrintedBar,
    PrintedLine,
    PrintedRow,
    bars,
    lines,
    rows_of_intervals,
)
from graphturbo_core.lecture.printed.end_states import CAPTIONS, end_state
from graphturbo_core.lecture.printed.exercises import EXERCISES, SETTING
from graphturbo_core.lecture.printed.handout import SETTING as HANDOUT
from graphturbo_core.lecture.results import LectureResults, kept_results
from graphturbo_core.lecture.steps import lecture_steps

FIELD = re.compile(r"\{[^{}]+\}")
NAME = re.compile(r"\b(?:conv|relu|g)\d(?:/\d)?\b|\bAlgorithm \d\b|\blearn-1x4\b")
TEXTS = [SETTING, HANDOUT, *CAPTIONS.values()]
TEXTS += [text for each in EXERCISES for text in (each.task, each.answer)]


@pytest.fixture(name="kept")
def _kept() -> LectureResults:
    return kept_results()


@pytest.mark.parametrize("name", [path.name for path in pages(kept_results())])
def test_a_printed_page_is_what_the_command_writes(name: str, kept: LectureResults) -> None:
    assert pages(kept)[FOLDER / name] == (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("text", TEXTS)
def test_every_printed_number_is_a_field(text: str, kept: LectureResults) -> None:
    assert not re.search(r"\d", NAME.sub("", FIELD.sub("", text)))
    assert "{" not in filled(text, Facts(kept))


def test_a_page_loads_nothing(kept: LectureResults) -> None:
    for path, text in pages(kept).items():
        if path.suffix == ".html":
            assert not re.search(r"(?:src|href|url)\s*[=(]", text)
            assert "<script" not in text


def test_answers_by_hand(kept: LectureResults) -> None:
    facts = Facts(kept)
    found = [filled(each.answer, facts) for each in EXERCISES]
    # 16 KiB in, 20.8 KiB of weights, 4 KiB out; 16 + 4 KiB of relu2 and relu3; three of 4 KiB.
    assert found[0].startswith("16 + 21 + 4 = 41;")
    assert found[2] == "20, 2; 12, 1."
    assert found[4] == "g1/4 g1/3 g2/2 g1/2 g1/1 g2/1 g3/1."
    assert found[6].startswith("image 5: core 0 or 1; image 6: core 2 or 3.")
    # The images 5 to 8 are on the cores 0, 2, 1 and 3.
    assert found[6].endswith("core 0 image 5, core 1 image 7, core 2 image 6, core 3 image 8.")
    # 4,608 bytes at 4 per cycle; three loads and three computes; three loads and the last compute.
    assert found[7].startswith(f"{4608 // 4:,}; {6 * 1152:,} ")
    assert f"; {4 * 1152:,} " in found[7]


def test_a_name_with_signs_of_html_is_escaped() -> None:
    text = bars("a < b", [PrintedBar("x & y", 1, 1, "<i>")])
    assert "a &lt; b" in text
    assert "x &amp; y" in text
    assert "&lt;i&gt;" in text


@pytest.mark.parametrize("step", lecture_steps(), ids=lambda step: step.key)
def test_an_end_state_is_a_picture_within_its_frame(step: object, kept: LectureResults) -> None:
    picture = ElementTree.fromstring(end_state(step, kept))
    width, height = float(picture.get("width")), float(picture.get("height"))
    assert width == WIDTH
    for node in picture.iter("rect"):
        assert float(node.get("x")) >= 0
        assert float(node.get("x")) + float(node.get("width")) <= width + 0.1
        assert float(node.get("y")) + float(node.get("height")) <= height
    assert picture.find("title").text


def test_bars_share_one_scale() -> None:
    room = WIDTH - LABEL - VALUE
    text = bars("t", [PrintedBar("a", 1, 3, "4"), PrintedBar("b", 2, 0, "2")])
    widths = [float(found) for found in re.findall(r'<rect [^>]*width="([\d.]+)"', text)]
    assert widths == [room / 4, 3 * room / 4, room / 2, 0]


def test_a_limit_beyond_the_bars_sets_the_scale() -> None:
    text = bars("t", [PrintedBar("a", 1, 0, "1")], 2, "limit")
    widths = [float(found) for found in re.findall(r'<rect [^>]*width="([\d.]+)"', text)]
    assert widths[0] == (WIDTH - LABEL - VALUE) / 2
    assert "limit</text>" in text


def test_intervals_and_lines_end_at_the_frame() -> None:
    text = rows_of_intervals("t", [PrintedRow("a", ((0, 5, "x"), (5, 5, "y")))])
    starts = [float(found) for found in re.findall(r'<rect x="([\d.]+)"', text)]
    assert starts[0] == LABEL
    assert "10 cycles" in text
    drawn = [PrintedLine("up", (0, 4)), PrintedLine("down", (4, 0))]
    picture = lines("t", ["1", "2"], drawn, "unit", has_peaks=True)
    assert picture.count("<polyline") == 2
    assert "up 4</text>" in picture


def test_a_changed_run_changes_the_handout(kept: LectureResults) -> None:
    full = replace(kept.runs["full"], cycles=99_999)
    changed = replace(kept, runs={**kept.runs, "full": full})
    assert "99,999" in pages(changed)[FOLDER / "handout.html"]
    assert "99,999" not in pages(kept)[FOLDER / "handout.html"]
