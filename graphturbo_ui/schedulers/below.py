"""Below the picture: why each strategy is slower than the fastest, and what each may do."""

from __future__ import annotations

from graphturbo_core.comparison.side_by_side.kept_abilities import SchedulerAbilities
from graphturbo_core.comparison.side_by_side.rewrite_searches import source_of
from graphturbo_core.comparison.side_by_side.time_words import ranked, who_wins, why_slower
from graphturbo_ui.schedulers.collecting import Schedulers
from graphturbo_ui.text import Sink, safe_text

YES, NO = "✓", "–"


def head_html(now: Schedulers, setting: str) -> str:
    """The sentence above the picture, and what all runs share."""
    title = who_wins(now.runs) or "All strategies side by side"
    return (
        f'<div class="side-head-line"><h1>{safe_text(title, Sink.HTML, 200)}</h1>'
        f"<p>{safe_text(setting, Sink.HTML, 400)}</p></div>"
    )


def why_html(now: Schedulers) -> str:
    """A sentence per strategy, the fastest first."""
    order = ranked(now.runs)
    if len(order) < 2:  # noqa: PLR2004
        return ""
    rows = "".join(
        f"<dt>{safe_text(run.name, Sink.HTML)}</dt>"
        f"<dd>{safe_text(why_slower(run, order[0]), Sink.HTML, 600)}</dd>"
        for run in order[1:]
    )
    return f'<div class="side-why"><h2>Where they lose time</h2><dl>{rows}</dl></div>'


def abilities_html(found: SchedulerAbilities) -> str:
    """The table of what each strategy may do, with its source."""
    heads = "".join(f"<th>{safe_text(each, Sink.HTML)}</th>" for each in found.questions)
    rows = "".join(
        f"<tr><th>{safe_text(name, Sink.HTML)}</th>{_cells(answers)}"
        f'<td class="source">{_source(name)}</td></tr>'
        for name, answers in found.answers.items()
    )
    return (
        '<div class="side-table"><h2>What each may do</h2><table><thead><tr><th>strategy</th>'
        f'{heads}<th class="source">source</th></tr></thead><tbody>{rows}</tbody></table>'
        "<p>Found by planning a small model per column. A row shows the rules of a compiler on "
        "this chip. It is no measurement of the compiler that it is named after.</p></div>"
    )


def _cells(answers: tuple[bool, ...]) -> str:
    return "".join(f'<td class="yes">{YES}</td>' if each else f"<td>{NO}</td>" for each in answers)


def _source(name: str) -> str:
    return safe_text(source_of(name).replace("`", ""), Sink.HTML, 300)
