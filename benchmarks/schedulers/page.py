"""Probes and kept runs -> docs/schedulers.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from benchmarks.drawing.sheet import Sheet
from benchmarks.quality.kept_runs import Key, Run
from benchmarks.quality.matrix import CHIPS
from benchmarks.schedulers.matrix import COMPARED, KEPT, SETTINGS, Setting
from benchmarks.schedulers.probes import QUESTIONS, answers
from graphturbo_core.comparison.side_by_side.kept_abilities import (
    SchedulerAbilities,
    abilities_text,
)
from graphturbo_core.comparison.side_by_side.time_words import NamedRun, who_wins, why_slower
from graphturbo_core.strategies.registry import STRATEGIES
from graphturbo_core.units import format_bytes, format_percent, format_seconds

PAGE = KEPT.with_suffix(".md")
BASELINE = "tvm"
NOT_RUN, YES, NO = "not run", "yes", ""
INTRO = """# Schedulers

Written by `python -m benchmarks.schedulers`. Each strategy follows the rules of a compiler or a
paper, and all are lowered, simulated and replayed by the same code. [strategies.md](strategies.md)
has each one's source, its options and what differs here. So a row shows what a *rule set* does on
these chips. It is no measurement of the compiler that it is named after. The searches `best` and
`tuned` are in [quality.md](quality.md); `taso-like` is not kept. The app's page *Schedulers* draws
all of them on any model and chip.
"""


def page(found: Mapping[Key, Run]) -> str:
    """Text of docs/schedulers.md."""
    count = len(SETTINGS) * len(CHIPS) * len(COMPARED)
    return "\n".join(
        [
            INTRO,
            _features().markdown(),
            f"{len(found)} of {count} runs are kept.\n",
            _means(found).markdown(),
            *(text for setting in SETTINGS for text in _setting(found, setting)),
        ]
    )


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
        " sample, clusters run different layers. `simulates schedules`: the fastest of several is"
        " taken. Sources: "
        + "; ".join(f"`{name}`: {STRATEGIES[name].source}" for name in COMPARED)
        + "."
    )
    return Sheet("What each may do", ["strategy", *QUESTIONS], rows, remark)


def _means(found: Mapping[Key, Run]) -> Sheet:
    """Geometric means of the share of the lower bound per chip, and the time to schedule."""
    rows = []
    for name in COMPARED:
        cells = [_mean(found, name, chip) for chip in CHIPS]
        seconds = [run["seconds"] for key, run in found.items() if key[2] == name if _is_run(run)]
        spent = f"{median(seconds):.1f} s, {max(seconds):.1f} s" if seconds else NOT_RUN
        rows.append([f"`{name}`", *cells, spent])
    remark = (
        "The share is the model's lower bound on the chip over the schedule's time; 1 is the bound"
        " itself. Time to schedule: median and longest of all runs, import to trace, on two cores."
    )
    return Sheet(
        "Share of the lower bound, geometric mean", ["strategy", *CHIPS, "time to schedule"],
        rows, remark,
    )  # fmt: skip


def _mean(found: Mapping[Key, Run], name: str, chip: str) -> str:
    own = [found.get((setting.name, chip, name), {}) for setting in SETTINGS]
    shares = [run["share"] for run in own if _is_run(run)]
    if not shares:
        return NOT_RUN
    missing = len(SETTINGS) - len(shares)
    return f"{geometric_mean(shares):.3f}" + (f" ({missing} missing)" if missing else "")


def _is_run(run: Run) -> bool:
    return "latency_s" in run


def _setting(found: Mapping[Key, Run], setting: Setting) -> Iterator[str]:
    """One setting: times, then traffic and kernels, then who wins."""
    cells = {
        (chip, name): found.get((setting.name, chip, name), {})
        for chip in CHIPS
        for name in COMPARED
    }
    best = {chip: _fastest(cells, chip, COMPARED) for chip in CHIPS}
    times = [
        [f"`{name}`", *(_time(cells[chip, name], name == best[chip]) for chip in CHIPS)]
        for name in COMPARED
    ]
    traffic = [[f"`{name}`", *(_traffic(cells[chip, name]) for chip in CHIPS)] for name in COMPARED]
    yield Sheet(setting.name, ["time, share of the bound", *CHIPS], times).markdown()
    yield (
        Sheet("", ["DRAM bytes, kernels a cluster", *CHIPS], traffic)
        .markdown()
        .removeprefix("## \n\n")
    )
    yield "".join(f"- {_winner(cells, chip, best[chip])}\n" for chip in CHIPS if best[chip])


Cells = Mapping[tuple[str, str], Run]


def _fastest(cells: Cells, chip: str, names: Sequence[str]) -> str:
    """The fastest of these strategies on a chip; empty where none was run."""
    ran = [name for name in names if _is_run(cells[chip, name])]
    return min(ran, key=lambda name: cells[chip, name]["latency_s"], default="")


def _time(run: Run, is_best: bool) -> str:
    if not _is_run(run):
        return str(run.get("refused", NOT_RUN))
    text = f"{format_seconds(run['latency_s'])}, {format_percent(run['share'])}"
    return f"**{text}**" if is_best else text


def _traffic(run: Run) -> str:
    if not _is_run(run):
        return str(run.get("refused", NOT_RUN))
    return f"{format_bytes(run['dram_bytes'])}, {run['kernels']:,}"


def _winner(cells: Cells, chip: str, name: str) -> str:
    """Who is the fastest, and where the next one and the baseline lose time against it."""
    second = _fastest(cells, chip, [each for each in COMPARED if each != name])
    best = _named(name, cells[chip, name])
    others = [each for each in dict.fromkeys((second, BASELINE))
              if each not in ("", name) and _is_run(cells[chip, each])]  # fmt: skip
    runs = [best, *(_named(each, cells[chip, each]) for each in others)]
    said = who_wins(runs) or f"`{name}` alone was run"
    reasons = "".join(f" {run.name}: {why_slower(run, best)}" for run in runs[1:])
    return f"On `{chip}`: {said}.{reasons}"


@dataclass(frozen=True)
class KeptFigures:
    """A kept run as sentences read it."""

    latency_s: float
    critical_path: Mapping[str, float]
    dram_bytes: int
    launches: int


def _named(name: str, run: Run) -> NamedRun:
    figures = (run["latency_s"], run["critical_path"], run["dram_bytes"], run["kernels"])
    return NamedRun(f"`{name}`", KeptFigures(*figures))
