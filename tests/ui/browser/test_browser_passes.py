"""Algorithms 1 to 4 in headless Chromium: stepped, played and legible, and as the report says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.app_server import ALL_ELEMENTS, POLL_MS, AppPage
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

DEFAULT = "?views=Algorithms"
BERT = "?model=bert-base&a=tvm@8&b=graphturbo@8&batch=32&views=Algorithms"
FINE = "?b=layerwise@16&views=Algorithms"
TABS = ("split", "merge", "order", "bind")
FIND = f"""{ALL_ELEMENTS}
const root = all(document).find((e) => e.classList?.contains('algorithms'));
const view = root?.view;"""
TEXTS = """const svg = root.querySelector('svg');
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter((text) => text.textContent).map((text) => {
    const box = text.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(text).fontSize);
    return { text: text.textContent, size, x0: box.left, x1: box.right,
      y0: box.top + 0.25 * size, y1: box.bottom - 0.06 * size,
      isInside: box.left >= frame.left - 1 && box.right <= frame.right + 1
        && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1 };
  });"""
"""JavaScript: every drawn text; its box without the room around its letters."""


class Pictures:
    """A visitor's page, as far as the pictures of the algorithms are concerned."""

    def __init__(self, visit: AppPage) -> None:
        self.visit, self.page = visit, visit.page

    def open(self, query: str) -> None:
        self.page.goto(f"{self.visit.address}/{query}")
        test = "root?.dataset.scene && view.scene.runs.length === 2"
        self.page.wait_for_function(f"() => {{ {FIND} return {test}; }}", polling=POLL_MS)
        self.visit.rest()

    def run(self, script: str, arg: Any = None) -> Any:
        """What JavaScript on `root`, `view` and `arg` gives back."""
        return self.page.evaluate(f"(arg) => {{ {FIND} {script} }}", arg)

    @property
    def scene(self) -> dict[str, Any]:
        return json.loads(self.run("return root.dataset.scene"))

    def tab(self, name: str) -> None:
        self.page.locator(f".algorithms [data-tab={name}]").click()
        assert self.scene["tab"] == name

    def press(self, *keys: str) -> None:
        """Press keys in the picture, one after the other."""
        self.run("root.querySelector('svg').focus();")
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, part: str):
        return self.page.locator(f".algorithms [data-part={part}]")

    @property
    def facts(self) -> str:
        return self.page.locator(".algorithms .facts").inner_text()

    def size(self, width: int) -> None:
        self.page.set_viewport_size({"width": width, "height": 1500})
        self.run("view.draw();")


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[Any]:
    """The pictures of a query, one page each for all tests of the file; no error meanwhile."""
    visits: dict[str, AppPage] = {}
    context = browser.new_context(viewport={"width": 1440, "height": 1500})

    def open_once(query: str) -> Pictures:
        if query not in visits:
            visits[query] = AppPage.of(context, address)
            Pictures(visits[query]).open(query)
        found = Pictures(visits[query])
        found.page.bring_to_front()
        found.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        found.size(1440)
        return found

    yield open_once
    errors = [error for visit in visits.values() for error in visit.errors]
    context.close()
    assert errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("query", [DEFAULT, BERT], ids=["resnet50-slim", "bert-base"])
def test_texts_are_legible_and_apart(opened, query: str, scheme: str) -> None:
    found = opened(query)
    found.page.emulate_media(color_scheme=scheme)
    found.page.wait_for_function(
        f"(arg) => {{ {FIND} view?.draw(); return root?.dataset.theme === arg; }}", arg=scheme
    )
    for width in (1440, 1280):
        found.size(width)
        for tab in TABS:
            found.tab(tab)
            count = found.scene["count"]
            for step in sorted({0, count // 3, count - 1}):
                found.run("view.go(arg);", step)
                texts = found.run(TEXTS)
                place = (tab, step, width)
                assert len(texts) > 8, place
                assert [text["text"] for text in texts if text["size"] < 11] == [], place
                assert [text["text"] for text in texts if not text["isInside"]] == [], place
                assert [pair for pair in combinations(texts, 2) if covers(*pair)] == [], place
            assert [text for text in faint_texts(found.page) if is_own(text.where)] == [], tab


def is_own(where: str) -> bool:
    return not where.startswith("div.overview")


def covers(one: dict[str, Any], other: dict[str, Any]) -> bool:
    across = min(one["x1"], other["x1"]) - max(one["x0"], other["x0"])
    down = min(one["y1"], other["y1"]) - max(one["y0"], other["y0"])
    return across > 0.5 and down > 0.5


def test_pieces_are_drawn_to_scale(opened) -> None:
    found = opened(DEFAULT)
    found.tab("split")
    found.run("view.go(1);")
    bars = found.run("""return [...root.querySelectorAll('svg [data-bytes]')].map((bar) => (
      [Number(bar.dataset.bytes), bar.width.baseVal.value]));""")
    parts = found.run("return view.scene.runs[1].split.parts")
    assert [size for size, _ in bars] == [part["piece_bytes"] for part in parts]
    scale = bars[0][1] / bars[0][0]
    for size, width in bars:
        assert width == pytest.approx(size * scale, abs=0.1)
    assert [part["final_pieces"] for part in parts] == [4, 8, 4, 2, 1]
    assert "8 along images" in found.facts
    assert "Layer 6 needs 8 pieces alone" in found.facts
    found.press("ArrowRight")
    assert "4 along images" in found.facts


def test_axes_that_later_rules_cut_are_slices_too(opened) -> None:
    found = opened(DEFAULT)
    found.tab("split")
    bands = """return [...root.querySelectorAll('svg .band')].map(
      (band) => band.querySelectorAll('[data-piece]').length);"""
    before = found.run(bands)
    parts = found.run("return view.scene.runs[1].split.parts")
    assert before == [part["pieces"] for part in parts]
    found.run("""const [, part] = view.scene.runs[1].split.parts;
      Object.assign(part, { final_pieces: 16, final_cuts: [[0, 8], [2, 2]] });
      view.go(0); view.go(1);""")
    assert found.run(bands) == [4, 16, *before[2:]]
    texts = [text["text"] for text in found.run(TEXTS)]
    assert [text for text in texts if "later" in text] == []
    assert {"8 × 2 pieces (images × rows)", "8 × 2 pieces"} & set(texts)


def test_a_click_on_a_sub_graph_selects_it_in_all_views(opened) -> None:
    found = opened(DEFAULT)
    found.tab("split")
    found.page.locator(".algorithms svg .band").nth(3).click()
    assert (found.scene["step"], found.page.evaluate("window.graphturboCommon.selected")) == (
        3, "b-group-3",
    )  # fmt: skip
    found.visit.rest()
    found.run("""window.graphturboCommon.selected = 'b-group-1';
      window.graphturboCommon.dispatchEvent(new CustomEvent('selected', { detail: null }));""")
    assert found.scene["step"] == 1
    found.visit.rest()


def test_the_tree_grows_by_buttons_keys_and_the_row_of_decisions(opened) -> None:
    found = opened(DEFAULT)
    found.tab("merge")
    assert found.scene["pieces"] == [4, 8, 4, 2, 1]
    found.press("Home")
    assert (found.scene["parts"], found.scene["step"]) == (60, 0)
    layers = found.run("return root.querySelectorAll('svg [data-node]').length")
    assert layers == 60
    expect(found.button("back")).to_be_disabled()
    found.button("next").click()
    first = found.scene
    steps = found.run("return view.scene.runs[1].merge.steps")
    assert first["parts"] == 60 - len(steps[0]["parts"]) + 1
    assert first["made"] == 60
    assert "merged" in found.facts
    assert f"{steps[0]['peak']} of 8 MiB" in found.facts
    found.press("ArrowRight", "ArrowRight", "ArrowLeft")
    assert found.scene["step"] == 2
    refused = next(at for at, step in enumerate(steps) if not step["is_taken"])
    strip = found.page.locator(".algorithms svg [data-strip]")
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] * (refused + 0.5) / len(steps), "y": 5})
    assert (found.scene["step"], found.scene["refused"]) == (refused + 1, True)
    expect(found.page.locator(".algorithms svg [data-refused]")).to_have_count(1)
    assert "refused" in found.facts
    assert "weights" in found.facts
    found.button("slider").fill("7")
    assert found.scene["step"] == 6
    found.press("End")
    assert found.scene["parts"] == 5


def test_the_ready_list_is_played_and_paused(opened) -> None:
    found = opened(DEFAULT)
    found.press("3")
    assert found.scene["tab"] == "order"
    found.press("Home")
    order = found.run("return view.scene.runs[1].order")
    assert found.scene["before"] == order["initial"]
    found.press("Space")
    assert found.scene["isPlaying"]
    found.page.wait_for_function(
        f"() => {{ {FIND} return JSON.parse(root.dataset.scene).step > 1; }}", polling=POLL_MS
    )
    found.button("play").click()
    paused = found.scene
    assert not paused["isPlaying"]
    assert paused["runs"] == order["steps"][paused["step"]]["run"]
    assert paused["done"] == paused["step"]
    found.page.wait_for_timeout(1000)
    assert found.scene["step"] == paused["step"]
    found.run("view.go(13);")
    own = order["kernels"][order["steps"][13]["run"]]
    name = found.run("return view.run.groups[arg].name;", own["group"])
    assert f"{name}, piece {own['name'].split('/')[1]}" in found.facts
    assert found.scene["skipped"]
    states = found.run("""return [...root.querySelectorAll('svg [data-state]')]
      .map((cell) => cell.dataset.state)""")
    counts = {state: states.count(state) for state in ("run", "done")}
    assert (counts, len(states)) == ({"run": 1, "done": 13}, len(order["kernels"]))
    curve = found.page.locator(".algorithms svg [data-curve]")
    expect(curve).to_have_count(1)


def test_with_reduced_motion_play_goes_a_tenth_further(opened) -> None:
    found = opened(DEFAULT)
    found.page.emulate_media(reduced_motion="reduce")
    found.tab("merge")
    found.press("Home", "Space")
    assert (found.scene["step"], found.scene["isPlaying"]) == (4, False)


def test_cores_show_the_parts_of_each_tensor(opened) -> None:
    found = opened(DEFAULT)
    found.tab("bind")
    texts = found.run("return view.scene.runs[1].bind.texts")
    found.press("ArrowDown")
    assert (found.scene["kernel"], found.scene["step"]) == (1, 0)
    for _ in range(found.scene["count"]):
        row = found.run("return view.run.bind.sheets[view.run.bind.kernels[1].sheet][view.step]")
        cores = found.run("""return [...root.querySelectorAll('svg [data-core]')]
          .filter((core) => core.dataset.parts !== '0').map((core) => Number(core.dataset.core))""")
        named = [int(core) for core in texts[row[2]].replace("[", "").replace("]", "").split(",")]
        assert sorted(cores) == sorted(core for core in named if core >= 0)
        assert row[1] in found.facts
        found.press("ArrowRight")
    found.page.locator(".algorithms svg [data-kernel='4']").click()
    assert found.scene["kernel"] == 4
    found.page.locator(".algorithms .runs button", has_text="tvm@16").click()
    assert (found.scene["run"], found.scene["kernel"]) == ("A", 0)
    found.page.locator(".algorithms .runs button", has_text="graphturbo@16").click()
    assert (found.scene["run"], found.scene["kernel"]) == ("B", 4)


def test_what_is_not_there_is_said_and_the_tables_are_one_click_away(opened) -> None:
    found = opened(FINE)
    missing = found.page.locator(".algorithms .missing")
    for tab, words in (
        ("split", "B: layerwise@16 does without Algorithm 1"),
        ("merge", "A: tvm@16 does without Algorithm 2: it merges no layers."),
        ("order", "B: layerwise@16 has no ready list"),
    ):
        found.tab(tab)
        expect(missing).to_contain_text(words)
        expect(found.button("body")).to_be_hidden()
        expect(found.button("transport")).to_be_hidden()
    found.tab("bind")
    expect(missing).to_be_hidden()
    expect(found.page.get_by_text("Table of bindings")).to_be_visible()
    expect(found.page.get_by_text("Table of splits")).to_have_count(0)
    found.page.get_by_text("Table of steps").click()
    expect(found.page.get_by_test_id("stDataFrame")).to_have_count(1)


@pytest.mark.parametrize("visit", ["light"], indirect=True)
def test_each_panel_is_kept_as_a_picture(visit: AppPage, request) -> None:
    found = Pictures(visit)
    found.open(DEFAULT)
    for tab in TABS:
        found.tab(tab)
        visit.shoot(f"algorithms-{tab}-{request.node.callspec.params['visit']}")
