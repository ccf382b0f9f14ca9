"""Figures of the page about the paper: a point per row, ratios, marks, the empty case."""

from __future__ import annotations

from dataclasses import replace
from math import log10

import pytest

from graphturbo_core.report.paper.comparisons import STEP_NAMES, TABLES, comparisons
from graphturbo_core.report.paper.data import kept_paper
from graphturbo_core.report.paper.movers import Tornado, tornado
from graphturbo_ui.paper.below import row_table
from graphturbo_ui.paper.figures import (
    NO_EFFECTS,
    NO_ROWS,
    DotRow,
    dot_figure,
    ticks,
    tornado_figure,
    with_legend_above,
)

DATA = kept_paper()
ROWS = comparisons(DATA, "throughput", "full")
DOTS = [DotRow(row, row.label, f"model {row.mark}") for row in ROWS]


def texts(figure) -> list[str]:
    return [each.text for each in figure.layout.annotations]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_point_of_each_kind_per_row(theme: str) -> None:
    figure = dot_figure(DOTS, TABLES[0], "throughput.full.C", theme)
    published, ours, bounds = figure.data
    assert list(published.x) == [row.published for row in ROWS]
    assert list(ours.x) == [row.ours for row in ROWS]
    assert list(bounds.x) == [row.bound for row in ROWS]
    assert list(published.error_x.array) == [row.error for row in ROWS]
    assert figure.layout.xaxis.title.text == "samples/s, whole chip"
    assert figure.layout.xaxis.type == "log"


def test_ratios_are_bold_where_a_row_is_not_reproduced() -> None:
    found = texts(dot_figure(DOTS, TABLES[0], ""))
    assert found[0] == "1.33×" and found[2] == "<b>0.57×</b>" and found[5] == "<b>44.44×</b>"


def test_hand_written_code_has_no_outcome() -> None:
    rows = comparisons(DATA, "over-tvm", "vendor")
    found = texts(dot_figure([DotRow(row, row.label, "") for row in rows], TABLES[1], ""))
    assert found[:2] == ["1.13×", "0.65×"] and not any("<b>" in text for text in found)
    assert [key for line in row_table(TABLES[1], rows) for key in line if "within" in key] == []


def test_the_selected_row_has_a_ground() -> None:
    shapes = dot_figure(DOTS, TABLES[0], "throughput.full.C").layout.shapes
    grounds = [each for each in shapes if each.type == "rect"]
    assert [(each.y0, each.y1) for each in grounds] == [(1.5, 2.5)]
    assert [s for s in dot_figure(DOTS, TABLES[0], "").layout.shapes if s.type == "rect"] == []


def test_names_are_escaped() -> None:
    named = [DotRow(ROWS[0], "<b>A</b>", "<i>x</i>")]
    labels = dot_figure(named, TABLES[0], "").layout.yaxis.ticktext
    assert "&lt;b&gt;A" in labels[0] and "&lt;i&gt;" in labels[0]


def test_percent_has_a_linear_axis_from_0_to_100() -> None:
    rows = comparisons(DATA, "stages", "tvm")
    figure = dot_figure([DotRow(row, row.label, "") for row in rows], TABLES[3], "")
    assert figure.layout.xaxis.type is None and tuple(figure.layout.xaxis.range) == (0, 100)
    assert list(figure.layout.yaxis.ticktext) == [f"stage {stage}" for stage in range(1, 5)]


def test_ticks_of_narrow_and_wide_axes() -> None:
    assert [tick for tick in ticks(1.1, 2.3) if 1 <= tick <= 2.5] == [1, 1.2, 1.5, 2, 2.5]
    assert [tick for tick in ticks(30, 700) if 30 <= tick <= 700] == [50, 100, 200, 500]
    assert ticks(40, 2e7) == [10.0**place for place in range(1, 9)]
    figure = dot_figure(DOTS, TABLES[0], "")
    assert list(figure.layout.xaxis.ticktext)[:4] == ["100", "", "10k", ""]


def test_no_rows_are_said() -> None:
    assert texts(dot_figure([], TABLES[0], "")) == [NO_ROWS]


def test_a_bar_per_effect_from_one_to_its_ratio() -> None:
    found = tornado(DATA, "A", "full")
    figure = tornado_figure(found)
    bars = figure.data[0]
    assert bars.base == 1
    assert [1 + x for x in bars.x] == pytest.approx([each.ratio for each in found.drawn])
    labels = figure.layout.yaxis.ticktext
    assert labels[0] == "binding: literal"
    first, last = figure.layout.xaxis.range
    assert first < log10(min(each.ratio for each in found.drawn))
    assert last > log10(max(each.ratio for each in found.drawn))
    assert "published 0.75" in texts(figure)


def test_halved_and_doubled_share_a_line() -> None:
    figure = tornado_figure(tornado(DATA, "F", "tvm"))
    assert list(figure.layout.yaxis.ticktext).count("launch cycles") == 1
    assert {"halved 1.11", "doubled 0.83"} <= set(texts(figure))


def test_no_effects_are_said() -> None:
    assert texts(tornado_figure(Tornado("gb", (), (), (), 1.5))) == [NO_EFFECTS]


def test_the_table_has_the_numbers_of_the_picture() -> None:
    table = row_table(TABLES[0], ROWS)
    assert [line["ours / published"] for line in table] == [row.ratio for row in ROWS]
    assert [line["within 1.5×"] for line in table].count("yes") == 3
    assert len(STEP_NAMES) == 6


def test_a_legend_above_has_a_mark_per_drawn_trace() -> None:
    """Nothing has a bound: its line is in no legend, and the rows have the picture alone."""
    within = dot_figure(DOTS, TABLES[0], "")
    height = within.layout.height
    legend, figure = with_legend_above(within, "light")
    assert [name in legend for name in ("published", "ours", "bound")] == [True, True, True]
    assert figure.layout.showlegend is False
    assert figure.layout.height < height
    bare = [replace(each, row=replace(each.row, bound=None)) for each in DOTS]
    legend, _ = with_legend_above(dot_figure(bare, TABLES[0], ""), "dark")
    assert "ours" in legend and "bound" not in legend


def test_an_axis_of_few_decades_has_all_numbers() -> None:
    near = [replace(each, row=replace(each.row, published=100, ours=200)) for each in DOTS]
    assert "" not in dot_figure(near, TABLES[0], "").layout.xaxis.ticktext
