"""Step 2: how Algorithm 1 chooses the number of pieces."""

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
    number=2,
    key="pieces",
    minutes=5,
    claim="Cut the whole group into pieces, until a piece fits",
    picture="The live bytes of the first group, those needed at the same time, are poured into the"
    " LBs; a knife cuts by images.",
    knob=LectureKnob(
        "Pieces of the first group",
        "",
        (
            LectureSetting(
                "1",
                ("pieces_1",),
                "{piece_1_kib} KiB are live. The LBs have {lbs_kib} KiB: refused.",
            ),
            LectureSetting(
                "2",
                ("pieces_2",),
                "{piece_2_kib} KiB are live. The LBs have {lbs_kib} KiB: refused.",
            ),
            LectureSetting(
                "4", ("full",), "{piece_4_kib} KiB are live. They fit: {full.cycles} cycles."
            ),
            LectureSetting(
                "8",
                ("pieces_8",),
                "{piece_8_kib} KiB are live. They fit, but take {pieces_8.cycles} cycles.",
            ),
        ),
        0,
    ),
    question=LectureQuestion(
        "{piece_1_kib} KiB are live (needed at the same time) in the first group. The LBs have"
        " {lbs_kib} KiB. Into how many pieces is it cut?",
        (
            LectureChoice("2"),
            LectureChoice("{exact_pieces}"),
            LectureChoice("{full.first_pieces}", is_right=True),
            LectureChoice("{pieces_8.first_pieces}"),
        ),
        "{full.first_pieces} pieces of {piece_4_kib} KiB. {exact_pieces} pieces would just fit, but"
        " {exact_pieces} does not divide {images} images.",
    ),
    takeaway="Take the fewest equal pieces that fit: every further piece costs a launch.",
    belief="A piece must fit one core.",
    correction="A piece must fit all {cores} cores together. Then each core has its part:"
    " {core_part_bytes} of {lb_bytes} bytes.",
    link=LectureLink("tvm", "full", ("Algorithms",)),
    notes=(
        "Live are the image ({image_kib} KiB) and the result of conv1 ({relu1_kib} KiB).",
        "Next question: does every layer need as many pieces as the first?",
    ),
)
"""Numbers of pieces that divide the images."""
