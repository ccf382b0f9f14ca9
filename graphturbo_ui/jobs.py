"""Jobs in worker processes, and the one cache of what they give.

A job is a comparison: runs on one model and chip that nobody has computed yet. Its worker imports
the model once and answers run by run in plain bytes (protocol.py); a model that brings a worker
down costs the run that was under way, and the rest of the job goes on in the next worker. A run
that nobody waits for any more is ended. A key is the model's sha256, the profile's and the frozen
request.
"""

from __future__ import annotations

import hashlib
import json
import logging
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache, partial
from multiprocessing.connection import Connection
from time import monotonic
from typing import TypeVar

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.remote import process as worker_process
from graphturbo_core.remote import protocol, worker
from graphturbo_core.remote.client import WorkerError, report_of
from graphturbo_core.remote.process import WorkerProcess
from graphturbo_core.report.report import Report
from graphturbo_ui.runs import (
    Job,
    Run,
    Runs,
    Source,
    Turn,
    Visitor,
    cancelled,
    is_passing,
    likeness,
)
from graphturbo_ui.session import query
from graphturbo_ui.sizes import proposed_sizes
from graphturbo_ui.stored_runs import stored_reports

WORKERS = 2
"""Worker processes: two visitors' jobs at once (our choice; each holds a few hundred MiB)."""
MAX_WAITING = 32
"""Jobs that may wait; one more is refused by name."""
MAX_KEPT_RUNS = 64
MAX_KEPT_BYTES = 2**30
"""Reports kept; the least recently used go first."""
MAX_KEPT_VIEWS = 48
"""Figures and canvas buffers kept."""

ALWAYS_EMITTED = ("edits",)
"""What every run of the app emits: the head of a plan, for edits from the graph."""
__all__ = [
    "ALWAYS_EMITTED",
    "Desk",
    "Run",
    "Runs",
    "Source",
    "Visitor",
    "WorkerError",
    "shared_desk",
]

REST_SECONDS = 6.0
"""From the server's start to the workers' (our choice: twice what the first page takes)."""

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)


class Desk:
    """Takes comparisons, hands them to workers in turn, and keeps what came back."""

    def __init__(
        self,
        workers: int = WORKERS,
        target: Callable[[Connection], None] = worker.main,
        rest_seconds: float = 0,
    ) -> None:
        """Start `workers` processes after a rest or `wake`; they warm up in the background."""
        self._target = target
        self._rest_seconds, self._awake = rest_seconds, threading.Event()
        self._waiting: queue.Queue[Job | None] = queue.Queue(MAX_WAITING)
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._views: OrderedDict[tuple[str, ...], object] = OrderedDict()
        self._turns: dict[str, Turn] = {}
        self._lock = threading.RLock()
        self._threads = [threading.Thread(target=self._attend, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the workers once they have answered what waits."""
        self.wake()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def wake(self) -> None:
        """End the workers' rest."""
        self._awake.set()

    def start(
        self, requests: Sequence[RunRequest], source: Source, visitor: Visitor | None = None
    ) -> tuple[Run, ...]:
        """The runs of those requests: each kept, under way, or new; the new ones make one job.

        A visitor waits for these from now on and for no others; runs that it cancelled are not
        begun again.

        Raises:
            CapacityError: too many jobs are waiting; none of these runs was started.
        """
        keys = [run_key(request, source) for request in requests]
        unwanted = visitor.cancelled if visitor is not None else frozenset[str]()
        with self._lock:
            made = {
                key: self._runs.get(key) or Run(key, request, source.digest)
                for key, request in zip(keys, requests, strict=True)
            }
            for run in made.values():
                if run.key in unwanted and not run.is_done and run.key not in self._runs:
                    run.answer.set_exception(cancelled(run))
            new = tuple(r for r in made.values() if not r.is_done and r.key not in self._runs)
            if new:
                self._enqueue(Job(new, source))
            self._runs.update((run.key, run) for run in new)
            for key in keys:
                if key in self._runs:
                    self._runs.move_to_end(key)
            if visitor is not None:
                self._attach(visitor, made)
            return tuple(made[key] for key in keys)

    def renew(
        self, requests: Sequence[RunRequest], source: Source, stored: Mapping[str, Report]
    ) -> None:
        """Compute these runs; until then, the `stored` reports, by run key, are their answers."""
        begun = []
        for request in requests:
            key = run_key(request, source)
            run = Run(key, request, source.digest)
            if key in stored and key not in self._runs:
                shown = Run(key, request, source.digest)
                shown.answer.set_result(stored[key])
                self._runs[key] = shown
                run.answer.add_done_callback(partial(self._replace, shown, run))
            else:
                self._runs.setdefault(key, run)
            begun.append(run)
        self._enqueue(Job(tuple(begun), source))

    def _replace(self, shown: Run, run: Run, answer: Future[Report]) -> None:
        """Take a computed run for a stored one; views of the stored one are made again."""
        if answer.exception() is not None:
            return
        with self._lock:
            if self._runs.get(run.key) is shown:
                self._runs[run.key] = run
            for view in [view for view in self._views if run.key in view]:
                del self._views[view]

    @property
    def waiting(self) -> int:
        """Jobs that no worker has begun."""
        return self._waiting.qsize()

    def finished(self, request: RunRequest, source: Source) -> Run | None:
        """The run of a request, where it is kept and has a report."""
        with self._lock:
            run = self._runs.get(run_key(request, source))
        is_good = run is not None and run.is_done and run.answer.exception() is None
        return run if is_good else None

    def forget(self, run: Run) -> None:
        """Keep a finished run's answer no longer; who asks again has it computed again."""
        with self._lock:
            if run.is_done and self._runs.get(run.key) is run:
                del self._runs[run.key]

    def leave(self, visitor: Visitor) -> None:
        """Have a visitor wait for no run."""
        with self._lock:
            self._attach(visitor, {})

    def _attach(self, visitor: Visitor, runs: Runs) -> None:
        """Have a visitor wait for these runs alone; those that nobody waits for are ended."""
        for run in tuple(self._runs.values()):
            if run.key not in runs and visitor in run.visitors:
                self.cancel(run, visitor)
        for run in runs.values():
            if run.key not in visitor.cancelled:
                run.visitors.add(visitor)

    def step_seconds(self, run: Run) -> Mapping[str, float]:
        """Seconds per step that the runs most like this one took; of these the latest counts.

        A replay's steps are those of the latest replay.
        """
        with self._lock:
            others = [(likeness(o, run), o.steps) for o in self._runs.values() if o.is_done]
        most = max((like for like, _ in others), default=0)
        steps = [own for like, own in others if like == most > 0]
        return {name: seconds for own in steps for name, seconds in own}

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
        """One thread a worker: start it, feed it, and replace it when it is of no use any more."""
        self._awake.wait(self._rest_seconds)
        process = WorkerProcess(self._target)
        while (job := self._waiting.get()) is not None:
            while job.open_runs:
                turn = Turn(process, job.open_runs)
                error = self._serve(turn, job)
                if turn.under_way is None:
                    continue
                exit_code = process.end()
                process = WorkerProcess(self._target)
                if error is not None:  # whoever asked for the run under way gets it
                    strategy = turn.under_way.request.strategy
                    self._fail(turn.under_way, worker_process.death(strategy, exit_code, error))
            del job  # holds the model's bytes, and the next job may be hours away
        process.end()

    def cancel(self, run: Run, visitor: Visitor | None = None) -> None:
        """Let go of a run for a visitor; one that nobody else waits for gets no answer.

        Where it is under way its worker's process ends with it, and a new one goes on with the
        rest of the job.
        """
        with self._lock:
            if visitor is not None:
                run.visitors.discard(visitor)
            if run.is_done or run.visitors:
                return
            self._fail(run, cancelled(run))
            turn = self._turns.get(run.key)
            if turn is not None and turn.under_way is run:
                turn.process.process.kill()

    def _serve(self, turn: Turn, job: Job) -> Exception | None:
        """Have a worker answer the runs of its turn, until they all are or it must be replaced.

        What went wrong is given back; the run under way is the one that met it.
        """
        with self._lock:
            self._turns.update((run.key, turn) for run in turn.runs)
        try:
            self._ask(turn, job.source)
        except Exception as error:  # of the pipe, or of a frame that says nothing readable
            return error
        finally:
            with self._lock:
                for run in turn.runs:
                    self._turns.pop(run.key, None)
        return None

    def _ask(self, turn: Turn, source: Source) -> None:
        """Send the runs of a turn and read frames; ends where the next run was cancelled.

        Raises:
            EOFError, OSError: the worker is of no use any more.
        """
        requests = [run.request for run in turn.runs]
        turn.process.pipe.send_bytes(protocol.encode_job(requests, source.model, source.profile))
        while (run := turn.under_way) is not None and not run.is_done:
            run.is_computed = turn.process.is_warm
            run.known, run.is_begun = self.step_seconds(run), True
            deadline_s = monotonic() + worker_process.MAX_RUN_SECONDS
            tag, body = protocol.WARM, b""
            while tag in (protocol.WARM, protocol.STEP, protocol.PROGRESS):
                tag, _, body = protocol.split_frame(turn.process.receive(deadline_s))
                run.is_computed = True
                if tag == protocol.STEP:
                    run.steps.append(protocol.decode_step(body))
                if tag == protocol.PROGRESS:
                    run.at = protocol.decode_progress(body), monotonic()
                if tag == protocol.WARM:
                    deadline_s = monotonic() + worker_process.MAX_RUN_SECONDS
            self._conclude(turn, run, (tag, body))

    def _conclude(self, turn: Turn, run: Run, said: tuple[bytes, bytes]) -> None:
        """Give a run the answer in the last frame that is about it."""
        try:
            report = _logged(*said)
        except Exception as error:  # whoever asked for the run gets it
            with self._lock:
                turn.answered += 1
                self._fail(run, error)
        else:
            with self._lock:
                turn.answered += 1
                if not run.is_done:  # it may have been cancelled meanwhile
                    run.size_bytes = len(said[1])
                    self._settle(run)
                    run.answer.set_result(report)

    def _fail(self, run: Run, error: Exception) -> None:
        with self._lock:
            if run.is_done:
                return
            if is_passing(error) and self._runs.get(run.key) is run:
                del self._runs[run.key]
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
        text = "a run met a bug of ours; the server's log has the traceback"
        raise WorkerError(text, error.line) from None


def run_key(request: RunRequest, source: Source) -> str:
    """Digest of everything that a report depends on."""
    text = json.dumps([protocol.request_fields(request), source.digest], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def shared_desk() -> Desk:
    """The server's one desk; its workers compute the first view, of which stored reports are shown.

    They rest first, so that a page that is asked for as the server starts has both processors.
    """
    stored = stored_reports()
    desk = Desk(rest_seconds=REST_SECONDS if stored else 0)
    desk.renew(*default_comparison(), stored)
    return desk


def default_comparison(name: str = query.DEFAULT_MODEL) -> tuple[tuple[RunRequest, ...], Source]:
    """What somebody sees who has chosen a sample at most; a test compares it with the page's."""
    model = load_sample(name)
    sizes = proposed_sizes(name, model)
    requests = (
        RunRequest(
            name,
            strategy,
            profile_names()[0],
            sizes.batch,
            dict(sizes.dims),
            query.DEFAULT_FORMAT,
            emit=ALWAYS_EMITTED,
        )
        for strategy in (query.DEFAULT_A, query.DEFAULT_B)
    )
    return tuple(requests), Source.of(model, None)
