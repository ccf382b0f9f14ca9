"""Probes and kept runs -> docs/schedulers.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from statistics import geometric_mean, median

from benchmarks.drawing.sheet import Sheet
from benchmarks.quality.kept_runs import Key, Run
from benchmarks.quality.matrix import CHIPS
from benchmarks.schedulers import samples
from benchmarks.schedulers.matrix import COMPARED, KEPT, MOST_SECONDS, SETTINGS, Setting
from benchmarks.schedulers.probes import QUESTIONS, answers
from graphturbo_core.comparison.side_by_side.kept_abilities import (
    SchedulerAbilities,
    abilities_text,
)
from graphturbo_core.comparison.side_by_side.kept_schedules import LEAST_CPU_SHARE, KeptRun
from graphturbo_core.comparison.side_by_side.rewrite_searches import REWRITE_SEARCHES, source_of
from graphturbo_core.comparison.side_by_side.time_words import NamedRun, who_wins, why_slower
from graphturbo_core.units import format_bytes, format_percent, format_seconds

PAGE = KEPT.with_suffix(".md")
BASELINE = "tvm"
YES, NO = "yes", ""
INTRO = f"""# Schedulers

Written by `python -m benchmarks.schedulers`. Each strategy follows the rules of a compiler or a
paper, and all are lowered, simulated and replayed by the same code. [strategies.md](strategies.md)
has each one's source, its options and what differs here. So a row shows what a *rule set* does on
these chips. It is no measurement of the compiler that it is named after.

The rewrite searches `taso-like` and `ios:both` change the graph. `taso-like` simulates the kernels
that change, and four whole graphs at the end. `ios:both` simulates whole graphs.
Their cells are `over {MOST_SECONDS} s` where a search takes more than {MOST_SECONDS} s of CPU time.
`graphturbo:plus` has a row of abilities and no runs. The searches `best` and `tuned` have neither:
they are in [quality.md](quality.md).

The app's page *Schedulers* draws the strategies without a search and `graphturbo:plus`, on any
model and chip. One button there adds `taso-like` and `ios:both`, and another one `best`. It does
not draw `tuned`.
"""
TIMES = f"""Time to schedule is the time of a run from import to trace. Unmarked times are of a
virtual machine with two cores of an AMD EPYC processor. Compiled code was cached. Strategies
without a search share the imported model, and each search imports it again. `~`: other work
slowed the run down, and it had less than {LEAST_CPU_SHARE} CPU seconds per second; its CPU time is
in brackets. `~` without brackets: the share of a CPU is not recorded.
"""


def page(found: Mapping[Key, Run], of_samples: Mapping[Key, Run]) -> str:
    """Text of docs/schedulers.md; `of_samples`: the runs of every sample."""
    runs = {key: KeptRun(**run) for key, run in found.items()}
    count = len(SETTINGS) * len(CHIPS) * len(COMPARED)
    ended = sum(not run.has_figures for run in runs.values())
    return "\n".join(
        [
            INTRO,
            _features().markdown(),
            f"{len(runs)} of {count} runs are kept. {ended} of them have a reason instead of "
            f"figures: the code of a refusal, or the limit of a search. {_missing(runs)}\n",
            _means(runs).markdown(),
            TIMES,
            *(text for setting in SETTINGS for text in _setting(runs, setting)),
            *samples.sections(of_samples),
        ]
    )


def _missing(runs: Mapping[Key, KeptRun]) -> str:
    """What `not run` means."""
    names = [
        name for setting, chip, name in product(SETTINGS, CHIPS, COMPARED)
        if (setting.name, chip, name) not in runs
    ]  # fmt: skip
    if not names:
        return ""
    kinds = ", ".join(f"{names.count(name)} of `{name}`" for name in COMPARED if name in names)
    return f"`not run`: these have not been run yet ({kinds}); a search takes minutes."


def abilities() -> str:
    """Text of docs/scheduler-abilities.json, from which the app has its table."""
    return abilities_text(SchedulerAbilities(QUESTIONS, dict(answers())))


def _features() -> Sheet:
    """What each may do."""
    rows = [
        [f"`{name}`", *(YES if each else NO for each in met)] for name, met in answers().items()
    ]
    remark = (
        "Found by planning a small model per column, on `generic-4x4`. `layers at once`: with one"
        " sample, clusters run different layers. `rewrites weights`: convolutions of one input are"
        " merged. `simulates schedules`: the fastest of several is taken. Sources: "
        + "; ".join(f"{', '.join(names)}: {source}" for source, names in _sources().items())
        + "."
    )
    return Sheet("What each may do", ["strategy", *QUESTIONS], rows, remark)


def _sources() -> Mapping[str, Sequence[str]]:
    """Sources with the strategies that have them."""
    found: dict[str, list[str]] = {}
    for name in COMPARED:
        found.setdefault(source_of(name), []).append(f"`{name}`")
    return found


def _means(runs: Mapping[Key, KeptRun]) -> Sheet:
    """Geometric means of the share of the lower bound per chip, and the time to schedule."""
    rows = []
    for name in COMPARED:
        cells = [_mean(runs, name, chip) for chip in CHIPS]
        own = [run for key, run in runs.items() if key[2] == name and run.has_figures]
        rows.append([f"`{name}`", *cells, _spent(own)])
    remark = (
        "The share is the model's lower bound on the chip over the schedule's time; 1 is the bound"
        " itself. A mean with runs missing is of fewer models, so it compares with no"
        " other row. Time to schedule: median and longest of the runs with figures."
    )
    return Sheet(
        "Share of the lower bound, geometric mean", ["strategy", *CHIPS, "time to schedule"],
        rows, remark,
    )  # fmt: skip


def _spent(own: Sequence[KeptRun]) -> str:
    """Median and longest time to schedule."""
    if not own:
        return KeptRun().reason
    mark = "~" if any(run.is_busy for run in own) else ""
    seconds = [run.seconds for run in own]
    return f"{mark}{median(seconds):.1f} s, {mark}{max(seconds):.1f} s"


def _mean(runs: Mapping[Key, KeptRun], name: str, chip: str) -> str:
    own = [runs.get((setting.name, chip, name), KeptRun()) for setting in SETTINGS]
    shares = [run.share for run in own if run.has_figures]
    if not shares:
        reasons = {run.reason for run in own}
        return " or ".join(sorted(reasons))
    missing = len(SETTINGS) - len(shares)
    return f"{geometric_mean(shares):.3f}" + (f" ({missing} missing)" if missing else "")


Cells = Mapping[tuple[str, str], KeptRun]


def _setting(runs: Mapping[Key, KeptRun], setting: Setting) -> Iterator[str]:
    """One setting: times, traffic and kernels, seconds to schedule, then who wins."""
    cells = {
        (chip, name): runs.get((setting.name, chip, name), KeptRun())
        for chip in CHIPS
        for name in COMPARED
    }
    best = {chip: _fastest(cells, chip, COMPARED) for chip in CHIPS}
    fastest = {id(cells[chip, name]) for chip, name in best.items() if name}

    def time(run: KeptRun) -> str:
        text = f"{format_seconds(run.latency_s)}, {format_percent(run.share)}"
        return f"**{text}**" if id(run) in fastest else text

    yield _sheet(setting.name, "time, share of the bound", cells, time).markdown()
    for heading, text in (
        ("DRAM bytes, kernels a cluster", _traffic),
        ("time to schedule, s", lambda run: run.seconds_text),
    ):
        yield _sheet("", heading, cells, text).markdown().removeprefix("## \n\n")
    yield "".join(_winner(cells, chip, best[chip]) for chip in CHIPS if best[chip])


def _sheet(title: str, heading: str, cells: Cells, text: Callable[[KeptRun], str]) -> Sheet:
    """A figure of each strategy on each chip, or the reason why there is none."""
    rows = [
        [f"`{name}`", *(run.reason or text(run) for run in (cells[chip, name] for chip in CHIPS))]
        for name in COMPARED
    ]
    return Sheet(title, [heading, *CHIPS], rows)


def _fastest(cells: Cells, chip: str, names: Sequence[str]) -> str:
    """The fastest of these strategies on a chip; empty where none was run."""
    ran = [name for name in names if cells[chip, name].has_figures]
    return min(ran, key=lambda name: cells[chip, name].latency_s, default="")


def _traffic(run: KeptRun) -> str:
    return f"{format_bytes(run.dram_bytes)}, {run.kernels:,}"


def _winner(cells: Cells, chip: str, name: str) -> str:
    """Who is the fastest, and where others lose time against it.

    Others: the next one, the baseline, and the rewrite searches. A line per rewrite search compares
    it with the strategy that cuts the same kernels without it.
    """
    ran = {each: _named(each, cells[chip, each]) for each in COMPARED
           if cells[chip, each].has_figures}  # fmt: skip
    second = _fastest(cells, chip, [each for each in COMPARED if each != name])
    others = dict.fromkeys((second, BASELINE, *REWRITE_SEARCHES))
    runs = [ran[name], *(ran[each] for each in others if each in ran and each != name)]
    head = who_wins(runs) or f"`{name}` alone was run"
    lines = [f"{run.name}: {why_slower(run, runs[0])}" for run in runs[1:]]
    for search, plain in REWRITE_SEARCHES.items():
        if search in ran and plain in ran:
            fast, slow = sorted((ran[search], ran[plain]), key=lambda run: run.figures.latency_s)
            lines.append(f"Search or no search: {slow.name}: {why_slower(slow, fast)}")
    return f"- On `{chip}`: {head}.\n" + "".join(f"    - {line}\n" for line in lines)


def _named(name: str, run: KeptRun) -> NamedRun:
    return NamedRun(f"`{name}`", run)
