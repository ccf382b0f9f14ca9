"""`compare --save` and `--from`: runs kept in a file, and shown again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from rich.console import Console

from graphturbo_core.cli.job import Job
from graphturbo_core.cli.options import CompareTargets
from graphturbo_core.cli.output import STDOUT, printable, write_text_to
from graphturbo_core.comparison.compared_run import ComparedRun, RunChoices, default_name
from graphturbo_core.comparison.comparison_file import (
    MAX_FILE_BYTES,
    distinct,
    read_comparison,
    write_comparison,
)
from graphturbo_core.comparison.from_report import figures_of
from graphturbo_core.errors import OptionError
from graphturbo_core.export.files import json_text
from graphturbo_core.frontend.importer import read_input_dims
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.plain_yaml import shown
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.text import figure_table, setting_title

COLUMNS = 6
"""Runs of one table; more follow in further tables."""


def check_only_shown(model: str | None, is_default: bool, targets: CompareTargets) -> None:
    """Refuse choices of runs beside a file of finished ones.

    Raises:
        OptionError: FROM_AND_CHOICES.
    """
    if model is None and is_default and targets.save_to is None:
        return
    what = "--from shows finished runs and runs nothing"
    change = "leave out MODEL and all options but --json and --fail-if"
    raise OptionError("FROM_AND_CHOICES", what, "compare", change)


def kept_text(job: Job, reports: Sequence[Report], profile_text: str) -> str:
    """The runs of a job as the text of a comparison file; `own_profile` gives `profile_text`.

    Raises:
        CapacityError: they are too many or too large.
    """
    digest = hashlib.sha256(job.model_bytes).hexdigest()
    runs = []
    for request, report in zip(job.requests, reports, strict=True):
        figures = figures_of(report)
        ran = replace(
            request,
            profile=PurePath(request.profile).name if profile_text else request.profile,
            batch=figures.batch,
            dims=_sizes(job.model_bytes, request.dims),
        )
        choices = RunChoices.of(ran, digest, profile_text)
        name = default_name(figures, is_from_plan=bool(request.plan))
        runs.append(ComparedRun(name=name, choices=choices, figures=figures))
    return write_comparison(distinct(runs))


def _sizes(model: bytes, dims: Mapping[str, int]) -> Mapping[str, int]:
    """Sizes that a run has: those given, else those of the file; the batch has a key of its own."""
    found = read_input_dims(model)
    batch = next((dim.symbol for dim in found if dim.axis == 0), "")
    proposed = {dim.symbol: dim.proposed for dim in found if dim.proposed is not None}
    return {name: size for name, size in {**proposed, **dims}.items() if name != batch}


def own_profile(job: Job) -> str:
    """The text of a job's profile file, read before its runs; empty of a shipped one.

    Empty too of a file that cannot be read, which the runs refuse.
    """
    profile = job.requests[0].profile
    if profile in profile_names():
        return ""
    try:
        with Path(profile).open("rb") as file:
            return file.read(DEFAULT_LIMITS.max_profile_bytes + 1).decode("utf-8-sig")
    except (OSError, ValueError):
        return ""


def show_kept(path: str, json_to: str | None) -> list[Mapping[str, Any]]:
    """Prints the runs of a file as `compare` does, and writes their figures as JSON.

    Returns the figures, by the contract's keys.

    Raises:
        OptionError: UNREADABLE, or the file is no comparison.
    """
    runs = read_comparison(_read(path), path)
    contracts = [run.figures.contract() for run in runs]
    if json_to is not None:
        write_text_to(json_to, lambda: json_text(contracts))
    if json_to != STDOUT:
        _print(runs, contracts)
    return contracts


def _read(path: str) -> bytes:
    """At most one byte above the limit."""
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        what = f"{shown(path)} cannot be read"
        raise OptionError("UNREADABLE", what, str(error), "give another file") from error


def _print(runs: Sequence[ComparedRun], contracts: Sequence[Mapping[str, Any]]) -> None:
    """Tables of a few runs each; then notes, and which figures are of another version."""
    console = Console(highlight=False)
    titles = [printable(setting_title(contract)) for contract in contracts]
    is_one = len(set(titles)) == 1
    for first in range(0, len(runs), COLUMNS):
        part = slice(first, first + COLUMNS)
        names = [
            _heading(run.name, "" if is_one else title)
            for run, title in zip(runs[part], titles[part], strict=True)
        ]
        title = titles[0] if is_one else "runs in several settings"
        console.print(figure_table(title, names, contracts[part]))
    for run in runs:
        if run.note:
            console.print(printable(f"{run.name}: {run.note}"), markup=False)
        if run.is_of_other_version:
            words = f"{run.name}: figures of version {run.figures.version} of this library"
            console.print(printable(words), markup=False)


def _heading(name: str, title: str) -> str:
    """A run's name; below it its setting in two lines, where settings differ."""
    return "\n".join(printable(line) for line in (name, *title.split(", ", 1)) if line)
