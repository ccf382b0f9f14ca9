"""What the page Learn draws is what the kept results say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from graphturbo_core.lecture.results import kept_results
from graphturbo_core.lecture.steps import lecture_steps
from graphturbo_ui.components.sources import LEARN
from graphturbo_ui.learn.keys import setting_key
from graphturbo_ui.learn.lesson import GIVES_AWAY, REVEALED, knobs, lesson
from graphturbo_ui.learn.pictures import PICTURES
from graphturbo_ui.palette import IMAGE_COLOURS
from graphturbo_ui.session.learn import LecturePlace

SCRIPTS = Path(__file__).parents[3] / "graphturbo_ui" / "components" / LEARN.name
RESULTS = kept_results()
STEPS = {step.number: step for step in lecture_steps()}
LESSON = json.loads(lesson(LecturePlace(1), [], {}))
SHOWN = {step["key"]: step for step in LESSON["steps"]}


def data_of(number: int) -> dict:
    return SHOWN[number]["data"]


def test_every_step_that_is_listed_has_a_picture() -> None:
    text = (SCRIPTS / "steps.js").read_text(encoding="utf-8")
    assert [int(number) for number in re.findall(r"(\d+): step\d", text)] == list(PICTURES)
    assert list(SHOWN) == list(PICTURES) == sorted(PICTURES)


def test_each_step_has_its_texts_and_one_right_answer() -> None:
    for number, shown in SHOWN.items():
        step = STEPS[number]
        assert shown["claim"] == step.claim
        assert shown["takeaway"] == step.takeaway
        answer = shown["question"]["answer"]
        assert [choice.is_right for choice in step.question.choices].count(True) == 1
        assert step.question.choices[answer].is_right
        assert len(step.question.choices) <= 5  # keys 1 to 5
        assert f"“{step.belief}” {step.correction}" in shown["notes"][0]


def test_values_of_a_control_have_names_of_their_own_in_the_address() -> None:
    for number, values in knobs().items():
        assert len(set(values)) == len(values)
        assert all(re.fullmatch(r"[a-z0-9.-]+", value) for value in values)
        assert SHOWN[number]["knob"]["first"] in values
        assert len(values) == len(STEPS[number].knob.settings)


def test_the_first_value_is_not_locked_and_the_revealed_one_is_there() -> None:
    for number, shown in SHOWN.items():
        values = {value["key"]: value for value in shown["knob"]["values"]}
        assert not values[shown["knob"]["first"]]["is_hidden"]
        revealed = shown["knob"]["revealed"]
        assert (revealed in values) == (number in REVEALED)
    assert [value["is_hidden"] for value in SHOWN[2]["knob"]["values"]] == [False, True, True, True]
    runs = {run for step in STEPS.values() for each in step.knob.settings for run in each.runs}
    assert set().union(*GIVES_AWAY.values()) | set(REVEALED.values()) <= runs


def test_step_1_has_every_byte_over_dram() -> None:
    for setting in STEPS[1].knob.settings:
        shown = data_of(1)["runs"][setting_key(setting)]
        sides = [
            side for kernel in shown["kernels"] for side in (kernel["reads"], kernel["writes"])
        ]
        total = sum(size for side in sides for _, size in side)
        assert total == shown["dram"] == RESULTS.runs[setting.runs[0]].dram_bytes
        by_cause: dict[str, int] = {}
        for cause, size in (pair for side in sides for pair in side):
            by_cause[cause] = by_cause.get(cause, 0) + size
        assert by_cause == shown["causes"]


def test_step_1_names_ops_and_layers() -> None:
    runs = data_of(1)["runs"]
    assert [kernel["names"][0] for kernel in runs["op"]["kernels"]] == [
        "conv1", "relu1", "conv2", "relu2", "conv3", "relu3",
        "conv4", "relu4", "conv5", "relu5", "conv6", "add",
    ]  # fmt: skip
    assert [kernel["names"][0] for kernel in runs["layer"]["kernels"]] == [
        f"conv{number}" for number in range(1, 7)
    ]


def test_step_2_has_what_is_live_and_what_fits() -> None:
    # image 16 KiB and relu1 32 KiB for 8 images; four LBs of 4 KiB.
    shown = data_of(2)
    assert (shown["whole"], shown["capacity"]) == (48 * 1024, 16 * 1024)
    assert [(each["pieces"], each["peak"] // 1024) for each in shown["candidates"]] == [
        (1, 48), (2, 24), (4, 12), (8, 6),
    ]  # fmt: skip
    assert [each["fits"] for each in shown["candidates"]] == [False, False, True, True]
    for each in shown["candidates"]:
        assert each["peak"] * each["pieces"] == shown["whole"]


def test_step_3_has_every_layer_in_one_group() -> None:
    shown = data_of(3)
    assert [layer["pieces"] for layer in shown["layers"]] == [4, 4, 2, 1, 1, 1]
    for grouping in shown["groupings"]:
        assert [card for group in grouping["groups"] for card in group] == list(range(6))
    assert shown["named"] == [
        {"name": "g1", "layers": [0, 1]},
        {"name": "g2", "layers": [2]},
        {"name": "g3", "layers": [3, 4, 5]},
    ]
    by_key = {each["key"]: each for each in shown["groupings"]}
    fastest = min(by_key.values(), key=lambda each: each["cycles"])
    assert fastest["label"] == next(c.text for c in STEPS[3].question.choices if c.is_right)
    assert fastest["key"] not in shown["shown"]


def test_step_4_parks_what_its_images_have() -> None:
    for size, pair in data_of(4)["runs"].items():
        assert pair["capacity"] == int(size) * 1024
        for lane in (pair["depth"], pair["breadth"]):
            for kernel in lane["kernels"]:
                assert kernel["parked_bytes"] <= pair["capacity"]
                assert kernel["parked_bytes"] == sum(each["bytes"] for each in kernel["parked"])
                images = [image for each in kernel["parked"] for image in each["images"]]
                assert set(images) <= set(range(1, 9))


def test_step_5_has_every_byte_that_waits_in_one_place() -> None:
    # relu2: 16 KiB for 8 images, of which conv3's first kernel reads four.
    for shown in data_of(5)["runs"].values():
        assert sum(part["bytes"] for part in shown["parts"]) == 8 * 1024
        assert {part["image"] for part in shown["parts"]} == {5, 6, 7, 8} == set(shown["images"])
    near, gb, dram = data_of(5)["runs"].values()
    assert [part["place"] for part in near["parts"]] == ["LB"] * 4 + ["GB"] * 2
    assert {part["place"] for part in gb["parts"]} == {"GB"}
    assert {part["place"] for part in dram["parts"]} == {"DRAM"}
    assert (near["takes"], gb["takes"]) == ([0, 2, 1, 3], None)
    assert [each["bytes"] for each in data_of(5)["compared"]] == [7168, 9216]


def test_step_5_moves_halves_to_the_cores_that_take_their_images() -> None:
    near = next(iter(data_of(5)["runs"].values()))
    for move in near["moves"]:
        assert near["takes"][near["images"].index(move["image"])] == move["to"]
        assert any(
            part["image"] == move["image"] and part["core"] == move["from"]
            for part in near["parts"]
        )


def test_step_6_has_what_the_first_group_reads() -> None:
    for setting in STEPS[6].knob.settings:
        shown = data_of(6)["runs"][setting_key(setting)]
        run = RESULTS.runs[setting.runs[0]]
        own = shown["kernels"]
        assert len(own) == run.groups[0].pieces
        assert sum(kernel["input"] for kernel in own) == run.dram["input"] == data_of(6)["whole"]
        assert sum(kernel["halo"] for kernel in own) == run.dram["halo"]
        assert shown["read"] == run.dram["input"] + run.dram["halo"]
        assert shown["halo_macs"] == run.halo_macs
    rows = data_of(6)["runs"]["8-by-rows"]["kernels"]
    # A band's borders are those above it, as of the last band, and those below, as of the first.
    above, below = rows[0]["halo"], rows[7]["halo"]
    assert {kernel["halo"] for kernel in rows[1:7]} == {above + below}


def test_step_7_has_the_same_work_in_both_lanes() -> None:
    def busy(lane: dict, engine: str) -> int:
        return sum(
            each["to"] - each["from"] for each in lane["intervals"] if each["engine"] == engine
        )

    lanes = data_of(7)["lanes"]
    # Without fences: one load, three computes of 1,152 cycles, 10 of latency, and what comes after.
    assert lanes["free"]["cycles"] == 4 * 1152 + 10 + lanes["free"]["after"]
    assert (lanes["fenced"]["before"], lanes["free"]["before"]) == (264, 0)
    for lane in lanes.values():
        by_end = sorted(lane["intervals"], key=lambda each: each["to"])
        ends = {each["engine"]: each["to"] for each in by_end}
        assert ends["compute"] + lane["after"] == lane["cycles"] >= ends["store"] > ends["compute"]
    assert busy(lanes["fenced"], "compute") == busy(lanes["free"], "compute") > 0
    assert lanes["free"]["cycles"] < lanes["fenced"]["cycles"]
    for lane in lanes.values():
        assert max(each["to"] for each in lane["intervals"]) <= lane["cycles"]


def test_step_8_has_a_bar_per_run_in_words() -> None:
    stairs = data_of(8)["stairs"]
    assert [each["key"] for each in stairs] == ["layerwise", "tvm", "gb", "lb", "order", "full"]
    assert [each["run"] for each in stairs] == ["", "A", "", "", "", "B"]
    for each in stairs:
        assert each["cycles"] == RESULTS.runs[each["key"]].cycles
        assert len(each["names"][1]) < len(each["names"][0])


def test_step_8_loses_where_the_answer_says() -> None:
    settings = {each["key"]: each for each in data_of(8)["settings"]}
    lost = [key for key, each in settings.items() if each["slow_b"] > each["slow_a"]]
    locked = [value["key"] for value in SHOWN[8]["knob"]["values"] if value["is_hidden"]]
    assert lost == locked == [SHOWN[8]["knob"]["revealed"]]
    assert all(each["b"] < each["a"] for each in settings.values())
    assert {each["kib"] for each in settings.values()} == {
        point["kib"] for point in data_of(8)["points"]
    }


def test_every_image_has_a_colour_of_its_own() -> None:
    assert len(set(IMAGE_COLOURS)) == RESULTS.images
    assert LESSON["colours"]["images"] == list(IMAGE_COLOURS)


@pytest.mark.parametrize("number", PICTURES)
def test_a_link_to_explore_names_model_chip_and_both_runs(number: int) -> None:
    link = SHOWN[number]["explore"]
    assert link.startswith("./?model=learn-net&chip=learn-1x4")
    assert "&a=" in link and "&b=" in link
    presented = json.loads(lesson(LecturePlace(number), [("present", "1")], {}))
    shown = next(step for step in presented["steps"] if step["key"] == number)
    assert shown["explore"] == f"{link}&present=1"
    assert presented["mode"] == "present"
    assert presented["start"] == {"step": number, "knob": "", "isYours": False}
