"""The Chips page in headless Chromium: pictures, tips, keys, the editor, the chip in use, links."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Locator, expect

from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.contrast import faint_texts
from tests.ui.type_size import least_type

pytestmark = pytest.mark.browser

GENERIC = "?model=teaching-resnet&batch=8&chip=generic-4x4"
LB = "core.lb_data_bytes"
EDITED = f"{GENERIC}&chip_right=edit&chip_set={LB}=393216"


def open_page(visit: AppPage, query: str) -> Locator:
    """The page's component at an address, once it is drawn."""
    visit.page.goto(f"{visit.address}/chips{query}")
    found = visit.page.locator(".chips[data-scene]")
    found.wait_for()
    visit.rest()
    return found


def scene(visit: AppPage) -> dict:
    return json.loads(visit.page.locator(".chips").get_attribute("data-scene") or "{}")


def await_scene(visit: AppPage, test: str) -> dict:
    """Wait until `test`, JavaScript on `scene`, holds."""
    visit.page.wait_for_function(
        f"""() => {{
          const all = (root) => [...root.querySelectorAll("*")].flatMap(
            (e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
          const found = all(document).find((e) => e.matches(".chips[data-scene]"));
          const scene = found && JSON.parse(found.dataset.scene);
          return scene && {test};
        }}"""
    )
    return scene(visit)


def await_address(visit: AppPage, path: str, *texts: str) -> None:
    """Wait until the browser's address is of this page and names these, in any order."""
    visit.page.wait_for_function(
        "([path, texts]) => location.pathname.endsWith(path)"
        " && texts.every((text) => decodeURIComponent(location.search).includes(text))",
        arg=[path, list(texts)],
    )


def field(visit: AppPage, key: str) -> Locator:
    return visit.page.locator(f'.field[data-key="{key}"]')


def part(visit: AppPage, side: int, name: str) -> Locator:
    return visit.page.locator(".card").nth(side).locator(f'[data-part="{name}"]')


@pytest.mark.parametrize("query", [GENERIC, f"{EDITED}&chip_set=chip.clusters=0"])
def test_no_serious_fault_and_no_faint_text(visit: AppPage, query: str) -> None:
    open_page(visit, query)
    if "edit" in query:
        field(visit, "chip.clusters").locator("input").fill("many")
        expect(field(visit, "chip.clusters").locator(".fault")).to_be_visible()
    for _ in visit.in_both_themes():
        assert serious_faults(visit) == []
        assert faint_texts(visit.page) == []


@pytest.mark.parametrize(
    ("width", "height", "more"),
    [(1280, 720, ""), (1920, 1080, ""), (1280, 720, "&present=1"), (1920, 1080, "&present=1")],
)
def test_the_first_screen_is_the_whole_picture(
    visit: AppPage, width: int, height: int, more: str
) -> None:
    visit.resize(width, height)
    found = open_page(visit, f"{GENERIC}&chip_right=ipu-gc2{more}")
    box = found.bounding_box()
    assert box["y"] + box["height"] <= height + 1
    assert (box["x"], box["width"]) == (0, width)
    pictures = [svg.bounding_box() for svg in found.locator("svg.chip").all()]
    assert len(pictures) == 2
    assert pictures[0]["width"] == pytest.approx(pictures[1]["width"], abs=1)
    assert all(each["height"] > 0.55 * height for each in pictures)
    assert least_type(visit.page, ".chips") >= (18 if more else 11)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_has_one_picture_below_the_other(visit: AppPage) -> None:
    visit.resize(390, 800)
    found = open_page(visit, GENERIC)
    first, second = (card.bounding_box() for card in found.locator(".card").all())
    assert second["y"] >= first["y"] + first["height"]
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert least_type(visit.page, ".chips") >= 11


def test_a_part_shows_its_numbers_and_sources(visit: AppPage) -> None:
    open_page(visit, GENERIC)
    tip = visit.page.locator(".tip")
    expect(tip).to_be_hidden()
    part(visit, 1, "gb").locator(".gb").hover()
    expect(tip).to_contain_text("GB per cluster 8 MiB = 8,388,608 bytes; A 2 MiB")
    expect(tip).to_contain_text("cluster.gb_bytes published: 8 MiB global buffer per cluster")
    frame, shown = visit.page.locator(".chips").bounding_box(), tip.bounding_box()
    assert shown["x"] >= frame["x"]
    assert shown["x"] + shown["width"] <= frame["x"] + frame["width"]
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []
    expect(tip).to_be_visible()
    visit.page.locator(".chips h1").hover()
    expect(tip).to_be_hidden()


def test_keys_reach_every_part_and_close_the_tip(visit: AppPage) -> None:
    open_page(visit, GENERIC)
    tip = visit.page.locator(".tip")
    visit.page.locator('[data-figure="peak"]').focus()
    expect(tip).to_contain_text("16 matrix engines × 1,024 MAC per cycle = 16,384 MAC per cycle")
    visit.page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    visit.page.locator('[data-act="use"], [data-act="download"]').first.focus()
    seen = []
    for _ in range(10):
        visit.page.keyboard.press("Tab")
        seen.append(tip.locator("h3").inner_text().split(" ×")[0])
    assert seen == [
        "DRAM", "Chip", "Cluster", "GB, global buffer", "System DMA", "LB, local buffer",
        "Matrix engine", "Vector engine", "Link between cores", "Kernel",
    ]  # fmt: skip


def test_two_chips_are_chosen_in_their_heads(visit: AppPage) -> None:
    open_page(visit, GENERIC)
    visit.page.get_by_role("combobox", name="Chip on the right").select_option("goya")
    assert await_scene(visit, 'scene.right === "goya"')["names"] == ["generic-4x4", "goya"]
    visit.page.get_by_role("combobox", name="Chip on the left").select_option("stcp920")
    assert await_scene(visit, 'scene.left === "stcp920"')["names"] == ["stcp920", "goya"]
    expect(visit.page.get_by_role("button", name="Chip stcp920", exact=True)).to_be_visible()
    expect(visit.page.locator(".chips h1")).to_contain_text("goya against stcp920: 0.375× the peak")
    await_address(visit, "/chips", "chip_right=goya")


def test_what_is_typed_is_checked_and_drawn_at_once(visit: AppPage) -> None:
    open_page(visit, GENERIC)
    visit.page.get_by_role("button", name="Edit", exact=True).click()
    row = field(visit, LB)
    number = row.locator("input")
    number.fill("384 KiB")  # no Enter, and the field keeps the focus
    await_scene(visit, "scene.changes === 1")
    expect(row).to_have_attribute("data-state", "changed")
    expect(row.locator(".was")).to_contain_text("was 192 KiB")
    expect(part(visit, 0, "lb")).to_contain_text("384 KiB")
    expect(part(visit, 0, "lb")).to_contain_text("2×")
    number.fill("384 KiBs")
    expect(row).to_have_attribute("data-state", "fault")
    expect(row.locator(".fault")).to_have_text(
        "core.lb_data_bytes is 384 KiBs: write a whole number from 1 to 17592186044416"
    )
    expect(number).to_have_attribute("aria-invalid", "true")
    expect(visit.page.locator(".said")).to_contain_text("core.lb_data_bytes is 384 KiBs")
    expect(part(visit, 0, "lb")).to_contain_text("192 KiB")
    expect(number).to_be_focused()
    row.get_by_role("button", name="Reset LB data part").click()
    expect(number).to_have_value("192 KiB")
    await_scene(visit, "scene.changes === 0 && !Object.keys(scene.typed).length")
    expect(row.locator(".fault")).to_be_hidden()


def test_a_refusal_marks_the_key_that_it_names(visit: AppPage) -> None:
    open_page(visit, f"{GENERIC}&chip_right=edit")
    field(visit, "cluster.gb_bytes").locator("input").fill("0")
    port, latency = (f"cluster.gb_{name}" for name in ("bandwidth_bytes_per_s", "latency_cycles"))
    expect(field(visit, port).locator(".fault")).to_contain_text("remove it or give a GB")
    expect(field(visit, "cluster.gb_bytes").locator(".fault")).to_have_text(f"waits for {port}")
    for key in (port, latency):
        field(visit, key).locator("input").fill("")
    await_scene(visit, "scene.changes === 3")
    expect(part(visit, 0, "gb")).to_contain_text("no GB")
    await_address(visit, "/chips", "chip_set=cluster.gb_bytes=0")
    visit.page.get_by_role("button", name="Reset all").click()
    await_scene(visit, "scene.changes === 0")
    expect(field(visit, "cluster.gb_bytes").locator("input")).to_have_value("2 MiB")
    visit.page.wait_for_function("() => !location.search.includes('chip_set')")


def test_a_part_of_the_left_chip_opens_its_numbers(visit: AppPage) -> None:
    open_page(visit, GENERIC)
    part(visit, 0, "vector").click()
    expect(field(visit, "core.vector_lanes").locator("input")).to_be_focused()
    part(visit, 0, "kernel").focus()
    visit.page.keyboard.press("Enter")
    expect(field(visit, "kernel.launch_cycles").locator("input")).to_be_focused()
    visit.page.get_by_role("button", name="Compare").click()
    assert len(await_scene(visit, "!scene.isEditing")["names"]) == 2


def test_an_edited_chip_is_used_and_explore_runs_on_it(visit: AppPage) -> None:
    open_page(visit, EDITED)
    visit.page.get_by_role("button", name="Use this chip").click()
    await_scene(visit, "scene.isUsed")
    expect(visit.page.locator(".bar-facts")).to_contain_text("LB 448 KiB")
    visit.rest()
    with visit.box("menu") as body:
        body.get_by_role("link", name=re.compile("^Explore ")).click()
    visit.settle()
    assert "--profile generic-4x4-edited.yaml" in visit.command()
    visit.turn_to("Chips", "generic-4x4-edited against")
    assert await_scene(visit, "scene.isUsed")["changes"] == 1


def test_the_file_has_the_change_and_its_source(visit: AppPage) -> None:
    open_page(visit, EDITED)
    with visit.page.expect_download() as started:
        visit.page.get_by_role("button", name="Download YAML").click()
    assert started.value.suggested_filename == "generic-4x4-edited.yaml"
    read = yaml.safe_load(Path(started.value.path()).read_text(encoding="utf-8"))
    assert read["core"]["lb_data_bytes"] == {
        "value": 393_216,
        "source": "assumption: edited in the app, was 192 KiB",
    }


def test_the_link_gives_the_same_screen(visit: AppPage) -> None:
    open_page(visit, f"{GENERIC}&chip_right=edit")
    field(visit, LB).locator("input").fill("384 KiB")
    await_scene(visit, "scene.changes === 1")
    await_address(visit, "/chips", f"chip_set={LB}=393216")
    before = scene(visit)
    link = visit.link()
    assert "chip_set=core.lb_data_bytes%3D393216" in link
    assert "chip_right=edit" in link
    open_page(visit, link)
    assert scene(visit) == before
    expect(field(visit, LB)).to_be_in_viewport()


def test_back_undoes_the_last_edit(visit: AppPage) -> None:
    open_page(visit, f"{GENERIC}&chip_right=edit")
    visit.page.wait_for_timeout(600)
    field(visit, LB).locator("input").fill("384 KiB")
    await_address(visit, "/chips", f"chip_set={LB}=393216")
    visit.page.wait_for_timeout(600)
    visit.page.go_back()
    await_scene(visit, "scene.changes === 0 && scene.isEditing")
    expect(field(visit, LB).locator("input")).to_have_value("192 KiB")


def test_a_stranger_s_link_is_checked(visit: AppPage) -> None:
    open_page(visit, f"{GENERIC}&chip_set={LB}=abc&chip_set=x=%3Cb%3E&chip_right=nothing")
    for text in ("is left out", "is not a number of a chip", "not kept here"):
        expect(visit.page.get_by_text(text)).to_be_visible()
    assert scene(visit)["names"] == ["generic-4x4", "stcp920"]
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []


def test_the_menu_keeps_the_choices(visit: AppPage) -> None:
    open_page(visit, f"{GENERIC}&chip_right=goya")
    visit.turn_to("Verification", "What a replay checks")
    await_address(visit, "/verification", "chip=generic-4x4")
    visit.rest()
    visit.turn_to("Chips", "goya against generic-4x4")
    await_address(visit, "/chips", "chip=generic-4x4", "chip_right=goya", "model=teaching-resnet")


def test_presenting_shows_the_pictures_alone(visit: AppPage) -> None:
    open_page(visit, f"{GENERIC}&present=1")
    expect(visit.page.locator(".st-key-top_bar")).to_be_hidden()
    expect(visit.page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
    part(visit, 0, "dram").locator(".dram").first.hover()
    expect(visit.page.locator(".tip")).to_contain_text("DRAM bandwidth per cluster 16 GB/s")
    visit.page.keyboard.press("Escape")
    expect(visit.page.locator(".tip")).to_be_hidden()
    expect(visit.page.locator(".st-key-top_bar")).to_be_hidden()
    visit.page.keyboard.press("Escape")
    expect(visit.page.locator(".st-key-top_bar")).to_be_visible()
    expect(visit.page.get_by_role("button", name="Edit", exact=True)).to_be_visible()
