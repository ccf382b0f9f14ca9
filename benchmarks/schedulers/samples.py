"""Runs of the compared strategies on every sample and chip, kept one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path

from benchmarks.drawing.sheet import Sheet
from benchmarks.quality.kept_runs import Key, Run, read_runs, run_tasks, write_runs
from benchmarks.quality.matrix import CHIPS, Model
from benchmarks.schedulers import matrix
from benchmarks.schedulers.matrix import COMPARED, FIELDS, MOST_SECONDS, Setting
from graphturbo_core.comparison.side_by_side.kept_schedules import KeptRun
from graphturbo_core.comparison.side_by_side.rewrite_searches import REWRITE_SEARCHES
from graphturbo_core.comparison.side_by_side.time_words import NamedRun, why_slower
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.units import format_bytes, format_percent, format_seconds

KEPT = Path(__file__).resolve().parents[2] / "docs" / "scheduler-samples.json"
SLOW = (*REWRITE_SEARCHES, "ios")
"""Searches, and `ios`, which simulates some hundred stages of each model."""
SLOW_SECONDS = 60
"""CPU seconds of each of these; it is ended beyond (our choice: there are hundreds of them)."""
WON = (
    "fastest", "time, share of the bound", "DRAM bytes, kernels a cluster", "time to schedule, s",
    "the next one",
)  # fmt: skip
BATCH, CLUSTER_BATCH = 16, 4
"""The same for all (our choice: as the second and third setting of `matrix.py`)."""


def settings() -> tuple[Setting, ...]:
    """A setting a sample, the smallest file first."""
    names = sorted(sample_names(), key=lambda name: (len(load_sample(name)), name))
    return tuple(Setting(Model(name, BATCH), CLUSTER_BATCH) for name in names)


def kept() -> dict[Key, Run]:
    """The kept runs."""
    return read_runs(KEPT, FIELDS)


def run_missing(processes: int) -> None:
    """Runs what is missing, chip by chip; then the slow ones."""
    known = kept()
    for seconds, is_slow in ((MOST_SECONDS, False), (SLOW_SECONDS, True)):
        named = [name for name in COMPARED if (name in SLOW) == is_slow]
        tasks = []
        for chip, setting in product(CHIPS, settings()):
            missing = [name for name in named if (setting.name, chip, name) not in known]
            if missing:
                tasks.append((setting, chip, missing, seconds))
        run_tasks(matrix.runs, tasks, processes, _keep_more)


def _keep_more(more: Iterable[tuple[Key, Run]]) -> None:
    order = [(s.name, c, n) for s in settings() for c in CHIPS for n in COMPARED]
    write_runs(KEPT, FIELDS, order, kept() | dict(more))


def sections(found: Mapping[Key, Run]) -> Iterator[str]:
    """The tables as Markdown: what was run, then a table per chip."""
    every = settings()
    count = len(every) * len(CHIPS) * len(COMPARED)
    yield (
        "## Every sample\n\n"
        f"Batch {BATCH}, {CLUSTER_BATCH} per cluster; share of the lower bound in %, the fastest "
        f"of a row in bold. `ios` and the searches are ended after {SLOW_SECONDS} s of CPU time; "
        "where none of their runs is kept, a chip has no column for them. "
        f"{len(found):,} of {count:,} runs are kept; `not run`: not yet. A second table per chip "
        "has the figures of the fastest, and where the next one loses time against it.\n"
    )
    for chip in CHIPS:
        begun = {name for _, own_chip, name in found if own_chip == chip}
        names = [name for name in COMPARED if name in begun or name not in SLOW]
        rows = [_row(found, setting, chip, names) for setting in every]
        heads = [chip, *(f"`{name}`" for name in names)]
        won = [row for setting in every if (row := _won(found, setting, chip))]
        sheets = (Sheet("", heads, rows), Sheet("", [chip, *WON], won))
        yield "\n".join(sheet.markdown().removeprefix("## \n\n") for sheet in sheets)


def _row(found: Mapping[Key, Run], setting: Setting, chip: str, names: Iterable[str]) -> list[str]:
    """Shares of a sample's schedules, in %, or why there is none."""
    runs = _runs_of(found, setting, chip, names)
    fastest = max((run.share for run in runs.values() if run.has_figures), default=0.0)

    def text(run: KeptRun) -> str:
        share = f"{100 * run.share:.3g}"
        return f"**{share}**" if run.share == fastest else share

    return [setting.model.name, *(run.reason or text(run) for run in runs.values())]


def _won(found: Mapping[Key, Run], setting: Setting, chip: str) -> list[str]:
    """Who is the fastest on a sample, with all figures, and why the next one is slower."""
    runs = _runs_of(found, setting, chip, COMPARED)
    ran = {name: run for name, run in runs.items() if run.has_figures}
    if not ran:
        return []
    first, *others = sorted(ran, key=lambda name: ran[name].latency_s)
    best, fastest = ran[first], NamedRun(f"`{first}`", ran[first])
    why = ""
    if others:
        following = NamedRun(f"`{others[0]}`", ran[others[0]])
        why = f"{following.name}: {why_slower(following, fastest)}"
    return [
        setting.model.name,
        fastest.name,
        f"{format_seconds(best.latency_s)}, {format_percent(best.share)}",
        f"{format_bytes(best.dram_bytes)}, {best.kernels:,}",
        best.seconds_text,
        why,
    ]


def _runs_of(
    found: Mapping[Key, Run], setting: Setting, chip: str, names: Iterable[str]
) -> dict[str, KeptRun]:
    """The runs of a sample on a chip; without figures or a reason where one was not run."""
    return {name: KeptRun(**found.get((setting.name, chip, name), {})) for name in names}
