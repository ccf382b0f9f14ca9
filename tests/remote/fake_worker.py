"""A worker that follows orders: the strategy's name is an order, or names a file with one."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from pathlib import Path
from time import sleep

from graphturbo_core.errors import ModelError
from graphturbo_core.remote import protocol
from tests.ui.synthetic import synthetic_report

ORDERS = "FAKE_WORKER_ORDERS"
"""The environment's name for the folder with orders, a file a strategy; it may change meanwhile."""
WARM_UP = "warm up"
"""The order that is read before the first job: `hold` delays the warm frame of a worker."""
LARGE_BYTES = 1 << 20
NAP_S = 1.0


def main(pipe: Connection) -> None:
    while order(WARM_UP) == "hold":
        sleep(0.02)
    pipe.send_bytes(protocol.WARM)
    while True:
        try:
            frame = pipe.recv_bytes()
        except EOFError:
            return
        requests, _, _ = protocol.decode_job(frame)
        for number, request in enumerate(requests):
            pipe.send_bytes(protocol.encode_step(number, f"{number + 1} of {len(requests)}", 0.5))
            pipe.send_bytes(answer(number, request.strategy))


def answer(number: int, strategy: str) -> bytes:
    while (told := order(strategy)) == "hold":
        sleep(0.02)
    if told == "die":
        os._exit(3)
    if told == "nap":
        sleep(NAP_S)
    if told == "large":
        return protocol.encode_frame(protocol.DONE, number, bytes(LARGE_BYTES))
    if told == "garbage":
        return protocol.encode_frame(protocol.DONE, number, b"garbage")
    if told == "bug":
        return protocol.encode_frame(protocol.BUG, number, b"Traceback: hello")
    if told == "refuse":
        return protocol.encode_error(number, ModelError("NO", "what", "where", "change"))
    return protocol.encode_frame(protocol.DONE, number, synthetic_report(strategy).to_bytes())


def order(strategy: str) -> str:
    try:
        return Path(os.environ[ORDERS], strategy).read_text()
    except FileNotFoundError:
        return strategy.split(maxsplit=1)[0]


def forget(orders: Path) -> None:
    """No more orders: held runs continue."""
    for path in orders.iterdir():
        path.unlink()


def die(pipe: Connection) -> None:
    """Ends with the first job, as a runtime that meets a hostile graph does."""
    pipe.send_bytes(protocol.WARM)
    pipe.recv_bytes()
    os._exit(139)
