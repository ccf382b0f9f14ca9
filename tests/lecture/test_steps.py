"""Sentences of the lecture: every number is a field, and every claim holds for the kept runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from graphturbo_core.lecture.facts import Facts, kib, percent, times, whole
from graphturbo_core.lecture.results import LectureResults, kept_results
from graphturbo_core.lecture.runs import KIB, RUNS
from graphturbo_core.lecture.step import LectureStep
from graphturbo_core.lecture.steps import TEMPLATES, lecture_steps, steps_of

FIELD = re.compile(r"\{[^{}]+\}")
NAME = re.compile(r"\b(?:conv|relu|g)\d(?:/\d)?\b")
NUMBER_WORDS = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten|half|halves|twice|third|quarter|fifth)s?\b"
)


def sentences(step: LectureStep) -> Iterator[tuple[str, str]]:
    """Place and text of every sentence; wrong choices and labels apart."""
    yield "claim", step.claim
    yield "picture", step.picture
    for setting in step.knob.settings:
        yield f"setting {setting.label}", setting.sentence
    yield "question", step.question.text
    for choice in step.question.choices:
        yield f"choice {choice.text}", choice.text
    yield "answer", step.question.answer
    yield "takeaway", step.takeaway
    yield "belief", step.belief
    yield "correction", step.correction
    for note in step.notes:
        yield "note", note


ALL = [(step.key, place, text) for step in TEMPLATES for place, text in sentences(step)]
FREE = {("pieces", "choice 2")}
"""A wrong choice that is no kept number."""
NAMES = {"choice nothing", "choice everything"}


@pytest.mark.parametrize(("key", "place", "text"), ALL)
def test_every_number_of_a_sentence_is_a_field(key: str, place: str, text: str) -> None:
    bare = NAME.sub("", FIELD.sub("", text))
    if (key, place) not in FREE:
        assert not re.search(r"\d", bare), bare
    assert not NUMBER_WORDS.search(bare.lower()), bare


def test_a_number_in_a_sentence_is_seen() -> None:
    assert re.search(r"\d", NAME.sub("", FIELD.sub("", "{a.cycles} of 7 in conv1")))
    assert NUMBER_WORDS.search("two pieces")
    assert not NUMBER_WORDS.search("the often quoted")


@pytest.fixture(name="kept")
def _kept() -> LectureResults:
    return kept_results()


def test_a_changed_result_changes_its_sentences(kept: LectureResults) -> None:
    full = replace(kept.runs["full"], cycles=99_999)
    changed = steps_of(replace(kept, runs={**kept.runs, "full": full}))
    named = 0
    for template, step in zip(TEMPLATES, changed, strict=True):
        for (_, text), (place, other) in zip(sentences(template), sentences(step), strict=True):
            if "{full.cycles}" in text:
                named += 1
                assert "99,999" in other, place
    assert named > 5


def test_steps_are_numbered_and_have_one_right_choice() -> None:
    steps = lecture_steps()
    assert [step.number for step in steps] == list(range(1, 9))
    assert len({step.key for step in steps}) == 8
    assert sum(step.minutes for step in steps) + 2 + 2 == 45
    for step in steps:
        texts = [choice.text for choice in step.question.choices]
        assert sum(choice.is_right for choice in step.question.choices) == 1
        assert len(set(texts)) == len(texts)
        assert not step.knob.settings[step.knob.first].is_hidden
        for setting in step.knob.settings:
            assert set(setting.runs) <= set(RUNS)


def test_labels_of_chip_numbers_are_those_of_the_runs(kept: LectureResults) -> None:
    steps = {step.key: step for step in lecture_steps()}
    for key, chip_key, unit in (
        ("order", "cluster.gb_bytes", KIB),
        ("overlap", "cluster.dram_bandwidth_bytes_per_s", 10**9),
        ("limits", "core.lb_data_bytes", KIB),
    ):
        knob = steps[key].knob
        for setting in knob.settings:
            own = {RUNS[name].chip.get(chip_key) for name in setting.runs}
            if setting is knob.settings[knob.first]:
                assert own <= {None, float(setting.label) * unit}
            else:
                assert own == {float(setting.label) * unit}
    for setting in steps["pieces"].knob.settings:
        pieces = RUNS[setting.runs[0]].edits.get("pieces", {"conv1": 4})
        assert pieces == {"conv1": int(setting.label)}


def cycles(kept: LectureResults, *names: str) -> list[int]:
    return [kept.runs[name].cycles for name in names]


def test_step_1_traffic(kept: LectureResults) -> None:
    """Each coarser kernel moves less, and groups move no result between kernels over DRAM."""
    moved = [kept.runs[name].dram_bytes for name in ("layerwise", "tvm", "full")]
    assert moved == sorted(moved, reverse=True)
    assert "activation" not in kept.runs["full"].dram
    # All but what is compulsory is redundant: results between kernels and border rows.
    tvm = kept.runs["tvm"]
    redundant = tvm.dram_bytes - kept.compulsory_dram_bytes
    assert redundant == tvm.dram["activation"] + tvm.dram["halo"]


def test_step_2_pieces(kept: LectureResults) -> None:
    """Three pieces of 16 KiB fill the LBs, but eight images are no multiple of three."""
    assert 4 * kept.lb_data_bytes / KIB == 48 / 3
    assert kept.images % 3
    assert Facts(kept)["exact_pieces"] == "3"
    fewer, more = cycles(kept, "full", "pieces_8")
    assert fewer < more
    assert len(kept.runs["pieces_8"].kernels) > len(kept.runs["full"].kernels)


def test_step_3_groups(kept: LectureResults) -> None:
    names = ("apart", "full", "join_23", "join_all", "join_12")
    step = lecture_steps()[2]
    assert [setting.runs for setting in step.knob.settings] == [(name,) for name in names]
    found = dict(zip(names, cycles(kept, *names), strict=True))
    fastest = min(found, key=found.__getitem__)
    right = [choice.is_right for choice in step.question.choices]
    assert right == [name == fastest for name in names]
    # Its pieces run in succession; none of its weights is fetched again.
    run = kept.runs["join_12"]
    assert [kernel.group for kernel in run.kernels] == ["g1"] * 4 + ["g2"]
    assert "weight_again" not in run.dram
    assert found["join_23"] > found["full"]
    assert found["plus"] if "plus" in found else kept.runs["plus"].cycles < found["full"]
    # Merged are neighbours with equal numbers of pieces.
    apart = [group.pieces for group in kept.runs["apart"].groups]
    assert [group.layers for group in kept.runs["full"].groups] == [
        tuple(f"conv{k + 1}" for k, own in enumerate(apart) if own == pieces)
        for pieces in dict.fromkeys(apart)
    ]


def test_step_4_order(kept: LectureResults) -> None:
    """Depth first is the faster one at each size but the largest."""
    step = lecture_steps()[3]
    wins = []
    for setting in step.knob.settings:
        depth, breadth = cycles(kept, *setting.runs)
        wins.append(depth < breadth)
    assert wins == [True] * 5 + [False]
    assert "weight_again" not in kept.runs["breadth_gb32"].dram
    assert "weight_again" in kept.runs["depth_gb32"].dram
    assert kept.runs["breadth_gb16"].dram["spill"] == 16 * KIB
    assert "spill" not in kept.runs["depth_gb16"].dram
    for name in ("depth_gb10", "breadth_gb10"):
        assert "activation" in kept.runs[name].dram
    kernels = [sorted(kernel.name for kernel in kept.runs[n].kernels) for n in ("full", "breadth")]
    assert kernels[0] == kernels[1]


def test_step_5_places(kept: LectureResults) -> None:
    step = lecture_steps()[4]
    found = cycles(kept, *(setting.runs[0] for setting in step.knob.settings))
    assert found == sorted(found)
    full, in_order = kept.runs["full"], kept.runs["cores_0123"]
    assert full.cycles == in_order.cycles
    assert full.core_to_core_bytes < in_order.core_to_core_bytes
    # Core 0 takes image 5, of which it has a half; core 2 takes image 6, of which it has a half.
    before, reader = full.kernels[1:3]
    halves = {(p.first, p.core): p.bottom - p.top for p in before.in_cores}
    assert halves == {(5, 0): 4, (5, 1): 4, (6, 2): 4, (6, 3): 4}
    assert {(m.image, m.source, m.target) for m in reader.moves} == {(5, 1, 0), (6, 3, 2)}
    assert sum(m.bytes for k in full.kernels for m in k.moves if m.tensor == "relu2") == 4 * KIB
    assert sum(m.bytes for k in full.kernels for m in k.moves if m.tensor == "relu3") == KIB
    assert sum(m.bytes for k in full.kernels for m in k.moves if m.tensor == "relu1") == 2 * KIB
    # The next kernel reads it: LB. A later one: GB.
    for place, kernel in enumerate(full.kernels[:-1]):
        following = full.kernels[place + 1]
        for each in kernel.in_cores:
            assert following.first <= each.first <= each.last <= following.last


def test_step_6_borders(kept: LectureResults) -> None:
    full, images, rows = (kept.runs[name] for name in ("full", "pieces_8", "rows_8"))
    fetched = [any(r.tensor == "conv1/weight" for r in k.traffic) for k in full.kernels]
    assert fetched == [True, False, False, True, False, False, False]
    assert [k.name for k in full.kernels[1:4]] == ["g1/3", "g2/2", "g1/2"]
    assert (full.halo_macs, images.halo_macs) == (0, 0)
    assert rows.halo_macs > 0
    assert rows.groups[0].axis == 2
    assert images.groups[0].piece_peak_bytes * 2 == full.groups[0].piece_peak_bytes
    assert rows.groups[0].piece_peak_bytes > images.groups[0].piece_peak_bytes
    # 16 KiB once, and border rows: between cores within an image, and between bands.
    for run, read_kib in ((full, 18), (images, 22), (rows, 37)):
        assert run.dram["input"] + run.dram["halo"] == read_kib * KIB
    # Repeated: 7 borders, one row of relu1 each, 8 channels x 16 x 8 images, 9 x 4 MACs each.
    assert rows.halo_macs == 7 * 8 * 16 * 8 * 9 * 4


def test_step_7_overlap(kept: LectureResults) -> None:
    for setting in lecture_steps()[6].knob.settings:
        fenced, free = cycles(kept, *setting.runs)
        assert free < fenced
    assert cycles(kept, "full", "unfenced", "order") == sorted(
        cycles(kept, "full", "unfenced", "order")
    )
    loads = dict.fromkeys(("conv4", "conv5", "conv6"), 0)
    computes = dict(loads)
    for each in kept.runs["full"].last_kernel:
        if each.engine == "dma 0":
            loads[each.layer] += each.cycles
        if each.engine == "core 0 matrix":
            computes[each.layer] += each.cycles
    # 4,608 bytes at 4 bytes per cycle; 2 images per core, 16 pixels, 144 x 16 MACs on 8 x 8.
    assert set(loads.values()) == {4608 // 4}
    assert set(computes.values()) == {2 * 16 * 144 * 16 // 64} == {1152}
    # One load, three computes, and the rest of 4,956 cycles.
    assert Facts(kept)["g3_free_rest"] == str(4956 - 4 * 1152) == "348"
    # The last compute begins at cycle 4,330 and takes 288; fenced, it ends as long before the end.
    assert Facts(kept)["g3_after"] == str(4956 - 4330 - 288) == str(7846 - 7220 - 288) == "338"
    # All bytes at one byte per cycle take most of the run.
    slow = kept.runs["full_dram1"]
    assert slow.dram_bytes / slow.cycles > 0.8


def test_step_8_limits(kept: LectureResults) -> None:
    loses = []
    for setting in lecture_steps()[7].knob.settings:
        fine, coarse, slow_fine, slow_coarse = cycles(kept, *setting.runs)
        assert coarse < fine
        loses.append(slow_coarse > slow_fine)
    assert loses == [True] + [False] * 8
    for case in ("one_image", "wide"):
        fine, coarse = cycles(kept, f"tvm_{case}", f"full_{case}")
        assert coarse < fine
    notes = " ".join(kept.runs["full_slow_lb1024"].notes)
    assert "g1: no axis of it can be split so that a piece fits" in notes
    assert "8 tensors of kernels did not fit in LB and went to GB" in notes
    stairs = cycles(kept, "layerwise", "tvm", "gb", "lb", "order", "full")
    assert stairs == sorted(stairs, reverse=True)


def test_numbers_as_text() -> None:
    assert [kib(size) for size in (512, 1024, 1536, 10_240, 52_736)] == [
        "0.5", "1", "1.5", "10", "52",
    ]  # fmt: skip
    assert (whole(21_374), times(1.2767), percent(0.1094)) == ("21,374", "1.28", "11")


def test_an_unknown_number_is_refused(kept: LectureResults) -> None:
    with pytest.raises(AttributeError, match="seconds"):
        "{full.seconds}".format_map(Facts(kept))
    with pytest.raises(KeyError, match="nothing"):
        "{nothing}".format_map(Facts(kept))
    facts = Facts(kept)
    assert len(facts) == len(list(facts))
    assert all(facts[name] for name in facts)
