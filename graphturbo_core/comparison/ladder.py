"""Runs of one setting -> the steps of the paper's method, with the gain of each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.published import (
    LEVELS,
    PublishedSteps,
    is_sample,
    published_steps,
)
from graphturbo_core.comparison.settings import RunSetting, level_of, setting_of
from graphturbo_core.strategies.registry import BEST

RUNGS = (*LEVELS, BEST)
"""Levels of `graphturbo` in the order of the paper's figure, then the search."""
RUNG_WORDS: Mapping[str, str] = {
    "gb": "Results in GB",
    "lb": "Results passed on in LB",
    "order": "Groups in pieces, depth first",
    "full": "Layers overlap",
    "best": "Fastest schedule of a search",
}
"""What each step adds to the one before."""
KERNEL_WORDS: Mapping[str, str] = {
    "layerwise": "One kernel per op",
    "tvm": "One kernel per layer",
}
"""Strategies that come before the first step."""
FEWEST_RUNGS = 2
Fixed = tuple[RunSetting, tuple[tuple[str, str], ...], tuple[str, ...]]
"""Setting, options, and passes left out."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: its run, and its throughput over that of the step before, ours and the paper's.

    `gain`: 1 of the first. `published`: None where the paper has no number.
    """

    level: str
    words: str
    run: ComparedRun
    gain: float
    published: float | None


@dataclass(frozen=True, slots=True)
class Ladder:
    """The steps that were run in one setting at one cluster batch."""

    setting: RunSetting
    cluster_batch: int
    rungs: tuple[Rung, ...]
    paper: PublishedSteps | None


def ladders(runs: Sequence[ComparedRun]) -> tuple[Ladder, ...]:
    """The ladder of every setting with two steps or more, in the order of the first runs.

    Steps have the same cluster batch, options and passes. A search chooses its cluster batch: it
    belongs to the ladder of that one, or to the first where there is none. Of several runs of one
    level the first counts.
    """
    found: dict[Fixed, dict[int, dict[str, ComparedRun]]] = {}
    searched: dict[Fixed, ComparedRun] = {}
    for run in runs:
        level, fixed = level_of(run), _fixed(run)
        if run.choices and run.choices.plan:
            continue
        if level == BEST:
            searched.setdefault(fixed, run)
        elif level in LEVELS:
            own = found.setdefault(fixed, {}).setdefault(run.figures.cluster_batch, {})
            own.setdefault(level, run)
    made = []
    for fixed, of_batch in found.items():
        if fixed in searched:
            chosen = searched[fixed].figures.cluster_batch
            of_batch.get(chosen, next(iter(of_batch.values())))[BEST] = searched[fixed]
        ladders_here = of_batch.items()
        made += [_ladder(fixed[0], n, own) for n, own in ladders_here if len(own) >= FEWEST_RUNGS]
    return tuple(made)


def _fixed(run: ComparedRun) -> Fixed:
    """What all steps of a ladder share, cluster batch apart."""
    if run.choices is None:
        return setting_of(run), (), ()
    options = tuple(sorted(run.choices.options.items()))
    return setting_of(run), options, run.choices.skip_passes


def _ladder(setting: RunSetting, cluster_batch: int, runs: Mapping[str, ComparedRun]) -> Ladder:
    """A ladder, beside the paper's where model and chip are the shipped files, not their names."""
    paper = None
    if not setting.chip_id and is_sample(setting.model, setting.model_id):
        paper = published_steps(setting.model, setting.chip, dict(setting.dims))
    rungs: list[Rung] = []
    for level in RUNGS:
        if level in runs:
            before = rungs[-1] if rungs else None
            rungs.append(_rung(level, runs[level], before, paper))
    return Ladder(setting, cluster_batch, tuple(rungs), paper)


def _rung(level: str, run: ComparedRun, before: Rung | None, paper: PublishedSteps | None) -> Rung:
    published = None
    if before is None:
        return Rung(level, RUNG_WORDS[level], run, 1.0, published)
    if paper is not None and level in LEVELS and before.level in LEVELS:
        published = paper.over_tvm[level] / paper.over_tvm[before.level]
    slower = before.run.figures.throughput_per_s
    gain = run.figures.throughput_per_s / slower if slower else 0.0
    return Rung(level, RUNG_WORDS[level], run, gain, published)
