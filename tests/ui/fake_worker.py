"""A worker that answers, refuses, dies or meets a bug, as the strategy's name tells it to."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection

from graphturbo_core.errors import ModelError
from graphturbo_ui import protocol
from tests.ui.synthetic import synthetic_report


def main(pipe: Connection) -> None:
    pipe.send_bytes(protocol.WARM)
    while True:
        try:
            frame = pipe.recv_bytes()
        except EOFError:
            return
        request, _, _ = protocol.decode_run(frame)
        if request.strategy == "die":
            os._exit(3)
        if request.strategy == "bug":
            pipe.send_bytes(protocol.BUG + b"Traceback: hello")
        elif request.strategy == "refuse":
            pipe.send_bytes(protocol.encode_error(ModelError("NO", "what", "where", "change")))
        else:
            pipe.send_bytes(protocol.encode_step("plan", 0.5))
            report = synthetic_report(request.strategy)
            pipe.send_bytes(protocol.DONE + report.to_bytes())
