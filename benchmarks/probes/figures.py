"""Probes -> their figures as text."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from benchmarks.probes.runs import Probe
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import Imports, RunRequest, run_shared
from tests.strategies.graphturbo.readings import MODELS, model

DOCS = Path(__file__).resolve().parents[2] / "docs"


@cache
def figures(probes: tuple[Probe, ...]) -> str:
    """Figures of these runs as JSON, in their order; each run is made once."""
    return json.dumps([_figures(probe) for probe in probes], sort_keys=True)


@cache
def _figures(probe: Probe) -> list[object]:
    """What the run is, and its figures."""
    options = dict(option.split("=", 1) for option in probe.options)
    plan = (DOCS / probe.plan).read_text(encoding="utf-8") if probe.plan else ""
    request = RunRequest(
        probe.model, probe.strategy, probe.chip, probe.batch, options=options, plan=plan,
        has_pictures=False,
    )  # fmt: skip
    contract = run_shared(_imports(probe.model, probe.chip), request).contract
    found = [contract[key] for key in probe.keys]
    return [probe.model, probe.strategy, probe.chip, probe.batch, *probe.options, found]


@cache
def _imports(name: str, chip: str) -> Imports:
    return Imports(model(name, chip) if name in MODELS else load_sample(name))
