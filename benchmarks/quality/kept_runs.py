"""Runs that take long, kept one by one in a JSON file of entries, and made in processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Key = tuple[str, str, str]
Run = Mapping[str, Any]
Found = Iterable[tuple[Key, Run]]


def read_runs(path: Path, names: Sequence[str]) -> dict[Key, Run]:
    """The kept runs; `names`: of the three fields that make a key."""
    if not path.exists():
        return {}
    first, second, third = names
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {(e[first], e[second], e[third]): e["run"] for e in entries}


def write_runs(
    path: Path, names: Sequence[str], order: Iterable[Key], found: Mapping[Key, Run]
) -> None:
    """Writes these runs in the order of the tables."""
    entries = [
        {**dict(zip(names, key, strict=True)), "run": dict(found[key])}
        for key in order
        if key in found
    ]
    path.write_text(f"{json.dumps(entries, indent=1)}\n", encoding="utf-8")


def run_tasks(
    work: Callable[..., Found],
    tasks: Iterable[Sequence[object]],
    processes: int,
    keep: Callable[[Found], None],
) -> None:
    """Each task in a process of its own; its runs are printed, and kept at once."""
    pool = ProcessPoolExecutor(processes, get_context("spawn"), max_tasks_per_child=1)
    with pool:
        for done in as_completed([pool.submit(work, *task) for task in tasks]):
            runs = tuple(done.result())
            for key, run in runs:
                print(*key, json.dumps(run), file=sys.stderr)
            keep(runs)
