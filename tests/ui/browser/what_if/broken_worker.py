"""A worker that meets a bug: `graphturbo` on a chip whose GB has 1 MiB."""

from multiprocessing.connection import Connection

from graphturbo_core import pipeline
from graphturbo_core.remote import worker

BROKEN_GB = b'"gb_bytes": {"value": 1048576'


def main(pipe: Connection) -> None:
    """As a worker's, but for those runs."""
    whole = pipeline.run_shared

    def broken(imports, request, profile, *more):
        if request.strategy.startswith("graphturbo") and BROKEN_GB in (profile or b""):
            raise KeyError("hello")
        return whole(imports, request, profile, *more)

    pipeline.run_shared = broken
    worker.main(pipe)
