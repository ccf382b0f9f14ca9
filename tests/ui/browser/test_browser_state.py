"""Jobs, state and forms in headless Chromium: cancel, link, swap, options, edits, readable text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from tests.ui.app_server import AppPage
from tests.ui.contrast import faint_texts
from tests.ui.overview_page import Overview

pytestmark = pytest.mark.browser

GANTT, GRAPH = "Gantt chart", "Sub-graph view"
SMALL = "?model=teaching-resnet&batch=8&views=Graph&views=Every+core"
TAUGHT = "?model=teaching-resnet&chip=generic-4x4&batch=64&a=tvm%4016&b=graphturbo%4016"
EDITED = f"{TAUGHT}&views=Why&views=Graph&views=Plan+edits"
SEARCHED = "?model=teaching-resnet&chip=generic-4x4&batch=8&a=tvm%402&b=graphturbo%402"
SEARCH_MS = 90_000
SIZES = ((1440, 900), (1280, 720), (390, 844))
LONG = "?model=llama&batch=8"
"""A run of many seconds, so that there is time for a click."""

LENGTH = "(count) => history.length === count"
"""Entries that one page may have in the browser's history."""


def button(visit: AppPage, name: str) -> Locator:
    return visit.page.get_by_role("button", name=name, exact=True)


def figure(visit: AppPage, label: str) -> Locator:
    metric = visit.page.get_by_test_id("stMetric").filter(has_text=label)
    return metric.get_by_test_id("stMetricValue")


def test_a_visit_leaves_nothing_for_the_next(
    visitor: Callable[[str], BrowserContext], address: str
):
    """Tests share a context of the browser, so what the app keeps there has to go."""
    kept = "[localStorage.a ?? '', document.cookie.includes('b=2')]"
    found = []
    for _ in range(2):
        visit = AppPage.of(visitor("light"), address)
        visit.page.goto(f"{address}/_stcore/health")
        found.append(visit.page.evaluate(kept))
        visit.page.evaluate("localStorage.a = '1'; document.cookie = 'b=2'")
        assert visit.page.evaluate(kept) == ["1", True]
        visit.leave()
    assert found == [["", False], ["", False]]


def test_runs_are_cancelled_while_a_step_is_under_way_and_run_again(visit: AppPage):
    page = visit.page
    page.goto(f"{visit.address}/{LONG}")
    bar = page.get_by_test_id("stProgress")
    expect(bar.get_by_text(re.compile(r" A \(tvm@16\).* … \d+ s"))).to_be_visible()
    button(visit, "Cancel A").click()
    expect(page.get_by_text("A was cancelled; other choices still work.")).to_be_visible()
    button(visit, "Cancel B").click()
    expect(page.get_by_text("A and B were cancelled")).to_be_visible()
    expect(bar).to_have_count(0)
    button(visit, "Run A and B again").click()
    expect(button(visit, "Cancel A")).to_be_visible()
    expect(page.get_by_text("were cancelled")).to_have_count(0)
    visit.choose("Model", "teaching-resnet")
    visit.await_command("compare teaching-resnet")
    visit.settle()


def test_one_bar_shows_what_the_run_is_at(visit: AppPage):
    visit.page.goto(f"{visit.address}/{LONG}&a=layerwise&dtype=int8")
    bar = visit.page.get_by_test_id("stProgress")
    expect(bar.get_by_text(re.compile(r"(Importing|Planning|Lowering|Simulating)"))).to_be_visible()
    expect(bar).to_have_count(1)
    button(visit, "Cancel A").click()
    expect(button(visit, "Cancel B")).to_be_visible()
    button(visit, "Cancel B").click()
    expect(visit.page.get_by_text("A and B were cancelled")).to_be_visible()


def test_a_link_opens_the_same_scene_command_and_selection(
    visit: AppPage, browser: Browser, address: str
):
    query = "&set_b=lowering.tiles%3D8&set_b=graphturbo.fit%3Dcluster&skip=remove-identity"
    views = "&views=Graph&views=Every+core&selected=b-group-1&window=100-9000,100-9000"
    visit.open(f"{TAUGHT}{query}{views}")
    first = visit.link()
    with browser.new_context(viewport={"width": 1400, "height": 2600}) as context:
        other = AppPage.of(context, address)
        other.open(first)
        assert other.link() == first
        assert other.command() == visit.command()
        assert "--set graphturbo.fit=cluster --set lowering.tiles=8" in visit.command()
        for name in (GRAPH, GANTT):
            one, two = visit.scene(name), other.scene(name)
            assert [pane["title"] for pane in one["panes"]] == [p["title"] for p in two["panes"]]
        assert other.scene(GANTT)["windows"][0] == {"t0": 100, "t1": 9000}
        expect(other.page.get_by_text(re.compile(r"Sub-graph .* of B \(g2\)"))).to_be_visible()
        assert other.errors == []


def test_options_are_chosen_swapped_told_and_reset(visit: AppPage):
    visit.open(SMALL)
    page = visit.page
    with visit.box("run_b") as body:
        body.get_by_text("Splitting (Algorithm 1)").click()
        body.get_by_role("combobox", name="graphturbo.peak").click()
        page.get_by_role("option", name="literal").click()
        expect(body.get_by_text("1 changed")).to_be_visible()
    expect(page.get_by_text("option graphturbo.peak (true against literal)")).to_be_visible()
    expect(page).to_have_url(re.compile("set_b=graphturbo.peak%3Dliteral"))
    visit.await_command("--set graphturbo.peak=literal")
    with visit.box("run_a") as body:
        body.get_by_role("button", name="Swap A and B").click()
    expect(button(visit, "A, coarse · 1 option graphturbo@16")).to_be_visible()
    visit.await_scene(GANTT, "scene.panes[0].title === 'graphturbo@16'")
    expect(page).to_have_url(re.compile("set_a=graphturbo.peak%3Dliteral"))
    expect(page).not_to_have_url(re.compile("set_b"))
    visit.settle()  # a click is lost on a button that a run under way replaces
    with visit.box("run_a") as body:
        body.get_by_role("button", name="Reset").click()
    visit.await_command("--set graphturbo.peak=literal", count=0)
    visit.settle()


def test_the_cluster_batch_is_a_number_beside_the_text(visit: AppPage):
    visit.open(SMALL)
    for had, given, command in (("16", "4", "graphturbo@4 "), ("4", "", "graphturbo --batch")):
        with visit.box("run_b") as body:
            number = body.get_by_role("spinbutton", name="Cluster batch of B")
            expect(number).to_have_value(had)
            number.fill(given)
            number.press("Enter")
        visit.await_command(f"--strategies tvm@16,{command}")
    visit.settle()


def test_what_was_typed_does_not_come_back_once_the_page_has_set_it(visit: AppPage):
    """A closed popover's boxes are not in the browser, which keeps what was typed there."""
    visit.open("?model=teaching-resnet&a=tvm%402&b=graphturbo%4016")
    with visit.box("batch") as body:
        typed = body.get_by_role("spinbutton", name="Batch (samples)")
        typed.fill("4")
        typed.press("Enter")
    visit.await_command("--batch 4")
    with visit.box("run_a") as body:
        typed = body.get_by_role("spinbutton", name="Cluster batch of A")
        typed.fill("8")
        typed.press("Enter")
    visit.await_command("--strategies tvm@8,graphturbo@16")
    visit.choose("Model", "learn-net")
    visit.await_command("--batch 64")
    with visit.box("batch") as body:
        body.get_by_role("button", name="Same cluster batch").click()
    visit.await_command("--strategies tvm@16,graphturbo@16")
    visit.settle()
    visit.page.locator(".st-key-views").get_by_text("Memory", exact=True).click()
    expect(visit.page).to_have_url(re.compile("views=Memory"))
    visit.settle()
    with visit.box("batch") as body:
        expect(body.get_by_role("spinbutton", name="Batch (samples)")).to_have_value("64")
    with visit.box("run_a") as body:
        expect(body.get_by_role("spinbutton", name="Cluster batch of A")).to_have_value("16")
    assert "--strategies tvm@16,graphturbo@16" in visit.command()
    assert "--batch 64" in visit.command()


def test_a_plan_is_edited_from_the_graph_and_run_again(visit: AppPage):
    """docs/plan-files.md: with g1 and g2 merged there are two sub-graphs and three kernels."""
    visit.open(EDITED)
    page = visit.page
    assert "3 sub-graphs" in visit.scene(GRAPH)["panes"][1].get("head", "3 sub-graphs")
    visit.canvas(GRAPH).focus()
    for _ in range(3):
        page.keyboard.press("BracketRight")
    box = next(box for box in visit.scene(GRAPH)["panes"][1]["boxes"] if box)
    visit.canvas(GRAPH).click(position={"x": box["x"] + box["w"] / 2, "y": box["y"] + box["h"] / 2})
    expect(page.get_by_text(re.compile(r"Sub-graph .* of B \(g1\)"))).to_be_visible()
    expect(figure(visit, "Kernels launched")).to_have_text("4")
    button(visit, "Force this merge").click()
    expect(page.get_by_text("merge layer 1 (stem/conv) + layers 2 to 8 ")).to_be_visible()
    button(visit, "Run B again").click()
    expect(figure(visit, "Kernels launched")).to_have_text("3")
    expect(page.get_by_text("Kernels launched 4 in the run before, 3 now")).to_be_visible()
    visit.await_scene(GRAPH, "scene.panes[1].boxes.filter((box) => box).length === 2")
    assert "plan_b=" in page.url
    edited = page.locator(".overview .edited")
    expect(edited).to_have_text("Plan edited: 1 change · discard")
    edited.get_by_role("button").click()
    expect(edited).to_have_count(0)
    expect(figure(visit, "Kernels launched")).to_have_text("4")
    visit.settle()
    page.wait_for_url(lambda url: "plan_b=" not in url)
    page.wait_for_function("!graphturboPage.entry.href.includes('plan_b')")  # its own entry
    page.go_back()
    expect(edited).to_have_text("Plan edited: 1 change · discard")
    expect(figure(visit, "Kernels launched")).to_have_text("3")
    button(visit, "Undo all").click()
    button(visit, "Run B again").click()
    expect(figure(visit, "Kernels launched")).to_have_text("4")
    visit.settle()
    assert "plan_b=" not in page.url


def test_back_returns_with_the_current_choices(visit: AppPage):
    """An entry keeps all that was chosen on its page; Streamlit leaves less there."""
    visit.open("?model=teaching-resnet&batch=8")
    visit.turn_to("Verification", "What a replay checks")
    expect(visit.page.get_by_role("button", name="Verify A and B")).to_be_visible()
    visit.choose("Chip", "generic-4x4")
    visit.page.wait_for_url("**/verification?*chip=generic-4x4*")
    visit.rest()
    expect(visit.page.get_by_role("heading", name="What a replay checks")).to_be_visible()
    visit.turn_to("Explore", "Time breakdown")
    visit.await_command("--profile generic-4x4")
    visit.settle()
    visit.page.go_back()
    visit.page.wait_for_url("**/verification?*chip=generic-4x4*")
    expect(visit.page.get_by_role("button", name="Verify A and B")).to_be_visible()
    expect(button(visit, "Chip generic-4x4")).to_be_visible()
    expect(button(visit, "Model teaching-resnet")).to_be_visible()
    visit.page.go_back()
    visit.page.wait_for_url(lambda url: "chip=" not in url and "model=teaching-resnet" in url)
    expect(button(visit, "Chip stcp920")).to_be_visible()
    expect(button(visit, "Model teaching-resnet")).to_be_visible()


def named(url: str) -> list[tuple[str, str]]:
    """What an address names, in one order."""
    return sorted(parse_qsl(urlsplit(url).query))


def test_back_undoes_the_last_choice_whatever_made_it(visit: AppPage):
    """A list, a number, Present: an entry each, and one Back for each."""
    visit.open("?model=teaching-resnet&batch=8")
    page, seen = visit.page, []
    first = page.evaluate("history.length")

    def entered() -> None:
        """Wait for the entry, which comes once Streamlit has written the address."""
        page.wait_for_function(LENGTH, arg=first + len(seen))
        seen.append(named(page.url))

    entered()
    visit.choose("Chip", "generic-4x4")
    entered()
    with visit.box("run_b") as body:
        number = body.get_by_role("spinbutton", name="Cluster batch of B")
        number.fill("4")
        number.press("Enter")
    entered()
    visit.settle()
    button(visit, "Present").click()
    entered()
    assert all(one != other for one, other in pairwise(seen))
    for before in reversed(seen[:-1]):
        page.evaluate("window.isBefore = true")
        page.go_back()
        page.wait_for_url(lambda url, wanted=before: named(url) == wanted)
        page.wait_for_function("!window.isBefore")  # the page is loaded anew
        visit.settle()
    expect(button(visit, "Chip stcp920")).to_be_visible()
    page.go_forward()
    expect(button(visit, "Chip generic-4x4")).to_be_visible()


def test_all_text_of_the_page_can_be_read(visit: AppPage):
    visit.open(
        f"{EDITED}&views=Every+core&views=Memory&selected=b-group-1&set_b=lowering.tiles%3D8"
    )
    page = visit.page
    button(visit, "Force this merge").click()
    expect(page.get_by_text("Edits of B's plan")).to_be_visible()
    visit.settle()
    for theme in visit.in_both_themes():
        assert faint_texts(page) == []
        visit.shoot(f"state-{theme}")
        for name in ("menu", "model", "chip", "batch", "run_a", "settings", "share"):
            with visit.box(name) as body:
                expect(body).to_be_visible()
                assert faint_texts(page) == [], (name, theme)
    visit.settle()  # the switch of the theme runs the page again
    with visit.box("run_b") as body:
        for group in ("Splitting (Algorithm 1)", "Lowering"):
            body.get_by_text(group).click()
        expect(body.get_by_text("lowering.tiles")).to_be_visible()
        for _ in visit.in_both_themes():
            assert faint_texts(page) == []


def test_one_click_searches_and_another_one_takes_it_as_b(visit: AppPage) -> None:
    page, screen = visit.page, Overview(visit)
    page.set_viewport_size({"width": 1440, "height": 900})
    screen.open(SEARCHED)
    race = page.locator(".overview .race")
    race.get_by_role("button", name="+ Search a schedule").click()
    row = race.locator(".track.searched")
    expect(row).to_be_visible(timeout=SEARCH_MS)
    page.wait_for_url(lambda url: "best=true" in url)
    found = screen.run("""const { best, runs } = view.scene;
      const width = (track) => track.querySelector('.segments').getBoundingClientRect().width;
      const [a, , c] = root.querySelectorAll('.track');
      return { seconds: [runs[0].total, best.latency_s], widths: [width(a), width(c)],
        name: best.strategy, kernels: best.kernels };""")
    seconds, widths = found["seconds"], found["widths"]
    assert widths[1] / widths[0] == pytest.approx(seconds[1] / seconds[0], rel=0.02)
    figures = race.locator(".figure").all_inner_texts()
    assert figures[10] == f"{found['kernels']:,}"
    for width, height in SIZES:
        screen.size(width, height)
        assert [text.text for text in screen.texts() if not text.isInside] == [], width
        assert page.evaluate("document.documentElement.scrollWidth") == width
    screen.size(1440, 900)
    race.get_by_role("button", name="as B", exact=True).click()
    expect(race.locator(".who b").nth(1)).to_have_text(found["name"])
    expect(row).to_have_count(0)
    page.wait_for_url(lambda url: "b=best" in url and "best=true" not in url)
    expect(race.get_by_role("button", name="+ Search a schedule")).to_have_count(0)


def test_it_is_left_out_by_a_click(visit: AppPage) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1440, "height": 900})
    Overview(visit).open(f"{SEARCHED}&best=true")
    race = page.locator(".overview .race")
    expect(race.locator(".track.searched")).to_be_visible(timeout=SEARCH_MS)
    race.get_by_role("button", name="×", exact=True).click()
    expect(race.locator(".track.searched")).to_have_count(0)
    page.wait_for_url(lambda url: "best=true" not in url)


def test_a_search_under_way_counts_its_seconds(visit: AppPage) -> None:
    page = visit.page
    Overview(visit).open("?model=mobilenet-v2")
    page.get_by_role("button", name="+ Search a schedule").click()
    row = page.locator(".overview .race .edited")
    expect(row).to_have_text(re.compile(r"^best is being searched … [2-9] s"), timeout=SEARCH_MS)
    row.get_by_role("button", name="leave out").click()
    expect(row).to_have_count(0)
