"""A worker process from the parent's side: its pipe, its end, and why a run failed."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic

from graphturbo_core.errors import CapacityError
from graphturbo_core.remote import protocol
from graphturbo_core.units import format_bytes

MAX_RUN_SECONDS = 600.0
"""Longest duration of a run; then the run and its process are ended."""
POLL_SECONDS = 0.5
GRACE_SECONDS = 0.5
BAD_LENGTH = "bad message length"
"""Error text of a pipe for a frame above the cap (the standard library has no class for it)."""
TRANSIENT_CODES = frozenset({"WORKER_ENDED", "RUN_TOO_LONG", "CANCELLED"})
"""Refusals that do not depend on the input: a repeated request is computed again."""


class WorkerProcess:
    """A worker process and the pipe to it; it starts immediately and is warm some seconds later.

    `is_warm`: whether its first frame, which reports that, has arrived.
    """

    def __init__(self, target: Callable[[Connection], None]) -> None:
        """Starts `target` in a new process, with one end of a pipe."""
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process: BaseProcess = context.Process(target=target, args=(other,), daemon=True)
        self.process.start()
        self.is_warm = False
        other.close()

    def receive(self, deadline_s: float) -> bytes:
        """The next frame.

        Raises:
            EOFError: the process ended.
            TimeoutError: no frame until `deadline_s` of the monotonic clock.
        """
        while not self.pipe.poll(POLL_SECONDS):
            if monotonic() > deadline_s:
                raise TimeoutError
            if not self.process.is_alive() and not self.pipe.poll():
                raise EOFError
        frame = self.pipe.recv_bytes(protocol.MAX_REPORT_BYTES)
        self.is_warm = True
        return frame

    def end(self) -> int | None:
        """Stops the process; returns its exit code."""
        self.pipe.close()
        self.process.join(GRACE_SECONDS)  # a process that is already ending has its own exit code
        self.process.kill()
        self.process.join()
        return self.process.exitcode


def death(strategy: str, exit_code: int | None, error: Exception) -> Exception:
    """The refusal of the current run: its worker died, was too slow, or sent too much.

    Any other error is a bug of ours and is returned unchanged.
    """
    if not isinstance(error, (EOFError, OSError)):
        return error
    if isinstance(error, TimeoutError):
        return CapacityError(
            "RUN_TOO_LONG",
            f"the run took more than {MAX_RUN_SECONDS:.0f} s and was ended",
            f"strategy {strategy}",
            "choose a smaller batch or model",
        )
    if BAD_LENGTH in str(error):
        return CapacityError(
            "REPORT_TOO_LARGE",
            f"the run's report has more than {format_bytes(protocol.MAX_REPORT_BYTES)}",
            f"strategy {strategy}",
            "choose a smaller batch or model",
        )
    return CapacityError(
        "WORKER_ENDED",
        f"the process that computed this run ended early (exit code {exit_code})",
        f"strategy {strategy}",
        "try again; if it happens again, memory may be short: choose a smaller batch or model",
    )
