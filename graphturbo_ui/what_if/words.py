"""What a picture shows -> one sentence above it, and what else is worth a line."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.sweep.findings import (
    KEPT_SHARE,
    Change,
    changes_of_winner,
    cliffs,
    fastest,
)
from graphturbo_core.units import counted, format_bytes, format_percent, format_si
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.what_if.buffer_sizes import Sizes
from graphturbo_ui.what_if.curve import Series, comparable_speeds, faulty_places, knee_of
from graphturbo_ui.what_if.gain_bars import Changed, ranked
from graphturbo_ui.what_if.metrics import dram_bytes, speeds_of
from graphturbo_ui.what_if.point_desk import Answer
from graphturbo_ui.what_if.points import Span

PAIR = 2
NO_GAIN = 0.005
"""A gain below half a percent is called none (our choice)."""


def curve_sentence(span: Span, series: Sequence[Series]) -> str:
    """How far the number can be lowered, or must be raised, for the last strategy."""
    last = series[-1]
    name, label = _who(last), span.knob.label
    if None in last.answers:
        return f"{label} over a range"
    place = knee_of(span, last.answers)
    if place is None:
        return f"{name} runs with none of these values"
    text, own = span.texts[place], span.own_place
    if own is None:
        return f"{label}: {name} has 95 % of its best speed at {text}"
    noun = "it is" if span.knob.is_run else "the chip has"
    if place == own:
        return f"{label}: {text}, as it is, gives 95 % of {name}'s best speed or more"
    is_less = (place > own) if span.knob.is_cost else (place < own)
    verb = "is enough" if is_less else "is needed"
    return f"{label}: {text} {verb} for 95 % of {name}'s best speed; {noun} {span.texts[own]}"


def curve_notes(span: Span, series: Sequence[Series]) -> list[str]:
    """Where the winner changes, the largest cliff of each strategy, and what is refused."""
    if any(None in each.answers for each in series):
        return []
    curves = comparable_speeds(series)
    changes = changes_of_winner(curves)
    found = [_break_even(span, series, change) for change in changes]
    if len(series) > 1 and not changes:
        found += _one_winner(span, series, curves)
    found += [text for each in series if (text := _cliff_text(span, each))]
    found += [_refusal_text(span, each) for each in series if _refused(each.answers)]
    return found


def _break_even(span: Span, series: Sequence[Series], change: Change) -> str:
    low, high = span.texts[change.below], span.texts[change.above]
    before, after = (_who(series[place]) for place in (change.before, change.after))
    return (
        f"Break-even between {low} and {high}: {before} is faster up to {low}, {after} from "
        f"{high} on."
    )


def _one_winner(
    span: Span, series: Sequence[Series], curves: Sequence[Sequence[float | None]]
) -> list[str]:
    """Who is fastest where the fastest never changes, and where there is none."""
    places = range(len(span.numbers))
    winners = [fastest([curve[place] for curve in curves]) for place in places]
    won = {winner for winner in winners if winner is not None}
    equal = [span.texts[place] for place in places if _is_tie([curve[place] for curve in curves])]
    if not won:
        said = "All are equally fast" if equal else ""
        equal = []
    else:
        word = "faster" if len(series) == PAIR else "fastest"
        said = f"{_who(series[won.pop()])} is {word}"
    faulty = [span.texts[place] for place in sorted(faulty_places(series))]
    but = [f"at {', '.join(equal)}: equally fast"] if equal else []
    but += [f"at {', '.join(faulty)}: a run met a bug"] if faulty else []
    if not said:
        return []
    if not but:
        return [f"{said} throughout." if won else f"{said}."]
    return [f"{said}, except {'; '.join(but)}."]


def _is_tie(speeds: Sequence[float | None]) -> bool:
    return fastest(speeds) is None and sum(1 for speed in speeds if speed) > 1


def _cliff_text(span: Span, series: Series) -> str:
    """The largest cliff, and what changed there; empty where there is none."""
    steps = cliffs(span.numbers, speeds_of(series.answers))
    if not steps:
        return ""
    step = max(steps, key=lambda each: max(each.ratio, 1 / each.ratio))
    low, high = series.answers[step.below], series.answers[step.above]
    assert low is not None and high is not None
    low_text, high_text = span.texts[step.below], span.texts[step.above]
    kernels = [answer.figures["kernels"] for answer in (low, high)]
    moved = [dram_bytes(answer.figures) for answer in (low, high)]
    changed = [f"{kernels[0]} → {kernels[1]} kernels"] if kernels[0] != kernels[1] else []
    changed += [f"{format_bytes(moved[0])} → {format_bytes(moved[1])}/sample over DRAM"]
    return (
        f"Cliff of {_who(series)} between {low_text} and {high_text}: speed changes "
        f"{format_si(step.ratio)}× ({', '.join(changed)})."
    )


def _refused(answers: Sequence[Answer | None]) -> list[Answer]:
    return [answer for answer in answers if answer is not None and answer.refusal]


def _refusal_text(span: Span, series: Series) -> str:
    """Where a strategy is refused, with the reason of the first of these values."""
    refused = [
        (text, answer.refusal)
        for text, answer in zip(span.texts, series.answers, strict=True)
        if answer is not None and answer.refusal
    ]
    texts = ", ".join(text for text, _ in refused)
    why = safe_text(refused[0][1].removeprefix("error: "), Sink.MARKDOWN, 200)
    at = f" (at {refused[0][0]})" if len(refused) > 1 else ""
    return f"{_who(series)} is refused at {texts}: {why}{at}"


def map_sentence(spans: Sequence[Span], series: Sequence[Series]) -> str:
    """Which strategy is faster in how many cells; the best cell of a single one."""
    labels = " and ".join(span.knob.label for span in spans)
    if any(None in each.answers for each in series):
        return f"{labels} over ranges"
    curves = comparable_speeds(series)
    cells = range(len(series[0].answers))
    if len(series) == 1:
        done = [speed for speed in curves[0] if speed is not None]
        if not done:
            return f"{_who(series[0])} runs with none of these values"
        return f"{labels}: up to {format_si(max(done))} samples/s"
    winners = [fastest([curve[cell] for curve in curves]) for cell in cells]
    counts = [winners.count(place) for place in range(len(series))]
    most = max(range(len(series)), key=lambda place: (counts[place], -place))
    if not counts[most]:
        return f"{labels}: none is faster in any of {counted(len(winners), 'cell')}"
    word = "faster" if len(series) == PAIR else "fastest"
    every = "all" if counts[most] == len(winners) else f"{counts[most]} of"
    return f"{_who(series[most])} is {word} in {every} {counted(len(winners), 'cell')}"


def gain_sentence(
    changes: Sequence[Changed],
    series: Sequence[Series],
    base: Sequence[Answer | None],
    gains: Sequence[Sequence[float | None]],
) -> str:
    """What helps the last strategy most; `base`: the answers of the chip as it is."""
    name = _who(series[-1])
    own = base[-1]
    if own is not None and own.refusal:
        return f"{name} is refused on the chip as it is"
    if own is not None and own.fault:
        return f"A bug of ours ends {name} on the chip as it is"
    if own is None or not changes or any(None in each.answers for each in series):
        return "What would help most"
    best = ranked(gains)[0]
    gain = gains[-1][best]
    if gain is None or gain < NO_GAIN:
        return f"No single number of the chip makes {name} faster"
    return f"{changes[best].text} helps {name} most: {format_si(1 + gain)}× as fast"


def gain_notes(
    changes: Sequence[Changed],
    series: Sequence[Series],
    base: Sequence[Answer | None],
    gains: Sequence[Sequence[float | None]],
) -> list[str]:
    """What helps each of the other strategies most, and why one is refused on the chip."""
    found = []
    for each, own, gained in zip(series, base, gains, strict=True):
        if own is not None and own.fault:
            continue
        if own is not None and own.refusal:
            why = safe_text(own.refusal.removeprefix("error: "), Sink.MARKDOWN, 300)
            found.append(f"{_who(each)} is refused: {why}")
        elif each is not series[-1]:
            text = gain_sentence(changes, [each], [own], [gained])
            found += [f"{text}."] if None not in each.answers and own is not None else []
    return found


def buffer_sentence(sizes: Sizes, models: Sequence[str]) -> str:
    """The smallest sizes that keep the speed; `models` by their shown names."""
    names = [_model(model) for model in models]
    who = names[0] if len(names) == 1 else f"all {len(names)} models"
    if not sizes.is_done:
        return f"Smallest LB and GB for {who}"
    kept = f"{format_percent(KEPT_SHARE)} or more"
    refused = [_model(model) for model in models if sizes.is_refused(model)]
    if refused:
        return f"On the chip as it is, the strategy is refused for {', '.join(refused)}"
    if sizes.faulty:
        names = [_model(model) for model in sizes.faulty]
        return f"On the chip as it is, a bug of ours ends the run of {', '.join(names)}"
    if sizes.chosen is None:
        return f"None of these sizes keeps {kept} of the speed of {who}"
    share = sizes.size_bytes[sizes.chosen] / sizes.own_bytes
    verb = "keep" if len(sizes.spans) > 1 else "keeps"
    return (
        f"{sizes.texts[sizes.chosen].replace(', ', ' and ')} {verb} {kept} of the speed of {who}: "
        f"{format_percent(share)} of the chip's bytes"
    )


def _who(series: Series) -> str:
    """`B`, or a strategy's name."""
    return safe_text(series.variant.who, Sink.MARKDOWN, 80)


def _model(name: str) -> str:
    return safe_text(name, Sink.MARKDOWN, 80)
