"""Jobs in worker processes, and the one cache of what they give.

A job is a comparison: runs on one model and chip that nobody has computed yet. Its worker imports
the model once and answers run by run in plain bytes (protocol.py); a model that brings a worker
down costs the run that was under way, and the rest of the job goes on in the next worker. A key is
the model's sha256, the profile's and the frozen request.
"""

from __future__ import annotations

import hashlib
import json
import logging
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from time import monotonic
from typing import TypeVar

import streamlit as st

from graphturbo_core.errors import CapacityError, GraphTurboError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.remote import process as worker_process
from graphturbo_core.remote import protocol, worker
from graphturbo_core.remote.client import WorkerError, report_of
from graphturbo_core.remote.process import TRANSIENT_CODES, WorkerProcess
from graphturbo_core.report.report import Report

WORKERS = 2
"""Worker processes: two visitors' jobs at once (our choice; each holds a few hundred MiB)."""
MAX_WAITING = 32
"""Jobs that may wait; one more is refused by name."""
MAX_KEPT_RUNS = 64
MAX_KEPT_BYTES = 2**30
"""Reports kept; the least recently used go first."""
MAX_KEPT_VIEWS = 48
"""Figures and canvas buffers kept."""

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)


@dataclass
class Run:
    """One run, on its way or done: `steps` grow as they finish."""

    key: str
    request: RunRequest
    answer: Future[Report] = field(default_factory=Future, repr=False)
    steps: list[tuple[str, float]] = field(default_factory=list)
    size_bytes: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the report or the refusal is there."""
        return self.answer.done()

    @property
    def report(self) -> Report:
        """The report.

        Raises:
            GraphTurboError: the run was refused.
            WorkerError: it met a bug.
        """
        return self.answer.result()

    @property
    def refusal(self) -> GraphTurboError | None:
        """Why a finished run has no report; None where it has one.

        Raises:
            WorkerError: it met a bug.
        """
        error = self.answer.exception()
        if error is None or isinstance(error, GraphTurboError):
            return error
        raise error

    @property
    def is_kept(self) -> bool:
        """Whether a finished run's answer stays; otherwise who asks again has it computed again."""
        return not _is_passing(self.answer.exception())

    def wait(self, seconds: float) -> bool:
        """Wait for the answer at most so long; whether it is there."""
        return bool(wait([self.answer], seconds).done)


Runs = Mapping[str, Run]
"""Runs of a comparison by name, A before B."""


def _is_passing(error: BaseException | None) -> bool:
    """Whether an error may not come again: a bug's traceback, a death, a run that took long."""
    return isinstance(error, WorkerError) or getattr(error, "code", "") in TRANSIENT_CODES


@dataclass(frozen=True)
class Job:
    """A comparison on its way: runs that share the import of one model."""

    runs: tuple[Run, ...]
    model: bytes = field(repr=False)
    profile: bytes | None = field(repr=False)
    is_cancelled: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def open_runs(self) -> tuple[Run, ...]:
        """The runs without an answer, in order: a worker computes the first of them."""
        return tuple(run for run in self.runs if not run.is_done)


class Desk:
    """Takes comparisons, hands them to workers in turn, and keeps what came back."""

    def __init__(
        self, workers: int = WORKERS, target: Callable[[Connection], None] = worker.main
    ) -> None:
        """Start `workers` processes; they warm up in the background."""
        self._target = target
        self._waiting: queue.Queue[Job | None] = queue.Queue(MAX_WAITING)
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._views: OrderedDict[Hashable, object] = OrderedDict()
        self._under_way: dict[str, tuple[Job, WorkerProcess]] = {}
        self._lock = threading.RLock()
        self._threads = [threading.Thread(target=self._attend, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the workers once they have answered what waits."""
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def start(
        self, requests: Sequence[RunRequest], model: bytes, profile: bytes | None
    ) -> tuple[Run, ...]:
        """The runs of those requests: each kept, under way, or new; the new ones make one job.

        Raises:
            CapacityError: too many jobs are waiting; none of these runs was started.
        """
        keys = [run_key(request, model, profile) for request in requests]
        with self._lock:
            new = {
                key: Run(key, request)
                for key, request in zip(keys, requests, strict=True)
                if key not in self._runs
            }
            if new:
                self._enqueue(Job(tuple(new.values()), model, profile))
            self._runs.update(new)
            for key in keys:
                self._runs.move_to_end(key)
            return tuple(self._runs[key] for key in keys)

    def view(self, name: str, make: Callable[..., T], *runs: Run) -> T:
        """`make(*reports)`, made once for these runs and kept."""
        key = (name, *(run.key for run in runs))
        with self._lock:
            if key in self._views:
                self._views.move_to_end(key)
                return self._views[key]  # type: ignore[return-value]  # put in below, same name
        made = make(*(run.report for run in runs))
        with self._lock:
            self._views[key] = made
            while len(self._views) > MAX_KEPT_VIEWS:
                self._views.popitem(last=False)
        return made

    def _enqueue(self, job: Job) -> None:
        try:
            self._waiting.put_nowait(job)
        except queue.Full:
            raise CapacityError(
                "BUSY", f"{MAX_WAITING} jobs are waiting already", "", "try again in a minute"
            ) from None

    def _attend(self) -> None:
        """One thread a worker: start it, feed it, and replace it when it dies."""
        process = WorkerProcess(self._target)
        while (job := self._waiting.get()) is not None:
            while job.open_runs:
                try:
                    self._serve(process, job)
                except Exception as error:  # whoever asked for the run under way gets it
                    if job.is_cancelled.is_set():
                        break
                    run = job.open_runs[0]
                    strategy = run.request.strategy
                    self._fail(run, worker_process.death(strategy, process.end(), error))
                    process = WorkerProcess(self._target)
            if job.is_cancelled.is_set():
                process.end()
                process = WorkerProcess(self._target)
            del job  # holds the model's bytes, and the next job may be hours away
        process.end()

    def cancel(self, run: Run) -> None:
        """End the job of a run that is under way or waits: its open runs get no answer.

        The worker's process is ended with it, and a new one takes the next job.
        """
        with self._lock:
            job, process = self._under_way.get(run.key, (None, None))
            for other in job.open_runs if job is not None else (run,):
                self._fail(other, _cancelled(other))
            if job is not None and process is not None:
                job.is_cancelled.set()
                process.process.kill()

    def _serve(self, process: WorkerProcess, job: Job) -> None:
        """Send the runs of a job that are open and read frames until each has its answer.

        Raises:
            EOFError, OSError: the worker is of no use any more.
        """
        runs = job.open_runs
        with self._lock:
            self._under_way.update((run.key, (job, process)) for run in runs)
        try:
            self._ask(process, job, runs)
        finally:
            with self._lock:
                for run in runs:
                    self._under_way.pop(run.key, None)

    def _ask(self, process: WorkerProcess, job: Job, runs: tuple[Run, ...]) -> None:
        requests = [run.request for run in runs]
        process.pipe.send_bytes(protocol.encode_job(requests, job.model, job.profile))
        deadline_s = monotonic() + worker_process.MAX_RUN_SECONDS
        while job.open_runs:
            tag, number, body = protocol.split_frame(process.receive(deadline_s))
            if tag == protocol.STEP:
                runs[number].steps.append(protocol.decode_step(body))
                continue
            if tag != protocol.WARM:
                self._conclude(runs[number], tag, body)
            deadline_s = monotonic() + worker_process.MAX_RUN_SECONDS

    def _conclude(self, run: Run, tag: bytes, body: bytes) -> None:
        """Give a run the answer in the last frame that is about it."""
        try:
            report = _logged(tag, body)
        except Exception as error:  # whoever asked for the run gets it
            self._fail(run, error)
        else:
            with self._lock:
                if not run.is_done:  # it may have been cancelled meanwhile
                    run.size_bytes = len(body)
                    self._settle(run)
                    run.answer.set_result(report)

    def _fail(self, run: Run, error: Exception) -> None:
        with self._lock:
            if run.is_done:
                return
            if _is_passing(error):
                self._runs.pop(run.key, None)
            self._settle(run)
            run.answer.set_exception(error)

    def _settle(self, run: Run) -> None:
        """Keep what was answered before within bounds, now that `run` joins it."""
        with self._lock:
            done = [other for other in self._runs.values() if other.is_done]
            total = run.size_bytes + sum(other.size_bytes for other in done)
            for other in done:
                if len(self._runs) <= MAX_KEPT_RUNS and total <= MAX_KEPT_BYTES:
                    break
                total -= self._runs.pop(other.key).size_bytes


def _cancelled(run: Run) -> CapacityError:
    return CapacityError(
        "CANCELLED", "the run was cancelled", f"strategy {run.request.strategy}", "ask for it again"
    )


def _logged(tag: bytes, body: bytes) -> Report:
    """The report in a run's last frame; a bug's traceback stays in the log.

    Raises:
        GraphTurboError: the run was refused.
        WorkerError: it met a bug.
    """
    try:
        return report_of(tag, body)
    except WorkerError as error:
        LOGGER.error("a worker met a bug:\n%s", error)
        raise WorkerError("a run met a bug of ours; the server's log has the traceback") from None


def run_key(request: RunRequest, model: bytes, profile: bytes | None) -> str:
    """Digest of everything that a report depends on."""
    digests = [hashlib.sha256(part).hexdigest() for part in (model, profile or b"")]
    text = json.dumps([protocol.request_fields(request), *digests], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@st.cache_resource(show_spinner=False)
def shared_desk() -> Desk:
    """The server's one desk; its workers start with it."""
    return Desk()
