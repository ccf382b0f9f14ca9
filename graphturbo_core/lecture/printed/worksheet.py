"""Exercises and results -> the worksheet: tasks on one sheet, answers on the next."""

from __future__ import annotations

from html import escape

from graphturbo_core.lecture.facts import Facts, filled
from graphturbo_core.lecture.printed.exercises import EXERCISES, SETTING
from graphturbo_core.lecture.printed.sheet import page, paragraph
from graphturbo_core.lecture.results import WRITE, LectureResults

TITLE = "Worksheet: why coarse sub-graphs win"


def worksheet_html(results: LectureResults) -> str:
    """The worksheet as HTML."""
    facts = Facts(results)
    tasks = "\n".join(f"<li>{escape(filled(each.task, facts))}</li>" for each in EXERCISES)
    answers = "\n".join(f"<li>{escape(filled(each.answer, facts))}</li>" for each in EXERCISES)
    setting = paragraph(filled(SETTING, facts))
    sheets = (
        f'<h1>{escape(TITLE)}</h1>\n{setting}\n<ol class="tasks">\n{tasks}\n</ol>',
        f"<h1>Answers</h1>\n<ol>\n{answers}\n</ol>",
    )
    return page(TITLE, sheets, WRITE)
