"""Rows behind figures and tables, exactly; figures by traces, titles and the empty case."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_ui.charts import on_dark
from graphturbo_ui.figures import group_tables, instructions, tables
from graphturbo_ui.figures.memory import EMPTY, MemoryRow, memory_figure, memory_rows
from graphturbo_ui.palette import HUE_COLOURS
from tests.ui.synthetic import synthetic_report, with_rounds


def named(name: str):
    report = synthetic_report(layers=1)
    layer = {**report.tables["layers"][0], "name": name}
    return replace(report, tables={**report.tables, "layers": (layer,)})


def test_memory_rows_are_in_the_units_of_the_axes():
    report = synthetic_report(layers=2)
    layers = tuple(
        {**row, "lb_peak_bytes": 2048, "lb_mean_bytes": 1024, "gb_peak_bytes": 3 << 20}
        for row in report.tables["layers"]
    )
    rows = memory_rows(replace(report, tables={**report.tables, "layers": layers}))
    assert rows[1] == MemoryRow(2, "layer1", "Conv+Relu+Add", "g2", 2.0, 1.0, 3.0)


def test_memory_figure_has_three_bars_a_run_and_a_line_a_capacity():
    figure = memory_figure(synthetic_report(), synthetic_report("graphturbo@16"))
    assert [trace.name for trace in figure.data if trace.showlegend is False] == [
        "A fullest core",
        "A mean core",
        "A GB",
        "B fullest core",
        "B mean core",
        "B GB",
    ]
    assert [shape.y0 for shape in figure.layout.shapes] == [1.25, 8.0, 1.25, 8.0]
    titles = [note.text for note in figure.layout.annotations[:4]]
    assert titles == ["LB · A", "LB · B", "GB · A", "GB · B"]
    axes = list(figure.select_yaxes())
    assert [axis.title.text for axis in axes] == ["MiB per core"] * 2 + ["MiB"] * 2
    assert [axis.matches for axis in axes] == [None, "y", None, "y3"]
    assert [bar.yaxis for bar in figure.data[:6]] == ["y", "y", "y3", "y2", "y2", "y4"]


def test_a_small_lb_has_the_unit_of_its_capacity():
    report = synthetic_report()
    layers = tuple(
        {**row, "lb_peak_bytes": 2048, "lb_mean_bytes": 1024} for row in report.tables["layers"]
    )
    contract = {**report.contract, "lb": {**report.contract["lb"], "capacity_bytes": 256 << 10}}
    tables = {**report.tables, "layers": layers}
    figure = memory_figure(replace(report, contract=contract, tables=tables))
    assert figure.layout.yaxis.title.text == "KiB per core"
    assert (figure.layout.shapes[0].y0, figure.layout.annotations[-2].text) == (256, "LB 256 KiB")
    assert (figure.data[0].y[0], figure.data[1].y[0]) == (2, 1)
    large = memory_figure(replace(report, tables=tables))
    assert (large.data[0].y[0], large.data[1].y[0]) == (2 / 1024, 1 / 1024)


def test_layers_have_the_hues_of_the_first_screen_and_the_legend_names_them():
    # 12 layers: B's groups are layers 1 to 3, 4 to 6, 7 to 9 and 10 to 12; stages have 4 layers
    a, b = synthetic_report(), synthetic_report("graphturbo@16", layers_per_group=3)
    figure = memory_figure(a, b)
    hues = HUE_COLOURS["light"]
    of_layer = [hues[layer // 3] for layer in range(12)]
    assert [list(trace.marker.color) for trace in figure.data[:6]] == [of_layer] * 6
    legend = {trace.name: trace.marker.color for trace in figure.data[6:]}
    assert legend == {
        "stage 1": hues[0],
        "stage 1 + stage 2": hues[1],
        "stage 2 + stage 3": hues[2],
        "stage 3": hues[3],
    }
    assert "hatched: fullest core" in figure.layout.legend.title.text
    shown = on_dark(figure).data
    assert list(shown[4].marker.color) == [HUE_COLOURS["dark"][layer // 3] for layer in range(12)]
    assert shown[6].marker.color == HUE_COLOURS["dark"][0]


def test_the_legend_names_stages_where_one_group_has_them_all():
    b = synthetic_report("graphturbo@16", layers_per_group=12)
    legend = [trace.name for trace in memory_figure(b, names="B").data[3:]]
    assert legend == ["stage 1", "stage 2", "stage 3"]


def test_a_chip_without_gb_has_no_gb_line():
    report = synthetic_report()
    gb = {"capacity_bytes": 0, "peak_bytes": 0}
    figure = memory_figure(replace(report, contract={**report.contract, "gb": gb}))
    assert len(figure.layout.shapes) == 1


def test_no_layers_are_said_to_be_none():
    report = synthetic_report()
    figure = memory_figure(replace(report, tables={**report.tables, "layers": ()}))
    said = figure.layout.annotations[-1]
    assert (said.text, said.x, said.y) == (EMPTY, 0.5, 0.5)


def test_a_name_with_markup_reaches_plotly_escaped():
    figure = memory_figure(named("<b>x</b>"))
    assert "&lt;b&gt;x&lt;/b&gt;" in figure.data[0].customdata[0]
    assert "<b>" not in figure.data[0].customdata[0]


def test_steps_stand_side_by_side():
    a = synthetic_report()
    steps = [{"name": "plan", "seconds": 1.0}, {"name": "plan", "seconds": 0.5}]
    b = replace(a, contract={**a.contract, "steps": steps, "schedule_seconds": 2.0})
    assert tables.step_rows(a, b) == [
        {"step": "import", "A (s)": 0.2, "B (s)": None},
        {"step": "simulate", "A (s)": 0.4, "B (s)": None},
        {"step": "plan", "A (s)": None, "B (s)": 1.5},
        {"step": "import to trace, together", "A (s)": 0.6, "B (s)": 2.0},
    ]


def test_summaries_count():
    a, b = synthetic_report(), synthetic_report("graphturbo@16", layers_per_group=6)
    assert group_tables.graph_summary(a, b).startswith(
        "A runs 36 ops as 12 sub-graphs; B runs 36 ops as 2 sub-graphs."
    )
    assert instructions.gantt_summary(a) == (
        "The whole batch on one cluster: A in 8 rounds of 2 samples. "
        "A: 400 instructions on 7 engines."
    )
    assert tables.round_text(with_rounds(a, (5, 3, 100), (1, 1, 30)), b) == (
        "The whole batch on one cluster: A in 3 rounds of 5 samples and 1 round of 1 sample, "
        "B in 1 round of 16 samples."
    )


def test_a_window_of_the_whole_run_is_windows_of_the_drawn_round():
    # three rounds of 100 cycles that are drawn, then one of 30 that is not
    report = with_rounds(synthetic_report(), (5, 3, 100), (1, 1, 30))
    for window, expected in (
        ((0, 40), [(0, 40)]),
        ((120, 150), [(20, 50)]),
        ((180, 220), [(80, 100), (0, 20)]),
        ((250, 400), [(50, 100)]),
        ((120, 220), [(0, 100)]),
        ((300, 330), []),
        ((-20, 10), [(0, 10)]),
    ):
        assert tables.windows_in_round(report, window) == expected, window


def test_a_note_of_both_runs_is_told_once():
    a, b = synthetic_report(), synthetic_report()
    a = replace(a, contract={**a.contract, "notes": ["one", "two"]})
    b = replace(b, contract={**b.contract, "notes": ["two", "three"]})
    assert tables.notes(a, b) == ["A: one", "A and B: two", "B: three"]


def test_a_run_alone_keeps_its_name():
    b = synthetic_report("graphturbo@16", layers=2)
    b = replace(b, contract={**b.contract, "notes": ["one"]})
    assert tables.notes(b, names="B") == ["B: one"]
    assert group_tables.graph_summary(b, names="B").startswith("B runs 6 ops as 2 sub-graphs.")
    assert "B: 400 instructions" in instructions.gantt_summary(b, names="B")
    assert {row["run"] for row in group_tables.group_table(b, names="B")} == {"B"}
    assert {row["run"] for row in tables.memory_table(b, names="B")} == {"B"}
    assert {row["run"] for row in instructions.instruction_table(b, names="B")} == {"B"}
    assert set(tables.step_rows(b, names="B")[0]) == {"step", "B (s)"}
    figure = memory_figure(b, names="B")
    assert [t.name for t in figure.data[:3]] == ["B fullest core", "B mean core", "B GB"]
