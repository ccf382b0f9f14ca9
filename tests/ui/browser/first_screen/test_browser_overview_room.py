"""The first screen where room is scarce: what is said in fewer words, moved or left out."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import combinations

import pytest
from playwright.sync_api import expect

from tests.ui.app_server import AppPage
from tests.ui.overview_page import FIND, Overview

pytestmark = pytest.mark.browser

SLOWER = "?a=graphturbo@16&b=tvm@16"
"""B of the default comparison, which is long, behind A."""
PRESSES = 3
LEAST_PRESENTED, SMALLEST = 18, 11
"""Pixels of the type that is presented, and of a name that has no room in it."""


def opened(visit: AppPage, query: str, width: int, height: int) -> Overview:
    screen = Overview(visit)
    screen.open(query)
    screen.size(width, height)
    return screen


def press_p(screen: Overview, mode: str) -> None:
    """Press p until the first screen has this mode.

    Streamlit loses a press that comes while its script runs: a person presses once more.
    """
    shown = screen.page.locator(f".overview[data-mode={mode}]")
    for _ in range(PRESSES):
        screen.visit.rest()
        screen.page.keyboard.press("p")
        with suppress(AssertionError):
            expect(shown).to_be_visible(timeout=20_000)
            return
    expect(shown).to_be_visible()


def test_p_presents_and_leads_back_and_arrows_step(visit: AppPage) -> None:
    screen = opened(visit, "", 1440, 900)
    page = screen.page
    press_p(screen, "present")
    screen.visit.rest()
    page.keyboard.press("ArrowRight")
    assert screen.run("return view.state.time") > 0
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert screen.smallest >= 18
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    screen.visit.rest()
    assert "present=1" in page.url
    assert screen.run("return root.dataset.mode") == "present"
    press_p(screen, "work")
    expect(page.locator(".st-key-top_bar")).to_be_visible()
    screen.visit.rest()
    page.get_by_role("button", name="Present", exact=True).click()
    screen.wait("root.dataset.mode === 'present'")
    screen.visit.rest()
    page.keyboard.press("ArrowDown")
    assert screen.run("return view.state.layer") is not None
    page.keyboard.press("Escape")
    screen.wait("root.dataset.mode === 'work'")


def test_presenting_the_page_does_not_scroll_and_begins_at_its_top(visit: AppPage) -> None:
    screen = opened(visit, "", 1280, 720)
    main = "document.querySelector('[data-testid=stMain]')"
    screen.run(f"{main}.scrollTo(0, 16)")
    press_p(screen, "present")
    screen.wait(f"{main}.scrollHeight === {main}.clientHeight && {main}.scrollTop === 0")


def test_a_phone_that_presents_has_large_words_apart(visit: AppPage) -> None:
    screen = opened(visit, "?present=1", 390, 844)
    texts = screen.texts()
    assert [(a.text, b.text) for a, b in combinations(texts, 2) if a.covers(b)] == []
    left = [text for text in texts if text.card == 0]
    assert min(text.size for text in left) >= LEAST_PRESENTED
    counts = "[...root.querySelectorAll('.count title')].map((e) => e.textContent)"
    heads = screen.run(f"return {counts};")
    assert heads == ["60 kernels", "19 kernels"], "on hover, where they have no room"
    assert [text.text for text in left if "kernel" in text.text] == []
    figures = screen.run("""return [...root.querySelectorAll('.figure')].map(
      (e) => [parseFloat(getComputedStyle(e).fontSize), e.scrollWidth <= e.clientWidth]);""")
    assert all(size >= LEAST_PRESENTED and fits for size, fits in figures)
    # Memory has no column where the badges of A and B would touch.
    assert screen.run("return root.querySelectorAll('.memory').length") == 0
    screen.size(1440, 900)
    assert screen.run("return root.querySelectorAll('.memory').length") == 2
    # What helps stands behind the names, where it has no room in the race; else what binds B does.
    bound, gain = "B is matrix-bound", "25 % more matrix columns make B 1.07× as fast"
    for width, height in ((1440, 900), (1280, 720)):
        screen.size(width, height)
        result = "return view.parts.result.innerText"
        height_of = "return root.querySelector('.result .caption').clientHeight"
        screen.run("view.scene.helps = arg; view.draw();", f"{bound}: {gain}")
        assert f"{bound}: {gain}" in screen.run(result)
        line = screen.run(height_of)
        screen.run("view.scene.helps = arg; view.draw();", f"{bound}: {gain * 8}")
        assert bound in screen.run(result)
        assert f"{bound}:" not in screen.run(result)
        assert screen.run(height_of) == line < 30


@pytest.mark.parametrize("query", ["?model=bert-base", "?model=densenet-121", "?batch=1"])
def test_the_change_that_helps_is_in_sight(visit: AppPage, query: str) -> None:
    screen = opened(visit, query, 1280, 720)
    screen.wait("view.scene.helps.endsWith('as fast')")
    binds, gain = re.split(": |, but ", screen.run("return view.scene.helps"), maxsplit=1)
    change, factor = re.fullmatch(r"(.*) makes? B (\S+×) as fast", gain.split("; ")[-1]).groups()
    said = screen.run("return view.parts.result.innerText")
    assert re.search(f"{binds}: .*{change} (makes? B|gives?) {factor}", said, re.IGNORECASE)


def test_what_helps_one_run_has_a_line_of_its_own_without_room(visit: AppPage) -> None:
    screen = opened(visit, "", 1280, 720)
    helps = "A is DRAM-bound: 25 % more DRAM bandwidth makes A 1.2× as fast"
    lines = """view.scene.runs.length = 1; view.scene.helps = arg; view.draw();
      return [...root.querySelectorAll('.race .helps')].map((e) => e.textContent);"""
    assert screen.run(lines, helps) == [helps]
    assert screen.run(lines, "A is DRAM-bound") == []
    assert "A is DRAM-bound" in screen.run("return view.parts.result.innerText")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (1920, 1080)])
def test_the_lens_has_all_rows_however_low_the_window_is(
    visit: AppPage, width: int, height: int
) -> None:
    screen = opened(visit, "?present=1", width, height)
    rows = screen.run("return Object.keys(view.time.blocks.lens.rows)")
    assert rows == ["flight", "matrix", "vector", "move", "dma", "link"]
    names = [text.text for text in screen.texts() if text.card == 1]
    assert {"Vector ×8", "Move ×8", "DMA ×2"} <= {*names}
    # Over the graph stand no words of a run's head, and none that look so.
    over = screen.run("""return [...root.querySelectorAll('.card:first-child text')]
      .filter((e) => e.textContent === '125 ops').map((e) => e.getAttribute('font-weight'));""")
    assert over == ([] if height == 720 else ["400"])


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (1920, 1080)])
def test_long_names_are_presented_in_whole_words(visit: AppPage, width: int, height: int) -> None:
    screen = opened(visit, "?model=bert-base&present=1", width, height)
    titles = ["attention query", "second matmul", "feed-forward part", "a_name_of_no_space"]
    screen.run("view.scene.hues.titles = arg; view.draw();", [*titles, "pooler"])
    texts = screen.texts()
    labels = screen.run("""return [...root.querySelectorAll('.labels text')].map(
      (e) => [e.firstChild.data, e.querySelector('title')?.textContent ?? '']);""")
    assert [text.text for text in texts if "…" in text.text] == []
    assert min(text.size for text in texts) >= SMALLEST
    assert [(a.text, b.text) for a, b in combinations(texts, 2) if a.covers(b)] == []
    for title in titles:
        shown = next(text for text, whole in labels if title in (text, whole))
        assert title.startswith(shown)
        assert title[len(shown) :][:1] in ("", " ")
    # Heads of the columns have one line each.
    drawn = {text.text for text in texts if text.card == 0}
    assert "50 sub-graphs" in drawn
    assert drawn & {"kernels", "ops"} == set()


def test_heads_are_no_bare_numbers_and_empty_time_is_blank(visit: AppPage) -> None:
    screen = opened(visit, "", 1280, 720)
    heads = [text.text for text in screen.texts() if text.card == 0][:12]
    assert {"60 kernels", "19 kernels", "125 ops", "60 layers", "16 images"} <= {*heads}
    # Engines of B do not exist once B has ended; while it runs, idle ones are grey.
    alpha = """const { time } = view;
      const row = time.blocks.B.rows.matrix;
      const pen = time.canvas.getContext('2d');
      const at = (x) => pen.getImageData(
        x * time.ratio(), (row.y + 1) * time.ratio(), 1, 1).data[3];
      const end = time.x(view.scene.runs[1].total);
      return [at(time.x0 + 3), at(end + 20), at(time.x1 - 5)];"""
    assert screen.run(alpha) == [255, 0, 0]
    # Of boxes that are cut both ways a second bracket names the axis from top to bottom.
    seconds, memories = (
        f"return root.querySelectorAll('.{name}').length" for name in ("second text", "memory")
    )
    assert screen.run(seconds) == 0
    screen.run("""view.scene.runs[1].groups[1].cuts = [['images', 4], ['rows', 2]];
      view.draw();""")
    assert screen.run("return root.querySelector('.second text').textContent") == "rows"
    texts = screen.texts()
    assert [(a.text, b.text) for a, b in combinations(texts, 2) if a.covers(b)] == []
    # A phone has room for memory or for that bracket: memory is one of the three pictures.
    screen.size(390, 844)
    assert (screen.run(seconds), screen.run(memories)) == (0, 2)


def test_the_bound_s_line_crosses_no_label_and_hides_none_that_fits(visit: AppPage) -> None:
    screen = opened(visit, SLOWER, 1440, 900)
    labels = screen.run("""const track = root.querySelector('.track[data-run="B"]');
      const at = track.querySelector('.bound').getBoundingClientRect().left;
      return [...track.querySelectorAll('.segments > div')].map(({ firstChild: label }) => {
        const { left, right } = label.getBoundingClientRect();
        return [label.hidden ? '' : label.textContent, left < at && at < right];
      });""")
    assert [crossed for _, crossed in labels] == [False] * len(labels)
    assert labels[1][0].startswith("stage 1")
    texts = [text.text for text in screen.texts() if text.card == 1]
    assert any(text.endswith("ms later") for text in texts)


def test_the_first_screen_stands_still_once_both_runs_are_there(visit: AppPage) -> None:
    """Also while B is computed on a changed chip, on a first visit."""
    visit.page.add_init_script(f"""globalThis.places = new Set(); setInterval(() => {{ {FIND}
      if (view?.scene?.runs.length !== 2) return;
      const {{ top, bottom }} = root.getBoundingClientRect();
      places.add(`${{Math.round(top)}} ${{Math.round(bottom - innerHeight)}}`);
    }}, 30);""")
    screen = opened(visit, "?model=teaching-resnet&batch=24", 1440, 900)
    screen.wait("view.scene.helps.includes('%')")
    assert visit.page.evaluate("[...places]") == ["56 0"], "top, and below the window"


def test_a_strategy_is_named_as_it_is_run(visit: AppPage) -> None:
    screen = opened(visit, "?b=graphturbo@999999", 1440, 900)
    names = "return [...root.querySelectorAll('.who b')].map((e) => [e.textContent, e.title]);"
    assert screen.run(names) == [["tvm@16", ""], ["graphturbo@16", "graphturbo@999999 was asked"]]
    said = "B is run at 16 samples per cluster: @999999 was asked"
    assert said in screen.run("return view.parts.result.innerText")
