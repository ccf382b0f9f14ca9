"""A run that is not done -> one progress bar: what it is at, how far, and the time left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic, sleep

from graphturbo_core.pipeline import Progress
from graphturbo_ui.runs import Run
from graphturbo_ui.text import Sink, safe_text

VERBS: Mapping[str, str] = {
    "profile": "Reading the chip for",
    "import": "Importing the model for",
    "divide the batch": "Dividing the batch for",
    "plan": "Planning",
    "search": "Searching a plan for",
    "lower": "Lowering",
    "simulate": "Simulating",
    "draw weights": "Drawing weights for",
    "verify": "Replaying",
    "report": "Summing up",
    "emit": "Writing the files of",
}
"""What a step does, before the name of a run; other steps compute it."""
COMPUTING = "Computing"
POLL_SECONDS = 0.15
"""How often a page that waits says how long it has; a click is answered within so much."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Share of the bar that is filled, and its text as Markdown."""

    share: float
    text: str


def bar(run: Run, name: str) -> Bar:
    """The bar of a run that is not done.

    A replay or a search counts its parts: the bar shows these parts. Otherwise it shows the time,
    where all steps to come are known, else the number of steps that are done.
    """
    strategy = safe_text(run.request.strategy, Sink.MARKDOWN)
    asked = f"{monotonic() - run.asked_s:.0f} s"
    if not run.is_computed:
        doing = f"Waiting for a worker to compute {name}"
        if run.is_begun:
            doing = f"Getting a worker ready to compute {name}"
            strategy += "; the first start after installation compiles for some 40 s"
        return Bar(0.0, f"**{doing}** ({strategy}) … {asked}")
    if run.at is None:
        return Bar(0.0, f"**{COMPUTING} {name}** ({strategy}) … {asked}")
    at, since_s = run.at
    in_step_s = at.seconds + monotonic() - since_s
    left_s = seconds_left(at, in_step_s, _ahead(run, at), run.known.get(at.step))
    spent_s = sum(seconds for _, seconds in run.steps) + in_step_s
    said = _left(left_s) or _step(at)
    return Bar(
        _share(at, spent_s, left_s),
        f"**{_verb(at)} {name}** ({strategy}){_part(at)}{said} … {asked}",
    )


def after(others: Mapping[str, Run]) -> str:
    """The runs that come after the one of a bar, by name: ` · then B (graphturbo@16)`."""
    waiting = [
        f"{name} ({safe_text(run.request.strategy, Sink.MARKDOWN)})"
        for name, run in others.items()
        if not run.is_done
    ]
    return f" · then {' and '.join(waiting)}" if waiting else ""


def of_several(first: Run | None, name: str, done: int, count: int) -> Bar:
    """The bar of `count` runs of which `done` are there and `first` is under way, called `name`."""
    if first is None:
        return Bar(done / max(1, count), "Waiting for a place in the server's queue")
    shown = bar(first, name)
    return Bar(min(1.0, (done + shown.share) / max(1, count)), shown.text)


def pause(first: Run | None) -> None:
    """Wait until the next poll, or until the run under way is there."""
    if first is not None:
        first.wait(POLL_SECONDS)
    else:
        sleep(POLL_SECONDS)


def seconds_left(
    at: Progress, in_step_s: float, ahead: Mapping[str, float], known_s: float | None
) -> float | None:
    """Estimate of the time left; None where nothing was measured that it could follow from.

    1. A step that counts its parts: its time so far times parts left over parts done.
    2. Another step: what it took in a comparable run (`known_s`).
    3. Plus the steps `ahead`, as comparable runs took them. Without them all, only rule 1 gives an
       estimate, which then leaves them out.
    """
    if at.done:
        return in_step_s * (at.total - at.done) / at.done + sum(ahead.values())
    is_all = at.steps_total and at.steps_done + 1 + len(ahead) >= at.steps_total
    if known_s is None or not is_all:
        return None
    return max(0.0, known_s - in_step_s) + sum(ahead.values())


def _ahead(run: Run, at: Progress) -> dict[str, float]:
    """Known steps that come after the present one."""
    begun = {at.step, *(name for name, _ in run.steps)}
    replay = set() if run.request.verify else {"draw weights", "verify"}
    return {name: s for name, s in run.known.items() if name not in begun | replay}


def _share(at: Progress, spent_s: float, left_s: float | None) -> float:
    if at.total:
        return min(1.0, at.done / at.total)
    if left_s is not None:
        return spent_s / max(spent_s + left_s, 1e-9)
    return min(1.0, at.steps_done / at.steps_total) if at.steps_total else 0.0


def _verb(at: Progress) -> str:
    """`simulate (round of 16)` is `Simulating`; a replay begins with the unsplit model."""
    if at.step == "verify" and not at.total:
        return "Running the unsplit model for"
    return VERBS.get(at.step.split(" (", maxsplit=1)[0], COMPUTING)


def _part(at: Progress) -> str:
    return f", {100 * at.done // at.total} %" if at.total else ""


def _step(at: Progress) -> str:
    """`, step 3 of 6`: what is said where nothing was measured that an estimate could follow."""
    return f", step {at.steps_done + 1} of {at.steps_total}" if at.steps_total else ""


def _left(left_s: float | None) -> str:
    if left_s is None:
        return ""
    return f", about {left_s:.0f} s left" if left_s >= 1 else ", less than 1 s left"
