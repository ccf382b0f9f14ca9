"""Tasks -> results, in local processes; finished runs are kept in a folder and not run again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

from graphturbo_core.errors import CapacityError, OptionError
from graphturbo_core.rounds import Imports
from graphturbo_core.sweep.tasks import check_result, is_lasting, result_of, task_key

Compute = Callable[[bytes, Mapping[str, bytes]], Iterator[tuple[str, bytes]]]
"""Model and tasks by key -> key and result of each, in any order."""
OnProgress = Callable[[int, int], None]
"""Gets the number of finished runs and of all."""
SUFFIX = ".json"
_imports: list[Imports] = []
"""Of a worker process: the model, whose graphs and kernels its runs share."""


@dataclass(frozen=True)
class Kept:
    """Results of finished runs in a folder, one file each; without a folder none is kept."""

    folder: Path | None

    def find(self, key: str) -> bytes | None:
        """The result of a run; None if it is not kept, or not whole."""
        if self.folder is None:
            return None
        try:
            found = (self.folder / f"{key}{SUFFIX}").read_bytes()
            json.loads(found)
        except (OSError, ValueError):
            return None
        return found

    def keep(self, key: str, result: bytes) -> None:
        """Writes a file beside, then renames it, so that no half file counts.

        Raises:
            OptionError: UNWRITABLE.
        """
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            beside = self.folder / f"{key}.part"
            beside.write_bytes(result)
            beside.replace(self.folder / f"{key}{SUFFIX}")
        except OSError as error:
            what = f"{str(self.folder)!r} cannot be written"
            raise OptionError("UNWRITABLE", what, str(error), "give another folder") from error


def results_of(
    model_bytes: bytes, tasks: Sequence[bytes], kept: Kept, tell: OnProgress, compute: Compute
) -> list[bytes]:
    """The results in the order of the tasks; runs with equal tasks run once.

    A run that met a bug of ours is a result too, which is not kept; the others go on.

    Raises:
        OptionError: as `Kept.keep`.
        GraphTurboError: as `compute`.
    """
    keys = [task_key(model_bytes, task) for task in tasks]
    found = {key: result for key in keys if (result := kept.find(key)) is not None}
    missing = {key: task for key, task in zip(keys, tasks, strict=True) if key not in found}
    tell(len(found), len(found) + len(missing))
    for key, result in compute(model_bytes, missing):
        check_result(result)
        if is_lasting(result):
            kept.keep(key, result)
        found[key] = result
        tell(len(found), len(set(keys)))
    return [found[key] for key in keys]


def computed_here(
    processes: int, model_bytes: bytes, tasks: Mapping[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yields key and result of each run of local processes as it finishes.

    Raises:
        CapacityError: WORKER_ENDED: a process was killed, probably for its memory.
    """
    if not tasks:
        return
    count = min(processes, len(tasks))
    pool = ProcessPoolExecutor(count, get_context("spawn"), _begin, (model_bytes,))
    try:
        runs: dict[Future[bytes], str] = {
            pool.submit(_run, task): key for key, task in tasks.items()
        }
        for done in as_completed(runs):
            yield runs[done], done.result()
    except BrokenProcessPool as error:
        what = "a process of the sweep was ended, probably for its memory"
        change = "run it again with --resume and fewer --processes"
        raise CapacityError("WORKER_ENDED", what, change=change) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)  # without waiting, all would still run


def _begin(model_bytes: bytes) -> None:
    """Makes a worker process ready."""
    Thread(target=_end_with_parent, daemon=True).start()
    _imports.append(Imports(model_bytes))


def _end_with_parent() -> None:
    """Ends this process where the one that began it is killed, which it would wait for."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(task: bytes) -> bytes:
    return result_of(_imports[0], task)
