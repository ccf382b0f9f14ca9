"""The run of a search beside A and B, where somebody asks for it: the race's third row."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.report.overview.buffer import result_figures
from graphturbo_core.strategies.registry import BEST, parse_strategy
from graphturbo_ui.jobs import Run, Runs, shared_desk
from graphturbo_ui.session import run_state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.text import safe_text

NAME = "best"
"""Its name beside A and B."""


def is_searched(choices: Choices) -> bool:
    """Whether B is a search by itself, so that there is none beside it."""
    return parse_strategy(choices.sides["b"].strategy).name == BEST


def searched_run(choices: Choices, pending: Runs) -> Run | None:
    """That run, on its way or done; None where nobody asks for it or B is one.

    It begins once neither A nor B is on its way. Its request is B's with another strategy, so that
    B may become it without being computed again.
    """
    requests = []
    if choices.best and not pending and not is_searched(choices):
        request = replace(choices.request("b"), strategy=BEST, options={}, plan="")
        requests = [request]
    runs = shared_desk().start(requests, choices.source, run_state.searched())
    return runs[0] if runs else None


def searched_row(run: Run | None) -> dict[str, object]:
    """What the race shows of it: figures, or how it stands; empty without it.

    Raises:
        WorkerError: it met a bug.
    """
    if run is None:
        return {}
    if not run.is_done:
        return {"state": "is being searched", "is_under_way": True}
    if run.is_cancelled:
        return {"state": "was cancelled"}
    refused = run.refusal
    if refused is not None:
        return {"state": f"was refused: {safe_text(refused.line(), max_length=120)}"}
    return result_figures(run.report, safe_text)
