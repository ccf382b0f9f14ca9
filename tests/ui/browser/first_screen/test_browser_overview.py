"""The first screen in headless Chromium: in one window, legible, as the reports say, and live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.app_server import AppPage
from tests.ui.contrast import faint_texts
from tests.ui.overview_page import Overview

pytestmark = pytest.mark.browser

BERT = "?model=bert-base&a=tvm@8&b=graphturbo@8&batch=32"
SIZES = ((1440, 900), (1280, 720), (1920, 1080), (390, 844))
Open = Callable[[str], Overview]


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[Callable[[str], Overview]]:
    """The first screen of a query, one page each for all tests of the file; no error meanwhile."""
    visits: dict[str, AppPage] = {}
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")

    def open_once(query: str) -> Overview:
        if query not in visits:
            visits[query] = AppPage.of(context, address)
            Overview(visits[query]).open(query)
        return Overview(visits[query])

    yield open_once
    errors = [error for visit in visits.values() for error in visit.errors]
    context.close()
    assert errors == []


@pytest.fixture
def screen(opened: Open) -> Overview:
    """The default pair at 1440 × 900, nothing chosen."""
    found = opened("")
    found.page.bring_to_front()
    found.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    found.size(1440, 900)
    found.clear()
    return found


@pytest.mark.parametrize(("width", "height"), SIZES[:2])
def test_all_pictures_are_in_one_window(screen: Overview, width: int, height: int) -> None:
    screen.size(width, height)
    parts = screen.run("""return [...root.querySelectorAll('.result, .card, .inspector, svg')]
      .map((part) => part.getBoundingClientRect().toJSON());""")
    assert len(parts) == 6
    assert all(part["top"] >= 0 and part["bottom"] <= height for part in parts)
    assert all(part["left"] >= 0 and part["right"] <= width for part in parts)
    assert all(part["height"] > 40 for part in parts)
    assert screen.page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize(
    ("query", "scheme", "sizes"),
    [("", "light", SIZES), ("", "dark", SIZES), (BERT, "light", SIZES[1::2])],
    ids=["resnet50-slim-light", "resnet50-slim-dark", "bert-base-light"],
)
def test_texts_are_legible_and_apart(
    opened: Open, query: str, scheme: str, sizes: Sequence[tuple[int, int]]
) -> None:
    screen = opened(query)
    screen.page.bring_to_front()
    screen.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    screen.wait("root.dataset.theme === arg", scheme)
    for width, height in sizes:
        screen.size(width, height)
        screen.clear()
        texts = screen.texts()
        assert len(texts) > 80
        assert [(a.text, b.text) for a, b in combinations(texts, 2) if a.covers(b)] == [], width
        assert [found.text for found in texts if not found.isInside] == [], width
        assert [found.text for found in texts if found.size < 11] == [], width
        assert [found for found in texts if found.ratio < 4.5] == [], width
        assert [f for f in faint_texts(screen.page) if "svg" not in f.where] == [], width
        assert screen.smallest >= 11
        assert screen.cut == [], width
        heads = [text for found in texts for text in found.text.split(" / ")]
        assert {"LB", "GB"} <= {*heads}


def test_bars_are_as_long_as_their_bytes(screen: Overview) -> None:
    layers = screen.run("return view.scene.layers.length")
    found = screen.run("""
      const { chip, runs } = view.scene;
      const [lb, gb] = [...root.querySelectorAll('.memory')].map((group, n) => {
        const room = view.layers.columns[n ? 'gb' : 'lb'].width / 2 - 2;
        const capacity = n ? chip.gb_bytes : chip.lb_bytes;
        return [...group.querySelectorAll('[data-bytes]')].map(({ dataset, width }) => (
          [dataset.run, Number(dataset.bytes), width.baseVal.value * capacity / room]));
      });
      const held = (values, name) => (
        [...values].filter((bytes) => bytes).map((bytes) => [name, bytes]));
      const [a, b] = runs;
      return { lb, gb,
        lbBytes: runs.flatMap((run) => [...run.layer_lb_peak_bytes.keys()].flatMap((n) => held([
          run.layer_lb_peak_bytes[n], run.layer_lb_mean_bytes[n]], run.name))),
        gbBytes: [...held(a.layer_gb_peak_bytes, 'A'), ...held(b.layer_gb_peak_bytes, 'B')] };""")
    for name in ("lb", "gb"):
        assert [[run, size] for run, size, _ in found[name]] == found[f"{name}Bytes"]
        assert len(found[name]) > layers
        for _, size, long in found[name]:
            assert long == pytest.approx(size, rel=0.01, abs=12_000 if name == "lb" else 90_000)


@pytest.mark.parametrize(("place", "name"), [(0, "A"), (1, "B")])
def test_a_run_without_the_other_has_its_columns_too(
    screen: Overview, place: int, name: str
) -> None:
    found = screen.run(
        """
      const { scene, layers } = view;
      const both = scene.runs;
      try {
        scene.runs = [both[arg]];
        view.draw();
        const [lb] = root.querySelectorAll('.memory');
        const bars = [...lb.querySelectorAll('[data-bytes]')];
        const widest = bars.reduce((one, other) => (
          Number(one.dataset.bytes) > Number(other.dataset.bytes) ? one : other));
        const letters = [...root.querySelectorAll('svg text')].map((text) => text.textContent);
        return {
          names: [...new Set(bars.map((bar) => bar.dataset.run))],
          letters: letters.filter((text) => text === 'A' || text === 'B'),
          width: widest.width.baseVal.value, bytes: Number(widest.dataset.bytes),
          room: layers.columns.lb.width - 2, capacity: scene.chip.lb_bytes,
          columns: [layers.columns.a.width, layers.columns.b.width],
          heading: root.querySelector('.race').textContent,
        };
      } finally {
        scene.runs = both;
        view.draw();
      }""",
        place,
    )
    assert found["names"] == [name]
    assert set(found["letters"]) == {name}
    share = found["bytes"] / found["capacity"]
    assert found["width"] == pytest.approx(share * found["room"], rel=0.01)
    assert (found["columns"][place] > 60, found["columns"][1 - place]) == (True, 0)
    assert f"by {name}'s sub-graphs" in found["heading"] or "by stages" in found["heading"]


def test_the_race_is_to_scale_and_names_the_figures(screen: Overview) -> None:
    found = screen.run("""return [...root.querySelectorAll('.track')].map((track) => ({
      run: track.dataset.run, text: track.querySelector('.total').textContent,
      width: track.querySelector('.segments').getBoundingClientRect().width,
      parts: [...track.querySelectorAll('.segments > div')].map((part) => (
        [Number(part.dataset.seconds), part.getBoundingClientRect().width])) }));""")
    totals = screen.scene["totals"]
    scale = max(bar["width"] for bar in found) / max(totals)
    for bar, seconds in zip(found, totals, strict=True):
        assert bar["width"] == pytest.approx(seconds * scale, abs=0.5)
        assert sum(part for part, _ in bar["parts"]) == pytest.approx(seconds)
        for part, width in bar["parts"]:
            assert width == pytest.approx(part * scale, abs=2.5)
    figures = screen.page.locator(".overview .race .figure").all_inner_texts()
    kernels = screen.run("return view.scene.runs.map((run) => run.kernels.toLocaleString('en-US'))")
    assert [figures[2], figures[6]] == kernels
    headline = screen.page.locator(".overview h1").inner_text()
    ratio = float(headline.removeprefix("Coarse is ").partition("×")[0])
    assert ratio == pytest.approx(totals[0] / totals[1], rel=0.01)


def test_painted_columns_are_the_shares_of_the_instructions(screen: Overview) -> None:
    """Pixels that are not the track's, against the instructions of the column, row by row."""
    found = screen.run("""
      const { canvas, blocks, x0, plot, lens, scene, colours } = view.time;
      const run = scene.runs.find(({ name }) => name === lens.run);
      const pen = canvas.getContext('2d', { willReadFrequently: true });
      pen.fillStyle = colours.track;
      const track = pen.fillStyle.slice(1).match(/../g).map((part) => parseInt(part, 16));
      const kinds = ['matrix', 'vector', 'move', 'dma'];
      const rows = [];
      for (const [number, kind] of kinds.entries()) {
        const { y, h } = blocks.lens.rows[kind];
        for (const share of [0.11, 0.3, 0.47, 0.62, 0.9]) {
          const x = Math.round(x0 + share * plot) + 2;
          const cycle = (at) => (
            (lens.t0 + ((at - x0) / plot) * (lens.t1 - lens.t0)) / run.seconds_per_cycle);
          const busyIn = (from, to) => {
            let busy = 0;
            run.start.forEach((start, i) => {
              if (run.kind[i] !== number) return;
              const inside = Math.min(to, start + run.hold[i]) - Math.max(from, start);
              busy += Math.max(0, inside) * (run.load?.[i] ?? 1);
            });
            return busy / (to - from) / run.engines[kind];
          };
          const pixels = pen.getImageData(x, Math.ceil(y), 1, Math.floor(h) - 1).data;
          let painted = 0;
          for (let n = 0; n < pixels.length; n += 4) {
            painted += track.reduce((sum, c, at) => sum + Math.abs(pixels[n + at] - c), 0) > 60;
          }
          const expected = [x - 1, x].map((at) => busyIn(cycle(at), cycle(at + 1)));
          rows.push([kind, share, expected, painted / (pixels.length / 4), 3 / h]);
        }
      }
      return rows;""")
    assert any(0.2 < expected < 1 for _, _, (_, expected), _, _ in found)
    for kind, share, expected, painted, grain in found:
        # Antialiased edges, and the column before, which is drawn over this one by a fraction.
        nearest = min(max(painted, min(expected)), max(expected))
        assert painted == pytest.approx(nearest, abs=grain + 0.12), (kind, share)
    assert sum(abs(painted - own) < 0.3 for _, _, (_, own), painted, _ in found) >= len(found) - 2


def test_pointing_at_a_layer_a_box_and_a_time(screen: Overview) -> None:
    screen.move(screen.layer_at(3, "a"))
    assert "Layer 4 of " in screen.said
    assert screen.run("return view.focusLayers()") == [3]
    assert screen.run("return root.querySelectorAll('.veil rect').length") > 0
    screen.move(screen.layer_at(3, "b"))
    group = screen.run("return view.scene.runs[1].groupOfLayer[3]")
    assert f"B's sub-graph {group + 1}, layers " in screen.said
    assert screen.run(
        f"return view.focusLayers().length === view.scene.runs[1].groups[{group}].layers.length"
    )
    screen.move(screen.time_at("A", 0.5))
    assert screen.run("return view.state.time / view.longest()") == pytest.approx(0.5, abs=0.01)
    screen.page.mouse.move(2, 2)
    screen.rest()
    assert screen.run("return [view.state.layer, view.state.group, view.state.time]") == [None] * 3
    assert screen.run("return root.querySelectorAll('.veil rect, .over *').length") == 0


def test_what_is_clicked_stays_and_other_views_follow(screen: Overview) -> None:
    screen.page.mouse.click(*screen.layer_at(5, "lb"))
    assert screen.selected == "b-layer-5"
    screen.page.mouse.move(2, 2)
    screen.rest()
    assert screen.scene["pin"] == {"layer": 5}
    assert "Layer 6 of " in screen.said
    screen.page.mouse.click(*screen.layer_at(5, "b"))
    group = screen.run("return view.scene.runs[1].groupOfLayer[5]")
    assert screen.selected == f"b-group-{group}"
    with screen.visit.box("share") as body:
        expect(body.get_by_test_id("stCode").nth(0)).to_contain_text(f"selected=b-group-{group}")
    # A second click gives it up.
    screen.page.mouse.click(*screen.layer_at(5, "b"))
    assert (screen.selected, screen.scene["pin"]) == ("", {})


def test_a_selection_from_elsewhere_arrives(screen: Overview) -> None:
    for text, pin in (("a-layer-2", {"layer": 2}), ("b-group-1", {"group": 1}), ("", {})):
        screen.page.evaluate(
            """(text) => {
              window.graphturboCommon.selected = text;
              window.graphturboCommon.dispatchEvent(new CustomEvent("selected", { detail: null }));
            }""",
            text,
        )
        screen.rest()
        assert screen.run("return view.state.pin") == pin
    op = screen.run("return [7, view.scene.ops[7][1]]")
    screen.run(f"""window.graphturboCommon.selected = 'a-op-{op[0]}';
      window.graphturboCommon.dispatchEvent(new CustomEvent('selected', {{ detail: null }}));""")
    screen.rest()
    assert screen.run("return view.state.pin") == {"layer": op[1]}


def test_dragging_magnifies_and_fit_shows_all(screen: Overview) -> None:
    whole = screen.scene["lens"]
    for at, name in ((0.2, "down"), (0.4, "up")):
        screen.page.mouse.move(*screen.time_at("A", at), steps=4)
        getattr(screen.page.mouse, name)()
    lens = screen.scene["lens"]
    longest = max(screen.scene["totals"])
    assert lens["run"] == "A"
    assert [lens["t0"] / longest, lens["t1"] / longest] == pytest.approx([0.2, 0.4], abs=0.01)
    assert any("magnified 5×" in found.text for found in screen.texts())
    screen.page.locator(".overview [data-part=fit]").click()
    assert screen.scene["lens"] == whole


def test_keys_move_zoom_choose_and_clear(screen: Overview) -> None:
    layer = "return view.state.layer"
    screen.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert screen.run(layer) == 0
    screen.press("Enter")
    assert screen.selected == "b-layer-0"
    screen.press("Escape")
    assert (screen.selected, screen.run(layer)) == ("", None)
    lens = screen.scene["lens"]
    span = lens["t1"] - lens["t0"]
    screen.press("ArrowRight", "ArrowRight")
    assert screen.run("return view.state.time") == pytest.approx(lens["t0"] + span / 100)
    screen.press("Shift+ArrowLeft")
    assert screen.run("return view.state.time") == pytest.approx(
        max(0, lens["t0"] - span * 8 / 200)
    )
    screen.press("w")
    near = screen.scene["lens"]
    assert near["t1"] - near["t0"] == pytest.approx(span * 0.8)
    screen.press("d")
    assert screen.scene["lens"]["t0"] > near["t0"]
    screen.press("a", "s")
    assert screen.scene["lens"]["t0"] == pytest.approx(lens["t0"], abs=span * 0.01)
    screen.press("2")
    assert screen.run("return Object.values(view.state.pin).length") == 1
    screen.press("Escape")
    assert screen.scene["pin"] == {}


def test_play_runs_both_and_stops_at_the_end(screen: Overview) -> None:
    button = screen.page.locator(".overview [data-part=play]")
    screen.press("Space")
    expect(button).to_have_text("❚❚ Pause")
    screen.wait("view.state.time > 0.02 * view.longest()")
    waiting = screen.run("return root.querySelectorAll('.veil rect').length")
    screen.wait("view.state.time > 0.08 * view.longest()")
    assert screen.run("return root.querySelectorAll('.veil rect').length") < waiting
    screen.press("Space")
    expect(button).to_have_text("▶ Play")
    held = screen.run("return view.state.time")
    screen.page.wait_for_timeout(120)
    assert screen.run("return view.state.time") == held
    screen.run("view.state.time = 0.95 * view.longest();")
    screen.press("Space")
    screen.wait("view.state.time === view.longest() && !view.player.isPlaying")
    assert "B is done since" in screen.said
    expect(button).to_have_text("▶ Play")
    screen.wait("root.querySelectorAll('.veil rect').length === 0")


def test_nothing_moves_for_those_who_ask_for_it(screen: Overview) -> None:
    screen.page.emulate_media(reduced_motion="reduce")
    screen.press("Space")
    assert screen.run("return view.player.isPlaying") is False
    assert screen.run("return view.state.time / view.longest()") == pytest.approx(0.1)


def test_blocks_open_and_shut_by_a_click(opened: Open) -> None:
    screen = opened(BERT)
    screen.page.bring_to_front()
    screen.size(1440, 900)
    screen.clear()
    shut = screen.run("""return view.layers.boxes.A
      .filter((box) => box.last > box.first)
      .map(({ top, foot }) => [top, foot]).sort((a, b) => a[0] - b[0])""")
    assert len(shut) > 100
    assert all(one[1] <= other[0] + 0.01 for one, other in pairwise(shut)), "a kernel each"
    blocks = screen.run("return view.scene.blocks.length")
    (first,) = screen.scene["open"]
    other = first + 2 if first + 2 < blocks else first - 1
    rows = len(screen.scene["rows"])
    screen.page.locator(f".overview text[data-block='{other}']").first.click()
    screen.wait("JSON.parse(root.dataset.scene).open[0] === arg", other)
    opened_rows = [row for row in screen.scene["rows"] if not row["isShut"]]
    block = screen.run(f"return view.scene.blocks[{other}]")
    own = [row for row in opened_rows if row["block"] == other]
    assert [row["first"] for row in own] == list(range(block["first"], block["last"] + 1))
    assert all(row["isShut"] for row in screen.scene["rows"] if row["block"] == first)
    screen.page.locator(f".overview text[data-block='{other}']").first.click()
    screen.wait("JSON.parse(root.dataset.scene).open.length === 0")
    # A click into a shut block's boxes opens it too.
    screen.page.mouse.click(
        *screen.layer_at(screen.run(f"return view.scene.blocks[{first}].first"), "a")
    )
    screen.wait("JSON.parse(root.dataset.scene).open[0] === arg", first)
    assert len(screen.scene["rows"]) == rows


def test_a_press_meets_no_veil(opened: Open) -> None:
    """The veil is drawn again as the pointer moves; a press on it would be lost as a click."""
    screen = opened(BERT)
    screen.page.bring_to_front()
    screen.size(1440, 900)
    screen.clear()
    screen.move(screen.layer_at(0, "a"))
    screen.wait("root.querySelectorAll('.veil rect').length > 0")
    last = screen.run("return view.scene.layers.length - 1")
    x, y = screen.layer_at(last, "a")
    assert screen.run(f"""return [...root.querySelectorAll('.veil rect')].some((rect) => {{
      const box = rect.getBoundingClientRect();
      return box.left <= {x} && {x} <= box.right && box.top <= {y} && {y} <= box.bottom;
    }})"""), "the last layer is paler"
    met = f"root.getRootNode().elementFromPoint({x}, {y})"
    assert screen.run(f"return {met}.closest('.veil, .over') === null && root.contains({met})")


def test_every_core_opens_its_view_at_the_lens(screen: Overview) -> None:
    screen.press("w", "w")
    lens = screen.scene["lens"]
    cycle = screen.run("return view.scene.runs.at(-1).seconds_per_cycle")
    screen.page.locator(".overview [data-part=cores]").click()
    windows = screen.page.evaluate("window.graphturboCommon.windows")
    assert windows[1] == pytest.approx([lens["t0"] / cycle, lens["t1"] / cycle])
    place = screen.page.locator(".st-key-view_every_core")
    expect(place).to_be_in_viewport()
    screen.page.wait_for_function(
        """() => Math.abs(document.querySelector('.st-key-view_every_core')
          .getBoundingClientRect().top) < 200""",
    )


def test_presenting_shows_the_first_screen_alone_and_back_leads_back(screen: Overview) -> None:
    page = screen.page
    page.evaluate("scrollTo(0, 0)")
    screen.open("?present=1")
    assert screen.run("return root.dataset.mode") == "present"
    expect(page.locator(".st-key-top_bar")).to_be_hidden()
    expect(page.locator(".st-key-views")).to_be_hidden()
    box = screen.run("return root.getBoundingClientRect().toJSON()")
    assert (box["top"], box["bottom"]) == (0, 900)
    for width, height in SIZES[:2]:
        screen.size(width, height)
        texts = screen.texts()
        assert [(a.text, b.text) for a, b in combinations(texts, 2) if a.covers(b)] == []
        assert [found.text for found in texts if not found.isInside] == []
        assert screen.cut == []
        assert screen.smallest >= 18
        (sentence,) = screen.run("""return [...root.querySelectorAll('h1')]
          .map((e) => [parseFloat(getComputedStyle(e).fontSize), e.clientHeight]);""")
        assert sentence[0] >= 26
        assert sentence[1] < 50, "one line"
        ends = screen.run("""view.pin({ group: 1 });
          const found = [...root.querySelectorAll('.inspector .cell')]
            .map((cell) => cell.getBoundingClientRect().right);
          view.pin({ group: 1 });
          return found;""")
        assert len(ends) > 2
        assert max(ends) <= width, "whole cells, or none"
    page.go_back()
    screen.wait("root.dataset.mode === 'work'")
    expect(page.locator(".st-key-top_bar")).to_be_visible()
