"""Runs of the compared strategies on models and chips, kept one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from benchmarks.quality.kept_runs import Key, Run, read_runs, run_tasks, write_runs
from benchmarks.quality.matrix import CHIPS, Model
from benchmarks.schedulers.timed_run import timed_run
from graphturbo_core.comparison.side_by_side.rewrite_searches import (
    REWRITE_SEARCHES,
    compared_strategies,
)
from graphturbo_core.pipeline import Imports, RunRequest, warm_up

KEPT = Path(__file__).resolve().parents[2] / "docs" / "schedulers.json"
COMPARED = compared_strategies()
MOST_SECONDS = 180
"""CPU seconds of a rewrite search; it is ended beyond (our choice: all then take two hours)."""
TOO_LONG = {"over_seconds": MOST_SECONDS}
HOPELESS = 2
"""Times `MOST_SECONDS`: a search is not begun where the unchanged graph alone took so long."""
FIELDS = ("setting", "chip", "strategy")
"""Of a run's key. A run has `latency_s`, `dram_bytes`, `kernels`, `share` of the lower bound,
`critical_path` (seconds by resource), `seconds` to schedule and `cpu_share`, the CPU seconds per
second; or the code `refused`, or `over_seconds` of CPU time that its search takes.
"""


@dataclass(frozen=True)
class Setting:
    """A model with its batch; every strategy has the same cluster batch."""

    model: Model
    cluster_batch: int

    @property
    def name(self) -> str:
        """As the page's headings name it."""
        return f"{self.model.name}, batch {self.model.batch}, {self.cluster_batch} per cluster"


SETTINGS = (
    Setting(Model("resnet50-slim", 64), 16),
    Setting(Model("inception_v3_ts", 16), 4),
    Setting(Model("bert-base", 16), 4),
    Setting(Model("inception_v3_ts", 1), 1),
    Setting(Model("bert-base", 1), 1),
)
"""With one sample, clusters may share it."""


def runs(
    setting: Setting, chip: str, missing: Sequence[str], most_seconds: float | None = None
) -> list[tuple[Key, Run]]:
    """The runs of one setting on one chip, in a separate process.

    `most_seconds`: of CPU time for a run; without it rewrite searches have `MOST_SECONDS`.
    """
    warm_up()
    model, found = setting.model, []
    imports = Imports(model.data())
    for name in missing:
        request = RunRequest(
            model.name, f"{name}@{setting.cluster_batch}", chip, model.batch, has_pictures=False
        )
        most = MOST_SECONDS if name in REWRITE_SEARCHES and not most_seconds else most_seconds
        found.append(((setting.name, chip, name), timed_run(imports, request, most)))
    return found


def kept() -> dict[Key, Run]:
    """The kept runs."""
    return read_runs(KEPT, FIELDS)


def keep(found: Mapping[Key, Run]) -> None:
    """Writes all runs, in the order of the tables."""
    order = [(s.name, c, n) for s in SETTINGS for c in CHIPS for n in COMPARED]
    write_runs(KEPT, FIELDS, order, found)


def run_missing(processes: int, named: Sequence[str] = COMPARED) -> None:
    """Runs what is missing of these strategies, chip by chip; then searches, the shortest first.

    A search has a process of its own.
    """
    known = kept()
    tasks = []
    for chip in CHIPS:
        for setting in SETTINGS:
            missing = [
                name for name in COMPARED if name in named and name not in REWRITE_SEARCHES
                and (setting.name, chip, name) not in known
            ]  # fmt: skip
            if missing:
                tasks.append((setting, chip, missing))
    run_tasks(runs, tasks, processes, _keep_more)
    run_tasks(runs, _searches(named), processes, _keep_more)


def _keep_more(more: Iterable[tuple[Key, Run]]) -> None:
    keep(kept() | dict(more))


def _searches(named: Sequence[str]) -> list[tuple[Setting, str, list[str]]]:
    """Missing searches in ascending order of the seconds that the unchanged graph took.

    `MOST_SECONDS` where it was refused.
    """
    known = kept()
    timed = []
    for name, unchanged in REWRITE_SEARCHES.items():
        for place, (chip, setting) in enumerate(product(CHIPS, SETTINGS)):
            key = (setting.name, chip, name)
            if name not in named or key in known:
                continue
            seconds = known.get((setting.name, chip, unchanged), {}).get("seconds", MOST_SECONDS)
            if seconds > HOPELESS * MOST_SECONDS:
                _keep_more([(key, TOO_LONG)])
            else:
                timed.append((seconds, place, name, (setting, chip, [name])))
    return [task for *_, task in sorted(timed, key=lambda each: each[:3])]
