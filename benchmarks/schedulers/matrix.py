"""Runs of the compared strategies on models and chips, kept one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
"""Of a rewrite search, to its end (our choice: all searches then take an hour or two)."""
FIELDS = ("setting", "chip", "strategy")
"""Of a run's key. A run has `latency_s`, `dram_bytes`, `kernels`, `share` of the lower bound,
`critical_path` (seconds by resource), `seconds` to schedule and `cpu_share`, the CPU seconds per
second; or the code `refused`, or `over_seconds`, after which a search was ended."""


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


def runs(setting: Setting, chip: str, missing: Sequence[str]) -> list[tuple[Key, Run]]:
    """The runs of one setting on one chip, in a separate process."""
    warm_up()
    model, found = setting.model, []
    imports = Imports(model.data())
    for name in missing:
        request = RunRequest(
            model.name, f"{name}@{setting.cluster_batch}", chip, model.batch, has_pictures=False
        )
        most = MOST_SECONDS if name in REWRITE_SEARCHES else None
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
    """Runs what is missing of these strategies, chip by chip; a search has a process of its own."""
    known = kept()
    plain = tuple(name for name in COMPARED if name not in REWRITE_SEARCHES)
    tasks = []
    for names in (plain, *((name,) for name in REWRITE_SEARCHES)):
        for chip in CHIPS:
            for setting in SETTINGS:
                missing = [n for n in names if n in named and (setting.name, chip, n) not in known]
                if missing:
                    tasks.append((setting, chip, missing))
    run_tasks(runs, tasks, processes, lambda more: keep(kept() | dict(more)))
