"""The first screen's lines, badges and words: none strikes another out, in any font."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.ui.app_server import AppPage
from tests.ui.overview_page import Overview

pytestmark = pytest.mark.browser

STRUCK = """
  const clear = [...root.querySelectorAll('.clear')].map((e) => e.getBoundingClientRect());
  const isClear = (x, y) => clear.some((box) => (
    box.left <= x && x <= box.right && box.top <= y && y <= box.bottom));
  const letters = (text) => {
    const box = text.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(text).fontSize);
    return { text: text.textContent, x0: box.left, x1: box.right, y0: box.top + 0.25 * size,
      y1: box.bottom - 0.2 * size };
  };
  const seen = (selector) => [...root.querySelectorAll(selector)]
    .filter((e) => getComputedStyle(e).visibility === 'visible').map(letters);"""
"""JavaScript: places where lines are interrupted, and the letters of texts that are seen."""
FRAMES = """
  const lines = [...root.querySelectorAll('.frame')].flatMap((frame) => {
    const { top, bottom } = frame.getBoundingClientRect();
    return [top + 1, bottom - 1];
  });
  return seen('.labels text, .numbers text').filter(({ x0, x1, y0, y1 }) => lines.some(
    (y) => y0 < y && y < y1 && !(isClear(x0, y) && isClear(x1, y)))).map(({ text }) => text);"""
"""JavaScript: texts of the left card that a frame strikes out."""
PLAYHEAD = """
  const line = root.querySelector('.playhead').getBoundingClientRect();
  const x = line.left + line.width / 2;
  return seen('.heads text, .free text').filter(({ x0, x1, y0, y1 }) => (
    x0 < x && x < x1 && y0 > line.top && y1 < line.bottom && !isClear(x, (y0 + y1) / 2)
  )).map(({ text }) => text);"""
"""JavaScript: texts of the right card that the playhead strikes out."""


@pytest.fixture
def screen(visit: AppPage) -> Overview:
    found = Overview(visit)
    found.open("")
    found.size(1440, 900)
    return found


def struck(screen: Overview, lines: str) -> list[str]:
    return screen.run(STRUCK + lines)


def test_no_frame_strikes_a_text_out(screen: Overview) -> None:
    for layer in range(14):
        screen.move(screen.layer_at(layer, "a"))
        assert screen.run("return root.querySelectorAll('.frame').length") > 0
        assert struck(screen, FRAMES) == [], layer
        # The layer's number on a tag covers no other number in part.
        tag = "const tag = letters(root.querySelector('.tag'));"
        crossed = """return seen('.numbers text').filter(({ y0, y1 }) => (
          y0 < tag.y1 + 2 && tag.y0 - 2 < y1)).map(({ text }) => text);"""
        assert screen.run(STRUCK + tag + crossed) == [], layer
    screen.clear()
    screen.run("view.pin({ layer: 6 });")
    screen.rest()
    assert struck(screen, FRAMES) == []
    screen.clear()


def test_the_playhead_strikes_no_text_out_and_its_badge_covers_whole_labels(
    screen: Overview,
) -> None:
    longest = screen.run("return view.longest()")
    for share in (0.02, 0.3, 0.36, 0.5, 0.6, 0.66, 0.7, 0.9, 0.97):
        screen.run("view.playTo(arg);", share * longest)
        screen.rest()
        assert struck(screen, PLAYHEAD) == [], share
        badge = """const box = view.time.over.parent.querySelector('rect').getBoundingClientRect();
          return seen('.axis .tick').filter(({ x0, x1 }) => (
            x0 < box.right && box.left < x1)).map(({ text }) => text);"""
        assert screen.run(STRUCK + badge) == [], share
    screen.clear()
    assert "10 ms" in [text.text for text in screen.texts()]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844)])
def test_a_wider_font_cuts_no_text(screen: Overview, width: int, height: int) -> None:
    screen.run("root.style.fontFamily = 'DejaVu Sans, Verdana, sans-serif';")
    screen.size(width, height)
    screen.run("view.draw();")
    texts = screen.texts()
    assert [text.text for text in texts if "…" in text.text] == []
    assert [(a.text, b.text) for a, b in combinations(texts, 2) if a.covers(b)] == []
    assert [text.text for text in texts if not text.isInside] == []
    said = {text.text for text in texts}
    assert "Matrix ×8" in said
    assert said & {"Layers in flight", "In flight"}


def test_a_phone_has_scales_and_words_at_both_brackets(screen: Overview) -> None:
    screen.size(390, 844)
    ticks = screen.run("""return ['.axis', '.lens'].map(
      (name) => root.querySelectorAll(`${name} .tick`).length);""")
    assert min(ticks) >= 2
    texts = [text.text for text in screen.texts() if text.card == 0]
    assert texts.count("16 images") == 2


def test_words_name_what_they_count(screen: Overview) -> None:
    texts = [text.text for text in screen.texts()]
    assert "5 sub-graphs" in texts
    assert [text for text in texts if "group" in text.replace("sub-graph", "")] == []
    shares = [text for text in texts if " % of " in text]
    assert len([text for text in shares if text.endswith("% of B's time")]) == 5
    assert screen.said.count("for data") == 1
    assert screen.run("return view.parts.lb_parts.textContent") == (
        ": 1.25 MiB per core, 1 MiB for data and 256 KiB for weights"
    )
