"""Steps of the lecture on Explore's model and chip, in headless Chromium."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, expect

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.lecture.yours.cutting import cut_of
from graphturbo_core.lecture.yours.traffic import traffic_of
from graphturbo_core.lecture.yours.waiting import order_of
from graphturbo_core.pipeline import run_report
from graphturbo_core.report.report import Report
from graphturbo_core.run_request import RunRequest
from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.browser.pages.learn_page import (
    assert_fits,
    await_scene,
    open_page,
    press,
    scene,
    settle,
)
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

MODEL, CHIP, BATCH = "teaching-resnet", "generic-4x4", 128
CHOICES = {"model": MODEL, "chip": CHIP, "batch": BATCH, "a": "tvm", "b": "graphturbo"}
POSSIBLE = (1, 2, 4, 8)
EVERY = pytest.mark.parametrize("step", POSSIBLE)
DRAWN = "scene.isYours && !scene.isBlocked && !scene.isPartial"


def query(step: int, **changed: object) -> str:
    return "?" + urlencode({"step": step, "network": "yours", **CHOICES, **changed})


def open_yours(visit: AppPage, step: int, more: str = "") -> Locator:
    visit.page.goto(f"{visit.address}/learn{query(step)}{more}")
    found = visit.page.locator(".learn[data-scene]")
    found.wait_for()
    await_scene(visit, f"{DRAWN} && scene.step === {step}")
    visit.rest()
    return found


def report_of(strategy: str, **options: str) -> Report:
    request = RunRequest(MODEL, strategy, CHIP, BATCH, options=options)
    return run_report(load_sample(MODEL), request)


def test_each_step_is_answered_on_explore_s_model(visit: AppPage) -> None:
    for step in POSSIBLE:
        found = open_yours(visit, step)
        expect(found.locator(".own")).to_contain_text(f"{MODEL} on {CHIP}, batch {BATCH}")
        expect(found.get_by_role("button", name=MODEL)).to_have_attribute("aria-pressed", "true")
        settle(visit)
        for _ in visit.in_both_themes():
            assert faint_texts(visit.page) == []
            assert serious_faults(visit) == []
        press(visit, "1", "r")
        await_scene(visit, "scene.isRevealed && scene.time === 1")
        expect(found.locator(".choice[data-state=right]")).to_have_count(1)
        expect(found.locator(".takeaway")).not_to_be_empty()
        settle(visit)
        for _ in visit.in_both_themes():
            assert faint_texts(visit.page) == []
            assert serious_faults(visit) == []
    assert visit.errors == []


def test_the_numbers_are_those_of_the_runs(visit: AppPage) -> None:
    tvm, method = report_of("tvm"), report_of("graphturbo")
    open_yours(visit, 1)
    press(visit, "1", "r")
    await_scene(visit, "scene.isRevealed && scene.time === 1")
    for report in (tvm, method):
        sizes = scene(visit)["numbers"]
        expected = traffic_of(report)
        assert sizes["crossed_bytes"] / sizes["needed_bytes"] == pytest.approx(
            expected.dram_bytes / expected.needed_bytes
        )
        press(visit, "ArrowDown")
    open_yours(visit, 2)
    press(visit, "1", "r")
    numbers = await_scene(visit, "scene.isRevealed && scene.time === 1")["numbers"]
    cut = cut_of(method)
    assert cut is not None
    assert numbers["whole_bytes"] == cut.whole_bytes
    assert numbers["capacity_bytes"] == cut.capacity_bytes
    assert numbers["piece_bytes"] == cut.whole_bytes // cut.pieces
    open_yours(visit, 4)
    press(visit, "1", "r")
    numbers = await_scene(visit, "scene.isRevealed && scene.time === 1")["numbers"]
    breadth = report_of("graphturbo", **{"graphturbo.instance_order": "breadth-first"})
    for name, report in (("depth", method), ("breadth", breadth)):
        order = order_of(report)
        assert numbers[f"{name}_cycles"] == order.cycles
        waiting = [numbers[f"{name}_waiting_{at}"] for at in range(len(order.kernels))]
        assert waiting == [kernel.waiting_bytes for kernel in order.kernels]
    open_yours(visit, 8)
    numbers = scene(visit)["numbers"]
    assert numbers["mark_a"] == tvm.contract["latency_s"]
    assert numbers["mark_b"] == method.contract["latency_s"]
    assert numbers["bound"] == method.contract["lower_bound_s"]
    layerwise = report_of("layerwise").contract["latency_s"]
    assert [numbers[f"stair_{at}"] for at in (0, 1, 5)] == [
        layerwise, tvm.contract["latency_s"], method.contract["latency_s"],
    ]  # fmt: skip


def test_the_network_is_chosen_by_a_button_or_a_key_and_the_link_keeps_it(visit: AppPage) -> None:
    found = open_page(visit, "?" + urlencode({"step": 2, **CHOICES}))
    expect(found.locator(".own")).to_contain_text("lesson's own")
    found.get_by_role("button", name=MODEL).click()
    await_scene(visit, DRAWN)
    expect(visit.page).to_have_url(re.compile("network=yours"))
    press(visit, "1", "r")
    await_scene(visit, "scene.isRevealed")
    press(visit, "ArrowRight")  # step 3 has the lesson's network only
    shown = await_scene(visit, "scene.step === 3")
    assert shown["isYours"] is False
    expect(found.get_by_role("button", name=MODEL)).to_be_disabled()
    expect(found.locator(".own")).to_contain_text("Only steps 1, 2, 4, 8 can be shown on")
    press(visit, "ArrowRight")
    await_scene(visit, f"{DRAWN} && scene.step === 4")
    press(visit, "ArrowLeft", "ArrowLeft")
    assert await_scene(visit, f"{DRAWN} && scene.step === 2")["isRevealed"] is True
    settle(visit)
    visit.page.reload()
    await_scene(visit, f"{DRAWN} && scene.step === 2")
    visit.rest()
    press(visit, "y")
    assert await_scene(visit, "!scene.isYours")["step"] == 2
    expect(visit.page).not_to_have_url(re.compile("network="))
    assert visit.errors == []


def test_a_step_that_does_not_fit_says_why(visit: AppPage) -> None:
    for step, changed, why in (
        (1, {"a": "tvm@2", "b": "graphturbo@4"}, "A and B take 2 and 4 samples at once"),
        (2, {"b": "tvm"}, "No group of B is cut between samples alone"),
        (4, {"b": "tvm"}, "B has one order only"),
        (8, {"b": "best"}, "B holds to a plan file or is a search"),
    ):
        visit.page.goto(f"{visit.address}/learn{query(step, **changed)}")
        said = visit.page.locator(".learn .blocked")
        expect(said).to_contain_text(why, timeout=60_000)
        expect(visit.page.locator(".learn .question")).to_be_hidden()
        press(visit, "1", "r", "ArrowDown", "Space")  # nothing to answer, turn or play
        assert scene(visit)["isBlocked"] is True
        visit.rest()
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []
    press(visit, "y")
    assert await_scene(visit, "!scene.isBlocked")["isYours"] is False
    assert visit.errors == []


def test_step_8_shows_the_staircase_before_the_other_sizes_of_lb(visit: AppPage) -> None:
    visit.page.goto(f"{visit.address}/learn{query(8, a='tvm@2', b='graphturbo@4')}")
    await_scene(visit, "scene.isPartial")
    press(visit, "1", "r")
    shown = scene(visit)
    assert "stair_0" in shown["numbers"] and "mark_a" not in shown["numbers"]
    expect(visit.page.get_by_text("Other sizes of LB are being simulated")).to_be_visible()
    shown = await_scene(visit, DRAWN)
    assert (shown["isRevealed"], shown["chosen"], "mark_a" in shown["numbers"]) == (False, -1, True)
    visit.rest()
    press(visit, "1", "r")
    await_scene(visit, "scene.isRevealed && scene.time === 1")
    assert visit.errors == []


def test_keys_do_nothing_while_runs_are_awaited(visit: AppPage) -> None:
    visit.page.goto(f"{visit.address}/learn{query(8, batch=96)}")
    await_scene(visit, "scene.isBlocked")
    press(visit, "Space", "ArrowDown", "1", "r", "Space")
    shown = await_scene(visit, f"{DRAWN} && scene.step === 8")
    assert (shown["knob"], shown["chosen"], shown["isRevealed"]) == ("x1", -1, False)
    assert visit.errors == []


def test_an_unknown_network_is_said(visit: AppPage) -> None:
    open_page(visit, "?step=2&network=mine")
    expect(visit.page.get_by_text("“mine” is not a network of the lecture.")).to_be_visible()
    assert scene(visit)["isYours"] is False


@EVERY
@pytest.mark.parametrize("more", ["", "&present=1"])
def test_a_step_fits_one_screen(visit: AppPage, step: int, more: str) -> None:
    assert_fits(visit, lambda: open_yours(visit, step, more), "1", more, f"learn-yours-{step}")
