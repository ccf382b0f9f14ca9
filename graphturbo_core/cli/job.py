"""Choices -> Reports: the runs that a command asks for, with progress on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from graphturbo_core.cli.options import Choices, pairs_of, whole_number
from graphturbo_core.errors import GraphTurboError, InvariantError, OptionError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import read_model
from graphturbo_core.hardware.profile import DEFAULT_PROFILE, profile_names
from graphturbo_core.pipeline import RunRequest, run_report, run_reports, warm_up
from graphturbo_core.plain_yaml import shown
from graphturbo_core.register import RegisterRow, assumption_register
from graphturbo_core.remote.client import isolated_reports
from graphturbo_core.report.report import MAX_FILE_BYTES, Report
from graphturbo_core.report.verdict.equal_batches import (
    cluster_batch,
    is_like_for_like,
    strategy_at,
)

DEFAULT_STRATEGY = "graphturbo"
DEFAULT_DTYPE = "fp16"


def _progress() -> Console:
    return Console(stderr=True, highlight=False)


def _tell(name: str, seconds: float) -> None:
    _progress().print(f"  {name}: {seconds:.3f} s")


@dataclass(frozen=True)
class Job:
    """Requests on one model; `made`: the choices with a default that were made all the same."""

    model_bytes: bytes
    requests: tuple[RunRequest, ...]
    made: frozenset[str] = frozenset()

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

    def at_equal_batches(self, reports: Sequence[Report]) -> tuple[Report | str | None, ...]:
        """For each report the first strategy at that report's cluster batch, or its refusal's code.

        None where the two are like for like. No replay; what the job ran is not run again.
        """
        first, known = self.requests[0], dict(zip(self._keys(), reports, strict=True))
        found: dict[str, Report | str] = {}
        for report in reports:
            strategy = strategy_at(first.strategy, cluster_batch(report))
            if is_like_for_like(reports[0], report) or strategy in found:
                continue
            asked = replace(first, strategy=strategy, verify=False, emit=())
            found[strategy] = known.get(strategy) or self._beside(asked)
        return tuple(
            None
            if is_like_for_like(reports[0], report)
            else found[strategy_at(first.strategy, cluster_batch(report))]
            for report in reports
        )

    def _keys(self) -> tuple[str, ...]:
        return tuple(request.strategy for request in self.requests)

    def _beside(self, request: RunRequest) -> Report | str:
        """A run that nobody asked for by name: its report, or the code of its refusal."""
        _progress().print(f"{request.model_name}, {request.strategy}", markup=False)
        try:
            return run_report(self.model_bytes, request, on_step=_tell)
        except InvariantError:
            raise
        except GraphTurboError as error:
            return error.code

    def register(self) -> tuple[RegisterRow, ...]:
        """The assumption register of the only request, with progress on stderr.

        Raises:
            GraphTurboError: the profile is refused.
        """
        (request,) = self.requests
        return assumption_register(self.model_bytes, request, _tell)

    def emitting(self, files: Sequence[str], *, has_pictures: bool = False) -> Job:
        """The same job with files in its reports, and with what pictures are made of."""
        requests = (
            replace(request, emit=tuple(files), has_pictures=has_pictures)
            for request in self.requests
        )
        return replace(self, requests=tuple(requests))

    def holding_to(self, path: str) -> Job:
        """The same job, held to a plan file; choices that were not made are the plan's.

        Raises:
            PlanError: it is no plan file.
        """
        text = read_text(path)
        origin = read_plan(text.encode(), path).origin
        made = self.made
        known = origin.profile if origin.profile in profile_names() else DEFAULT_PROFILE
        requests = (
            replace(
                request,
                plan=text,
                profile=request.profile if "profile" in made else known,
                strategy=request.strategy if "strategy" in made else origin.strategy,
                dtype=request.dtype if "dtype" in made else origin.dtype,
                batch=origin.batch if request.batch is None else request.batch,
                dims=request.dims or origin.dims,
                options=request.options or origin.options,
                skip_passes=request.skip_passes or origin.skip_passes,
            )
            for request in self.requests
        )
        return replace(self, requests=tuple(requests))


def read_text(path: str) -> str:
    """A plan or program as a file has it; at most one byte more than it may have.

    Raises:
        OptionError: UNREADABLE.
    """
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        what = f"{shown(path)} cannot be read"
        change = "give a file that `run --emit` wrote"
        raise OptionError("UNREADABLE", what, why, change) from error


def job_of(model: str, profile: str | None, choices: Choices, names: Sequence[str | None]) -> Job:
    """The runs that the command line asks for; nothing is computed yet."""
    name, data = read_model(model)
    request = RunRequest(
        model_name=name,
        profile=profile or DEFAULT_PROFILE,
        batch=choices.batch,
        dims={
            key: whole_number(key, value)
            for key, value in pairs_of("--dim", choices.dim or []).items()
        },
        dtype=choices.dtype or DEFAULT_DTYPE,
        options=pairs_of("--set", choices.options or []),
        skip_passes=tuple(choices.skip_pass or ()),
        verify=choices.verify,
        max_instructions=choices.max_instructions,
        has_pictures=False,
    )
    strategies = [DEFAULT_STRATEGY if name is None else name.strip() for name in names]
    said = {"profile": profile, "strategy": names[0], "dtype": choices.dtype}
    made = frozenset(key for key, value in said.items() if value is not None)
    requests = tuple(replace(request, strategy=strategy) for strategy in strategies)
    return Job(data, requests, made)
