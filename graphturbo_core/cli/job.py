"""Choices -> Reports: the runs of a command, with progress on stderr."""

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


def _print_step(name: str, seconds: float) -> None:
    _progress().print(f"  {name}: {seconds:.3f} s")


@dataclass(frozen=True)
class Job:
    """Requests on one model; `given`: choices with a default that the user gave explicitly."""

    model_bytes: bytes
    requests: tuple[RunRequest, ...]
    given: frozenset[str] = frozenset()

    def reports(self) -> Iterator[Report]:
        """Yields the reports in order, with progress on stderr.

        A replay runs in a worker process, because ONNX Runtime may crash its process.
        """
        progress = _progress()
        if self.requests[0].verify:
            runs = isolated_reports(self.model_bytes, self.requests, _print_step)
        else:
            warm_up(_print_step)
            runs = run_reports(self.model_bytes, self.requests, on_step=_print_step)
        for request in self.requests:
            progress.print(f"{request.model_name}, {request.strategy}", markup=False)
            yield next(runs)

    def at_equal_batches(self, reports: Sequence[Report]) -> tuple[Report | str | None, ...]:
        """Per report, the first strategy at that report's cluster batch, or its refusal's code.

        None where the two are like for like. Does not replay, and reuses reports of the job.
        """
        first, known = self.requests[0], dict(zip(self._keys(), reports, strict=True))
        found: dict[str, Report | str] = {}
        for report in reports:
            strategy = strategy_at(first.strategy, cluster_batch(report))
            if is_like_for_like(reports[0], report) or strategy in found:
                continue
            request = replace(first, strategy=strategy, verify=False, emit=())
            found[strategy] = known.get(strategy) or self._further_run(request)
        return tuple(
            None
            if is_like_for_like(reports[0], report)
            else found[strategy_at(first.strategy, cluster_batch(report))]
            for report in reports
        )

    def _keys(self) -> tuple[str, ...]:
        return tuple(request.strategy for request in self.requests)

    def _further_run(self, request: RunRequest) -> Report | str:
        """A run that the user did not name: its report, or the code of its refusal."""
        _progress().print(f"{request.model_name}, {request.strategy}", markup=False)
        try:
            return run_report(self.model_bytes, request, on_step=_print_step)
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
        return assumption_register(self.model_bytes, request, _print_step)

    def emitting(self, files: Sequence[str], *, has_pictures: bool = False) -> Job:
        """The same job with files in its reports, and with the data of pictures."""
        requests = (
            replace(request, emit=tuple(files), has_pictures=has_pictures)
            for request in self.requests
        )
        return replace(self, requests=tuple(requests))

    def following(self, path: str) -> Job:
        """The same job following a plan file; choices that the user did not give are the plan's.

        Raises:
            PlanError: it is no plan file.
        """
        text = read_text(path)
        origin = read_plan(text.encode(), path).origin
        given = self.given
        known = origin.profile if origin.profile in profile_names() else DEFAULT_PROFILE
        requests = (
            replace(
                request,
                plan=text,
                profile=request.profile if "profile" in given else known,
                strategy=request.strategy if "strategy" in given else origin.strategy,
                dtype=request.dtype if "dtype" in given else origin.dtype,
                batch=origin.batch if request.batch is None else request.batch,
                dims=request.dims or origin.dims,
                options=request.options or origin.options,
                skip_passes=request.skip_passes or origin.skip_passes,
            )
            for request in self.requests
        )
        return replace(self, requests=tuple(requests))


def read_text(path: str) -> str:
    """Text of a plan or program file, read up to one byte above the limit.

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
    """The job of a command line; starts no run."""
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
    explicit = {"profile": profile, "strategy": names[0], "dtype": choices.dtype}
    given = frozenset(key for key, value in explicit.items() if value is not None)
    requests = tuple(replace(request, strategy=strategy) for strategy in strategies)
    return Job(data, requests, given)
