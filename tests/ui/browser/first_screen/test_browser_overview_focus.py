"""The first screen in headless Chromium: what is in focus, the page's keys, the inspector."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.app_server import AppPage
from tests.ui.overview_page import Overview, default_pair

pytestmark = pytest.mark.browser

COLOURFUL = """((y, h) => {
  const { canvas, x0, plot } = view.time;
  const ratio = canvas.width / view.time.width;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const { data } = pen.getImageData(x0 * ratio, y * ratio, plot * ratio, h * ratio);
  const hex = view.time.colours.hues.map((hue) => {
    pen.fillStyle = hue;
    return pen.fillStyle.slice(1).match(/../g).map((part) => parseInt(part, 16)).join();
  });
  const found = new Set();
  for (let n = 0; n < data.length; n += 4) {
    const hue = hex.indexOf([data[n], data[n + 1], data[n + 2]].join());
    if (hue >= 0) found.add(hue);
  }
  return [...found].filter((hue) => hue < 5).sort();
})"""
"""JavaScript: hues at full strength in a row of the right card."""
IN_LENS = f"const {{ y, h }} = view.time.blocks.lens.rows.matrix; return {COLOURFUL}(y, h);"


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[Overview]:
    """The default pair in one page for all tests of the file."""
    with default_pair(browser, address, "light") as found:
        yield found


@pytest.fixture
def screen(opened: Overview) -> Overview:
    """The same, nothing chosen, nothing that has the focus, in sight.

    The page follows a view that was just opened until a key is pressed, so it scrolls last.
    """
    opened.clear()
    opened.page.evaluate("document.activeElement.blur()")
    opened.page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    return opened


def frames(screen: Overview) -> list[tuple[str, float, float]]:
    """Class, top and foot of each frame in the left card."""
    return [
        tuple(found)
        for found in screen.run("""return [...root.querySelectorAll('.frame')].map((frame) => [
          frame.getAttribute('class'), frame.y.baseVal.value,
          frame.y.baseVal.value + frame.height.baseVal.value]);""")
    ]


def rows_of(screen: Overview, group: int) -> tuple[float, float]:
    """Top and foot of the rows of a sub-graph of B."""
    top, foot = screen.run(f"""const {{ layers }} = view.scene.runs[1].groups[{group}];
      const rows = view.layers.rows.filter(({{ first }}) => layers.includes(first));
      return [rows[0].y, rows.at(-1).y + rows.at(-1).h];""")
    return top, foot


def test_a_group_is_shown_in_both_cards_and_a_choice_has_a_frame_of_its_own(
    screen: Overview,
) -> None:
    group, layer = 3, 30
    hue = screen.run(f"return view.scene.hues.of_group[{group}]")
    assert screen.run(IN_LENS) == [0, 1, 2, 3, 4]
    screen.move(screen.layer_at(layer, "b"))
    assert screen.run(IN_LENS) == [hue]
    ((kind, top, foot),) = frames(screen)
    assert (kind, (top, foot)) == ("frame pointed", pytest.approx(rows_of(screen, group), abs=2))
    screen.page.mouse.click(*screen.layer_at(layer, "b"))
    screen.page.mouse.move(2, 2)
    screen.rest()
    assert screen.run(IN_LENS) == [hue]
    assert [kind for kind, *_ in frames(screen)] == ["frame chosen"]
    widths = screen.run("""const width = (is) => {
        view.layers.overlay({ layers: [3], pointed: null, chosen: null, at: null, [is]: [3] });
        return Number(root.querySelector('.frame').getAttribute('stroke-width'));
      };
      const found = [width('pointed'), width('chosen')];
      view.overlays();
      return found;""")
    assert widths[1] > widths[0] + 1
    screen.size(1300, 900)
    assert screen.run(IN_LENS) == [hue], "also after the window has another size"
    screen.size(1440, 900)


def test_many_stretches_are_framed_too_and_close_ones_share_a_frame(screen: Overview) -> None:
    # Layers 1, 3, 5, … in 60 rows: 30 stretches. Gaps between hues are higher than rows.
    odd = [layer for layer in range(60) if layer % 2 == 0]
    found = screen.run(
        """view.layers.overlay({ layers: arg, pointed: null, chosen: arg, at: null });
        const rows = view.layers.rows.filter(({ first }) => arg.includes(first));
        return [rows[0].y, rows.at(-1).y + rows.at(-1).h];""",
        odd,
    )
    framed = frames(screen)
    screen.run("view.overlays()")
    assert 1 < len(framed) <= 6
    assert {kind for kind, *_ in framed} == {"frame chosen"}
    assert (framed[0][1], framed[-1][2]) == pytest.approx(found, abs=2)
    assert all(foot < top for (_, _, foot), (_, top, _) in pairwise(framed))


def test_a_bar_of_the_race_and_a_key_show_a_group_too(screen: Overview) -> None:
    screen.page.locator(".overview .track[data-run=A] .segments > div").nth(2).hover()
    screen.rest()
    assert screen.run(IN_LENS) == [2]
    screen.page.mouse.move(2, 2)
    screen.rest()
    screen.page.keyboard.press("2")
    screen.rest()
    assert screen.run(IN_LENS) == [1]


def test_a_layer_is_framed_and_has_its_number(screen: Overview) -> None:
    screen.move(screen.layer_at(45, "a"))
    assert screen.page.locator(".overview .tag").text_content() == "46"
    ((_, top, foot),) = frames(screen)
    row = next(row for row in screen.scene["rows"] if row["first"] == 45)
    assert (top, foot) == pytest.approx((row["y"], row["y"] + row["h"]), abs=2)


def test_pointing_at_a_time_pales_what_starts_later(screen: Overview) -> None:
    screen.move(screen.time_at("lens", 0.3))
    assert screen.run("return view.state.layer") is not None
    later = screen.run("""const [, b] = view.scene.runs;
      return view.layers.boxes.B.filter(({ kernel }) => (
        b.kernel_from[kernel] * b.seconds_per_cycle > view.state.time)).length;""")
    boxes = "root.querySelectorAll('.veil rect:not([data-memory])')"
    assert 0 < later < screen.run(f"return {boxes}.length")
    assert screen.page.locator(".overview .tag").count() == 1


def test_memory_fills_as_the_time_goes_on(screen: Overview) -> None:
    pale = """return ['A', 'B'].map((run) => [...root.querySelectorAll(`[data-memory=${run}]`)]
      .reduce((sum, rect) => sum + rect.height.baseVal.value, 0));"""
    screen.run("view.playTo(0)")
    first = screen.run(pale)
    screen.run("view.playTo(view.longest() / 10)")
    later = screen.run(pale)
    assert first[0] > later[0] > later[1]
    assert first[1] > later[1]
    screen.run("view.playTo(view.longest())")
    assert screen.run(pale) == [0, 0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_stay_readable_while_it_plays(screen: Overview, scheme: str) -> None:
    screen.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    screen.wait("root.dataset.theme === arg", scheme)
    screen.run("view.playTo(73.7e-6)")
    found = screen.run("""const ink = getComputedStyle(root).getPropertyValue('--ink').trim();
      const pen = document.createElement('canvas').getContext('2d');
      pen.fillStyle = ink;
      const [, r, g, b] = /#(..)(..)(..)/.exec(pen.fillStyle);
      const dark = `rgb(${[r, g, b].map((part) => parseInt(part, 16)).join(', ')})`;
      const [, run] = view.scene.runs;
      return [...root.querySelectorAll('.number')].map((node) => {
        const from = run.kernel_from[node.dataset.kernel] * run.seconds_per_cycle;
        const style = getComputedStyle(node);
        const last = [...node.parentElement.parentElement.children].indexOf(node.parentElement);
        const marks = root.querySelector('.mark').parentElement;
        return { isLater: from > view.state.time, isInk: style.fill === dark,
          hasRim: style.paintOrder.startsWith('stroke') && style.strokeWidth !== '0px',
          isMarked: node.classList.contains('marked'),
          isAbove: [...marks.parentElement.children].indexOf(marks) < last };
      });""")
    later = [each for each in found if each["isLater"]]
    assert len(later) > 5
    assert all(each["isInk"] for each in later)
    (running,) = [each for each in found if each["isMarked"]]
    assert running["isAbove"]
    assert running["hasRim"]
    assert running["isInk"]
    screen.page.emulate_media(color_scheme="light")
    screen.wait("root.dataset.theme === 'light'")


def test_the_playhead_s_captions_begin_with_a_capital(screen: Overview) -> None:
    screen.run("view.playTo(1e-3)")
    captions = screen.page.locator(".overview .inspector .caption").all_inner_texts()
    assert captions[-1] == "Images done per cluster, of 16"


def test_keys_act_where_nothing_has_the_focus(screen: Overview) -> None:
    page = screen.page
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("ArrowDown")
    assert screen.run("return view.state.layer") == 0
    page.keyboard.press("ArrowRight")
    assert screen.run("return view.state.time") > 0
    page.keyboard.press("Space")
    assert screen.run("return view.player.isPlaying") is True
    page.keyboard.press("Escape")
    assert screen.run("return [view.player.isPlaying, view.state.time]") == [False, None]
    shown = page.get_by_role("dialog", name="Keys")
    page.keyboard.press("?")
    expect(shown).to_be_visible()
    for name in ("P", "Space", "Shift", "Enter", "Esc", "W", "1"):
        expect(shown.locator("kbd", has_text=name).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    assert screen.run("return view.state.layer") is None
    page.keyboard.press("Escape")
    expect(shown).to_be_hidden()
    page.keyboard.press("?")
    page.keyboard.press("?")
    expect(shown).to_be_hidden()


def test_keys_act_after_a_click_on_a_blank_place(screen: Overview) -> None:
    page = screen.page
    page.locator(".overview h1").click()
    assert page.evaluate("document.activeElement.dataset.testid") == "stMain"
    page.keyboard.press("ArrowRight")
    assert screen.run("return view.state.time") > 0
    page.keyboard.press("2")
    assert screen.run("return [view.state.time, view.state.pin]") == [None, {"group": 1}]
    assert "Playhead" not in screen.said
    page.keyboard.press("Escape")


def test_fields_and_other_canvases_keep_their_keys(screen: Overview) -> None:
    page = screen.page
    page.evaluate("""() => {
      const place = document.createElement('div');
      place.id = 'others';
      place.innerHTML = '<input><canvas tabindex="0"></canvas>';
      document.body.append(place);
    }""")
    for name in ("input", "canvas"):
        page.locator(f"#others {name}").focus()
        for key in ("ArrowDown", "Space", "p", "?"):
            page.keyboard.press(key)
    assert page.locator("#others input").input_value() == " p?"
    assert screen.run("return [view.state.layer, view.player.isPlaying]") == [None, False]
    assert screen.run("return [root.dataset.mode, view.parts.shortcuts.open]") == ["work", False]
    page.evaluate("document.getElementById('others').remove()")


def test_arrows_and_space_scroll_where_the_first_screen_is_away(screen: Overview) -> None:
    screen.page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1200)")
    screen.wait("root.getBoundingClientRect().bottom < 0")
    for key in ("ArrowDown", "Space", "ArrowRight"):
        screen.page.keyboard.press(key)
    state = "return [view.state.layer, view.state.time, view.player.isPlaying]"
    assert screen.run(state) == [None, None, False]


def test_the_inspector_is_in_sight_below_the_first_screen(screen: Overview) -> None:
    page = screen.page
    inspector = page.locator(".overview .inspector")
    heights = screen.run("return [...root.querySelectorAll('.card')].map((e) => e.clientHeight)")
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1200)")
    expect(inspector).to_be_in_viewport(ratio=1)
    box = inspector.bounding_box()
    assert box
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 1440, 900)
    assert box["height"] < 40
    assert screen.cut == []
    assert heights == screen.run(
        "return [...root.querySelectorAll('.card')].map((e) => e.clientHeight)"
    )
    half = "document.querySelector('[data-testid=stMain]').scrollTo(0, 820)"
    page.evaluate(half)  # the bar covers a part of its place
    expect(inspector).to_be_in_viewport(ratio=1)
    assert (inspector.bounding_box() or {"y": 0})["y"] > 800
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
    last = screen.run("""return Math.max(...[...document.querySelectorAll(
        '[data-testid=stMainBlockContainer] button')].filter((e) => e.checkVisibility())
      .map((e) => e.getBoundingClientRect().bottom));""")
    assert 600 < last < box["y"], "it covers nothing at the page's end"
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    screen.wait("!root.querySelector('.docked')")
    box = inspector.bounding_box()
    assert box
    assert box["height"] > 60


@pytest.mark.parametrize(("width", "height"), [(390, 844), (800, 900), (1280, 600)])
def test_the_inspector_is_in_sight_in_windows_that_are_narrow_or_low(
    screen: Overview, width: int, height: int
) -> None:
    screen.size(width, height)
    inspector = screen.page.locator(".overview .inspector")
    screen.wait("root.querySelector('.docked')")
    for place in (0, 3000):
        screen.page.evaluate(f"document.querySelector('[data-testid=stMain]').scrollTo(0, {place})")
        expect(inspector).to_be_in_viewport(ratio=1)
        box = inspector.bounding_box()
        assert box
        assert (box["width"], box["y"] + box["height"]) == (width, height)
        assert box["height"] <= 52
        assert screen.cut == []
    screen.page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    foot = screen.run("return view.parts.inspector.parentElement.getBoundingClientRect().height")
    assert foot >= box["height"], "its own place is left as it was"
    screen.size(1440, 900)
    screen.wait("!root.querySelector('.docked')")
    drawn = "view.layers.size.height === view.layers.svg.parentElement.clientHeight"
    screen.wait(drawn)  # with the room that the inspector's place leaves again


def test_the_plan_can_be_edited_before_anything_is_chosen(screen: Overview) -> None:
    button = screen.page.locator(".overview .inspector button")
    expect(button).to_have_text("Edit plan")
    shown = int(screen.said.split("B's sub-graph ")[1].split(",")[0])
    assert "Live bytes, of 8 MiB for data in 8 LBs" in screen.said
    button.click()
    assert screen.scene["pin"] == {"group": shown - 1}
    expect(screen.page.locator(".st-key-view_plan_edits")).to_be_visible()
    screen.visit.rest()  # Streamlit may lose the next click while a script runs


@pytest.mark.parametrize("selected", ["b-group-99", "b-layer-999"])
def test_a_link_to_what_these_runs_do_not_have_chooses_nothing(
    visit: AppPage, selected: str
) -> None:
    found = Overview(visit)
    found.open(f"?model=teaching-resnet&batch=8&selected={selected}")
    assert found.run("return view.state.pin") == {}
    assert found.said


@pytest.mark.parametrize("run", ["a", "b"])
def test_an_op_that_another_view_selects_is_in_the_layer_of_its_own_run(
    visit: AppPage, run: str
) -> None:
    """A takes layer norms apart: its ops have other numbers than B's."""
    screen = Overview(visit)
    screen.open(f"?model=bert-base&selected={run}-op-300")
    layers = screen.run("return view.scene.runs.map((own) => own.op_layer[300])")
    assert layers[0] < layers[1]
    assert screen.run("return view.state.pin") == {"layer": layers["ab".index(run)]}


def test_before_anybody_points_all_of_a_kind_is_described_and_one_can_be_edited(
    visit: AppPage,
) -> None:
    screen = Overview(visit)
    screen.open("?model=bert-base")
    assert "of B's 50 sub-graphs" in screen.said
    button = screen.page.locator(".overview .inspector button")
    assert "the one of these that gains most" in (button.get_attribute("title") or "")
    # On a phone the docked line has no cut words: `B's sub-graph 47, layers 169 to 179`.
    screen.run("view.pin({ group: 46 });")
    screen.size(390, 844)
    screen.wait("root.querySelector('.docked')")
    cut = screen.run("""return [...root.querySelectorAll('.docked :is(.caption, .value)')]
      .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent);""")
    assert cut == []
    assert "layers 169 to 179" in screen.said
