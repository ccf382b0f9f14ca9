"""Step 7: what overlapping layers save."""

from __future__ import annotations

from graphturbo_core.lecture.step import (
    LectureChoice,
    LectureKnob,
    LectureLink,
    LectureQuestion,
    LectureSetting,
    LectureStep,
)

_RATES = ("1", "2", "4", "8", "16", "32")
_NAMES = {"4": ("order", "full", "gain")}
"""The chip's own bandwidth has the runs of the lecture."""


def _setting(rate: str) -> LectureSetting:
    fenced, free, gain = _NAMES.get(
        rate, (f"order_dram{rate}", f"full_dram{rate}", f"gain_dram{rate}")
    )
    text = f"{{{fenced}.cycles}} cycles with fences, {{{free}.cycles}} without: {{{gain}}}x."
    return LectureSetting(rate, (fenced, free), text)


STEP = LectureStep(
    number=7,
    key="overlap",
    minutes=5,
    claim="Load the next layer's weights while this one computes",
    picture="DRAM and one core in the last group. A fence has a layer wait until the one before it"
    " has ended; without fences, loads slide left under the layer before them.",
    knob=LectureKnob("DRAM", "bytes per cycle", tuple(_setting(rate) for rate in _RATES), 2),
    question=LectureQuestion(
        "With a fence, a layer waits until the one before it has ended: g3 takes {g3_fenced}"
        " cycles. How many without fences?",
        (
            LectureChoice("about {g3_little_less}"),
            LectureChoice("about {g3_free_about}", is_right=True),
            LectureChoice("about {g3_third}"),
        ),
        "{g3_free} cycles. conv4 loads for {conv4_load} cycles and computes for {conv4_compute};"
        " so do conv5 and conv6. Each load hides under the layer before it, which leaves"
        " {g3_free_ideal} cycles; latency and the store of the result take {g3_free_rest}.",
    ),
    takeaway="Scheduling removes no work: it hides the shorter of load and compute.",
    belief="The list scheduler does it.",
    correction="With fences {order.cycles} cycles. Without fences {unfenced.cycles}. With the list"
    " scheduler {full.cycles}.",
    link=LectureLink("order", "full", ("Every core",)),
    notes=(
        "At the lowest bandwidth the run loads nearly all the time: {gain_dram1}x. At the highest"
        " it computes: {gain_dram32}x.",
        "Next question: when does all this not pay?",
    ),
)
"""Fences and overlap by the bandwidth of DRAM."""
