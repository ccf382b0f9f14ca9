"""Steps -> the plan of the lesson as Markdown: minutes, questions, misconceptions."""

from __future__ import annotations

from graphturbo_core.lecture.facts import Facts, filled
from graphturbo_core.lecture.printed.handout import SETTING, TITLE
from graphturbo_core.lecture.results import WRITE, LectureResults
from graphturbo_core.lecture.step import LectureStep
from graphturbo_core.lecture.steps import steps_of

EXIT = "Exit question:"
OPENING_MINUTES, EXIT_MINUTES = 2, 2
HEAD = """# Plan of the lesson: {title}

Written by `{command}`; a test compares.

{setting}

| minute | step | question before the answer |
| --- | --- | --- |
| 0 | Network and chip | |
"""


def lesson_markdown(results: LectureResults) -> str:
    """The plan as Markdown."""
    steps = steps_of(results)
    setting = filled(SETTING, Facts(results))
    parts = [HEAD.format(title=TITLE, command=WRITE, setting=setting)]
    minute = OPENING_MINUTES
    for step in steps:
        parts.append(f"| {minute} | {step.number} {step.claim} | {step.question.text} |\n")
        minute += step.minutes
    question = steps[-1].notes[-1].removeprefix(EXIT).partition("?")[0]
    parts.append(f"| {minute} | Exit question | {question.strip()}? |\n")
    parts.append(f"| {minute + EXIT_MINUTES} | End | |\n")
    parts += [_section(step) for step in steps]
    return "".join(parts)


def _section(step: LectureStep) -> str:
    choices = " · ".join(
        f"**{choice.text}**" if choice.is_right else choice.text for choice in step.question.choices
    )
    rows = (
        f"\n## {step.number} {step.claim}",
        f"- Picture: {step.picture}",
        f"- Question: {step.question.text} ({choices})",
        f"- Answer: {step.question.answer}",
        f"- Take home: {step.takeaway}",
        f"- Misconception: “{step.belief}” {step.correction}",
        *(f"- {note}" for note in step.notes),
    )
    return "\n".join(rows) + "\n"
