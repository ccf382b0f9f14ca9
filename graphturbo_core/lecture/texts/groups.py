"""Step 3: which layers Algorithm 2 merges."""

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
    number=3,
    key="groups",
    minutes=5,
    claim="Merge neighbours while their numbers of pieces agree",
    picture="The layers with their numbers of pieces; equal neighbours snap together.",
    knob=LectureKnob(
        "Merge",
        "",
        (
            LectureSetting(
                "nothing", ("apart",), "Pieces per group {apart.counts}: {apart.cycles} cycles."
            ),
            LectureSetting(
                "by the rule", ("full",), "Pieces per group {full.counts}: {full.cycles} cycles."
            ),
            LectureSetting(
                "g2 with g3",
                ("join_23",),
                "Pieces per group {join_23.counts}: {join_23.cycles} cycles.",
            ),
            LectureSetting(
                "everything",
                ("join_all",),
                "Pieces of the only group {join_all.counts}: {join_all.cycles} cycles.",
            ),
            LectureSetting(
                "g1 with g2",
                ("join_12",),
                "Pieces per group {join_12.counts}: {join_12.cycles} cycles.",
                is_hidden=True,
            ),
        ),
        1,
    ),
    question=LectureQuestion(
        "Which merge gives the fastest run?",
        (
            LectureChoice("nothing"),
            LectureChoice("by the rule"),
            LectureChoice("g2 with g3"),
            LectureChoice("everything"),
            LectureChoice("g1 with g2", is_right=True),
        ),
        "g1 with g2: {join_12.cycles} cycles, by the rule {full.cycles}. Bytes of weights that are"
        " fetched again: {join_12.weight_again_bytes}, by the rule {full.weight_again_bytes},"
        " everything {join_all.weight_again_bytes}.",
    ),
    takeaway="The rule counts pieces, not cycles: a good guess, not an optimum.",
    belief="Bigger groups always win.",
    correction="g2 with g3 takes {join_23.cycles} cycles, by the rule {full.cycles}. Weights that"
    " are fetched again grow from {full.weight_again_bytes} to {join_23.weight_again_bytes} bytes.",
    link=LectureLink("tvm", "full", ("Graph",)),
    notes=(
        "The rule avoids more pieces of a layer with weights: each piece may fetch them again.",
        "graphturbo:plus evaluates further plans: {plus.cycles} cycles.",
        "Next question: in which order should the pieces run?",
    ),
)
"""The paper's rule and four other groupings."""
