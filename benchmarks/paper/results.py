"""Runs of the paper's ten configurations -> the numbers of its tables.

The simulator counts all of them, so they are equal on every machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf
from multiprocessing import get_context
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.rows import ROWS, Variant
from graphturbo_core.errors import GraphTurboError, InvariantError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import Imports, OnProgress, RunRequest, run_shared, warm_up
from graphturbo_core.report.canvases.canvas import seconds_per_cycle
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.options import EVALUATIONS
from graphturbo_core.strategies.tuned.differences import STEP

PROCESSES = 2
"""Processes; each has a model and a Trace in memory."""
STAGE = re.compile(r"stage(\d+)/")
"""Prefix of the layers' names in sample ResNets: their stage."""
THAN = " than "
"""Separator between the result of a search and the plan that it is compared with."""
DIGITS = 6
"""Significant digits of numbers that are not whole."""


@dataclass(frozen=True)
class Use:
    """Shares of the cores' cycles in which engines of a kind are busy.

    `fill`: multiply-accumulates over the capacity of the matrix engines' busy cycles.
    """

    matrix: float
    vector: float
    fill: float


@dataclass(frozen=True)
class Result:
    """A run of a row; rates are samples per second on the whole chip.

    - `published_per_s`: the paper's rate, None where it has none.
    - `refused`: the code of a refusal, "" for none; the following fields are then empty.
    - Upper bounds of the rate. `bound_per_s`: from chip and model. `plan_bound_per_s`: from these
      kernels and pieces. `kernels_bound_per_s`: for these kernels in sequence, with any order of
      their instructions (0 where they do not run in sequence). `chain_per_s`: from the longest
      dependency chain.
    - `dram_share`: share of the time that DRAM needs at its full rate for `dram_bytes` (by cause).
      `least_dram_bytes`: weights, inputs and outputs once.
    - `in_flight`: share of the time with two or more layers in flight.
    - `busy`, `waits`: shares of the time by kind of engine; waits of the cores' matrix engines.
    - `pieces`: per sub-graph in order. `stages`: only of ResNets.
    - `evaluations`, `otherwise`: only of a search.
    - `largest_error`: of a replay, over an output's largest magnitude; None without a replay.
    """

    row: str
    sample: str
    chip: str
    strategy: str
    batch: int
    published_per_s: float | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""
    throughput_per_s: float = 0.0
    bound_per_s: float = 0.0
    plan_bound_per_s: float = 0.0
    kernels_bound_per_s: float = 0.0
    chain_per_s: float = 0.0
    cycles: int = 0
    kernels: int = 0
    instructions: int = 0
    in_flight: float = 0.0
    memory_under_compute: float = 0.0
    mac_share: float = 0.0
    dram_share: float = 0.0
    least_dram_bytes: int = 0
    dram_bytes: Mapping[str, int] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    waits: Mapping[str, float] = field(default_factory=dict)
    pieces: tuple[int, ...] = ()
    evaluations: int = 0
    otherwise: str = ""
    largest_error: float | None = None
    stages: Mapping[str, Use] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str, str, tuple[tuple[str, str], ...]]:
        """Unique key of this run."""
        options = tuple(sorted(self.options.items()))
        return (self.row, self.sample, self.chip, self.strategy, options)

    @property
    def level(self) -> str:
        """The strategy without its cluster batch; for `graphturbo` only its level."""
        return self.strategy.partition("@")[0].rpartition(":")[2]

    @property
    def over_published(self) -> float | None:
        """Our rate over the paper's; None without one."""
        if self.refused or not self.published_per_s:
            return None
        return self.throughput_per_s / self.published_per_s


@dataclass(frozen=True)
class Asked:
    """Runs of one model as a row of the paper; each is a strategy and its options."""

    row: str
    chip: str
    runs: tuple[tuple[str, Mapping[str, str]], ...]
    place: int = 0

    @property
    def variant(self) -> Variant:
        """The model of the row: its variant with this index."""
        return ROWS[self.row].variants[self.place]

    def blank(self, strategy: str, options: Mapping[str, str]) -> Result:
        """The result of a run with the fields that are known before it."""
        row = ROWS[self.row]
        published = dict(row.strategies()).get(strategy)
        asked = {name: value for name, value in options.items() if name != EVALUATIONS}
        is_taken = not self.place and not asked
        return Result(
            self.row, self.variant.sample, self.chip, strategy, row.batch,
            short(published) if published and is_taken else None, asked,
        )  # fmt: skip


def results_of(asked: Sequence[Asked]) -> Iterator[tuple[Result, ...]]:
    """The results of each, in this order, computed by `PROCESSES` processes."""
    with ProcessPoolExecutor(PROCESSES, get_context("spawn"), warm_up) as pool:
        yield from pool.map(_results, asked)


def _results(asked: Asked) -> tuple[Result, ...]:
    imports = Imports(load_sample(asked.variant.sample))
    return tuple(result_of(imports, asked, *run) for run in asked.runs)


def result_of(imports: Imports, asked: Asked, strategy: str, options: Mapping[str, str]) -> Result:
    """Result of one run; runs of one model share the imported graph."""
    blank, variant = asked.blank(strategy, options), asked.variant
    request = RunRequest(
        variant.sample, strategy, asked.chip, blank.batch, dims=dict(variant.dims),
        options=dict(options), has_pictures=False,
    )  # fmt: skip
    report = report_or_code(imports, request)
    return replace(blank, refused=report) if isinstance(report, str) else filled(blank, report)


def report_or_code(
    imports: Imports,
    request: RunRequest,
    profile_bytes: bytes | None = None,
    on_progress: OnProgress | None = None,
) -> Report | str:
    """Report of a run, or the code of its refusal.

    Raises:
        RuntimeError: a bug of ours; GraphTurboError cannot be pickled.
    """
    try:
        return run_shared(imports, request, profile_bytes, on_progress=on_progress)
    except InvariantError as error:
        raise RuntimeError(f"{request.model_name} {request.strategy}: {error.line()}") from error
    except GraphTurboError as error:
        return error.code


def filled(blank: Result, report: Report) -> Result:
    """The result of a run with the numbers of its report."""
    contract = cast(Mapping[str, Any], report.contract)
    ledger = {cause: size for cause, size in contract["dram_ledger"].items() if size}
    rates = {
        name: short(blank.batch / contract[key])
        for name, key in (
            ("throughput_per_s", "latency_s"),
            ("bound_per_s", "lower_bound_s"),
            ("plan_bound_per_s", "plan_bound_s"),
            ("chain_per_s", "program_critical_path_s"),
        )
    }
    return replace(
        blank,
        **rates,
        kernels_bound_per_s=short(blank.batch / contract["latency_s"] / _least_share(report)),
        cycles=contract["cycles"],
        kernels=contract["kernels"],
        instructions=contract["instructions"],
        in_flight=short(contract["overlap"]["layers_in_flight"]["share"]),
        memory_under_compute=short(contract["overlap"]["memory_under_compute"]),
        mac_share=short(contract["mac_utilization"]),
        dram_share=short(sum(ledger.values()) / _dram_bytes_per_s(report) / contract["latency_s"]),
        least_dram_bytes=contract["compulsory_dram_bytes"],
        dram_bytes=ledger,
        busy=_shorts(contract["utilization"]),
        waits=_shorts(contract["stalls"]["matrix"]),
        pieces=tuple(group["pieces"] for group in contract["groups"]),
        evaluations=int(contract["options"].get(EVALUATIONS, 0)),
        otherwise=_otherwise(report),
        stages=stage_use(report),
    )


def _otherwise(report: Report) -> str:
    """Differences of a search's plan from `full` or `plus`, with counts; "" without a search."""
    rules = [str(row["rule"]) for row in report.tables["decisions"] if row["step"] == STEP]
    counted = Counter(rule.partition(THAN)[0] for rule in rules if THAN in rule)
    return ", ".join(f"{rule} ({count})" for rule, count in counted.items())


def _least_share(report: Report) -> float:
    """Share of a round's time if each kernel met its lower bound over instruction orders.

    Infinite where kernels run at the same time.
    """
    kernels = cast(Sequence[Mapping[str, int]], report.tables["kernels"])
    if any(one["end_cycle"] > other["start_cycle"] for one, other in pairwise(kernels)):
        return inf
    slack = sum(k["end_cycle"] - k["start_cycle"] - k["least_cycles"] for k in kernels)
    (round_,) = report.tables["round"]
    return 1 - slack / cast(int, round_["cycles"])


def _dram_bytes_per_s(report: Report) -> float:
    (roofs,), (round_,) = report.tables["roofs"], report.tables["round"]
    return float(roofs["dram_bytes_per_s"]) * int(round_["clusters"])


def _shorts(values: Mapping[str, float]) -> dict[str, float]:
    return {name: short(value) for name, value in values.items()}


def short(value: float) -> float:
    """The number with the digits that docs/paper.json keeps."""
    return float(f"{value:.{DIGITS}g}")


def stage_use(report: Report) -> dict[str, Use]:
    """Use of matrix and vector engines during each stage of a ResNet, by the stage's number.

    A stage runs while a kernel with layers of it runs. The time of a kernel with several stages is
    divided by their shares of its matrix cycles (our choice: stages of one kernel overlap). Empty
    for models without stages.
    """
    found = [STAGE.match(str(layer["name"])) for layer in report.tables["layers"]]
    of_layer = np.array([int(match[1]) if match else 0 for match in found])
    if not of_layer.any():
        return {}
    layer, kernel = report.arrays["layer"], report.arrays["kernel"]
    stage = np.where(layer < 0, 0, of_layer[layer])
    kernels = report.tables["kernels"]
    took = np.array([int(k["end_cycle"]) - int(k["start_cycle"]) for k in kernels])
    shape = (int(of_layer.max()) + 1, len(kernels))
    busy = {
        kind: _busy(report, kind, shape, (stage, np.maximum(kernel, 0)))
        for kind in ("matrix", "vector")
    }
    cores = {kind: sum(int(e["cores"]) for e in _engines(report, kind)) for kind in busy}
    matrix = busy["matrix"]
    runs = (took * matrix / np.maximum(matrix.sum(axis=0), 1)).sum(axis=1)
    shares = {
        kind: [short(float(b / (r * cores[kind]))) if r else 0.0 for b, r in zip(
            busy[kind].sum(axis=1), runs, strict=True)]
        for kind in busy
    }  # fmt: skip
    return {
        str(n): Use(shares["matrix"][n], shares["vector"][n], _fill(report, of_layer == n))
        for n in range(1, shape[0])
        if runs[n]
    }


def _fill(report: Report, is_shown: NDArray[np.bool_]) -> float:
    layers = [row for row, shown in zip(report.tables["layers"], is_shown, strict=True) if shown]
    (roofs,) = report.tables["roofs"]
    cores = sum(int(engine["cores"]) for engine in _engines(report, "matrix"))
    macs_per_core_s = int(roofs["matrix_macs_per_s"]) / cores
    busy_s = sum(int(row["matrix_cycles"]) for row in layers) * seconds_per_cycle(report)
    return short(sum(int(row["macs"]) for row in layers) / (busy_s * macs_per_core_s))


def _engines(report: Report, kind: str) -> list[Mapping[str, Any]]:
    return [engine for engine in report.tables["engines"] if engine["kind"] == kind]


def _busy(
    report: Report, kind: str, shape: tuple[int, int], places: tuple[NDArray[Any], NDArray[Any]]
) -> NDArray[np.float64]:
    """Busy cycles of engines of a kind, by stage and kernel."""
    of_kind = np.isin(report.arrays["engine"], [e["index"] for e in _engines(report, kind)])
    at = np.ravel_multi_index((places[0][of_kind], places[1][of_kind]), shape)
    weights = report.arrays["busy"][of_kind]
    return np.bincount(at, weights, shape[0] * shape[1]).reshape(shape)
