"""Step 5: where results wait, and on which cores."""

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
    number=5,
    key="places",
    minutes=5,
    claim="The next kernel reads it: LB. A later one: GB. No room: DRAM",
    picture="The cores as desks: parts of relu2 slide between them; later results go up to GB.",
    knob=LectureKnob(
        "Results between groups wait in",
        "",
        (
            LectureSetting(
                "the nearest memory",
                ("full",),
                "{full.cycles} cycles, {full.c2c_kib} KiB between cores.",
            ),
            LectureSetting(
                "GB",
                ("wait_gb",),
                "{wait_gb.cycles} cycles, {wait_gb.c2c_kib} KiB between cores: border rows.",
            ),
            LectureSetting(
                "DRAM",
                ("wait_dram",),
                "{wait_dram.cycles} cycles, {wait_dram.activation_kib} KiB more over DRAM.",
            ),
        ),
        0,
    ),
    question=LectureQuestion(
        "Parts of image {moved_image} of relu2 are on the cores {moved_cores}. conv3 computes this"
        " image on core {moved_target}. Why not on core {moved_in_order}, the next in line?",
        (
            LectureChoice("Core {moved_target} is faster"),
            LectureChoice("Core {moved_target} has a part of it already", is_right=True),
            LectureChoice("There is no reason"),
        ),
        "In the whole run {full.c2c_kib} KiB move between cores. With the images in line, it would"
        " be {cores_0123.c2c_kib} KiB. Both take {full.cycles} cycles.",
    ),
    takeaway="Move the name of the core, not the data.",
    belief="What is resident in LB does not move.",
    correction="{full.c2c_kib} KiB move between cores: {relu2_moved_kib} KiB of relu2 for conv3,"
    " {relu3_moved_kib} KiB of relu3 for conv4, {relu1_moved_kib} KiB of relu1 as border rows.",
    link=LectureLink("wait_dram", "full", ("Memory", "Algorithms")),
    notes=(
        "A core computes one image of relu3, and had one part of one image of relu2.",
        "Next question: what do cores exchange inside a group?",
    ),
)
"""Memories between groups, and the cores that take the images."""
