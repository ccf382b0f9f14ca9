"""Two runs of unequal cluster batches -> the run that gives their ratio at one, computed beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphturbo_core.comparison.compared_run import ComparedRun, default_name
from graphturbo_core.comparison.equal_batches import equal_ratio, missing_choices
from graphturbo_core.comparison.from_report import figures_of
from graphturbo_core.comparison.settings import fastest, model_count, slowest_of
from graphturbo_core.errors import CapacityError
from graphturbo_core.report.verdict.equal_batches import WAITED_FOR
from graphturbo_ui.jobs import Runs, WorkerError, shared_desk
from graphturbo_ui.runs import Visitor
from graphturbo_ui.session import compared, reopening, run_state

HEADLINE, PAIR = run_state.EQUAL_PLACES


@dataclass(frozen=True)
class Beside:
    """What a sentence gets: further `runs`, or `why_not`; `pending`: what it waits for."""

    runs: tuple[ComparedRun, ...] = ()
    why_not: str = ""
    pending: Runs = field(default_factory=dict)


def of_pair(a: ComparedRun, b: ComparedRun) -> Beside:
    """Of two ticked runs; the rows of the comparison are looked at first."""
    rows = compared.comparison().runs
    found = _beside(a, b, rows, run_state.equal_runs(PAIR))
    return Beside((*rows, *found.runs), found.why_not, found.pending)


def let_go_of_pair() -> None:
    """Wait for no such run any more: fewer or more than two are ticked."""
    _none(run_state.equal_runs(PAIR))


def of_headline(runs: Sequence[ComparedRun]) -> Beside:
    """Of the fastest and the slowest row, once no row is to come."""
    visitor = run_state.equal_runs(HEADLINE)
    if not runs or compared.comparison().wanted or model_count(runs) > 1:
        return _none(visitor)
    return _beside(slowest_of(runs), fastest(runs), runs, visitor)


def _none(visitor: Visitor) -> Beside:
    shared_desk().leave(visitor)
    return Beside()


def _beside(
    a: ComparedRun, b: ComparedRun, rows: Sequence[ComparedRun], visitor: Visitor
) -> Beside:
    """The missing run on its way, done, or why there is none."""
    choices = None if equal_ratio(a, b, rows) else missing_choices(a, b)
    if choices is None or model_count((a, b)) > 1:
        return _none(visitor)
    asked = reopening.asked_with(choices)
    if isinstance(asked, str):
        shared_desk().leave(visitor)
        return Beside(why_not="none of these runs gives the ratio at equal ones")
    request, source = asked
    try:
        (run,) = shared_desk().start([request], source, visitor)
    except CapacityError:
        return Beside(why_not=WAITED_FOR)
    if not run.is_done:
        shared_desk().wake()
        return Beside(why_not=WAITED_FOR, pending={request.strategy: run})
    if run.is_cancelled:
        return Beside(why_not="the ratio at equal ones was cancelled")
    try:
        refused = run.refusal
    except WorkerError:
        return Beside(why_not=f"{request.strategy} met a bug of ours")
    if refused is not None:
        return Beside(why_not=f"{request.strategy} is refused: {refused.code}")
    figures = shared_desk().view("compared figures", figures_of, run)
    return Beside((ComparedRun(name=default_name(figures), choices=choices, figures=figures),))
