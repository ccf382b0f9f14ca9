"""Runs in worker processes, and the one cache of what they give.

A worker is a process of its own that answers in plain bytes (protocol.py), so a model that brings
one down costs that one run. A key is the model's sha256, the profile's and the frozen request.
"""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import TypeVar

import streamlit as st

from graphturbo_core.errors import CapacityError, GraphTurboError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.report.report import Report
from graphturbo_core.units import format_bytes
from graphturbo_ui import protocol, worker

WORKERS = 2
"""Worker processes: A and B at once (our choice; each holds a few hundred MiB)."""
MAX_WAITING = 32
"""Runs that may wait; one more is refused by name."""
MAX_RUN_SECONDS = 600.0
"""A run that takes longer is ended."""
MAX_KEPT_RUNS = 64
MAX_KEPT_BYTES = 2**30
"""Reports kept; the least recently used go first."""
MAX_KEPT_VIEWS = 48
"""Figures and canvas buffers kept."""
POLL_SECONDS = 0.5
GRACE_SECONDS = 0.5

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)


class WorkerError(RuntimeError):
    """A worker met an error that is no refusal: a bug of ours, with the worker's traceback."""


@dataclass
class Run:
    """One run, on its way or done: `steps` grow as they finish."""

    key: str
    request: RunRequest
    frame: bytes = field(repr=False)
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

    def wait(self, seconds: float) -> bool:
        """Wait for the answer at most so long; whether it is there."""
        return bool(wait([self.answer], seconds).done)


class WorkerProcess:
    """A process and the pipe to it; started at once, warm some seconds later."""

    def __init__(self, target: Callable[[Connection], None]) -> None:
        """Start `target` in a process of its own, with one end of a pipe."""
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process: BaseProcess = context.Process(target=target, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def receive(self, deadline_s: float) -> bytes:
        """The next frame.

        Raises:
            EOFError: the process ended.
            TimeoutError: nothing came until `deadline_s` of the monotonic clock.
        """
        while not self.pipe.poll(POLL_SECONDS):
            if monotonic() > deadline_s:
                raise TimeoutError
            if not self.process.is_alive() and not self.pipe.poll():
                raise EOFError
        return self.pipe.recv_bytes(protocol.MAX_REPORT_BYTES)

    def end(self) -> int | None:
        """Stop the process for good; its exit code."""
        self.process.join(GRACE_SECONDS)  # one that is ending by itself keeps its own exit code
        self.process.kill()
        self.process.join()
        self.pipe.close()
        return self.process.exitcode


class Desk:
    """Takes runs, hands them to workers in turn, and keeps what came back."""

    def __init__(
        self, workers: int = WORKERS, target: Callable[[Connection], None] = worker.main
    ) -> None:
        """Start `workers` processes; they warm up in the background."""
        self._target = target
        self._waiting: queue.Queue[Run | None] = queue.Queue(MAX_WAITING)
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._views: OrderedDict[Hashable, object] = OrderedDict()
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

    def start(self, request: RunRequest, model: bytes, profile: bytes | None) -> Run:
        """The run of that request: kept, under way, or new.

        Raises:
            CapacityError: too many runs are waiting.
        """
        key = run_key(request, model, profile)
        with self._lock:
            run = self._runs.get(key)
            if run is None:
                run = Run(key, request, protocol.encode_run(request, model, profile))
                self._enqueue(run)
            self._runs.move_to_end(key)
            return run

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

    def _enqueue(self, run: Run) -> None:
        try:
            self._waiting.put_nowait(run)
        except queue.Full:
            raise CapacityError(
                "BUSY", f"{MAX_WAITING} runs are waiting already", "", "try again in a minute"
            ) from None
        self._runs[run.key] = run

    def _attend(self) -> None:
        """One thread a worker: start it, feed it, and replace it when it dies."""
        process = WorkerProcess(self._target)
        while (run := self._waiting.get()) is not None:
            try:
                report = self._answer(process, run)
            except (EOFError, OSError) as error:
                self._fail(run, _death(run, process.end(), error))
                process = WorkerProcess(self._target)
            except Exception as error:  # whoever asked for the run gets it
                self._fail(run, error)
            else:
                self._settle(run)
                run.answer.set_result(report)
        process.end()

    def _fail(self, run: Run, error: Exception) -> None:
        if isinstance(error, WorkerError) or getattr(error, "code", "") in TRANSIENT_CODES:
            with self._lock:
                self._runs.pop(run.key, None)
        self._settle(run)
        run.answer.set_exception(error)

    def _answer(self, process: WorkerProcess, run: Run) -> Report:
        """Send one run and read its frames until the last."""
        deadline_s = monotonic() + MAX_RUN_SECONDS
        process.pipe.send_bytes(run.frame)
        while True:
            frame = process.receive(deadline_s)
            tag, body = frame[:1], frame[1:]
            if tag == protocol.WARM:
                deadline_s = monotonic() + MAX_RUN_SECONDS
            elif tag == protocol.STEP:
                run.steps.append(protocol.decode_step(body))
            elif tag == protocol.DONE:
                run.size_bytes = len(body)
                return Report.from_bytes(body)
            elif tag == protocol.ERROR:
                raise protocol.decode_error(body)
            else:
                LOGGER.error("a worker met a bug:\n%s", body.decode(errors="replace"))
                raise WorkerError("a run met a bug of ours; the server's log has the traceback")

    def _settle(self, run: Run) -> None:
        """Free the request's bytes, and keep what was answered before within bounds."""
        run.frame = b""
        with self._lock:
            done = [other for other in self._runs.values() if other.is_done]
            total = run.size_bytes + sum(other.size_bytes for other in done)
            for other in done:
                if len(self._runs) <= MAX_KEPT_RUNS and total <= MAX_KEPT_BYTES:
                    break
                total -= self._runs.pop(other.key).size_bytes


BAD_LENGTH = "bad message length"
"""What a pipe says of a frame above the cap (the standard library has no class for it)."""
TRANSIENT_CODES = frozenset({"WORKER_ENDED", "RUN_TOO_LONG"})


def _death(run: Run, code: int | None, error: Exception) -> CapacityError:
    """Why a run has no answer: its worker died, took too long, or said too much."""
    if isinstance(error, TimeoutError):
        return CapacityError(
            "RUN_TOO_LONG",
            f"the run took more than {MAX_RUN_SECONDS:.0f} s and was ended",
            f"strategy {run.request.strategy}",
            "choose a smaller batch or model",
        )
    if BAD_LENGTH in str(error):
        return CapacityError(
            "REPORT_TOO_LARGE",
            f"the run's report has more than {format_bytes(protocol.MAX_REPORT_BYTES)}",
            f"strategy {run.request.strategy}",
            "choose a smaller batch or model",
        )
    return CapacityError(
        "WORKER_ENDED",
        f"the process that computed this run ended early (exit code {code})",
        f"strategy {run.request.strategy}",
        "try again; if it happens again, memory may be short: choose a smaller batch or model",
    )


def run_key(request: RunRequest, model: bytes, profile: bytes | None) -> str:
    """Digest of everything that a report depends on."""
    digests = [hashlib.sha256(part).hexdigest() for part in (model, profile or b"")]
    text = json.dumps([protocol.request_fields(request), *digests], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@st.cache_resource(show_spinner=False)
def shared_desk() -> Desk:
    """The server's one desk; its workers start with it."""
    return Desk()
