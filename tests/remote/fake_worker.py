"""A worker that follows orders: the strategy's name is an order, or names a file with one."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from time import sleep

from graphturbo_core.errors import InvariantError, ModelError
from graphturbo_core.remote import protocol
from tests.ui.synthetic import synthetic_report

ORDERS = "FAKE_WORKER_ORDERS"
"""The environment's name for the folder with orders, a file a strategy; it may change meanwhile."""
WARM_UP = "warm up"
"""The order that is read before the first job: `hold` delays the warm frame of a worker."""
LARGE_BYTES = 1 << 20
BUG_TEXT = b"""Traceback (most recent call last):
  File "worker.py", line 1, in run
    {}["hello"]
KeyError: 'hello'
in step 'plan'
"""
NAP_S = 1.0


class Main:
    """The worker's function; wherever it runs, the orders are those of the process that sends it.

    A process that forks from another one would have that one's environment.
    """

    def __call__(self, pipe: Connection) -> None:
        serve(pipe)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str | None]]:
        return _main_with, (os.environ.get(ORDERS),)


main = Main()


def _main_with(orders: str | None) -> Main:
    if orders is not None:
        os.environ[ORDERS] = orders
    return main


def serve(pipe: Connection) -> None:
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
    while (given := order(strategy)) == "hold":
        sleep(0.02)
    if given == "die":
        os._exit(3)
    if given == "nap":
        sleep(NAP_S)
    if given == "large":
        return protocol.encode_frame(protocol.DONE, number, bytes(LARGE_BYTES))
    if given == "garbage":
        return protocol.encode_frame(protocol.DONE, number, b"garbage")
    if given == "bug":
        return protocol.encode_frame(protocol.BUG, number, BUG_TEXT)
    if given == "refuse":
        return protocol.encode_error(number, ModelError("NO", "what", "where", "change"))
    if given == "invariant":
        return protocol.encode_error(number, InvariantError("BROKEN", "a bound is broken"))
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
