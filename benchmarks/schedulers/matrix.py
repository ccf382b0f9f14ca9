"""Runs of every strategy without a search on models and chips, kept one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.paper.results import report_or_code
from benchmarks.quality.kept_runs import Key, Run, read_runs, run_tasks, write_runs
from benchmarks.quality.matrix import CHIPS, Model
from graphturbo_core.pipeline import Imports, RunRequest, warm_up
from graphturbo_core.strategies.registry import STRATEGIES

KEPT = Path(__file__).resolve().parents[2] / "docs" / "schedulers.json"
COMPARED = tuple(name for name, strategy in STRATEGIES.items() if not strategy.is_search)
FIELDS = ("setting", "chip", "strategy")
"""Of a run's key. A run has `latency_s`, `dram_bytes`, `kernels`, `share` of the lower bound,
`critical_path` (seconds by resource) and `seconds` to schedule; or the code `refused`."""


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
        found.append(((setting.name, chip, name), _run(imports, request)))
    return found


def _run(imports: Imports, request: RunRequest) -> Run:
    answer = report_or_code(imports, request)
    if isinstance(answer, str):
        return {"refused": answer}
    contract = answer.contract
    return {
        "latency_s": float(f"{contract['latency_s']:.6g}"),
        "dram_bytes": contract["dram_read_bytes"] + contract["dram_write_bytes"],
        "kernels": contract["kernels"] * contract["rounds"],
        "share": round(contract["lower_bound_s"] / contract["latency_s"], 4),
        "critical_path": {
            key: float(f"{value:.4g}") for key, value in contract["critical_path"].items() if value
        },
        "seconds": round(contract["schedule_seconds"], 1),
    }


def kept() -> dict[Key, Run]:
    """The kept runs."""
    return read_runs(KEPT, FIELDS)


def keep(found: Mapping[Key, Run]) -> None:
    """Writes all runs, in the order of the tables."""
    order = [(s.name, c, n) for s in SETTINGS for c in CHIPS for n in COMPARED]
    write_runs(KEPT, FIELDS, order, found)


def run_missing(processes: int) -> None:
    """Runs what is missing, chip by chip."""
    found = kept()
    tasks = []
    for chip in CHIPS:
        for setting in SETTINGS:
            missing = [name for name in COMPARED if (setting.name, chip, name) not in found]
            if missing:
                tasks.append((setting, chip, missing))
    run_tasks(runs, tasks, processes, lambda more: keep(kept() | dict(more)))
