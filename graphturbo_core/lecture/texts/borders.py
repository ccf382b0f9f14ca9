"""Step 6: what borders between pieces cost."""

from __future__ import annotations

from graphturbo_core.lecture.step import (
    LectureChoice,
    LectureKnob,
    LectureLink,
    LectureQuestion,
    LectureSetting,
    LectureStep,
)

_READS = "DRAM reads {{{0}.image_kib}} KiB of the images. {{{0}.cycles}} cycles."


STEP = LectureStep(
    number=6,
    key="borders",
    minutes=4,
    claim="Rows have borders, images have none",
    picture="Images and the window of a convolution: it never crosses a cut between images, but it"
    " crosses cuts between rows, so that bands read rows of their neighbours too.",
    knob=LectureKnob(
        "First group",
        "pieces",
        (
            LectureSetting("{full.first_pieces} by images", ("full",), _READS.format("full")),
            LectureSetting(
                "{pieces_8.first_pieces} by images", ("pieces_8",), _READS.format("pieces_8")
            ),
            LectureSetting(
                "{rows_8.first_pieces} by rows",
                ("rows_8",),
                f"{_READS.format('rows_8')} {{rows_8.halo_macs}} MACs are repeated"
                " ({rows_8.halo_mac_percent} %).",
            ),
        ),
        1,
    ),
    question=LectureQuestion(
        "All images together have {image_kib} KiB. Cut by rows into {rows_8.first_pieces} pieces,"
        " how much of them does DRAM read?",
        (
            LectureChoice("{image_kib} KiB"),
            LectureChoice("{pieces_8.image_kib} KiB, as by images"),
            LectureChoice("{rows_8.image_kib} KiB", is_right=True),
        ),
        "{rows_8.image_kib} KiB: a piece is a band of rows, and its window reaches into the bands"
        " above and below. {rows_8.halo_kib} KiB are read more than once, and {rows_8.halo_macs}"
        " multiply-adds (MACs) are repeated ({rows_8.halo_mac_percent} %).",
    ),
    takeaway="Images have no neighbours; rows do, also within an image that cores share.",
    belief="A smaller piece needs as much less memory.",
    correction="Cut by images, {pieces_8.first_pieces} pieces need {pieces_8.piece_kib} KiB each."
    " Cut by rows, they need {rows_8.piece_kib} KiB each: neighbours overlap.",
    link=LectureLink("rows_8", "pieces_8", ("Why",)),
    notes=(
        "Even cut by images, {pieces_8.halo_kib} KiB are border rows: within a piece, the cores"
        " divide each image by rows. With {full.first_pieces} pieces they are {full.halo_kib} KiB.",
        "The weights of the first group leave DRAM {g1_fetches} times: pieces that follow each"
        " other share them in GB, and g2/2 runs between g1/3 and g1/2.",
        "Next question: can the chip work while it fetches?",
    ),
)
"""Cuts of the first group by images and by rows."""
