"""Tasks -> results, on a Dask cluster that is given by its address.

A task is the name of a function of `FUNCTIONS` and bytes; a result is bytes. Dask itself unpickles
what its scheduler and workers send each other, so the address is this machine's, or all sides show
certificates (docs/command-line.md).
"""

from __future__ import annotations

import hashlib
import importlib
import ipaddress
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

from graphturbo_core.errors import CapacityError, OptionError
from graphturbo_core.rounds import Imports
from graphturbo_core.sweep.tasks import result_of

TLS, TCP = "tls", "tcp"
CONNECT_SECONDS = 20
RESULT_OF = "result_of"
_TURN = Lock()
FUNCTIONS: Mapping[str, Callable[[Imports, bytes], bytes]] = {RESULT_OF: result_of}


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Address of a Dask scheduler, and for `tls://` the files with certificates and the key."""

    address: str
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None

    def check(self) -> None:
        """Check that the other side is this machine, or that both sides show certificates.

        Raises:
            OptionError: SCHEDULER_ADDRESS.
        """
        scheme, has_scheme, rest = self.address.partition("://")
        scheme, rest = (scheme, rest) if has_scheme else (TCP, self.address)
        files = (self.ca_file, self.certificate_file, self.key_file)
        if scheme == TLS and all(files):
            return
        if scheme == TCP and _is_loopback(rest.rpartition(":")[0]):
            return
        raise OptionError(
            "SCHEDULER_ADDRESS",
            f"{self.address!r} is neither this machine's, nor tls:// with certificates",
            "--scheduler",
            "give tcp://127.0.0.1:PORT, or tls://HOST:PORT with --tls-ca, --tls-cert and --tls-key",
        )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def computed_on(
    scheduler: Scheduler, model_bytes: bytes, tasks: Mapping[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yields key and result of each run as it finishes; a run whose worker has gone begins again.

    Raises:
        OptionError: the address is not allowed, Dask is not installed, or nobody answers there.
        CapacityError: WORKER_ENDED: the workers of a run ended again and again.
    """
    scheduler.check()
    if not tasks:
        return
    distributed = _dask()
    client = _connected(distributed, scheduler)
    try:
        digest = hashlib.sha256(model_bytes).hexdigest()
        model = client.submit(bytes, model_bytes, key=f"model-{digest}")
        runs = {
            client.submit(named_result, RESULT_OF, digest, model, task, key=f"run-{key}"): key
            for key, task in tasks.items()
        }
        for done in distributed.as_completed(runs, loop=client.loop):
            yield runs[done], bytes(done.result())
    except distributed.KilledWorker as error:
        what, change = "the workers of a run ended", "give the workers more memory"
        raise CapacityError("WORKER_ENDED", what, str(error), change) from error
    except distributed.client.FutureCancelledError as error:
        what, change = "the scheduler has gone", "start it again, and the sweep with --resume"
        raise OptionError("SCHEDULER_GONE", what, str(error), change) from error
    finally:
        client.close()


def named_result(function: str, digest: str, model_bytes: bytes, task: bytes) -> bytes:
    """What a worker calls: one of `FUNCTIONS` on a task; a worker keeps the latest models.

    Threads of a worker take turns, since the runs of a model share caches.
    """
    with _TURN:
        return FUNCTIONS[function](_imports(digest, model_bytes), task)


@lru_cache(maxsize=2)
def _imports(_: str, model_bytes: bytes) -> Imports:
    return Imports(model_bytes)


def _dask() -> Any:
    """The package, which is optional.

    Raises:
        OptionError: NO_DASK.
    """
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        what, change = "Dask is not installed", "run `pip install -r requirements-dask.txt`"
        raise OptionError("NO_DASK", what, "--scheduler", change) from error


def _connected(distributed: Any, scheduler: Scheduler) -> Any:
    security = distributed.Security(
        tls_ca_file=scheduler.ca_file,
        tls_client_cert=scheduler.certificate_file,
        tls_client_key=scheduler.key_file,
        require_encryption=scheduler.address.startswith(TLS),
    )
    try:
        client = distributed.Client(
            scheduler.address, security=security, timeout=CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, ValueError) as error:
        what, change = f"no scheduler answers at {scheduler.address!r}", "check address and files"
        raise OptionError("SCHEDULER_UNREACHABLE", what, str(error), change) from error
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError as error:
        client.close()
        what, change = f"the scheduler at {scheduler.address!r} has no worker", "start one"
        raise OptionError("NO_WORKER", what, str(error), change) from error
    return client
