"""Step 1: what fine kernels move over DRAM."""

from __future__ import annotations

from graphturbo_core.lecture.step import (
    LectureChoice,
    LectureKnob,
    LectureLink,
    LectureQuestion,
    LectureSetting,
    LectureStep,
)

STEP = LectureStep(
    number=1,
    key="traffic",
    minutes=5,
    claim="Fine kernels send every result to DRAM and back",
    picture="The kernels in a row over DRAM; a kernel is one program that the chip launches. Its"
    " bytes climb from DRAM as it reads them and fall as it writes them.",
    knob=LectureKnob(
        "One kernel per",
        "",
        (
            LectureSetting(
                "op",
                ("layerwise",),
                "{layerwise.dram_kib} KiB cross DRAM. {layerwise.activation_kib} KiB of them are"
                " results that another kernel reads.",
            ),
            LectureSetting(
                "layer",
                ("tvm",),
                "{tvm.dram_kib} KiB cross DRAM. {tvm.activation_kib} KiB of them are results that"
                " another kernel reads.",
            ),
            LectureSetting(
                "group of layers",
                ("full",),
                "{full.dram_kib} KiB cross DRAM. {full.activation_kib} KiB of them are results"
                " that another kernel reads.",
            ),
        ),
        1,
    ),
    question=LectureQuestion(
        "With one kernel per layer, {tvm.dram_kib} KiB cross DRAM. How much of it must every"
        " schedule move?",
        (
            LectureChoice("{compulsory_kib} KiB", is_right=True),
            LectureChoice("{tvm.half_dram_kib} KiB"),
            LectureChoice("{tvm.redundant_kib} KiB"),
            LectureChoice("{tvm.dram_kib} KiB"),
        ),
        "Images of {image_kib} KiB, weights of {weights_kib} KiB and results of {out_kib} KiB:"
        " {compulsory_kib} KiB. The rest, about {tvm.redundant_kib} KiB, is redundant: results that"
        " are written and read again, and rows that neighbouring tiles share.",
    ),
    takeaway="Of {tvm.dram_kib} KiB, {tvm.redundant_kib} KiB are the compiler talking to itself.",
    belief="Fusing convolution and ReLU solves it.",
    correction="It saves {fused_kib} KiB. {tvm.redundant_kib} redundant KiB remain.",
    link=LectureLink("tvm", "full", ("Why",)),
    notes=(
        "An op is one operation of the network, a schedule a choice of kernels and their order."
        " Fine is one kernel per op or layer, coarse one per group of layers.",
        "{tvm.halo_kib} KiB are border rows: tiles of one layer share rows, and each tile fetches"
        " its own copy.",
        "Next question: what would have to fit on the chip, so that no result leaves it?",
    ),
)
"""Levels op, layer and group: bytes over DRAM by cause."""
