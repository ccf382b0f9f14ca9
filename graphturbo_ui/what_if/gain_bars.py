"""Each number of the chip changed by itself -> the gain in speed of each strategy, ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import plotly.graph_objects as go

from graphturbo_core.sweep.axes import Axis
from graphturbo_core.sweep.knobs import PARTS, Knob, number_for, text_of, value_for
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.what_if.curve import LABEL_PX, Series
from graphturbo_ui.what_if.metrics import speeds_of
from graphturbo_ui.what_if.point_desk import Answer, reason_of
from graphturbo_ui.what_if.points import Bench

ROW_PX, ROW_OF_MORE_PX = 24, 13
AROUND_PX = 130
NEAR = 1.05
"""A change may be larger or smaller than asked by 5 % (our choice): 64 matrix columns to 77."""
SEEN = 0.0005
"""A gain below 0.05 % is drawn as none."""


@dataclass(frozen=True)
class Changed:
    """A knob with another number, and the axis that has this number alone."""

    knob: Knob
    before: int
    after: int
    axis: Axis

    @property
    def factor(self) -> float:
        """How often the number before is in the one after; of a cost, the other way round."""
        ends = (self.after, self.before) if self.knob.is_cost else (self.before, self.after)
        return ends[1] / ends[0]

    @property
    def text(self) -> str:
        """`DRAM bandwidth: 27 → 32.4 GB/s`."""
        before, after = (text_of(self.knob, number) for number in (self.before, self.after))
        same = before.partition(" ")[2] == after.partition(" ")[2]
        short = before.partition(" ")[0] if same else before
        return f"{self.knob.label}: {short} → {after}"


def changes_of(bench: Bench, factor: Fraction) -> tuple[Changed, ...]:
    """Every number of the chip, multiplied by the factor, or divided where less is better.

    A whole number that changes by much more or not at all is left out: it would not compare.
    """
    return tuple(each for each in _changes(bench, factor) if is_near(each, factor))


def left_out(bench: Bench, factor: Fraction) -> tuple[str, ...]:
    """Names of the numbers that are left out."""
    every = _changes(bench, factor)
    return tuple(each.knob.label for each in every if not is_near(each, factor))


def is_near(change: Changed, factor: Fraction) -> bool:
    """Whether a change is about as large as it should be."""
    return 1 / NEAR <= change.factor / factor <= NEAR


def _changes(bench: Bench, factor: Fraction) -> tuple[Changed, ...]:
    found = []
    for knob in bench.knobs:
        if knob.is_run or knob.key in PARTS:
            continue
        before = bench.own(knob)
        value = value_for(knob, before, 1 / factor if knob.is_cost else factor)
        after = number_for(knob, before, value)
        found.append(Changed(knob, before, after, Axis(knob.key, (value,))))
    return tuple(found)


def gains_of(base: Answer | None, answers: Sequence[Answer | None]) -> list[float | None]:
    """Per change, the speed with it over the speed without, less 1; None without both."""
    (own,) = speeds_of([base])
    return [speed / own - 1 if own and speed else None for speed in speeds_of(answers)]


def ranked(gains: Sequence[Sequence[float | None]]) -> list[int]:
    """Places of the changes, the largest gain of the last strategy first, unknown ones last."""
    last = gains[-1] if gains else ()
    return sorted(
        range(len(last)), key=lambda place: (last[place] is None, -(last[place] or 0.0), place)
    )


def gain_figure(
    changes: Sequence[Changed],
    series: Sequence[Series],
    base: Sequence[Answer | None],
    gains: Sequence[Sequence[float | None]],
) -> go.Figure:
    """A row per change, a bar per strategy, in the order of `ranked`; `base`: the chip as it is."""
    order = ranked(gains)
    labels = [safe_text(changes[place].text, Sink.HTML) for place in order]
    figure = go.Figure([
        go.Bar(
            name=safe_text(each.name, Sink.HTML), orientation="h", y=labels,
            x=[_percent(found[place]) for place in order],
            text=[_text(found[place], each.answers[place], own) for place in order],
            textposition="outside", cliponaxis=False, textfont={"size": 12},
            customdata=[_said(each, place, found[place]) for place in order],
            hovertemplate="%{y}<br>%{customdata}<extra></extra>",
            marker={"color": each.colour, "line": {"width": 0}},
        )
        for each, own, found in zip(series, base, gains, strict=True)
    ])  # fmt: skip
    known = [abs(gain) for found in gains for gain in found if gain is not None]
    most = 100 * max(known, default=0.1) or 1.0
    low = min((100 * gain for found in gains for gain in found if gain is not None), default=0.0)
    figure.update_xaxes(
        title_text="change of speed (%)", zeroline=True, zerolinewidth=1.5,
        range=[min(0.0, low) - 0.12 * most, 1.15 * most],
    )  # fmt: skip
    figure.update_yaxes(autorange="reversed", title_text=None, tickfont_size=LABEL_PX)
    row_px = ROW_PX + ROW_OF_MORE_PX * (len(series) - 1)
    figure.update_layout(
        height=AROUND_PX + row_px * len(labels), barmode="group", bargap=0.3,
        margin={"l": 8, "r": 8, "t": 40, "b": 8},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "font_size": LABEL_PX},
    )  # fmt: skip
    return figure


def _percent(gain: float | None) -> float | None:
    return None if gain is None else 100 * gain


def _text(gain: float | None, answer: Answer | None, base: Answer | None) -> str:
    if gain is None or answer is None or base is None:
        if answer is None or not reason_of(answer):
            return ""
        return "refused" if answer.refusal else "bug"
    text = f"{100 * gain:+.3g} %" if abs(gain) >= SEEN else "0 %"
    batch, before = (each.figures["cluster_batch"] for each in (answer, base))
    return text if batch == before else f"{text}, cluster batch {batch} instead of {before}"


def _said(series: Series, place: int, gain: float | None) -> str:
    answer = series.answers[place]
    name = safe_text(series.name, Sink.HTML)
    if reason := reason_of(answer):
        return f"{name}: {safe_text(reason, Sink.HTML, 300)}"
    if gain is None or answer is None:
        return f"{name}: not computed"
    speed = speeds_of([answer])[0]
    return f"{name}: {100 * gain:+.4g} %, {speed:,.4g} samples/s"
