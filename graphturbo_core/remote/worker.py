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
from graphturbo_core.recorder import Progress
from graphturbo_core.remote import protocol
from graphturbo_core.report.report import Report
from graphturbo_core.units import format_bytes

NICENESS = 10
"""Priority below the server's, so that a run does not freeze other users' pages."""


MOST_GRAPHS = 16
"""Graphs that a worker keeps between jobs (our choice): batches and dimensions of one model."""
MOST_KEPT_BYTES = 64 * 2**20
"""A larger model is not kept between jobs (our choice)."""
MAX_BYTES = 12 * 2**30
"""Address space of a worker: three times the need of ResNet-50's replay (our choice)."""


def main(pipe: Connection) -> None:
    """Serves jobs in sequence; returns when the server closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    limit_memory()
    try:
        pipeline.warm_up()
    except Exception:  # a bug: a run that meets it reports it
        traceback.print_exc()
    pipe.send_bytes(protocol.WARM)
    kept: list[pipeline.Imports] = []
    try:
        while True:
            serve(pipe, pipe.recv_bytes(), kept)
    except (EOFError, OSError):
        return  # the server has ended, or ends together with this process


def limit_memory() -> None:
    """Limits this process's memory, so that a hostile model cannot exhaust the machine's.

    An allocation beyond it fails or ends this process: one run has no answer. Not on Windows.
    """
    try:
        import resource  # noqa: PLC0415 - POSIX only
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most > MAX_BYTES:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, most))


def serve(pipe: Connection, frame: bytes, kept: list[pipeline.Imports]) -> None:
    """Serves the runs of one job in order, on one import; a refusal does not end the others.

    `kept`: imports of the job before, at most one. They are used again where the model is the same,
    else let go before anything is imported. None are kept after a replay, whose numbers need much
    memory, of a large file, and where more than `MOST_GRAPHS` have come together.
    """
    requests, model, profile = protocol.decode_job(frame)
    if kept and kept[0].data != model:
        kept.clear()
    imports = kept.pop() if kept else pipeline.Imports(model)
    for number, request in enumerate(requests):
        on_step = partial(_send_step, pipe, number)
        on_progress = partial(_send_progress, pipe, number)
        run = partial(pipeline.run_shared, imports, request, profile, on_step, on_progress)
        pipe.send_bytes(_answer(number, run))
    imports.known.clear()  # costs of plans on this job's chip; the list takes no more once full
    is_large = imports.graphs > MOST_GRAPHS or len(model) > MOST_KEPT_BYTES
    if not is_large and not any(request.verify for request in requests):
        kept.append(imports)


def _send_step(pipe: Connection, number: int, name: str, seconds: float) -> None:
    pipe.send_bytes(protocol.encode_step(number, name, seconds))


def _send_progress(pipe: Connection, number: int, progress: Progress) -> None:
    pipe.send_bytes(protocol.encode_progress(number, progress))


def _out_of_memory() -> GraphTurboError:
    return CapacityError(
        "OUT_OF_MEMORY",
        f"the run needs more than a worker's {format_bytes(MAX_BYTES)} of memory",
        change="choose a smaller batch or model",
    )


def _answer(number: int, run: Callable[[], Report]) -> bytes:
    """The last frame of a run: its report, its refusal, or a bug's traceback.

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
