"""Step 8: where coarse loses."""

from __future__ import annotations

from graphturbo_core.lecture.step import (
    LectureChoice,
    LectureKnob,
    LectureLink,
    LectureQuestion,
    LectureSetting,
    LectureStep,
)

_SIZES = (
    ("1", "1024"), ("1.25", "1280"), ("1.5", "1536"), ("2", "2048"), ("3", "3072"), ("4", "4096"),
    ("6", "6144"), ("8", "8192"), ("12", "12288"),
)  # fmt: skip
"""Labels in KiB, and the bytes in the names of runs."""
_OWN = "4096"


def _setting(label: str, size: str) -> LectureSetting:
    """A and B at a size of LB, with GB as it is and slow."""
    fine, coarse = ("tvm", "full") if size == _OWN else (f"tvm_lb{size}", f"full_lb{size}")
    slow = (f"tvm_slow_lb{size}", f"full_slow_lb{size}")
    text = (
        f"A {{{fine}.cycles}}, B {{{coarse}.cycles}} cycles. With a GB as slow as DRAM:"
        f" A {{{slow[0]}.cycles}}, B {{{slow[1]}.cycles}} cycles."
    )
    return LectureSetting(label, (fine, coarse, *slow), text)


STEP = LectureStep(
    number=8,
    key="limits",
    minutes=5,
    claim="Coarse wins while its pieces fit",
    picture="A bar per run from A, one kernel per layer, to B, with what each adds, over the lower"
    " bound; below them A and B by the size of LB.",
    knob=LectureKnob(
        "LB data per core", "KiB", tuple(_setting(label, size) for label, size in _SIZES), 5
    ),
    question=LectureQuestion(
        "On which of these does B lose?",
        (
            LectureChoice("a single image"),
            LectureChoice("far more weights than results"),
            LectureChoice("LBs of {lb_least_kib} KiB and a GB as slow as DRAM", is_right=True),
        ),
        "There A takes {tvm_slow_lb1024.cycles} and B {full_slow_lb1024.cycles} cycles: no cut of"
        " the first layers fits, and {spilled} tensors spill to GB. B wins with one image"
        " ({speedup_full_one_image}x), with many weights ({speedup_full_wide}x), and at this LB"
        " with the chip's own GB ({full_lb1024.cycles} cycles).",
    ),
    takeaway="Coarse is a bet that the piece fits.",
    belief="B is near the optimum.",
    correction="B takes {full.gap}× the lower bound of {bound} cycles. A takes {tvm.gap}×.",
    link=LectureLink("tvm_slow_lb1024", "full_slow_lb1024", ("Why", "Memory")),
    notes=(
        "The matrix engines are busy {tvm.matrix_percent} % of the time in A, {full.matrix_percent}"
        " % in B.",
        "Exit question: your chip has LBs of {lb_double_kib} KiB. Which steps change? Pieces per"
        " group become {full_lb8192.counts}, and B takes {full_lb8192.cycles} cycles.",
    ),
)
"""A and B by the size of LB, and the cases at the border."""
