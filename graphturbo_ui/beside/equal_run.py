"""Where A's and B's cluster batches differ: A's strategy at B's cluster batch, for the verdict."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.equal_batches import (
    cluster_batch,
    is_like_for_like,
    strategy_at,
)
from graphturbo_ui.jobs import Run, Runs, shared_desk
from graphturbo_ui.session import run_state
from graphturbo_ui.session.choices import Choices

A_HOLDS_TO_A_PLAN = "it runs from a plan file for its own cluster batch"


def equal_run(choices: Choices, drawn: Runs) -> Run | str | None:
    """That run, on its way or done; why there is none; None where both batches are equal.

    It begins once A and B are there, and nobody waits for it any more once they are others.
    """
    requests = []
    found: Run | str | None = None
    if len(drawn) > 1:
        a, b = (run.report for run in drawn.values())
        if not is_like_for_like(a, b) and choices.sides["a"].plan:
            found = A_HOLDS_TO_A_PLAN
        elif not is_like_for_like(a, b):
            asked = choices.request("a")
            strategy = strategy_at(asked.strategy, cluster_batch(b))
            requests = [
                replace(asked, strategy=strategy, verify=False, emit=(), has_pictures=False)
            ]
    runs = shared_desk().start(requests, choices.source, run_state.beside())
    return runs[0] if runs else found


def equal_report(beside: Run | str | None) -> Report | str | None:
    """What the verdict is told of it: the report, why there is none, or None while it is computed.

    Raises:
        WorkerError: it met a bug.
    """
    if not isinstance(beside, Run):
        return beside
    if not beside.is_done:
        return None
    refused = beside.refusal
    return beside.report if refused is None else refused.code
