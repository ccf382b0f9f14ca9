"""The sentence above the page Verification, and a card per run with its outputs on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

from graphturbo_core.report.verdict.kept_replays import magnitude_text
from graphturbo_ui.replays.found import Replayed, ReplayedOutput
from graphturbo_ui.text import Sink, safe_text

FIRST, DECADES = 1e-9, 9
"""The scale goes from here by decades to 1; what is smaller stands at its left end (our choice)."""
TICK_EVERY = 3
STATES = {True: ("right", "✓ replayed"), False: ("wrong", "✗ failed"), None: ("", "not replayed")}
NO_SHARE = "no share of its magnitude: no number, another shape, or all of ONNX Runtime's are 0"
CHECKED = (
    ("Reads", "Every read finds what its op needs: the right box, written before, not overwritten"
     " since."),
    ("Memory", "No two buffers share a byte while both are in use; every compute reads and writes"
     " its own core's memory alone."),
    ("Sums", "Partial sums begin once, are added to in order, and are read when they are whole."),
    ("Results", "Graph outputs agree with the unsplit model within what rounding explains."),
    ("Numbers", "They are float32 or the model's own type; weights that a file leaves out are drawn"
     " from a seed."),
    ("Not checked", "The bits of the run's number format, and the order of bytes inside a buffer."),
)  # fmt: skip
TOLERANCE = (
    "Difference and tolerance are shares of the output's magnitude: divided by the largest absolute"
    " number of that output. A difference of 1e-6 means that an output of up to 10 differs by at"
    " most 0.00001.",
    "The tolerance is a bound on rounding and follows from the graph that the strategy runs, not"
    " from its schedule. A sum of n terms is rounded n times, and each rounding in float32 errs by"
    " at most 6e-8 of its result (half a unit in the last place). Errors add up from input to"
    " output, and count twice, as ONNX Runtime rounds too. So deeper models have larger tolerances."
    " The replay also checks each read on its own.",
)
DRAWN_FIRST = "wrong ones first, then those that use the most of their tolerance"


def headline(found: Sequence[Replayed]) -> str:
    """What the replays say of the runs that are there."""
    by_state = {state: [each.run for each in found if each.is_right is state] for state in STATES}
    wrong, right, never = (by_state[state] for state in (False, True, None))
    parts = (
        _runs(wrong, "fails its replay", "fail their replays"),
        _runs(right, "computes what the model computes", "compute what the model computes"),
        _runs(never, "has not been replayed", "have not been replayed"),
    )
    return "; ".join(filter(None, parts)) or "Verification"


def _runs(names: Sequence[str], one: str, several: str) -> str:
    """A part of the sentence; empty without runs."""
    return f"{' and '.join(names)} {several if len(names) > 1 else one}" if names else ""


def head_html(found: Sequence[Replayed], setting: str) -> str:
    """The sentence, and the choices of both runs below it."""
    return (
        f'<div class="replay-head"><h1>{headline(found)}</h1>'
        f"<p>{safe_text(setting, Sink.HTML, 400)}</p></div>"
    )


def cards_html(found: Sequence[Replayed]) -> str:
    """A card per run; all outputs of all runs are on one logarithmic scale."""
    return f'<div class="replay-cards">{"".join(map(_card, found))}</div>'


def _card(run: Replayed) -> str:
    kind, words = STATES[run.is_right]
    badge = f'<i class="badge {run.run.lower()}">{run.run}</i>'
    head = f'{badge}<b>{safe_text(run.strategy, Sink.HTML)}</b><em class="{kind}">{words}</em>'
    body = (
        f'<p class="{kind if kind == "wrong" else ""}">{safe_text(run.text, Sink.HTML, 1000)}</p>'
    )
    if run.hidden:
        drawn = len(run.outputs)
        body += f"<p>{drawn} of {drawn + run.hidden} outputs are drawn: {DRAWN_FIRST}.</p>"
    if run.more:
        more = safe_text(run.more, Sink.HTML, 400)
        body += f"<details><summary>What is kept</summary><p>{more}</p></details>"
    scale = "".join(map(_output, run.outputs))
    scale += _ticks() if any(map(_has_place, run.outputs)) else ""
    return f'<section class="replay-card {kind}"><h2>{head}</h2>{scale}{body}</section>'


def _has_place(output: ReplayedOutput) -> bool:
    return output.difference is not None and output.tolerance is not None


def _output(output: ReplayedOutput) -> str:
    """A band up to the tolerance, and a mark at the difference."""
    name, kind = safe_text(output.name, Sink.HTML, 60), "right" if output.is_right else "wrong"
    if output.difference is None or output.tolerance is None:
        what = "agrees" if output.is_right else "differs"
        return (
            f'<div class="replay-name"><span>{name}</span><span>{NO_SHARE}'
            f' · <b class="{kind}">{what}</b></span></div>'
        )
    found, most = magnitude_text(output.difference), magnitude_text(output.tolerance)
    places = f"--found:{_place(output.difference):.4f};--most:{_place(output.tolerance):.4f}"
    return (
        f'<div class="replay-name"><span>{name}</span>'
        f"<span>largest difference <b>{found}</b> · rounding explains up to <b>{most}</b></span>"
        "</div>"
        f'<div class="replay-scale {kind}" style="{places}"><i class="most"></i>'
        '<i class="found"></i></div>'
    )


def _place(share: float) -> float:
    """Where a share stands on the scale, from 0 to 1."""
    return min(max(log10(share / FIRST) / DECADES, 0.0), 1.0) if share else 0.0


def _ticks() -> str:
    """Every third decade, and what the scale measures."""
    powers = range(0, DECADES + 1, TICK_EVERY)
    texts = (
        (power / DECADES, f"1e-{DECADES - power}" if power < DECADES else "1") for power in powers
    )
    marks = "".join(f'<span style="--at:{at:.4f}">{text}</span>' for at, text in texts)
    what = "difference from ONNX Runtime, share of the output's largest number"
    return f'<div class="replay-ticks">{marks}</div><div class="replay-axis">{what}</div>'


def explained_html() -> str:
    """What a replay checks, and where the tolerance comes from."""
    rows = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in CHECKED)
    below = "".join(f"<p>{text}</p>" for text in TOLERANCE)
    return (
        f'<div class="replay-more"><section><h2>What a replay checks</h2><dl>{rows}</dl></section>'
        f"<section><h2>Tolerance</h2>{below}</section></div>"
    )
