"""A request -> figures of its run, its seconds and its share of a CPU; or why it has none."""

from __future__ import annotations

from time import perf_counter, process_time

from benchmarks.paper.results import report_or_code
from benchmarks.quality.kept_runs import Run
from graphturbo_core.pipeline import Imports, Progress, RunRequest
from graphturbo_core.report.report import Report


class SearchTooLongError(Exception):
    """A search has used up its seconds."""


def timed_run(imports: Imports, request: RunRequest, most_seconds: float | None) -> Run:
    """The run as `docs/schedulers.json` keeps it; `most_seconds`: of CPU time, None: no limit."""
    began, used = perf_counter(), process_time()

    def check_clock(progress: Progress) -> None:
        del progress
        if most_seconds is not None and process_time() - used > most_seconds:
            raise SearchTooLongError

    try:
        answer = report_or_code(imports, request, on_progress=check_clock)
    except SearchTooLongError:
        return {"over_seconds": most_seconds}
    if isinstance(answer, str):
        return {"refused": answer}
    share = (process_time() - used) / (perf_counter() - began)
    return {**_figures(answer), "cpu_share": round(share, 2)}


def _figures(answer: Report) -> Run:
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
