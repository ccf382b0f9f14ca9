"""The first screen on paper: one size and light colours in every window, and no controls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.ui.overview_page import Overview, default_pair

pytestmark = pytest.mark.browser

MEASURED = """
  const box = (name) => root.querySelector(name).getBoundingClientRect();
  const track = [...root.querySelectorAll('.track')].at(-1).getBoundingClientRect();
  const bars = [...root.querySelectorAll('.segments')].at(-1).getBoundingClientRect();
  const seen = (name) => [...document.querySelectorAll(name), ...root.querySelectorAll(name)]
    .filter((e) => e.checkVisibility()).length;
  return {
    theme: root.dataset.theme, width: box('.stage').width / box('.stage').height,
    bound: (box('.bound').left - track.left) / bars.width,
    share: view.scene.bound_s / view.scene.runs.at(-1).total,
    isDocked: Boolean(root.querySelector('.docked')), cells: root.querySelectorAll('.cell').length,
    controls: seen('.control') + seen('.small') + seen('.st-key-top_bar') + seen('.round'),
    canvas: box('canvas').right <= box('.card:last-child').right,
  };"""


@pytest.fixture(scope="module")
def screen(browser: Browser, address: str) -> Iterator[Overview]:
    """The default pair in the dark theme."""
    with default_pair(browser, address, "dark") as found:
        yield found


def measured(screen: Overview) -> dict[str, Any]:
    found = screen.run(MEASURED)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (800, 900), (390, 844)])
def test_paper_has_one_size_and_light_colours(screen: Overview, width: int, height: int) -> None:
    screen.size(width, height)
    before = measured(screen)
    assert before["theme"] == "dark"
    assert before["controls"] > 0
    assert before["isDocked"] == (width < 1100)
    screen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    screen.page.emulate_media(media="print")
    found = measured(screen)
    assert (found["theme"], found["controls"], found["isDocked"]) == ("light", 0, False)
    assert found["cells"] >= 4
    assert found["canvas"]
    assert found["width"] > 1, "both cards are beside each other"
    assert found["bound"] == pytest.approx(found["share"], abs=0.02)
    assert screen.cut == []
    screen.page.emulate_media(media="screen")
    screen.page.evaluate("dispatchEvent(new Event('afterprint'))")
    screen.visit.rest()
    assert measured(screen) == before
