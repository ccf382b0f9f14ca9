"""Runs in a worker process: each gives a report or one error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from time import monotonic

from graphturbo_core.pipeline import OnStep, RunRequest
from graphturbo_core.remote import protocol, worker
from graphturbo_core.remote.process import MAX_RUN_SECONDS, WorkerProcess, death
from graphturbo_core.report.report import Report


class WorkerError(RuntimeError):
    """An error in a worker that is no refusal: a bug of ours, with the worker's traceback.

    `line`: the line of the traceback that names the error, `KeyError: 'x'`.
    """

    def __init__(self, text: str = "", line: str = "") -> None:
        """Takes the traceback, or what stands for it, and the line if it is not in the text."""
        super().__init__(text)
        self.line = line or _error_line(text)


def isolated_reports(
    model: bytes,
    requests: Sequence[RunRequest],
    on_step: OnStep,
    target: Callable[[Connection], None] = worker.main,
) -> Iterator[Report]:
    """Yields the reports in order, each when it is ready; the process ends after the last one.

    Raises:
        GraphTurboError: the input is refused, or the process died, was too slow, or sent too much.
        WorkerError: a bug of ours.
    """
    child = WorkerProcess(target)
    number = 0
    try:
        child.pipe.send_bytes(protocol.encode_job(requests, model, None))
        while number < len(requests):
            tag, _, body = protocol.split_frame(child.receive(monotonic() + MAX_RUN_SECONDS))
            if tag == protocol.STEP:
                on_step(*protocol.decode_step(body))
            elif tag not in (protocol.WARM, protocol.PROGRESS):
                yield report_of(tag, body)
                number += 1
    except (EOFError, OSError) as error:
        raise death(requests[number].strategy, child.end(), error) from error
    finally:
        child.end()


def _error_line(text: str) -> str:
    """The first line after the last frame of a traceback, as notes may follow it."""
    lines = text.strip().splitlines()
    frames = [place for place, line in enumerate(lines) if line.startswith("  ")]
    rest = lines[frames[-1] + 1 :] if frames else lines
    return rest[0] if rest else ""


def report_of(tag: bytes, body: bytes) -> Report:
    """The report in a run's last frame.

    Raises:
        GraphTurboError: the run was refused.
        WorkerError: a bug of ours; the message is the worker's traceback.
    """
    if tag == protocol.DONE:
        return Report.from_bytes(body)
    if tag == protocol.ERROR:
        raise protocol.decode_error(body)
    raise WorkerError(body.decode(errors="replace"))
