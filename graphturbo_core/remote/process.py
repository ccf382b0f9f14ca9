"""A worker process seen from the server: its pipe, its end, and why a run died with it."""

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
"""A run that takes longer is ended, and its process with it."""
POLL_SECONDS = 0.5
GRACE_SECONDS = 0.5
BAD_LENGTH = "bad message length"
"""What a pipe says of a frame above the cap (the standard library has no class for it)."""
TRANSIENT_CODES = frozenset({"WORKER_ENDED", "RUN_TOO_LONG", "CANCELLED"})
"""Refusals that say nothing about the run: asked for again, it is computed again."""


class WorkerProcess:
    """A process and the pipe to it; started at once, warm some seconds later.

    `is_warm`: whether it has said so, which is the first that it says.
    """

    def __init__(self, target: Callable[[Connection], None]) -> None:
        """Start `target` in a process of its own, with one end of a pipe."""
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
            TimeoutError: nothing came until `deadline_s` of the monotonic clock.
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
        """Stop the process for good; its exit code."""
        self.pipe.close()
        self.process.join(GRACE_SECONDS)  # one that is ending by itself keeps its own exit code
        self.process.kill()
        self.process.join()
        return self.process.exitcode


def death(strategy: str, exit_code: int | None, error: Exception) -> Exception:
    """Why the run under way has no answer: its worker died, took too long, or said too much.

    Any other error is a bug of ours and stays what it is.
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
