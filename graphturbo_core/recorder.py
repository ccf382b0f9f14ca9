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
TENTHS = 10
"""How often a long step tells how far it is."""


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
    """The only instrumentation: times each step, checks its product, tells `on_step`."""

    on_step: OnStep | None = None
    steps: list[Step] = field(default_factory=list)

    def run(self, name: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's product, checked; its seconds include the check.

        Raises:
            GraphTurboError: what the step raised, with a note that names the step.
        """
        began = perf_counter()
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
        """Takes (done, in all) of a long step and tells every tenth, with an estimate."""
        began, told = perf_counter(), 0

        def tell(done: int, total: int) -> None:
            nonlocal told
            tenth = TENTHS * done // max(1, total)
            if self.on_step is None or tenth <= told:
                return
            told, elapsed = tenth, perf_counter() - began
            left = elapsed * (total - done) / max(1, done)
            self.on_step(f"{name}: {tenth * 10} % done, about {left:.0f} s left", elapsed)

        return tell
