"""LB and GB over ranges for a set of models -> what share of the speed is kept, and the front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from graphturbo_core.sweep.findings import KEPT_SHARE, pareto, smallest, worst_shares
from graphturbo_core.units import format_bytes, format_percent
from graphturbo_ui.palette import CAPACITY_COLOUR, GREY
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.what_if.curve import LABEL_PX, Ink
from graphturbo_ui.what_if.heat_map import ONE_HUE
from graphturbo_ui.what_if.metrics import speeds_of
from graphturbo_ui.what_if.point_desk import Answer
from graphturbo_ui.what_if.points import Bench, Span

HEIGHT_PX = 420
MIB = 2**20


@dataclass(frozen=True)
class Sizes:
    """Points of LB and GB sizes: their texts, bytes on the whole chip, and kept shares of speed.

    `shares`: per point, the least over the models; None: refused, or still to come.
    `chosen`: the place of the fewest bytes that keep `KEPT_SHARE`; `own_bytes`: of the chip as it
    is; `refused`: models that it does not run; `faulty`: those whose run there met a bug of ours.
    """

    spans: tuple[Span, ...]
    size_bytes: tuple[int, ...]
    shares: tuple[float | None, ...]
    per_model: Mapping[str, Sequence[float | None]]
    own_bytes: int
    is_done: bool
    refused: tuple[str, ...] = ()
    faulty: tuple[str, ...] = ()

    @property
    def chosen(self) -> int | None:
        """The point that is proposed, once all are known."""
        return smallest(self.shares, self.size_bytes) if self.is_done else None

    def is_refused(self, model: str) -> bool:
        """Whether the chip as it is does not run a model."""
        return model in self.refused

    @property
    def texts(self) -> tuple[str, ...]:
        """`LB 512 KiB, GB 2 MiB` per point."""
        named = [
            [f"{span.knob.label.split()[0]} {text}" for text in span.texts] for span in self.spans
        ]
        return tuple(", ".join(each) for each in product(*named))


def sizes_of(
    bench: Bench,
    spans: Sequence[Span],
    answers: Mapping[str, Sequence[Answer | None]],
    own: Mapping[str, Answer | None],
) -> Sizes:
    """What the answers say: per model, those of the pairs of sizes, and that of the chip."""
    speeds = {model: speeds_of(found) for model, found in answers.items()}
    bases = {model: speeds_of([answer])[0] for model, answer in own.items()}
    every = [answer for found in answers.values() for answer in found]
    return Sizes(
        spans=tuple(spans),
        size_bytes=tuple(
            bench.buffer_bytes(spans, places)
            for places in product(*(range(len(span.numbers)) for span in spans))
        ),
        shares=tuple(worst_shares(speeds, bases)),
        per_model={
            model: worst_shares({model: found}, {model: bases[model]})
            for model, found in speeds.items()
        },
        own_bytes=bench.buffer_bytes((), ()),
        is_done=None not in every and None not in own.values(),
        refused=tuple(model for model, answer in own.items() if answer and answer.refusal),
        faulty=tuple(model for model, answer in own.items() if answer and answer.fault),
    )


def buffer_figure(sizes: Sizes, ink: Ink) -> go.Figure:
    """Left the share of speed that each pair of sizes keeps, right time against bytes."""
    figure = make_subplots(
        1, 2, column_widths=[0.5, 0.5], horizontal_spacing=0.1,
        subplot_titles=["share of the chip's speed that is kept", "time against bytes of buffer"],
    )  # fmt: skip
    cell_text = {"size": LABEL_PX, "color": ink.text}
    cells = _map(sizes).update(colorscale=ONE_HUE[ink.theme], textfont=cell_text)
    figure.add_trace(cells, 1, 1)
    _name_map_axes(figure, sizes.spans)
    for trace in _dots(sizes, ink.text):
        figure.add_trace(trace, 1, 2)
    ends = [*sizes.size_bytes, sizes.own_bytes]
    powers = [2**power for power in range(min(ends).bit_length(), max(ends).bit_length())]
    figure.update_xaxes(
        title_text="bytes of all LBs and GBs", type="log", tickvals=[each / MIB for each in powers],
        ticktext=[format_bytes(each) for each in powers], col=2,
    )  # fmt: skip
    figure.update_yaxes(title_text="time (multiples of the chip's)", rangemode="tozero", col=2)
    if sizes.chosen is not None:
        _ring(figure, sizes, sizes.chosen, ink.text)
    figure.update_layout(
        height=HEIGHT_PX, margin={"l": 8, "r": 8, "t": 40, "b": 8},
        legend={
            "orientation": "h", "y": -0.2, "yanchor": "top", "x": 1, "xanchor": "right",
            "font_size": LABEL_PX,
        },
    )  # fmt: skip
    return figure


def _name_map_axes(figure: go.Figure, spans: Sequence[Span]) -> None:
    right = spans[-1]
    figure.update_xaxes(
        title_text=f"{right.knob.label} {right.knob.per}", type="category", showgrid=False, col=1
    )
    up = f"{spans[0].knob.label} {spans[0].knob.per}" if len(spans) > 1 else None
    figure.update_yaxes(title_text=up, type="category", showgrid=False, col=1)


def _map(sizes: Sizes) -> go.Heatmap:
    width = len(sizes.spans[-1].numbers)
    percents = [None if share is None else 100 * share for share in sizes.shares]
    texts = ["" if share is None else f"{100 * share:.0f} %" for share in sizes.shares]
    said = [_said(sizes, place) for place in range(len(percents))]
    rows = range(0, len(percents), width)
    up = list(sizes.spans[0].texts) if len(sizes.spans) > 1 else [""]
    return go.Heatmap(
        x=list(sizes.spans[-1].texts), y=up,
        z=[percents[row : row + width] for row in rows],
        text=[texts[row : row + width] for row in rows], texttemplate="%{text}",
        customdata=[said[row : row + width] for row in rows],
        hovertemplate="%{customdata}<extra></extra>", zmin=0, zmax=100,
        showscale=False, xgap=2, ygap=2,
    )  # fmt: skip


def _said(sizes: Sizes, place: int) -> str:
    head = f"{sizes.texts[place]}: {format_bytes(sizes.size_bytes[place])} on the chip"
    rows = [
        f"{safe_text(model, Sink.HTML)}: {_share_text(shares[place])}"
        for model, shares in sizes.per_model.items()
    ]
    return "<br>".join([head, *rows])


def _share_text(share: float | None) -> str:
    return "no figure" if share is None else f"{format_percent(share)} of the chip's speed"


def _dots(sizes: Sizes, ink: str) -> list[go.Scatter]:
    known = [place for place, share in enumerate(sizes.shares) if share is not None]
    costs = [(sizes.size_bytes[place], _time(sizes, place)) for place in known]
    front = [known[place] for place in pareto(costs)]
    found = []
    for name, places, style in (
        ("a pair of sizes", known, {"mode": "markers", "marker": {"color": GREY, "size": 8}}),
        ("none is faster with fewer bytes", front, {
            "mode": "lines+markers", "line": {"color": ink, "width": 2, "shape": "hv"},
            "marker": {"color": ink, "size": 9},
        }),
    ):  # fmt: skip
        found.append(
            go.Scatter(
                name=name, x=[sizes.size_bytes[place] / MIB for place in places],
                y=[_time(sizes, place) for place in places],
                customdata=[_said(sizes, place) for place in places],
                hovertemplate="%{customdata}<extra></extra>", **style,
            )
        )  # fmt: skip
    found.append(
        go.Scatter(
            name="the chip", mode="markers", x=[sizes.own_bytes / MIB], y=[1],
            hovertemplate=f"the chip: {format_bytes(sizes.own_bytes)}<extra></extra>",
            marker={"symbol": "square-open", "size": 14, "color": ink, "line": {"width": 2}},
        )
    )  # fmt: skip
    return found


def _time(sizes: Sizes, place: int) -> float:
    """Time of a point over that of the chip as it is, of the model that loses most."""
    share = sizes.shares[place]
    assert share  # only points with a speed are drawn
    return 1 / share


def _ring(figure: go.Figure, sizes: Sizes, place: int, ink: str) -> None:
    width = len(sizes.spans[-1].numbers)
    row, column = divmod(place, width)
    figure.add_shape(
        type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
        line={"color": CAPACITY_COLOUR, "width": 4}, row=1, col=1,
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            name=f"fewest bytes that keep {format_percent(KEPT_SHARE)}", mode="markers",
            x=[sizes.size_bytes[place] / MIB], y=[_time(sizes, place)],
            hoverinfo="skip",
            marker={
                "symbol": "circle-open", "size": 20, "color": CAPACITY_COLOUR,
                "line": {"width": 3},
            },
        ),
        1, 2,
    )  # fmt: skip
    figure.add_hline(y=1 / KEPT_SHARE, line={"color": ink, "width": 1, "dash": "dot"}, row=1, col=2)
