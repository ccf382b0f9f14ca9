"""Steps and results -> the handout: one sheet with every claim, picture and sentence."""

from __future__ import annotations

from html import escape

from graphturbo_core.lecture.facts import Facts, filled
from graphturbo_core.lecture.printed.end_states import CAPTIONS, end_state
from graphturbo_core.lecture.printed.sheet import page, paragraph
from graphturbo_core.lecture.results import WRITE, LectureResults
from graphturbo_core.lecture.step import LectureStep
from graphturbo_core.lecture.steps import steps_of

TITLE = "Why coarse sub-graphs win"
SETTING = (
    "{images} images through convolutions and one skip (learn-net). {cores} cores with {lb_kib} KiB"
    " of LB data each, GB {gb_kib} KiB, DRAM {dram_rate} bytes per cycle (learn-1x4). A runs one"
    " kernel per layer: {tvm.cycles} cycles. B runs pieces of groups: {full.cycles} cycles."
)


def handout_html(results: LectureResults) -> str:
    """The handout as HTML."""
    cards = "\n".join(_card(step, results) for step in steps_of(results))
    head = f"<h1>{escape(TITLE)}</h1>\n{paragraph(filled(SETTING, Facts(results)))}"
    return page(TITLE, [f'{head}\n<div class="cards">\n{cards}\n</div>'], WRITE)


def _card(step: LectureStep, results: LectureResults) -> str:
    parts = [
        f"<h2>{step.number} {escape(step.claim)}</h2>",
        paragraph(filled(CAPTIONS[step.key], Facts(results)), "caption"),
        end_state(step, results),
        paragraph(step.takeaway, "home"),
        paragraph(f"“{step.belief}” {step.correction}"),
    ]
    return '<div class="card">\n' + "\n".join(parts) + "\n</div>"
