"""What the desk has in hand: sources, runs, who waits for them, and workers' turns at them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from time import monotonic
from weakref import WeakSet

from graphturbo_core.errors import CapacityError, GraphTurboError
from graphturbo_core.pipeline import Progress, RunRequest
from graphturbo_core.remote.client import WorkerError
from graphturbo_core.remote.process import TRANSIENT_CODES, WorkerProcess
from graphturbo_core.report.report import Report

CANCELLED = "CANCELLED"
"""Code of a run that ended because nobody wanted it any more."""


@dataclass(frozen=True)
class Source:
    """What runs are about: a model, an own profile (None: a shipped one), and their digest."""

    model: bytes = field(repr=False)
    profile: bytes | None = field(repr=False)
    digest: str

    @property
    def model_sha256(self) -> str:
        """The model's part of the digest."""
        return self.digest.partition(" ")[0]

    @classmethod
    def of(cls, model: bytes, profile: bytes | None, model_sha256: str = "") -> Source:
        """The source of these bytes; a digest that is known already need not be worked out."""
        known = model_sha256 or hashlib.sha256(model).hexdigest()
        return cls(model, profile, f"{known} {hashlib.sha256(profile or b'').hexdigest()}")


@dataclass(eq=False)
class Visitor:
    """Somebody who waits for runs; `cancelled` are the keys of those no longer wanted."""

    cancelled: set[str] = field(default_factory=set)


@dataclass
class Run:
    """One run, on its way or done: `steps` grow as they finish.

    `at`: what it is at, as its worker last reported, and when that was (monotonic seconds).
    `known`: seconds per step that comparable runs took, known once it is begun.
    `asked_s`: when somebody asked first (monotonic seconds). `is_begun`: whether a worker has it,
    or had; `is_computed`: whether that worker is warm, and computes it. `visitors`: who waits for
    it; a session that ends is no longer among them.
    """

    key: str
    request: RunRequest
    source_digest: str = ""
    answer: Future[Report] = field(default_factory=Future, repr=False)
    steps: list[tuple[str, float]] = field(default_factory=list)
    at: tuple[Progress, float] | None = field(default=None, repr=False)
    known: Mapping[str, float] = field(default_factory=dict, repr=False)
    size_bytes: int = 0
    asked_s: float = field(default_factory=monotonic)
    is_begun: bool = False
    is_computed: bool = False
    visitors: WeakSet[Visitor] = field(default_factory=WeakSet, repr=False)

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
        return not is_passing(self.answer.exception())

    @property
    def is_cancelled(self) -> bool:
        """Whether it ended because somebody wanted it no more."""
        return self.is_done and getattr(self.answer.exception(), "code", "") == CANCELLED

    def wait(self, seconds: float) -> bool:
        """Wait for the answer at most so long; whether it is there."""
        return bool(wait([self.answer], seconds).done)


Runs = Mapping[str, Run]
"""Runs of a comparison by name, A before B."""


def is_comparable(a: Run, b: Run) -> bool:
    """Whether two runs are on the same model, chip and sizes, so that steps take similar times."""
    mine, other = a.request, b.request
    return a.source_digest == b.source_digest and all(
        getattr(mine, name) == getattr(other, name)
        for name in ("model_name", "profile", "batch", "dims", "has_pictures")
    )


def likeness(a: Run, b: Run) -> int:
    """How well the times of one run's steps foretell the other's.

    2: comparable. 1: the same model, chip and strategy at another batch or other sizes. 0: not.
    """
    if is_comparable(a, b):
        return 2
    is_same = a.source_digest == b.source_digest and all(
        getattr(a.request, name) == getattr(b.request, name)
        for name in ("model_name", "profile", "strategy", "has_pictures")
    )
    return int(is_same)


def is_passing(error: BaseException | None) -> bool:
    """Whether an error may not come again: a bug's traceback, a death, a run that took long."""
    return isinstance(error, WorkerError) or getattr(error, "code", "") in TRANSIENT_CODES


@dataclass(frozen=True)
class Job:
    """A comparison on its way: runs that share the import of one model."""

    runs: tuple[Run, ...]
    source: Source

    @property
    def open_runs(self) -> tuple[Run, ...]:
        """The runs without an answer, in order: a worker computes the first of them."""
        return tuple(run for run in self.runs if not run.is_done)


@dataclass
class Turn:
    """Runs of a job in the hands of a worker, which answers them in order."""

    process: WorkerProcess
    runs: tuple[Run, ...]
    answered: int = 0

    @property
    def under_way(self) -> Run | None:
        """The run that the worker computes; None once it has answered all."""
        return self.runs[self.answered] if self.answered < len(self.runs) else None


def cancelled(run: Run) -> CapacityError:
    """What a run that somebody cancelled has for an answer."""
    return CapacityError(
        CANCELLED, "the run was cancelled", f"strategy {run.request.strategy}", "ask for it again"
    )
