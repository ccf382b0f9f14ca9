"""The worker process: warms up, then turns runs into report bytes until its pipe closes."""

from __future__ import annotations

import os
import traceback
from multiprocessing.connection import Connection

from graphturbo_core import pipeline
from graphturbo_core.errors import GraphTurboError
from graphturbo_ui import protocol

NICENESS = 10
"""Below the server, so that a run never freezes somebody else's page."""


def main(pipe: Connection) -> None:
    """Serve runs one after the other; returns when the server closes the pipe."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    try:
        pipeline.warm_up()
    except Exception:  # a bug: whoever asks for a run that meets it hears of it
        traceback.print_exc()
    pipe.send_bytes(protocol.WARM)
    try:
        while True:
            serve(pipe, pipe.recv_bytes())
    except (EOFError, OSError, KeyboardInterrupt):
        return  # the server has gone, or stops together with this process


def serve(pipe: Connection, frame: bytes) -> None:
    """One run: steps as they finish, then its report, or the refusal."""
    try:
        request, model, profile = protocol.decode_run(frame)
        report = pipeline.run_report(
            model, request, profile, lambda name, s: pipe.send_bytes(protocol.encode_step(name, s))
        )
        pipe.send_bytes(protocol.DONE + report.to_bytes())
    except GraphTurboError as error:
        pipe.send_bytes(protocol.encode_error(error))
    except (OSError, EOFError):
        raise
    except Exception:  # a bug must cross the pipe too: the server raises it
        pipe.send_bytes(protocol.BUG + traceback.format_exc().encode())
