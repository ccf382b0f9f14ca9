"""The shipped rows of the paper -> its batches, and throughputs of each step, by model.

Which file a name of the paper stands for is not known: docs/paper-assumptions.md has the reasons
for each model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.report.paper.data import PaperConfiguration, PaperData, kept_paper
from graphturbo_core.strategies.registry import parse_strategy

TVM = "tvm"
LEVELS = ("gb", "lb", "order", "full")
"""Steps of the paper's figure, as levels of `graphturbo`, each with all those before it."""


@dataclass(frozen=True, slots=True)
class PublishedSteps:
    """One configuration of the paper: its name, batches, and throughput over TVM's per level.

    `read_off`: levels whose number was read off a bar chart.
    """

    title: str
    batch: int
    cluster_batch: int
    over_tvm: Mapping[str, float]
    read_off: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaperBatches:
    """Batch of the chip, and samples that a cluster takes at once under either compiler."""

    batch: int
    tvm: int
    graphturbo: int


def published_steps(model: str, chip: str, dims: Mapping[str, int]) -> PublishedSteps | None:
    """What the paper publishes for a sample on its chip.

    None for another chip or model, and where the rows are not shipped.
    """
    data = _shipped()
    if data is None or chip != data.chip:
        return None
    found = _row(data, model, dims)
    return None if found is None else _steps(found)


def paper_batches(model: str, dims: Mapping[str, int]) -> PaperBatches | None:
    """The batches of the paper for a sample, on any chip.

    None for a model or length that it did not run, and where the rows are not shipped.
    """
    data = _shipped()
    row = None if data is None else _row(data, model, dims)
    if row is None:
        return None
    tvm, full = (_cluster_batch(row, level) for level in (TVM, LEVELS[-1]))
    return PaperBatches(row.batch, tvm, full) if tvm and full else None


def _row(data: PaperData, model: str, dims: Mapping[str, int]) -> PaperConfiguration | None:
    rows = (each for each in data.configurations if model in _samples(each))
    return next((each for each in rows if each.dims.items() <= dims.items()), None)


def _cluster_batch(row: PaperConfiguration, level: str) -> int:
    """That of a step; 0 where the row lacks it."""
    step = row.step(level)
    return 0 if step is None else parse_strategy(step.strategy).cluster_batch or 0


def is_sample(name: str, sha256: str) -> bool:
    """Whether a model's file is the sample of that name."""
    return name in sample_names() and sha256 == _sample_sha256(name)


@cache
def _sample_sha256(name: str) -> str:
    return hashlib.sha256(load_sample(name)).hexdigest()


def _shipped() -> PaperData | None:
    try:
        return kept_paper()
    except GraphTurboError:  # the page Paper shows why it cannot be read
        return None


def _samples(row: PaperConfiguration) -> frozenset[str]:
    """The samples that a row may mean."""
    return frozenset({row.sample, *(each.sample for each in row.movers if each.kind == "model")})


def _steps(row: PaperConfiguration) -> PublishedSteps | None:
    """The steps of a row; None where one has no number."""
    found = [step for step in row.steps if step.level in LEVELS]
    numbers = {step.level: step.published_over_tvm for step in found}
    over_tvm = {level: ratio for level in LEVELS if (ratio := numbers.get(level))}
    if len(over_tvm) < len(LEVELS):
        return None
    return PublishedSteps(
        title=row.title,
        batch=row.batch,
        cluster_batch=_cluster_batch(row, found[0].level),
        over_tvm=over_tvm,
        read_off=tuple(step.level for step in found if step.is_read_off),
    )
