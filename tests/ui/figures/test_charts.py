"""Plotly figures as the page shows them: inks, marks, and what a point stands for."""

from __future__ import annotations

import plotly.graph_objects as go

from graphturbo_ui.charts import DIMMED, PRESENTED_PX, enlarged, inked, marked, on_dark
from graphturbo_ui.figures import bound_steps
from graphturbo_ui.figures.legend import AXIS_PX, legend_html, without_legend
from graphturbo_ui.figures.memory import memory_figure, memory_targets
from graphturbo_ui.figures.roofline import roofline_figure
from graphturbo_ui.palette import HUE_COLOURS, LIT, NAVY, OCHRE
from graphturbo_ui.session.selection import Selection
from tests.ui.synthetic import synthetic_report


def test_every_text_of_a_figure_has_the_ink_and_the_kept_figure_stays_as_it_was():
    kept = memory_figure(synthetic_report())
    before = kept.to_dict()
    shown = inked(kept, "#123456")
    inks = [
        shown.layout.font.color,
        shown.layout.legend.font.color,
        shown.layout.legend.title.font.color,
        *(axis.tickfont.color for axis in shown.select_xaxes()),
        *(axis.title.font.color for axis in shown.select_yaxes()),
        *(note.font.color for note in shown.layout.annotations),
    ]
    assert set(inks) == {"#123456"}
    assert kept.to_dict() == before


def test_marked_points_keep_their_colour_and_the_others_are_pale():
    figure = go.Figure([go.Bar(y=[1, 2, 3]), go.Bar(y=[1]), go.Bar(y=[2])])
    first, second, third = marked(figure, [[1], None, []]).data
    assert first.selectedpoints == (1,)
    assert first.unselected.marker.opacity == DIMMED
    assert second.selectedpoints is None
    assert third.selectedpoints == ()


def lightness(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_muted_colours_are_seen_on_a_dark_ground():
    """Navy has 2.1:1 on it; a hue becomes the one of the dark theme."""
    ground = lightness("#10161e")
    assert all((lightness(lit) + 0.05) / (ground + 0.05) > 4.5 for lit in LIT.values())
    bars = [go.Bar(y=[1, 2], marker={"color": NAVY}), go.Bar(y=[1, 2]), go.Scatter(y=[1])]
    bars[1].marker.color = [OCHRE, HUE_COLOURS["light"][1], "#123456"]
    shown = on_dark(go.Figure(bars)).data
    assert shown[0].marker.color == LIT[NAVY]
    assert list(shown[1].marker.color) == [LIT[OCHRE], HUE_COLOURS["dark"][1], "#123456"]
    assert shown[2].marker.color is None


def test_every_bar_stands_for_its_layer():
    reports = (synthetic_report(layers=4), synthetic_report(layers=4, layers_per_group=2))
    targets = memory_targets(*reports, names="AB")
    figure = memory_figure(*reports)
    bars = [trace for trace in figure.data if trace.showlegend is False]
    assert bars == list(figure.data[: len(targets)])
    assert [len(points) for points in targets] == [len(trace.x) for trace in bars]
    assert targets[2][1] == Selection("A", "layer", 1)
    assert targets[3][3] == Selection("B", "layer", 3)
    assert memory_targets(reports[1], names="B")[0][0] == Selection("B", "layer", 0)


def test_an_audience_can_read_every_text_of_a_figure() -> None:
    figure = go.Figure(go.Bar(x=[1], y=[1], text="a"), layout={"height": 100})
    figure.add_annotation(text="b")
    assert enlarged(figure) is figure
    layout = figure.layout
    fonts = [
        layout.font, layout.legend.font, layout.legend.title.font,
        layout.xaxis.tickfont, layout.xaxis.title.font, layout.yaxis.tickfont,
        layout.annotations[0].font, figure.data[0].textfont,
    ]  # fmt: skip
    assert [font.size for font in fonts] == [PRESENTED_PX] * len(fonts)
    assert layout.height == 130


def test_every_pattern_of_the_steps_has_a_mark_of_its_own():
    bars = [
        go.Bar(name="wait", marker={"color": "#123456", "pattern": {"shape": shape}})
        for shape in bound_steps.PATTERNS.values()
    ]
    assert len({legend_html(go.Figure([bar])) for bar in bars}) == len(bars)


def test_an_entry_has_the_mark_and_the_name_of_its_trace():
    figure = go.Figure(
        [
            go.Bar(name="&lt;b&gt;", marker={"color": "#123456", "pattern": {"shape": "-"}}),
            go.Bar(name="hidden", showlegend=False),
            go.Scatter(name="roof", mode="lines", line={"color": "#abcdef", "dash": "dash"}),
        ],
        layout={"legend": {"title": {"text": "full  "}}},
    )
    made = legend_html(figure)
    assert made.count("<i ") == 2
    for part in ("<span>full</span>", "&lt;b&gt;", "180deg, #123456", "2px dashed #abcdef", "roof"):
        assert part in made
    assert "hidden" not in made
    assert legend_html(go.Figure()) == ""


def test_dots_of_the_runs_are_a_disc_and_a_diamond():
    made = legend_html(roofline_figure(synthetic_report(), synthetic_report("graphturbo@16")))
    assert made.index("border-radius:50%") < made.index("A&#x27;s layers")
    assert made.index("rotate(45deg)") < made.index("B&#x27;s layers")


def test_the_plot_keeps_its_height_where_the_legend_is_elsewhere():
    figure = go.Figure(layout={"height": 300, "margin": {"t": 28, "b": 92}})
    shown = without_legend(figure).layout
    assert shown.height - shown.margin.b == 300 - 92
    assert (shown.margin.b, shown.showlegend) == (AXIS_PX, False)
