"""A chart's legend outside it: an entry a trace, marks of their own, names as text."""

from __future__ import annotations

import plotly.graph_objects as go

from graphturbo_ui.figures import bound_steps
from graphturbo_ui.figures.legend import AXIS_PX, PATTERNS, legend_html, without_legend
from graphturbo_ui.figures.roofline import roofline_figure
from tests.ui.synthetic import synthetic_report


def test_every_pattern_of_the_steps_has_a_mark_of_its_own():
    assert {*bound_steps.PATTERNS.values()} <= PATTERNS.keys()
    assert len({*PATTERNS.values()}) == len(PATTERNS)


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
