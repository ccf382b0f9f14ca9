"""The worker process: warms up, then turns jobs into report bytes until its pipe closes."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection

from graphturbo_core import pipeline
from graphturbo_core.errors import CapacityError, GraphTurboError
from graphturbo_core.remote import protocol
from graphturbo_core.report.report import Report
from graphturbo_core.units import format_bytes

NICENESS = 10
"""Below the server, so that a run never freezes somebody else's page."""


MAX_BYTES = 12 * 2**30
"""Address space of a worker: three times what ResNet-50's replay may take (our choice)."""


def main(pipe: Connection) -> None:
    """Serve jobs one after the other; returns when the server closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process ends it
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    limit_memory()
    try:
        pipeline.warm_up()
    except Exception:  # a bug: whoever asks for a run that meets it hears of it
        traceback.print_exc()
    pipe.send_bytes(protocol.WARM)
    try:
        while True:
            serve(pipe, pipe.recv_bytes())
    except (EOFError, OSError):
        return  # the server has gone, or stops together with this process


def limit_memory() -> None:
    """Let a hostile model run out of its own memory, not the machine's; Windows has no such limit.

    What asks for more fails, or ends this process: one run without an answer.
    """
    try:
        import resource  # noqa: PLC0415 - POSIX only
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most > MAX_BYTES:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, most))


def serve(pipe: Connection, frame: bytes) -> None:
    """The runs of one job in order, on one import; one that is refused leaves the rest alone."""
    requests, model, profile = protocol.decode_job(frame)
    imports = pipeline.Imports(model)
    for number, request in enumerate(requests):
        tell = partial(_tell, pipe, number)
        run = partial(pipeline.run_shared, imports, request, profile, tell)
        pipe.send_bytes(_answer(number, run))


def _tell(pipe: Connection, number: int, name: str, seconds: float) -> None:
    pipe.send_bytes(protocol.encode_step(number, name, seconds))


def _out_of_memory() -> GraphTurboError:
    return CapacityError(
        "OUT_OF_MEMORY",
        f"the run needs more than the {format_bytes(MAX_BYTES)} that a worker may take",
        change="choose a smaller batch or model",
    )


def _answer(number: int, run: Callable[[], Report]) -> bytes:
    """The last frame about a run: its report, its refusal, or the bug it met.

    Raises:
        OSError: the pipe has closed.
    """
    try:
        return protocol.encode_frame(protocol.DONE, number, run().to_bytes())
    except GraphTurboError as error:
        return protocol.encode_error(number, error)
    except MemoryError:
        return protocol.encode_error(number, _out_of_memory())
    except OSError:
        raise
    except Exception:  # a bug must cross the pipe too: the server raises it
        return protocol.encode_frame(protocol.BUG, number, traceback.format_exc().encode())
