"""Two runs of unequal cluster batches -> their ratio at one, and the run that this takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphturbo_core.comparison.compared_run import ComparedRun, RunChoices
from graphturbo_core.comparison.settings import setting_of
from graphturbo_core.errors import OptionError
from graphturbo_core.report.verdict.equal_batches import strategy_at
from graphturbo_core.strategies.registry import STRATEGIES, parse_strategy


@dataclass(frozen=True, slots=True)
class EqualRatio:
    """Speed of the second run over the first, both at `samples` per cluster at once."""

    samples: int
    ratio: float


def are_like(a: ComparedRun, b: ComparedRun) -> bool:
    """Whether the ratio of two runs is fair without a second one at equal cluster batches.

    It is where cluster batches are equal, or where strategy and options are.
    """
    is_one_strategy = _decisions(a) == _decisions(b)
    return a.figures.cluster_batch == b.figures.cluster_batch or is_one_strategy


def equal_ratio(a: ComparedRun, b: ComparedRun, runs: Sequence[ComparedRun]) -> EqualRatio | None:
    """The ratio that a run among `runs` gives: A at B's cluster batch, or else B at A's."""
    for side, other in ((a, b), (b, a)):
        samples = other.figures.cluster_batch
        found = next((run for run in runs if _is_at(run, side, samples)), None)
        if found is not None:
            rate, fixed = (run.figures.throughput_per_s for run in (found, other))
            ratio = fixed / rate if side is a else rate / fixed
            return EqualRatio(samples, ratio)
    return None


def missing_choices(a: ComparedRun, b: ComparedRun) -> RunChoices | None:
    """Choices of the run that gives this ratio: A's at B's cluster batch.

    B's at A's where A is a search, which takes minutes, or follows a plan, which has its own
    cluster batch. None for like runs, and where neither can be changed.
    """
    return None if are_like(a, b) else next(_changed(a, b), None)


def _changed(a: ComparedRun, b: ComparedRun) -> Iterator[RunChoices]:
    for side, other in ((a, b), (b, a)):
        choices = side.choices
        if choices is not None and not choices.plan and not _is_search(choices.strategy):
            strategy = strategy_at(choices.strategy, other.figures.cluster_batch)
            yield choices.model_copy(update={"strategy": strategy})


def _is_search(strategy: str) -> bool:
    try:
        return STRATEGIES[parse_strategy(strategy).name].is_search
    except OptionError:  # of a version with other strategies
        return True


def _is_at(run: ComparedRun, side: ComparedRun, samples: int) -> bool:
    """Whether a run is `side` at another cluster batch."""
    is_alike = setting_of(run) == setting_of(side) and _decisions(run) == _decisions(side)
    return is_alike and run.figures.cluster_batch == samples


def _decisions(run: ComparedRun) -> tuple[object, ...]:
    """Strategy without its cluster batch, options, passes left out, and plan."""
    name, choices = run.figures.strategy.partition("@")[0], run.choices
    if choices is None:
        return (name, (), (), "")
    return (name, tuple(sorted(choices.options.items())), choices.skip_passes, choices.plan)
