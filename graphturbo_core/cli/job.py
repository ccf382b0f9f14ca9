"""Choices -> Reports: the runs that a command asks for, with progress on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from graphturbo_core.cli.options import Choices, pairs_of, whole_number
from graphturbo_core.frontend.catalogue import read_model
from graphturbo_core.pipeline import RunRequest, run_reports, warm_up
from graphturbo_core.register import RegisterRow, assumption_register
from graphturbo_core.remote.client import isolated_reports
from graphturbo_core.report.report import Report


def _progress() -> Console:
    return Console(stderr=True, highlight=False)


def _tell(name: str, seconds: float) -> None:
    _progress().print(f"  {name}: {seconds:.3f} s")


@dataclass(frozen=True)
class Job:
    """Requests on one model."""

    model_bytes: bytes
    requests: tuple[RunRequest, ...]

    def reports(self) -> Iterator[Report]:
        """The reports one after the other, with progress on stderr.

        Replay runs in a process of its own: ONNX Runtime is known to bring its process down.
        """
        progress = _progress()
        if self.requests[0].verify:
            runs = isolated_reports(self.model_bytes, self.requests, _tell)
        else:
            warm_up(_tell)
            runs = run_reports(self.model_bytes, self.requests, on_step=_tell)
        for request in self.requests:
            progress.print(f"{request.model_name}, {request.strategy}", markup=False)
            yield next(runs)

    def register(self) -> tuple[RegisterRow, ...]:
        """The assumption register of the only request, with progress on stderr.

        Raises:
            GraphTurboError: the profile is refused.
        """
        (request,) = self.requests
        return assumption_register(self.model_bytes, request, _tell)


def job_of(model: str, profile: str, choices: Choices, names: Sequence[str]) -> Job:
    """The runs that the command line asks for; nothing is computed yet."""
    name, data = read_model(model)
    request = RunRequest(
        model_name=name,
        profile=profile,
        batch=choices.batch,
        dims={
            key: whole_number(key, value)
            for key, value in pairs_of("--dim", choices.dim or []).items()
        },
        dtype=choices.dtype,
        options=pairs_of("--set", choices.options or []),
        skip_passes=tuple(choices.skip_pass or ()),
        verify=choices.verify,
    )
    return Job(data, tuple(replace(request, strategy=name.strip()) for name in names))
