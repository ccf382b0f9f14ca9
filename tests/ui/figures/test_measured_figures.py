"""Dots of measured against simulated shares: places, labels, what a dot stands for, no dots."""

from __future__ import annotations

from math import log10

import pytest

from graphturbo_core.report.measured.comparison import compared
from graphturbo_core.report.measured.table import MeasuredRow
from graphturbo_ui.measured.figures import EMPTY, share_figure, share_table, share_targets
from graphturbo_ui.session.selection import Selection
from tests.report.measured.small_report import small_report


def found(*times: float, names=("stem/conv", "block/conv", "head/fc")):
    rows = [MeasuredRow(*pair, 2) for pair in zip(names, times, strict=True)]
    return compared(rows, small_report(names))


def test_dots_are_shares_in_percent_on_equal_axes() -> None:
    """Simulated 2, 6 and 2 ms, measured 8, 6 and 6 ms."""
    figure = share_figure({"A": found(8, 6, 6)})
    dots, line = figure.data
    assert [round(x, 9) for x in dots.x] == [20, 60, 20]
    assert [round(y, 9) for y in dots.y] == [40, 30, 30]
    assert list(line.x) == list(line.y) and line.name == "equal shares"
    assert figure.layout.xaxis.range == figure.layout.yaxis.range
    assert (figure.layout.yaxis.scaleanchor, figure.layout.yaxis.scaleratio) == ("x", 1)
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert axis.type == "log" and "(%)" in axis.title.text
    labels = [each for each in figure.layout.annotations if each.showarrow]
    assert {each.text for each in labels} == {"stem/conv", "block/conv", "head/fc"}
    (below,) = [each for each in labels if each.xanchor == "left" and each.showarrow]
    assert (below.text, below.x) == ("block/conv", pytest.approx(log10(60)))


def test_equal_shares_have_no_label() -> None:
    figure = share_figure({"A": found(2, 6, 2)})
    assert [each.text for each in figure.layout.annotations] == ["A: rank correlation 1.000"]


def test_a_time_of_zero_has_no_dot_but_a_row() -> None:
    pair = {"A": found(8, 0, 6), "B": found(1, 1, 1)}
    assert share_targets(pair) == [
        [Selection("A", "layer", 0), Selection("A", "layer", 2)],
        [Selection("B", "layer", index) for index in range(3)],
    ]
    figure = share_figure(pair)
    assert [len(trace.x) for trace in figure.data] == [2, 3, 2, 2]
    assert figure.layout.yaxis2.scaleanchor == "x2"
    table = share_table(pair)
    assert [(row["run"], row["layer"]) for row in table[:3]] == [("A", 2), ("A", 1), ("A", 3)]
    assert len(table) == 6


def test_names_are_escaped() -> None:
    named = found(8, 6, 6, names=("<b>", "block/conv", "head/fc"))
    figure = share_figure({"A": named})
    assert "&lt;b&gt;" in {each.text for each in figure.layout.annotations}
    assert "<b>" not in figure.data[0].customdata[0]


def test_no_dots_are_said() -> None:
    figure = share_figure({"A": compared([], small_report())})
    said = [each.text for each in figure.layout.annotations]
    assert said == ["A: no rank correlation", EMPTY]
