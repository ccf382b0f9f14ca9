"""Kept runs of the strategies on one model, batch and chip, as a table below the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from graphturbo_core.comparison.side_by_side.kept_schedules import (
    COMMAND,
    LEAST_CPU_SHARE,
    KeptRun,
    KeptSchedule,
    nearest_setting,
)
from graphturbo_core.comparison.side_by_side.rewrite_searches import compared_strategies
from graphturbo_core.comparison.side_by_side.time_words import NamedRun, who_wins
from graphturbo_core.report.verdict.verdict import is_same
from graphturbo_ui.server.help_pages import PATH
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.text import Sink, safe_text

ALL = f"{PATH}/schedulers.html"
"""The page with all kept runs."""
HEADINGS = (
    "time of the batch, ms", "over DRAM, MiB", "kernels per cluster", "share of the bound, %",
    "time to schedule, s",
)  # fmt: skip
SETTING_PIXELS, CHIP_PIXELS = 360, 180
MIB = 2**20
HUNDRED = 100
"""From here on, numbers have no decimal places."""


def show_kept(kept: Sequence[KeptSchedule], choices: Choices) -> None:
    """The boxes that choose, and the table; the choices in the bar are the first values."""
    settings = tuple(dict.fromkeys(each.setting for each in kept))
    chips = tuple(dict.fromkeys(each.chip for each in kept))
    if not settings:
        return
    st.html(f'<div class="side-kept"><h2>Kept results</h2>{_about(settings, chips, choices)}</div>')
    own = f"{choices.model} {choices.batch} {choices.chip}"
    with st.container(key="schedulers_kept", horizontal=True):
        setting = st.selectbox(
            "Model, batch, samples per cluster at once", settings,
            nearest_setting(settings, choices.model, choices.batch),
            key=f"schedulers_kept_setting {own}", width=SETTING_PIXELS,
        )  # fmt: skip
        chip = st.selectbox(
            "Chip", chips, chips.index(choices.chip) if choices.chip in chips else 0,
            key=f"schedulers_kept_chip {own}", width=CHIP_PIXELS,
        )  # fmt: skip
    runs = {(each.setting, each.chip, each.strategy): each.run for each in kept}
    names = compared_strategies()
    st.html(table_html({name: runs.get((setting, chip, name), KeptRun()) for name in names}))


def _about(settings: Sequence[str], chips: Sequence[str], choices: Choices) -> str:
    """What the table is, and what it is not."""
    return (
        f"<p>Runs that <code>{COMMAND}</code> kept: {len(settings)} models and batches on "
        f"{len(chips)} chips. They are not the runs of the picture. The boxes begin with "
        "the model and batch nearest to "
        f"{safe_text(choices.setting(), Sink.HTML, 200)}. "
        f'<a href="{ALL}" target="_blank">All kept runs and their reasons</a> are in the help.</p>'
    )


def table_html(found: Mapping[str, KeptRun]) -> str:
    """The runs of one model, batch and chip by strategy; the fastest in bold."""
    runs = {name: run for name, run in found.items() if run.has_figures}
    fastest = min((run.latency_s for run in runs.values()), default=0.0)
    wins = who_wins([NamedRun(name, run) for name, run in runs.items()])
    heads = "".join(f"<th>{each}</th>" for each in HEADINGS)
    rows = "".join(_row(name, run, fastest) for name, run in found.items())
    said = f"<p>{safe_text(wins, Sink.HTML, 300)}.</p>" if wins else ""
    return (
        f'<div class="side-table kept">{said}<table><thead><tr><th>strategy</th>{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table><p>Time to schedule: from import to trace, on a "
        f"virtual machine with two cores. ~: other work slowed the run down, and it had less than "
        f"{LEAST_CPU_SHARE} CPU seconds per second; its CPU time in s is in brackets. ~ without "
        "brackets: the share of a CPU is not recorded.</p></div>"
    )


def _row(name: str, run: KeptRun, fastest: float) -> str:
    """One strategy's figures, or why there are none."""
    head = f"<th>{safe_text(name, Sink.HTML, 40)}</th>"
    if not run.has_figures:
        return f'<tr>{head}<td class="why" colspan="{len(HEADINGS)}">{_why(run)}</td></tr>'
    cells = (
        _digits(1e3 * run.latency_s), _digits(run.dram_bytes / MIB), f"{run.kernels:,}",
        _digits(1e2 * run.share), run.seconds_text,
    )  # fmt: skip
    best = ' class="best"' if is_same(run.latency_s, fastest) else ""
    return f"<tr{best}>{head}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _why(run: KeptRun) -> str:
    """Why a run has no figures, in words."""
    if run.over_seconds is not None:
        return f"The search takes over {run.over_seconds:g} s of CPU time."
    if run.refused:
        return f"Refused: <code>{safe_text(run.refused, Sink.HTML, 80)}</code>"
    return "Not run yet: the search takes minutes."


def _digits(value: float) -> str:
    """Three significant digits, or a whole number."""
    return f"{value:,.0f}" if value >= HUNDRED else f"{value:.3g}"
