"""The top bar in headless Chromium: places, labels, keys, dropped files, clipboard, theme."""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import PROFILES_FOLDER
from graphturbo_ui.top_bar.bar import ABOUT
from tests.ui.app_server import AppPage
from tests.ui.contrast import faint_texts
from tests.ui.type_size import least_type

pytestmark = pytest.mark.browser

SMALL = "?model=teaching-resnet&batch=8&views=Export"
BAR = ".st-key-top_bar"
PARTS = (
    "menu",
    "model",
    "chip",
    "batch",
    "run_a",
    "run_b",
    "settings",
    "theme",
    "share",
    "present",
)
"""Keys of the bar's controls from left to right, without `bar_`."""
PANEL = "svg"
"""The first panel of the first screen: layers and memory."""
MOST_STOPS = 12
"""Tab stops before the first panel are fewer."""
SKIP = "A"
"""Streamlit's link to the content, which comes before all others where there is one."""
DROP = """([name, base64]) => {
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  const send = (kind) => document.querySelector("[data-testid=stMain]").dispatchEvent(
    new DragEvent(kind, { bubbles: true, cancelable: true, composed: true, dataTransfer }));
  send("dragover");
  const said = document.getElementById("graphturbo-drop").textContent;
  send("drop");
  return said;
}"""
FOCUSED = """() => {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  const host = document.activeElement;
  const place = host?.closest("[class*=st-key-bar_]")?.className.match(/st-key-bar_(\\w+)/);
  return place?.[1] ?? found?.tagName;
}"""


def drop(page: Page, name: str, data: bytes) -> str:
    """Drop a file on the page, not on an uploader; what the page says while it hangs there."""
    return page.evaluate(DROP, [name, base64.b64encode(data).decode()])


def boxes(page: Page) -> list[dict]:
    """The places of the bar's controls and of the chip's facts, from left to right."""
    places = [page.locator(f".st-key-bar_{part}").bounding_box() for part in PARTS]
    facts = page.locator(".bar-facts")
    if facts.is_visible():
        places.append(facts.bounding_box())
    return sorted((place for place in places if place), key=lambda place: place["x"])


@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(1440, 900, "dark"), (1280, 720, "light"), (720, 450, "light")]
)
def test_the_bar_stands_in_one_row_without_overlap(
    visit: AppPage, width: int, height: int, scheme: Literal["light", "dark"]
) -> None:
    visit.resize(width, height, scheme)
    visit.open(SMALL)
    bar = visit.page.locator(BAR).bounding_box()
    assert bar == {"x": 0, "y": 0, "width": width, "height": 56}
    places = boxes(visit.page)
    assert len(places) == len(PARTS) + (width > 1060)
    for one, other in pairwise(places):
        assert one["x"] + one["width"] <= other["x"] + 0.5
    assert all(each["y"] >= 0 and each["y"] + each["height"] <= 56 for each in places)
    assert places[-1]["x"] + places[-1]["width"] <= width
    assert least_type(visit.page, BAR, "[translate=no]") >= 11
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert faint_texts(visit.page) == []
    visit.page.mouse.wheel(0, 400)
    visit.page.wait_for_timeout(200)
    assert visit.page.locator(BAR).bounding_box()["y"] == 0


def test_facts_of_the_chip_are_whole_or_not_there(visit: AppPage) -> None:
    visit.open(f"{SMALL}&chip=stcp920-10mib")
    facts = visit.page.locator(".bar-facts")
    counts = set()
    for width in range(1070, 1480, 30):
        visit.page.set_viewport_size({"width": width, "height": 800})
        frame = facts.bounding_box()
        parts = [part.bounding_box() for part in facts.locator("span").all()]
        shown = [part for part in parts if part and part["y"] < frame["y"] + frame["height"] / 2]
        assert all(p["x"] + p["width"] <= frame["x"] + frame["width"] + 0.5 for p in shown), width
        counts.add(len(shown))
    assert len(counts) > 1


@pytest.mark.parametrize("query", [SMALL, "?model=bert-base"])
def test_a_phone_has_the_whole_bar_in_two_rows(visit: AppPage, query: str) -> None:
    visit.resize(390, 800)
    visit.open(query)
    places = boxes(visit.page)
    assert len(places) == len(PARTS)
    assert all(each["x"] >= 0 and each["x"] + each["width"] <= 390 for each in places)
    assert len({each["y"] // 40 for each in places}) == 2
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_labels_show_the_present_choice_at_once_and_after_a_change(visit: AppPage) -> None:
    query = "?model=teaching-resnet&chip=generic-4x4&a=layerwise&b=graphturbo:lb@4&batch=16"
    visit.page.goto(f"{visit.address}/{query}&views=Export")
    for label in (
        "Model teaching-resnet", "Chip generic-4x4", "Batch 16", "A, fine layerwise",
        "B, coarse graphturbo:lb@4",
    ):  # fmt: skip
        expect(visit.page.get_by_role("button", name=label, exact=True)).to_be_visible()
    expect(visit.page.locator(".bar-facts")).to_have_text(
        "4 clusters × 4 cores · LB 256 KiB · GB 2 MiB · 16 GB/s DRAM per cluster"
    )
    visit.settle()
    visit.choose("Chip", "goya")
    expect(visit.page.get_by_role("button", name="Chip goya", exact=True)).to_be_visible()
    expect(visit.page.locator(".bar-facts")).to_contain_text("1 cluster × 8 cores")
    visit.settle()


def test_few_tab_stops_lie_before_the_first_panel(visit: AppPage) -> None:
    visit.open("?model=teaching-resnet&batch=8")
    found: list[str] = []
    while len(found) < MOST_STOPS + 2 and PANEL not in found:
        visit.page.keyboard.press("Tab")
        found.append(visit.page.evaluate(FOCUSED))
    if found[0] == SKIP:
        found.pop(0)
    # Behind the bar comes what has a schedule searched; the panel's help comes after the panel.
    assert found == [*PARTS, "BUTTON", PANEL]
    assert found.index(PANEL) < MOST_STOPS


def test_keys_open_a_popover_and_come_back(visit: AppPage) -> None:
    """Not at the first look: Streamlit fetches a number's code then, and a button has the focus."""
    visit.open(SMALL)
    page = visit.page
    with visit.box("batch") as body:
        expect(body.get_by_role("spinbutton", name="Batch (samples)")).to_be_visible()
    button = page.locator(".st-key-bar_batch").get_by_test_id("stPopoverButton")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("spinbutton", name="Batch (samples)")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    expect(button).to_be_focused()


def test_a_dropped_file_becomes_model_or_chip(visit: AppPage) -> None:
    visit.open(SMALL)
    page = visit.page
    said = drop(page, "mine.onnx", load_sample("teaching-resnet"))
    assert said == "Drop a model (.onnx) or a chip (.yaml) to use it"
    expect(page.get_by_role("button", name="Model mine.onnx", exact=True)).to_be_visible()
    visit.await_command("compare mine.onnx")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    drop(page, "chip.yaml", (PROFILES_FOLDER / "generic-4x4.yaml").read_bytes())
    expect(page.get_by_role("button", name="Chip chip.yaml", exact=True)).to_be_visible()
    visit.await_command("--profile chip.yaml")
    visit.settle()
    drop(page, "notes.txt", b"no model")
    expect(page.locator("#graphturbo-drop")).to_have_text("notes.txt is no .onnx and no .yaml file")


def test_share_copies_address_and_command(browser: Browser, address: str) -> None:
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        visit = AppPage.of(context, address)
        visit.open(SMALL)
        with visit.box("share") as body:
            body.get_by_role("button", name="Copy link").click()
            expect(body.get_by_text("Link copied.")).to_be_visible()
            copied = visit.page.evaluate("navigator.clipboard.readText()")
            body.get_by_role("button", name="Copy as command").click()
            expect(body.get_by_text("Command copied.")).to_be_visible()
            command = visit.page.evaluate("navigator.clipboard.readText()")
        assert copied == f"{address}/{visit.link()}"
        assert command == visit.command()
        assert visit.errors == []


def test_a_refused_clipboard_shows_the_link(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        context.add_init_script("navigator.clipboard.writeText = () => Promise.reject()")
        visit = AppPage.of(context, address)
        visit.open(SMALL)
        with visit.box("share") as body:
            body.get_by_role("button", name="Copy link").click()
            shown = body.get_by_role("textbox", name="Text to copy")
            expect(shown).to_be_visible()
            text = shown.input_value()
        assert text == f"{address}/{visit.link()}"


def test_the_theme_button_switches_the_whole_page_and_keeps_the_choices(visit: AppPage) -> None:
    visit.open(SMALL)
    page = visit.page
    for name, scheme in (("dark", "dark"), ("light", "light")):
        page.get_by_role("button", name=f"Switch to the {name} theme").click()
        page.wait_for_function(
            "(wanted) => getComputedStyle(document.querySelector('[data-testid=stApp]') ??"
            " document.body).colorScheme === wanted",
            arg=scheme,
        )
        visit.settle()
        assert "model=teaching-resnet" in page.url
        assert "views=Export" in page.url
    expect(page.get_by_role("button", name="Switch to the dark theme")).to_be_visible()


def test_the_theme_holds_on_the_other_page(visit: AppPage) -> None:
    visit.open(SMALL)
    visit.page.get_by_role("button", name="Switch to the dark theme").click()
    expect(visit.page.get_by_role("button", name="Switch to the light theme")).to_be_visible()
    visit.page.goto(f"{visit.address}/verification{SMALL}")
    expect(visit.page.get_by_role("button", name="Switch to the light theme")).to_be_visible()
    visit.rest()


def test_present_hides_the_bar_until_escape(visit: AppPage) -> None:
    visit.open(SMALL)
    page = visit.page
    page.get_by_role("button", name="Present", exact=True).click()
    expect(page.locator(BAR)).to_be_hidden()
    assert "present=1" in page.url
    visit.rest()
    page.keyboard.press("Escape")
    expect(page.locator(BAR)).to_be_visible()
    visit.settle()
    assert "present" not in page.url
    assert "compare teaching-resnet" in visit.command()
    page.goto(f"{visit.address}/{SMALL}&present=1")
    expect(page.locator(BAR)).to_be_hidden()
    page.wait_for_function("() => window.graphturboPage?.leave")
    visit.rest()
    page.keyboard.press("Escape")
    expect(page.locator(BAR)).to_be_visible()
    visit.settle()


def test_explore_opens_by_its_name(visit: AppPage) -> None:
    visit.page.goto(f"{visit.address}/explore{SMALL}")
    visit.settle()
    assert "compare teaching-resnet" in visit.command()
    expect(visit.page.get_by_text("Page not found")).to_have_count(0)


def test_the_address_keeps_the_choices_on_the_other_page(visit: AppPage) -> None:
    visit.open(SMALL)
    visit.turn_to("Verification", "What a replay checks")
    visit.page.wait_for_url("**/verification?*model=teaching-resnet*")
    visit.choose("Chip", "generic-4x4")
    visit.rest()
    visit.turn_to("Explore", "Export")
    visit.page.wait_for_url("**/?*model=teaching-resnet*")
    visit.settle()
    assert "chip=generic-4x4" in visit.page.url
    assert "batch=8" in visit.page.url


def test_the_menu_shows_that_it_opens_and_says_what_pages_have(visit: AppPage) -> None:
    for width in (1440, 390):
        visit.resize(width, 900)
        visit.open(SMALL)
        mark = visit.page.locator(".st-key-bar_menu button [aria-hidden=true]").first
        expect(mark).to_be_visible()
        with visit.box("menu") as body:
            links = body.get_by_test_id("stPageLink")
            for each in (links, links.locator("p span")):
                expect(each).to_have_count(len(ABOUT))
            assert faint_texts(visit.page) == []
            cut = "all => all.filter((each) => each.scrollWidth > each.clientWidth).length"
            assert links.locator("p").evaluate_all(cut) == 0
