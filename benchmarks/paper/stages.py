"""ResNet-50's stages: use of the engines, ours and the paper's, and possible forms of passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.results import Result

UTILISATION = {"tvm": (77, 71, 29, 17), "full": (83, 83, 79, 62)}
"""Percent, stages 1 to 4: the paper's figure of the matrix unit."""
VECTOR_UTILISATION = {"tvm": (63, 58, 31, 20), "full": (64, 70, 52, 40)}
STAGES = range(1, 5)
MAPS = (56, 28, 14, 7)
"""Rows, and columns, of a stage's output."""
IMAGES = {"tvm": (2, 2, 2, 2), "full": (2, 4, 8, 16)}
"""Images that a cluster computes at once: TVM's batch, and 16 in the paper's 8, 4, 2, 1 pieces."""
SQUARES = (("tvm.passes", "squares"),)
"""The alternative form of TVM's passes: see docs/paper-assumptions.md."""
CORES, LANES = 8, 64
"""Numbers of a cluster of `stcp920`; lanes: rows of a product in one pass of the matrix array."""


def stage_sheet(results: Sequence[Result]) -> Sheet:
    """Table of the stages' use of engines, ours and the paper's, with the largest gains of fill."""
    published = _gains(*UTILISATION.values())
    rows, told = [], [f"The paper's fill gains most in stages {_most(published)}"]
    for sample in dict.fromkeys(run.sample for run in results):
        runs = [run for run in results if run.sample == sample]
        rows += [row for run in runs for row in _uses(run)]
        for tvm, full in product(runs, runs):
            if (tvm.level, full.level) == ("tvm", "full"):
                gains = _gains(_percent(tvm, "fill"), _percent(full, "fill"))
                pairs = zip(gains, published, strict=True)
                cells = (f"{ours:+.1f} / {paper:+.0f}" for ours, paper in pairs)
                rows.append((f"{sample}, gain of fill over {_name(tvm)}, points", *cells))
                told.append(f"that of `{sample}` over {_name(tvm)} in {_most(gains)}")
    remark = f"{_REMARK}\n\n{'; '.join(told)}."
    headings = ("run", *(f"stage {stage}" for stage in STAGES))
    return Sheet("ResNet-50: utilisation by stage, percent", headings, rows, remark)


def _name(run: Result) -> str:
    return " ".join((run.strategy, *(f"{key}={value}" for key, value in run.options.items())))


def _uses(run: Result) -> Iterator[tuple[str, ...]]:
    for name, words in _WORDS.items():
        cells = [f"{percent:.0f}" for percent in _percent(run, name)]
        if name == "fill":
            cells = [f"{a} / {b}" for a, b in zip(cells, UTILISATION[run.level], strict=True)]
        yield (f"{run.sample}, {_name(run)}, {words}", *cells)


def _percent(run: Result, name: str) -> list[float]:
    return [100 * getattr(run.stages[str(stage)], name) for stage in STAGES]


def _gains(tvm: Sequence[float], full: Sequence[float]) -> list[float]:
    return [b - a for a, b in zip(tvm, full, strict=True)]


def _most(gains: Sequence[float]) -> str:
    """The two stages with the largest positive gains."""
    places = sorted(range(len(gains)), key=lambda place: -gains[place])[:2]
    gaining = sorted(STAGES[place] for place in places if gains[place] > 0)
    return " and ".join(map(str, gaining)) or "none"


_WORDS = {
    "fill": "fill of the matrix array",
    "matrix": "matrix engines busy",
    "vector": "vector engines busy",
}
_REMARK = (
    "*Fill*: multiply-accumulates over the array's capacity while it is busy, beside "
    "the paper's utilisation of the matrix unit. *Busy*: share of the time in which a stage's "
    "kernels ran. *Derived:* the paper's utilisation cannot be a share of time: its TVM does "
    "1,064 images per second, 6 % of the chip's peak, and no stage is below 17 %. It is close "
    "to the fill of the array: an output of few rows leaves lanes idle, 2 images of 7 x 7 over 8 "
    "cores fill 12.25 of 64 rows, 19 %. What the paper counts for the vector unit (TVM "
    f"{', '.join(map(str, VECTOR_UTILISATION['tvm']))}; GraphTurbo "
    f"{', '.join(map(str, VECTOR_UTILISATION['full']))} %) is not known either; the table "
    "has a share of time beside it."
)


def pass_sheet() -> Sheet:
    """Table of the array's fill by form of a pass: any pixels of a core, or a rectangle.

    Derived for layers whose output is the stage's map; cores divide images, then rows.
    """
    paper = [percent for percents in UTILISATION.values() for percent in percents]
    rows = []
    for words, rectangle in _PASSES.items():
        fills = [
            100 * _fill(images, side, rectangle)
            for level in UTILISATION
            for images, side in zip(IMAGES[level], MAPS, strict=True)
        ]
        farthest = max(abs(ours - theirs) for ours, theirs in zip(fills, paper, strict=True))
        most = _most(_gains(fills[: len(MAPS)], fills[len(MAPS) :]))
        rows.append((words, *(f"{fill:.0f}" for fill in fills), f"{farthest:.0f}", most))
    most = _most(_gains(*UTILISATION.values()))
    rows.append(("the paper's", *(f"{percent}" for percent in paper), "", most))
    stages = (f"{level}, stage {stage}" for level in UTILISATION for stage in STAGES)
    headings = ("form of a pass", *stages, "farthest from the paper's", "gains most in stages")
    title = "ResNet-50: fill of the matrix array by form of a pass, percent"
    return Sheet(title, headings, rows, _PASS_REMARK)


def _fill(images: int, side: int, rectangle: tuple[int, int] | None) -> float:
    """Pixels over the lanes of their passes, on the cores of a cluster."""
    cores = max(CORES // images, 1)
    parts = [len(range(core, side, cores)) for core in range(cores)]
    if rectangle is None:
        own = max(images // CORES, 1)
        passes = [ceil(own * rows * side / LANES) / own for rows in parts]
    else:
        passes = [ceil(rows / rectangle[0]) * ceil(side / rectangle[1]) for rows in parts]
    return side * side / (LANES * sum(passes))


_PASSES = {f"any {LANES} pixels (taken)": None} | {
    f"{LANES // columns} x {columns}": (LANES // columns, columns)
    for columns in (2**power for power in range(LANES.bit_length()))
}
"""Rows and columns of a pass's rectangle; None: any pixels in order."""
_PASS_REMARK = (
    "*Derived* from the sizes of the maps, the images that a cluster computes at once and the rows "
    "of them that a core has; strides and tiles of real kernels are left out. We assume that a "
    "pass fills its lanes with any pixels of a core: then 2 images of 14 x 14 on 8 cores fill "
    "three quarters of them, where the paper measured 29 %. A loop nest that an intrinsic of "
    "fixed shape computes covers a map with rectangles instead. How the paper's kernels "
    "did it is not known; the effect of square passes on TVM's real kernels is counted above "
    "(`tvm.passes=squares`). It is small, since `tvm` waits for DRAM."
)
