"""Recorder: runs the steps of a run; times them, checks their products, reports progress."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import ParamSpec, Protocol, TypeVar, runtime_checkable

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.report.outcome import Step

OnStep = Callable[[str, float], None]
P = ParamSpec("P")
T = TypeVar("T")
TENTHS, HUNDREDTHS = 10, 100
"""How often a long step reports how far it is: to `on_step`, and to `on_progress`."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run is at: the step under way, its seconds, and the steps done before it.

    `done` of `total` parts of the step are done; both are 0 for a step that does not count parts.
    `steps_total` is 0 until the number of steps is known.
    """

    step: str
    seconds: float
    steps_done: int
    steps_total: int
    done: int = 0
    total: int = 0


OnProgress = Callable[[Progress], None]


@runtime_checkable
class _Checked(Protocol):
    """A product that can say whether it breaks one of its own invariants."""

    def check(self) -> None:
        """Raise InvariantError if so."""


@contextmanager
def _collection_put_off() -> Iterator[None]:
    """No search for unreachable cycles meanwhile.

    Steps make millions of small objects and hardly a cycle: looking through them all, again and
    again, took a third of the time of lowering and freed nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass
class Recorder:
    """The only instrumentation: times each step, checks its product, calls the callbacks.

    `on_step` is called after a step, `on_progress` before it and during it.
    """

    on_step: OnStep | None = None
    on_progress: OnProgress | None = None
    steps: list[Step] = field(default_factory=list)
    steps_total: int = 0

    def run(self, name: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's product, checked; its seconds include the check.

        Raises:
            GraphTurboError: what the step raised, with a note that names the step.
        """
        began = perf_counter()
        self._report(Progress(name, 0.0, len(self.steps), self.steps_total))
        try:
            with _collection_put_off():
                product = function(*args, **kwargs)
                if isinstance(product, _Checked):
                    product.check()
        except GraphTurboError as error:
            error.add_note(f"in step '{name}'")
            raise
        self.steps.append(Step(name, perf_counter() - began))
        if self.on_step is not None:
            self.on_step(name, self.steps[-1].seconds)
        return product

    def progress(self, name: str) -> Callable[[int, int], None]:
        """Function that takes (done, in all) of a long step, and calls both callbacks now and then.

        Each tenth goes to `on_step` with an estimate, or each hundredth to `on_progress`. A call
        with 0 done starts the clock again: what went before says nothing about the parts' time.
        """
        began, reported = perf_counter(), 0
        often = TENTHS if self.on_progress is None else HUNDREDTHS

        def tell(done: int, total: int) -> None:
            nonlocal began, reported
            if done == 0:
                began = perf_counter()
                self._report(Progress(name, 0.0, len(self.steps), self.steps_total, 0, total))
                return
            part = often * done // max(1, total)
            if part <= reported:
                return
            reported, elapsed = part, perf_counter() - began
            steps = len(self.steps), self.steps_total
            self._report(Progress(name, elapsed, *steps, done, total))
            if self.on_step is not None and self.on_progress is None:
                left = elapsed * (total - done) / max(1, done)
                self.on_step(f"{name}: {part * 10} % done, about {left:.0f} s left", elapsed)

        return tell

    def _report(self, progress: Progress) -> None:
        if self.on_progress is not None:
            self.on_progress(progress)
