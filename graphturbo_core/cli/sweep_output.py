"""A sweep on the command line: progress on stderr, the table as CSV, JSON, or on the terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from graphturbo_core.cli.job import Job
from graphturbo_core.cli.options import SweepTargets
from graphturbo_core.cli.output import STDOUT, check_writable, list_rows, write_text_to
from graphturbo_core.sweep.axes import Axis, axes_of, check_size
from graphturbo_core.sweep.cluster import Scheduler, computed_on
from graphturbo_core.sweep.points import Compute, Kept, OnProgress, computed_here, results_of
from graphturbo_core.sweep.table import sweep_csv, sweep_json
from graphturbo_core.sweep.tasks import FAULT, OK, Row, check_faults, points_of, row_of, tasks_of
from graphturbo_core.units import format_bytes, format_seconds, format_si

LINE_SECONDS = 5
"""Between two lines of progress where stderr is no terminal."""


def write_sweep(job: Job, targets: SweepTargets) -> None:
    """Runs every point, and writes the table where it was asked for.

    Raises:
        GraphTurboError: an option is refused. A refused run is a row of the table.
        InvariantError: a run met a bug of ours; the table is written first.
    """
    request = job.requests[0]
    for target in (targets.csv_to, targets.json_to):
        check_writable(target)
    axes = axes_of(targets.vary or [], request.profile)
    check_size(axes, len(job.requests))
    points = points_of(axes, [each.strategy for each in job.requests])
    tasks = tasks_of(request, points)
    kept = Kept(None if targets.resume is None else Path(targets.resume))
    with _progress() as tell:
        results = results_of(job.model_bytes, tasks, kept, tell, _compute(targets))
    rows = [row_of(point, result) for point, result in zip(points, results, strict=True)]
    if targets.csv_to is not None:
        write_text_to(targets.csv_to, lambda: sweep_csv(axes, rows))
    if targets.json_to is not None:
        write_text_to(targets.json_to, lambda: sweep_json(axes, rows))
    if STDOUT not in (targets.csv_to, targets.json_to):
        list_rows(None, f"{request.model_name} on {request.profile}", _shown(axes, rows))
    check_faults(results)


def _compute(targets: SweepTargets) -> Compute:
    """Where runs are computed: in local processes, or on a Dask cluster."""
    if targets.scheduler is None:
        return partial(computed_here, targets.processes or os.cpu_count() or 1)
    files = targets.tls_ca, targets.tls_cert, targets.tls_key
    scheduler = Scheduler(targets.scheduler, *files)
    scheduler.check()
    return partial(computed_on, scheduler)


@contextmanager
def _progress() -> Iterator[OnProgress]:
    """A bar on a terminal; lines where stderr is none, which would show a bar at its end alone."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield progress_lines(time.monotonic)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        bar = progress.add_task("runs", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)


def progress_lines(seconds_now: Callable[[], float]) -> OnProgress:
    """Writes `3/8 runs` to stderr every `LINE_SECONDS` at most, and once all have run."""
    due = seconds_now() + LINE_SECONDS

    def tell(done: int, total: int) -> None:
        nonlocal due
        now = seconds_now()
        if now >= due or done == total:
            print(f"{done:,}/{total:,} runs", file=sys.stderr, flush=True)
            due = now + LINE_SECONDS

    return tell


def _shown(axes: Sequence[Axis], rows: Sequence[Row]) -> list[dict[str, str]]:
    """The figures that fit a terminal."""
    names = _short([axis.key for axis in axes])
    codes = [_code(row) for row in rows]
    return [
        {
            **{name: str(row[key]) for key, name in names.items()},
            "strategy": str(row["strategy"]),
            **(_figures(row) if row["status"] == OK else dict.fromkeys(_NAMES, "")),
            **({"error": code} if any(codes) else {}),
        }
        for row, code in zip(rows, codes, strict=True)
    ]


def _code(row: Row) -> str:
    """The code of a refusal; that of a bug of ours, or the class of its error, after `fault`."""
    code = str(row["error"]).removeprefix("error: ").partition(":")[0]
    return f"{FAULT}: {code}" if row["status"] == FAULT else code


def _short(keys: Sequence[str]) -> dict[str, str]:
    """The last part of each key; the whole key where two have the same."""
    last = {key: key.rpartition(".")[2] for key in keys}
    return {
        key: name if list(last.values()).count(name) == 1 else key for key, name in last.items()
    }


_NAMES = ("latency", "samples/s", "gap", "DRAM traffic")


def _figures(row: Row) -> dict[str, str]:
    moved = int(row["dram_read_bytes"] or 0) + int(row["dram_write_bytes"] or 0)
    texts = (
        format_seconds(float(row["latency_s"] or 0)),
        format_si(float(row["throughput_per_s"] or 0)),
        f"{float(row['gap'] or 0):.2f}x",
        format_bytes(moved),
    )
    return dict(zip(_NAMES, texts, strict=True))
