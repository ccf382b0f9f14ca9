"""Runs of a comparison with figures made up for tests: each number can be worked out by hand."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from graphturbo_core.comparison.compared_run import ComparedRun, RunChoices
from graphturbo_core.comparison.figures import GroupLayers, RunFigures
from graphturbo_core.comparison.from_report import figures_of
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report

MODEL_SHA256 = "0" * 64
"""Of runs whose figures are made up: no file has it."""
REQUEST = RunRequest("teaching-resnet", "tvm@2", "generic-4x4", 8, MappingProxyType({}))

PAPER = {
    "model": "resnet50-slim",
    "model_sha256": hashlib.sha256(load_sample("resnet50-slim")).hexdigest(),
    "profile": "stcp920",
}
"""A model and chip of the paper."""


@cache
def report_of(strategy: str) -> Report:
    """A real run of the small sample with the tables of pictures."""
    request = replace(REQUEST, strategy=strategy)
    return run_report(load_sample("teaching-resnet"), request)


@cache
def run_of(strategy: str, **changed: object) -> ComparedRun:
    """That run as one of a comparison; `changed` figures replace its own."""
    figures = figures_of(report_of(strategy)).model_copy(update=changed)
    digest = hashlib.sha256(load_sample(REQUEST.model_name)).hexdigest()
    choices = RunChoices.of(replace(REQUEST, strategy=strategy), digest)
    return ComparedRun(name=strategy, choices=choices, figures=figures)


def made_up(strategy: str, latency_s: float, batch: int = 64, **changed: object) -> ComparedRun:
    """A run of so many seconds: throughput is batch over latency, the lower bound 1 ms.

    `model_sha256` is a choice, not a figure: `PAPER` has that of a sample.
    """
    digest = str(changed.pop("model_sha256", MODEL_SHA256))
    figures = run_of("tvm@2").figures.model_copy(
        update={
            "strategy": strategy,
            "latency_s": latency_s,
            "throughput_per_s": batch / latency_s,
            "lower_bound_s": 1e-3,
            "batch": batch,
            **changed,
        }
    )
    request = replace(
        REQUEST, strategy=strategy, model_name=figures.model, profile=figures.profile, batch=batch
    )
    return ComparedRun(name=strategy, choices=RunChoices.of(request, digest), figures=figures)


def grouped(*layers: tuple[int, ...], pieces: int = 1) -> tuple[GroupLayers, ...]:
    """Groups of these layers."""
    return tuple(
        GroupLayers(name=f"g{index}", pieces=pieces, along="0", layers=own)
        for index, own in enumerate(layers)
    )


def with_groups(groups: tuple[GroupLayers, ...]) -> RunFigures:
    """Figures with these groups."""
    return run_of("tvm@2").figures.model_copy(update={"groups": groups})
