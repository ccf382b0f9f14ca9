"""Learn in headless Chromium: every step, its control and its question, with keys alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from graphturbo_core.lecture.results import kept_results
from graphturbo_core.lecture.steps import lecture_steps
from graphturbo_ui.learn.lesson import knobs, lesson
from graphturbo_ui.learn.pictures import PICTURES
from graphturbo_ui.session.learn import LecturePlace
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

STEPS = [step for step in lecture_steps() if step.number in PICTURES]
EVERY_STEP = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
PRINTED = {
    "Handout": "/help/lecture/handout.html",
    "Worksheet": "/help/lecture/worksheet.html",
    "Plan": "/help/lecture/plan.html",
}
LESSON = {step["key"]: step for step in json.loads(lesson(LecturePlace(1), [], {}))["steps"]}


def right_of(step) -> int:
    return next(at for at, choice in enumerate(step.question.choices) if choice.is_right)


def locked_values(step) -> list[str]:
    """Values of the control that would show the answer."""
    values = LESSON[step.number]["knob"]["values"]
    return [value["key"] for value in values if value["is_hidden"]]


def waiting_bytes(step: int, key: str) -> dict[str, int]:
    """Sums of what waits in each memory, by the names that step 5 gives them."""
    runs = LESSON[step]["data"].get("runs", {})
    parts = runs.get(key, {}).get("parts", []) if step == 5 else []
    return {
        f"{place}_bytes": sum(part["bytes"] for part in parts if part["place"] == place)
        for place in ("LB", "GB", "DRAM")
    }


@EVERY_STEP
def test_a_step_is_answered_with_the_keyboard_alone(visit: AppPage, step) -> None:
    found = open_page(visit, f"?step={step.number}")
    expect(found.locator("h1")).to_have_text(step.claim)
    expect(found.locator(".question h2")).to_have_text(step.question.text)
    press(visit, "r")  # no choice yet: nothing is revealed
    assert scene(visit)["isRevealed"] is False
    expect(found.locator(".takeaway")).to_be_hidden()
    settle(visit)
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []
    wrong = 1 if right_of(step) == 0 else 0
    press(visit, str(wrong + 1), str(right_of(step) + 1), str(wrong + 1), "r")
    shown = await_scene(visit, "scene.isRevealed && scene.time === 1")
    assert shown["chosen"] == wrong
    expect(found.locator(".choice[data-state=right] .text")).to_have_text(
        step.question.choices[right_of(step)].text
    )
    expect(found.locator(".choice[data-state=wrong]")).to_have_count(1)
    expect(found.locator(".takeaway")).to_have_text(step.takeaway)
    expect(found.locator(".why")).to_have_text(step.question.answer)
    press(visit, "1")  # an answer is final
    assert scene(visit)["chosen"] == wrong
    settle(visit)
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []


@EVERY_STEP
def test_keys_turn_the_control_and_the_link_keeps_it(visit: AppPage, step) -> None:
    keys = knobs()[step.number]
    found = open_page(visit, f"?step={step.number}")
    press(visit, str(right_of(step) + 1), "r")
    await_scene(visit, "scene.isRevealed")
    for _ in keys:
        press(visit, "ArrowUp")
    sentences = []
    for key in keys:
        assert scene(visit)["knob"] == key
        sentences.append(found.locator(".knob .result").inner_text())
        press(visit, "ArrowDown")
    assert sentences == [setting.sentence for setting in step.knob.settings]
    assert scene(visit)["knob"] == keys[-1]  # there is none after the last
    expect(visit.page).to_have_url(
        re.compile(rf"step={step.number}(&.*)?&knob={re.escape(keys[-1])}(&|$)")
    )
    visit.rest()
    visit.page.reload()
    found.wait_for()
    shown = await_scene(visit, "scene.step > 0")
    assert (shown["step"], shown["isRevealed"]) == (step.number, False)


def numbers_of(value: object) -> Iterator[float]:
    """Every number of a step's data."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from numbers_of(each)


@EVERY_STEP
def test_every_number_of_the_picture_is_a_kept_one(visit: AppPage, step) -> None:
    known = set(numbers_of(LESSON[step.number]["data"]))
    open_page(visit, f"?step={step.number}")
    press(visit, str(right_of(step) + 1), "r")
    await_scene(visit, "scene.isRevealed && scene.time === 1")
    keys = knobs()[step.number]
    for _ in keys:
        press(visit, "ArrowUp")
    for key in keys:
        numbers = await_scene(visit, f"scene.knob === {json.dumps(key)}")["numbers"]
        assert numbers
        derived = {"needed_bytes", "redundant_bytes"}
        waiting = waiting_bytes(step.number, key)
        strange = {
            name: value
            for name, value in numbers.items()
            if value not in known
            and value != waiting.get(name)
            and name not in derived
            and not name.startswith("gain_")
        }
        assert strange == {}
        press(visit, "ArrowDown")


def test_step_1_shows_what_the_runs_moved(visit: AppPage) -> None:
    results = kept_results()
    open_page(visit, "?step=1")
    press(visit, "1", "r")
    await_scene(visit, "scene.isRevealed && scene.time === 1")
    press(visit, "ArrowUp")
    for run in ("layerwise", "tvm", "full"):
        numbers = scene(visit)["numbers"]
        dram = results.runs[run].dram
        assert numbers["crossed_bytes"] == results.runs[run].dram_bytes
        assert numbers["needed_bytes"] == results.compulsory_dram_bytes
        assert numbers["redundant_bytes"] == results.runs[run].dram_bytes - 41_792
        assert numbers.get("activation_bytes", 0) == dram.get("activation", 0)
        press(visit, "ArrowDown")


def test_step_4_parks_less_depth_first(visit: AppPage) -> None:
    open_page(visit, "?step=4&knob=24")
    breadth = [scene(visit)["numbers"][f"breadth_parked_{at}"] // 1024 for at in range(7)]
    assert breadth == [4, 8, 12, 16, 10, 2, 0]
    assert "depth_parked_0" not in scene(visit)["numbers"]
    press(visit, "2", "r")
    numbers = await_scene(visit, "scene.isRevealed && scene.time === 1")["numbers"]
    depth = [numbers[f"depth_parked_{at}"] // 1024 for at in range(7)]
    assert depth == [4, 4, 2, 6, 6, 2, 0]


def test_arrows_step_and_the_address_names_the_step(visit: AppPage) -> None:
    found = open_page(visit)
    seen = []
    for _ in STEPS:
        seen.append(scene(visit)["step"])
        press(visit, "ArrowRight")
    assert seen == [step.number for step in STEPS]
    assert scene(visit)["step"] == seen[-1]  # there is none after the last
    expect(visit.page).to_have_url(re.compile(rf"step={seen[-1]}&"))
    visit.rest()
    assert f"step={seen[-1]}" in visit.link()
    press(visit, "Escape", "ArrowLeft")
    await_scene(visit, f"scene.step === {seen[-2]}")
    found.get_by_role("button", name=f"Step {seen[0]}:").click()
    await_scene(visit, f"scene.step === {seen[0]}")


def test_the_step_outlasts_another_page(visit: AppPage) -> None:
    open_page(visit, "?step=4&knob=16")
    visit.turn_to("Verification", "What a replay checks")
    visit.rest()
    assert "step=" not in visit.page.url
    visit.turn_to("Learn", next(step.claim for step in STEPS if step.number == 4))
    shown = await_scene(visit, "scene.step === 4")
    assert shown["knob"] == "16"
    expect(visit.page).to_have_url(re.compile("step=4&"))


def test_a_wrong_link_is_said(visit: AppPage) -> None:
    open_page(visit, "?step=9")
    expect(visit.page.get_by_text("“9” is not a step of the lecture.")).to_be_visible()
    assert scene(visit)["step"] == STEPS[0].number
    open_page(visit, "?step=4&knob=17")
    expect(visit.page.get_by_text("Step 4 cannot be set to “17”.")).to_be_visible()
    assert scene(visit)["step"] == 4


def test_the_mouse_does_what_keys_do(visit: AppPage) -> None:
    found = open_page(visit, "?step=4")
    reveal = found.get_by_role("button", name="Reveal")
    expect(reveal).to_be_disabled()
    found.locator(".value", has_text="16").click()
    assert await_scene(visit, 'scene.knob === "16"')["step"] == 4
    found.locator(".choice").nth(2).click()
    reveal.click()
    await_scene(visit, "scene.isRevealed && scene.time === 1")
    found.get_by_role("button", name="Notes").click()
    expect(found.locator(".notes")).to_contain_text("Often believed:")
    press(visit, "n")
    expect(found.locator(".notes")).to_be_hidden()


@EVERY_STEP
def test_notes_are_seen_where_they_open(visit: AppPage, step) -> None:
    visit.resize(1280, 720)
    visit.page.emulate_media(reduced_motion="no-preference")
    found = open_page(visit, f"?step={step.number}")
    side = found.locator(".side").bounding_box()
    for keys in (("n",), ("n", str(right_of(step) + 1), "r", "n")):
        press(visit, *keys)
        box = found.locator(".notes").bounding_box()
        assert box["y"] >= side["y"]
        assert box["y"] + box["height"] <= side["y"] + side["height"] + 1


def test_a_clock_beside_the_steps_is_paused_by_p(visit: AppPage) -> None:
    found = open_page(visit, "?step=1")
    pace = found.locator(".pace")
    expect(pace).to_be_hidden()
    press(visit, "p")
    expect(pace).to_have_text(re.compile(rf"^0:0\d of {STEPS[0].minutes} min$"))
    expect(pace).to_have_text(re.compile(r"^0:0[1-9] of"))
    press(visit, "ArrowRight")  # each step has its own
    expect(pace).to_have_text(f"0:00 of {STEPS[1].minutes} min")
    press(visit, "ArrowLeft", "p")
    expect(pace).to_have_text(re.compile(r"^0:0[1-9] of .*, paused$"))
    paused = pace.inner_text()
    visit.page.wait_for_timeout(1200)
    assert pace.inner_text() == paused
    settle(visit)
    assert faint_texts(visit.page) == []
    assert serious_faults(visit) == []


def test_the_foot_links_to_the_printed_pages(visit: AppPage) -> None:
    found = open_page(visit, "?step=1")
    for name, path in PRINTED.items():
        link = found.get_by_role("link", name=name, exact=True)
        assert link.get_attribute("href") == path
        # Without a site, or with an older one, the app answers in words, not with an empty page.
        answer = visit.page.request.get(f"{visit.address}{path}")
        words = {503: "The documentation is not built", 404: "The documentation has no such page"}
        assert words.get(answer.status, "coarse sub-graphs") in answer.text()


def test_what_gives_the_answer_away_is_locked(visit: AppPage) -> None:
    for step in STEPS:
        hidden = locked_values(step)
        if not hidden:
            continue
        found = open_page(visit, f"?step={step.number}")
        expect(found.locator(".value:disabled")).to_have_count(len(hidden))
        press(visit, str(right_of(step) + 1), "r")
        await_scene(visit, "scene.isRevealed")
        expect(found.locator(".value:disabled")).to_have_count(0)


def test_a_locked_value_in_the_link_is_not_shown(visit: AppPage) -> None:
    for step in STEPS:
        for key in locked_values(step)[:1]:
            open_page(visit, f"?step={step.number}&knob={key}")
            shown = await_scene(visit, f"scene.step === {step.number}")
            assert shown["knob"] != key


def test_an_end_state_is_shown_to_those_who_asked_for_less_motion(visit: AppPage) -> None:
    open_page(visit, "?step=1")
    shown = scene(visit)
    assert (shown["time"], shown["isPlaying"]) == (shown["end"], False)
    expect(visit.page.get_by_role("button", name="Replay")).to_be_visible()


def test_the_picture_plays_and_stops_at_space(visit: AppPage) -> None:
    visit.resize(1280, 720)
    visit.page.emulate_media(reduced_motion="no-preference")
    found = open_page(visit, "?step=1")
    await_scene(visit, "scene.isPlaying && scene.time > 0.02")
    press(visit, "Space")
    time = await_scene(visit, "!scene.isPlaying")["time"]
    assert 0 < time < scene(visit)["end"]
    visit.page.wait_for_timeout(300)
    assert scene(visit)["time"] == time
    expect(found.get_by_role("button", name="Play", exact=True)).to_be_visible()
    press(visit, "Space")
    await_scene(visit, f"scene.time > {time}")
    press(visit, "1", "r")
    await_scene(visit, "scene.isRevealed && scene.isPlaying")
    await_scene(visit, "!scene.isPlaying && scene.time === 1")
    found.get_by_role("button", name="Replay").click()
    await_scene(visit, "scene.isPlaying && scene.time < 0.5")


@EVERY_STEP
@pytest.mark.parametrize("more", ["", "&present=1"])
def test_a_step_fits_one_screen(visit: AppPage, step, more: str) -> None:
    found = assert_fits(
        visit, lambda: open_page(visit, f"?step={step.number}{more}"), str(right_of(step) + 1),
        more, f"learn-{step.key}",
    )  # fmt: skip
    if more:
        for hidden in (".foot", ".values", ".reveal", ".notes"):
            expect(found.locator(hidden)).to_be_hidden()
        press(visit, "n", "p")
        for hidden in (".notes", ".pace"):
            expect(found.locator(hidden)).to_be_hidden()
        press(visit, "Escape")
        expect(found.locator(".foot")).to_be_visible()


@pytest.mark.parametrize("step", (STEPS[0], STEPS[-1]), ids=lambda step: step.key)
def test_explore_opens_with_both_runs(visit: AppPage, step) -> None:
    """The links of all steps are read without a browser."""
    found = open_page(visit, f"?step={step.number}")
    with visit.page.expect_popup() as waited:
        found.get_by_role("link", name="Open in Explore").click()
    explore = AppPage(waited.value, visit.address)
    explore.settle()
    assert "learn-net" in explore.command()
    assert "--profile learn-1x4" in explore.command()
    explore.page.close()
