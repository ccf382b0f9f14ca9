"""Runs of models, chips and strategies: shares of the lower bound, kept one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.paper.results import report_or_code
from benchmarks.quality.kept_runs import Key, Run, read_runs, run_tasks, write_runs
from graphturbo_core.best_rounds import NO_CLUSTER_BATCH
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.lowering.tiling.tiling import TOO_MANY_INSTRUCTIONS
from graphturbo_core.pipeline import Imports, RunRequest, warm_up
from graphturbo_core.report.report import Report
from tests.data.exports import exported

KEPT = Path(__file__).resolve().parents[2] / "docs" / "quality.json"
SEARCH = "best"
STRATEGIES = ("tvm@16", "graphturbo@4", "graphturbo@16", SEARCH)
"""Columns of the first table."""
CLUSTER_BATCHES = (1, 2, 4, 8, 16, 32)
BASELINES = tuple(f"{name}@{size}" for name in ("tvm", "graphturbo") for size in CLUSTER_BATCHES)
"""Schedules that the search's is compared with."""
ONE = "one sample: "
_OF_ONE = ("tvm@1", "graphturbo@1", "graphturbo:plus@1", SEARCH)
ONE_SAMPLE = tuple(f"{ONE}{name}" for name in _OF_ONE)
"""The same models at batch 1."""
EVERY = (*BASELINES, SEARCH, *ONE_SAMPLE)
PLUS = tuple(f"graphturbo:plus@{size}" for size in CLUSTER_BATCHES)
PLUS_RUNS = 2
"""Runs of them per model and chip: see `plus_runs`."""
CHIPS = ("stcp920", "ascend910", "generic-4x4", "goya", "ipu-gc2")
FIELDS = ("model", "chip", "of")
"""Of a run's key; `of` names the strategy. A run has its `share` of the lower bound, `strategy`
with its cluster batch, and seconds; or the code `refused`.

`is_longer`: with `--max-instructions`. `is_earlier`: an earlier state of the search or of
lowering gave it.
`resource` of the bound and, by step from it, `steps` as shares of the latency; runs that were kept
before have none. `batch_share`, if the search chose the cluster batch: the share of the lower bound
of all schedules with it.
"""

LONGER: Run = {"is_longer": True}


@dataclass(frozen=True)
class Model:
    """A sample or an export of PyTorch, and how many samples it gets."""

    name: str
    batch: int
    dims: tuple[tuple[str, int], ...] = ()

    def data(self) -> bytes:
        """Bytes of the file."""
        is_sample = self.name in sample_names()
        return load_sample(self.name) if is_sample else exported(self.name)


MODELS = (
    Model("resnet50-slim", 64),
    Model("mobilenet-v2", 64),
    Model("densenet-121", 16),
    Model("bert-base", 16),
    Model("vit-b16", 16),
    Model("swin_t_ts", 16, (("height", 224), ("width", 224))),
    Model("inception_v3_ts", 16),
    Model("convnext_tiny_ts", 16),
)


def runs(model: Model, chip: str, missing: Sequence[str]) -> list[tuple[Key, Run]]:
    """The runs of one model on one chip, in a separate process."""
    warm_up()
    imports, found = Imports(model.data()), []
    for of in missing:
        strategy, batch = of.removeprefix(ONE), 1 if of.startswith(ONE) else model.batch
        request = RunRequest(
            model.name, strategy, chip, batch, dims=dict(model.dims), has_pictures=False
        )
        found.append(((model.name, chip, of), _run(imports, request)))
    return found


def _run(imports: Imports, request: RunRequest) -> Run:
    """The run; a program that is too long is allowed to be as long as a user may ask for."""
    answer, longer = report_or_code(imports, request), {}
    if answer in (TOO_MANY_INSTRUCTIONS, NO_CLUSTER_BATCH):
        most = imports.limits.max_instructions_longest
        answer, longer = report_or_code(imports, replace(request, max_instructions=most)), LONGER
    if isinstance(answer, str):
        return {"refused": answer, **longer}
    contract, steps = answer.contract, answer.contract["bound_steps"]
    return {
        "strategy": contract["strategy"],
        "share": round(contract["lower_bound_s"] / contract["latency_s"], 4),
        "cycles": contract["cycles"],
        "seconds": round(contract["schedule_seconds"], 1),
        **longer,
        "resource": steps["resource"],
        "steps": {
            name: round(own / contract["latency_s"], 4) for name, own in steps["steps"].items()
        },
        **_batch_share(answer),
    }


def _batch_share(report: Report) -> Run:
    """The taken cluster batch's own bound over the time, if that bound is known."""
    compared = report.tables.get("compared_batches", ())
    bound = next((row["least_cycles"] for row in compared if row["is_taken"]), 0)
    return {"batch_share": round(bound / report.contract["cycles"], 4)} if bound else {}


def kept() -> dict[Key, Run]:
    """The kept runs."""
    return read_runs(KEPT, FIELDS)


def plus_runs(found: Mapping[Key, Run], model: str, chip: str) -> tuple[str, ...]:
    """Those of `PLUS` at the cluster batches where `graphturbo` has the highest shares.

    None while a run of `graphturbo` is missing. Cluster batches above a cluster's samples have one
    schedule, and count once.
    """
    plain = [found.get((model, chip, f"graphturbo@{size}")) for size in CLUSTER_BATCHES]
    if not all(plain):
        return ()
    by_schedule: dict[object, tuple[float, str]] = {}
    for name, run in zip(PLUS, plain, strict=True):
        if run and "cycles" in run:
            by_schedule.setdefault(run["cycles"], (run["share"], name))
    best = sorted(by_schedule.values(), reverse=True)[:PLUS_RUNS]
    return tuple(name for name in PLUS if name in {of for _, of in best})


def keep(found: Mapping[Key, Run]) -> None:
    """Writes all runs, in the order of the tables."""
    order = [(m.name, c, s) for m in MODELS for c in CHIPS for s in (*EVERY, *PLUS)]
    write_runs(KEPT, FIELDS, order, found)


def run_missing(only: Iterable[str], processes: int) -> None:
    """Runs what is missing for these models on these chips; all models, or chips, if none is named.

    Raises:
        ValueError: a name is of no model and of no chip.
    """
    found, names = kept(), frozenset(only)
    models, chips = names & {model.name for model in MODELS}, names & frozenset(CHIPS)
    if unknown := sorted(names - models - chips):
        raise ValueError(f"no model or chip of the page: {', '.join(unknown)}")
    tasks = []
    for chip in CHIPS:
        for model in MODELS:
            every = (*EVERY, *plus_runs(found, model.name, chip))
            missing = [s for s in every if (model.name, chip, s) not in found]
            is_asked = (not models or model.name in models) and (not chips or chip in chips)
            if missing and is_asked:
                tasks.append((model, chip, missing))
    run_tasks(runs, tasks, processes, lambda more: keep(kept() | dict(more)))
