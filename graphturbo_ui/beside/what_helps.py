"""B on a chip with a quarter more of what binds it: what a change of the chip would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.hardware.variation import scaled_profile
from graphturbo_core.report.verdict.binding_change import (
    BindingChange,
    binding_changes,
    helps_text,
    tried,
)
from graphturbo_core.strategies.registry import STRATEGIES, parse_strategy
from graphturbo_ui.jobs import Run, Runs, shared_desk
from graphturbo_ui.runs import Source
from graphturbo_ui.session import run_state
from graphturbo_ui.session.choices import Choices

LONGEST = 400_000
"""A run of more instructions is not computed once more unasked (our choice: BERT-base has 129,000
and takes 2 s, ResNet-50 on `generic-4x4` 340,000 and some ten)."""
Changed = Sequence[tuple[BindingChange, Run]]
"""Changes of the chip with B's run on each: the last on its way or done, the others done."""


def changed_runs(choices: Choices, drawn: Runs) -> Changed:
    """The changes tried so far: the next is tried where those before it do not help.

    They begin once B is there, and nobody waits for them any more once B is another.
    """
    run = drawn.get("B")
    found: list[tuple[BindingChange, Run]] = []
    if run is not None and not choices.sides["b"].plan and _is_short(run):
        for change in binding_changes(run.report):
            changed = _run_with(change, choices, run)
            found += [(change, changed)] if changed is not None else []
            if changed is not None and not _is_next_tried(change, changed, run):
                break
    if not found:
        shared_desk().leave(run_state.changed_chip())
    return tuple(found)


def _run_with(change: BindingChange, choices: Choices, run: Run) -> Run | None:
    """B on the changed chip; None where there can be no such chip."""
    asked, source = choices.request("b"), choices.source
    try:
        profile = shared_desk().view(
            f"profile with {change.key} {change.factor}",
            lambda _: scaled_profile(asked.profile, source.profile, change.key, change.factor),
            run,
        )
    except GraphTurboError:
        return None
    request = replace(asked, verify=False, emit=(), has_pictures=False)
    changed = Source.of(source.model, profile)
    return shared_desk().start([request], changed, run_state.changed_chip())[0]


def _is_next_tried(change: BindingChange, changed: Run, run: Run) -> bool:
    """Whether this change is known not to help, or the changed chip refuses the run."""
    if not changed.is_done or changed.is_cancelled:
        return False
    is_refused = changed.refusal is not None
    return is_refused or not tried(change, run.report, changed.report).helps


def change_text(changed: Changed, drawn: Runs) -> str:
    """`B is DRAM-bound: 25 % more DRAM bandwidth makes it 1.18× as fast`; of A where it is alone.

    Before a run on a changed chip is done, and where there is none, only what binds the run.

    Raises:
        WorkerError: it met a bug.
    """
    name = "B" if "B" in drawn else next(iter(drawn), "")
    if not name:
        return ""
    report = drawn[name].report
    known = [
        tried(change, report, run.report)
        for change, run in changed
        if run.is_done and run.refusal is None
    ]
    return helps_text(name, report, known)


def _is_short(run: Run) -> bool:
    """Whether the run is computed once more within seconds: a search would search again."""
    is_search = STRATEGIES[parse_strategy(run.request.strategy).name].is_search
    return not is_search and run.report.contract["instructions"] <= LONGEST
