"""B on a chip with a quarter more of what binds it: what a change of the chip would give."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.hardware.variation import scaled_profile
from graphturbo_core.report.verdict.binding_change import BindingChange, binding_change
from graphturbo_core.strategies.registry import STRATEGIES, parse_strategy
from graphturbo_ui.jobs import Run, Runs, shared_desk
from graphturbo_ui.runs import Source
from graphturbo_ui.session import run_state
from graphturbo_ui.session.choices import Choices

LONGEST = 60_000
"""A run of more instructions is not computed once more unasked (our choice: some seconds)."""


def changed_run(choices: Choices, drawn: Runs) -> tuple[BindingChange, Run] | None:
    """The change and that run, on its way or done; None where there is none.

    It begins once B is there, and nobody waits for it any more once B is another.
    """
    requests, found = [], None
    source = choices.source
    run = drawn.get("B")
    if run is not None and not choices.sides["b"].plan:
        found = binding_change(run.report)
    if run is not None and found is not None and _is_short(run):
        asked = choices.request("b")
        key, factor = found.key, found.factor
        try:
            profile = shared_desk().view(
                f"profile with {key} {factor}",
                lambda _: scaled_profile(asked.profile, source.profile, key, factor),
                run,
            )
        except GraphTurboError:
            found = None
        else:
            source = Source.of(source.model, profile)
            requests = [replace(asked, verify=False, emit=(), has_pictures=False)]
    runs = shared_desk().start(requests, source, run_state.changed_chip())
    return (found, runs[0]) if runs and found is not None else None


def change_text(changed: tuple[BindingChange, Run] | None, drawn: Runs) -> str:
    """`B is DRAM-bound: 25 % more DRAM bandwidth makes it 1.18× as fast`; nothing before that.

    Raises:
        WorkerError: it met a bug.
    """
    if changed is None or not changed[1].is_done or changed[1].refusal is not None:
        return ""
    change, run = changed
    return change.text("B", drawn["B"].report, run.report)


def _is_short(run: Run) -> bool:
    """Whether the run is computed once more within seconds: a search would search again."""
    is_search = STRATEGIES[parse_strategy(run.request.strategy).name].is_search
    return not is_search and run.report.contract["instructions"] <= LONGEST
