"""The app's default choices on small models -> kept replays, and what is stale of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version

from graphturbo_core.pipeline import Imports, RunRequest, run_shared
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.kept_replays import KeptReplay, largest_difference
from graphturbo_core.report.verdict.verify_text import is_wrong
from graphturbo_ui.jobs import default_comparison

MODELS = ("resnet50-slim", "teaching-resnet", "light-squeezenet", "mobilenet-v2")
"""The app's first model, and samples whose replays take less than a minute."""
REPLAYED_AGAIN = frozenset({"teaching-resnet"})
"""Models that the check replays too: 2 s, where the first one takes minutes."""

Run = tuple[str, str, str]
"""Model, chip and strategy."""


def reports(models: tuple[str, ...], replayed: frozenset[str]) -> Iterator[Report]:
    """Reports of A and B on each model under the app's default choices; some are replayed."""
    for model in models:
        requests, source = default_comparison(model)
        imports = Imports(source.model)
        for request in requests:
            yield run_shared(imports, _lean(request, model in replayed))


def _lean(request: RunRequest, verify: bool) -> RunRequest:
    return replace(request, verify=verify, emit=(), has_pictures=False)


def kept_of(report: Report) -> KeptReplay:
    """What is kept of a replayed run.

    Raises:
        ValueError: its outputs differ from the model's.
    """
    contract = report.contract
    if is_wrong(report):
        raise ValueError(f"{contract['model']} under {contract['strategy']} is wrong")
    difference, tolerance = largest_difference(report)
    return {
        "model": contract["model"],
        "profile": contract["profile"],
        "strategy": contract["strategy"],
        "dtype": contract["dtype"],
        "batch": contract["batch"],
        "program_sha256": contract["program_sha256"],
        "instructions": contract["verify"]["instructions"],
        "rounds": contract["verify"]["rounds"],
        "largest_difference": difference,
        "tolerance": tolerance,
        "version": contract["version"],
        "onnxruntime": version("onnxruntime"),
    }


def stale(
    kept: Mapping[str, KeptReplay],
    found: Callable[[tuple[str, ...], frozenset[str]], Iterator[Report]] = reports,
) -> list[str]:
    """Kept replays whose Program is another by now, missing ones, and replays that fail."""
    lines = []
    by_run = {_run(entry): digest for digest, entry in kept.items()}
    for report in found(MODELS, REPLAYED_AGAIN):
        contract = report.contract
        run = (contract["model"], contract["profile"], contract["strategy"])
        before, now = by_run.pop(run, "none"), contract["program_sha256"]
        if now != before:
            lines.append(f"{' '.join(run)}: its Program is {now[:12]}, the kept one {before[:12]}")
        elif is_wrong(report):
            lines.append(f"{' '.join(run)}: its replay fails")
    return lines + [f"{' '.join(run)}: nothing replays it" for run in by_run]


def _run(entry: KeptReplay) -> Run:
    return entry["model"], entry["profile"], entry["strategy"]
