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

LONGEST = 600_000
"""A run of more instructions is not computed once more unasked (our choice: Swin-T has 414,000 on
`generic-4x4` and takes 10 s, ResNet-50 511,000 with `tvm@1` on `ipu-gc2` and 24 s, DenseNet-121
730,000 there and two minutes)."""
Changed = Sequence[tuple[BindingChange, Run]]
"""Changes of the chip with B's run on each: the last on its way or done, the others done."""


def changed_runs(choices: Choices, drawn: Runs, *, is_whole: bool = True) -> Changed:
    """The changes tried so far: the next is tried where those before it do not help.

    They begin once B is there, and nobody waits for them any more once B is another. Where B was
    refused they are A's. `is_whole`: no run is on its way.
    """
    name = _name_of(drawn)
    found: list[tuple[BindingChange, Run]] = []
    if name and (name == "B" or is_whole) and not why_not(choices, drawn):
        run = drawn[name]
        for change in binding_changes(run.report):
            changed = _run_with(change, choices, name, run)
            found += [(change, changed)] if changed is not None else []
            if changed is not None and not _is_next_tried(change, changed, run):
                break
    if not found:
        shared_desk().leave(run_state.changed_chip())
    return tuple(found)


def _name_of(drawn: Runs) -> str:
    """B; A where it is alone; empty where no run is drawn."""
    return "B" if "B" in drawn else next(iter(drawn), "")


def why_not(choices: Choices, drawn: Runs) -> str:
    """Why the run is not computed on changed chips; empty where it is, or where there is none."""
    name = _name_of(drawn)
    if not name:
        return ""
    run, what = drawn[name], "what helps is not computed for"
    if choices.sides[name.lower()].plan:
        return f"{what} a run from a plan"
    if STRATEGIES[parse_strategy(run.request.strategy).name].is_search:
        return f"{what} a search, which would search again"
    if run.report.contract["instructions"] > LONGEST:
        return f"{what} more than {LONGEST:,} instructions"
    return ""


def _run_with(change: BindingChange, choices: Choices, name: str, run: Run) -> Run | None:
    """The run on the changed chip; None where there can be no such chip."""
    asked, source = choices.request(name.lower()), choices.source
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


def change_text(changed: Changed, drawn: Runs, why_none: str = "") -> str:
    """`B is DRAM-bound: 25 % more DRAM bandwidth makes B 1.18× as fast`; of A where it is alone.

    Before a run on a changed chip is done only what binds the run. `why_none`: as `why_not` says.

    Raises:
        WorkerError: it met a bug.
    """
    name = _name_of(drawn)
    if not name:
        return ""
    report = drawn[name].report
    known = [
        tried(change, report, run.report)
        for change, run in changed
        if run.is_done and run.refusal is None
    ]
    return helps_text(name, report, known, why_none or _all_refused(changed))


def _all_refused(changed: Changed) -> str:
    """That no changed chip runs it, where all that were tried refuse it."""
    refused = [change.words for change, run in changed if run.is_done and run.refusal is not None]
    if not refused or len(refused) < len(changed) or changed[-1][1].is_cancelled:
        return ""
    return f"the chip with {' or with '.join(refused)} cannot run it"
