"""Step 4: in which order Algorithm 3 runs the pieces."""

from __future__ import annotations

from graphturbo_core.lecture.step import (
    LectureChoice,
    LectureKnob,
    LectureLink,
    LectureQuestion,
    LectureSetting,
    LectureStep,
)

_LABELS = ("10", "12", "16", "20", "24", "32")


def _setting(label: str) -> LectureSetting:
    """Both orders at a size of GB in KiB; 24 is the chip's own."""
    is_own = label == "24"
    depth, breadth = ("full", "breadth") if is_own else (f"depth_gb{label}", f"breadth_gb{label}")
    text = f"Depth first {{{depth}.cycles}} cycles, breadth first {{{breadth}.cycles}} cycles."
    return LectureSetting(label, (depth, breadth), text)


STEP = LectureStep(
    number=4,
    key="order",
    minutes=7,
    claim="Depth first uses a result before it makes the next one",
    picture="For each order a lane of kernels on one time axis; above each, GB when it ends.",
    knob=LectureKnob("GB", "KiB", tuple(_setting(label) for label in _LABELS), 4),
    question=LectureQuestion(
        "What the very next kernel reads remains in LB; what a later one reads waits in GB. Depth"
        " first, how much waits in GB at most?",
        (
            LectureChoice("{g1_piece_out_kib} KiB"),
            LectureChoice("{full.parked_kib} KiB", is_right=True),
            LectureChoice("{depth_double_kib} KiB"),
            LectureChoice("{breadth.parked_kib} KiB"),
        ),
        "{full.parked_kib} KiB depth first, {breadth.parked_kib} KiB breadth first. g2/2 reads at"
        " once what g1/3 wrote, so that it never comes to GB; the next step shows where it waits.",
    ),
    takeaway="The same kernels in another order: {full.parked_kib} KiB wait in GB instead of"
    " {breadth.parked_kib} KiB.",
    belief="The order itself saves time.",
    correction="It saves room. With a GB of {gb_small_kib} KiB breadth first moves"
    " {breadth_gb16.spill_kib} KiB to DRAM and back: {breadth_gb16.cycles} cycles, depth first"
    " {depth_gb16.cycles}. With {gb_large_kib} KiB breadth first wins: {breadth_gb32.cycles} to"
    " {depth_gb32.cycles}, as its weights are fetched once.",
    link=LectureLink("breadth", "full", ("Memory", "Algorithms")),
    notes=(
        "GB in KiB after each kernel, depth first: {depth_line}. Breadth first: {breadth_line}.",
        "Depth first takes the newest piece of a stack: the last image's piece runs before others.",
        "GB has {gb_weights_kib} KiB for tiles of weights on their way; results wait in the rest.",
        "At {gb_smallest_kib} KiB both orders store results to DRAM, breadth first"
        " {breadth_gb10.activation_kib} KiB, depth first {depth_gb10.activation_kib} KiB.",
        "Next question: where exactly does a result wait?",
    ),
)
"""Depth first and breadth first by the size of GB."""
