"""Pictures of Algorithms 1 to 4: what they draw is what the report's tables say."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Decision
from graphturbo_core.report.algorithms import orders
from graphturbo_core.report.algorithms.binds import bind_picture
from graphturbo_core.report.algorithms.buffer import algorithms_buffer
from graphturbo_core.report.algorithms.merges import merge_picture
from graphturbo_core.report.algorithms.orders import gb_curve, order_picture
from graphturbo_core.report.algorithms.splits import split_picture
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.overview.axis_names import AxisNames
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.run_rows import decision_rows, piece_counts
from tests.report.overview.reports import report_of, split
from tests.ui.unpacking import unpack

COARSE = "graphturbo@16"


def drawn(*strategies: str) -> dict[str, Any]:
    header, _ = unpack(algorithms_buffer(*map(report_of, strategies)))
    return header


def with_tables(report: Report, **tables: object) -> Report:
    return replace(report, tables={**report.tables, **tables})  # type: ignore[typeddict-item]


def picture(make: Any, report: Report, *more: Any) -> dict[str, Any]:
    found = make(report, *more, str)
    assert found is not None
    return found


def test_all_axes_that_are_cut_in_the_end_are_named_with_their_parts() -> None:
    (part,) = picture(split_picture, split(), [0])["parts"]
    assert (part["axis"], part["final_cuts"]) == (2, [[2, 2], [3, 2]])
    report = report_of(COARSE)
    for part in picture(split_picture, report, [0] * len(report.tables["groups"]))["parts"]:
        pieces = part["final_pieces"]
        assert part["final_cuts"] == ([[part["axis"], pieces]] if pieces > 1 else [])


def test_pieces_and_bytes_are_those_of_the_table() -> None:
    report = report_of(COARSE)
    found = picture(split_picture, report, [0] * len(report.tables["groups"]))
    taken = {row["index"]: row for row in report.tables["splits"] if row["taken"]}
    seen = set()
    for part in found["parts"]:
        for group in part["groups"]:
            seen.add(group)
            row = report.tables["groups"][group]
            assert part["final_pieces"] == row["pieces"]
            assert part["whole_bytes"] == row["peak_bytes"]
            assert part["pieces"] == taken[group]["pieces"]
            assert part["piece_bytes"] == taken[group]["peak_bytes"] <= found["capacity_bytes"]
    assert seen == set(range(len(report.tables["groups"])))
    alone = {
        (row["index"], row["axis"]): row
        for row in report.tables["splits"]
        if row["part"] == "layer"
    }
    for part in found["parts"]:
        for layer in part["layers"]:
            row = alone[layer["layer"], part["axis"]]
            assert layer["pieces"] == (row["pieces"] if row["possible"] else 0)
            assert layer["whole_bytes"] == row["whole_peak_bytes"]


def test_equivalent_sub_graphs_are_drawn_once() -> None:
    report = report_of("layerwise@16")
    row = next(iter(report_of(COARSE).tables["splits"]))
    found = picture(split_picture, with_tables(report, splits=(row,)), [0] * 99)
    groups = [group for part in found["parts"] for group in part["groups"]]
    assert sorted(groups) == list(range(len(report.tables["groups"])))
    assert len(found["parts"]) < len(groups)


def test_every_merge_joins_parts_and_the_last_ones_are_the_sub_graphs() -> None:
    report = report_of(COARSE)
    found = picture(merge_picture, report)
    assert found["is_final"]
    parts = {layer: {layer} for layer in range(len(report.tables["layers"]))}
    for step in found["steps"]:
        row = report.tables["decisions"][step["index"]]
        assert (step["is_taken"], step["step"]) == (row["taken"], row["step"])
        assert (step["peak"] in row["numbers"]) and (
            str(step["pieces"]) in row["numbers"] or not step["pieces"]
        )
        if row["taken"]:
            joined = set().union(*(parts.pop(first) for first in step["parts"]))
            parts[min(joined)] = joined
    sizes = [row["layers"] for row in report.tables["groups"]]
    assert sorted(map(len, parts.values())) == sorted(sizes)
    assert found["left_out"] == len(report.tables["decisions"]) - len(found["steps"])


def test_decisions_that_join_no_layers_are_counted() -> None:
    report = report_of(COARSE)
    strange = {**report.tables["decisions"][0], "subject": "no layer + none"}
    changed = with_tables(report, decisions=(*report.tables["decisions"], strange))
    whole, found = picture(merge_picture, report), picture(merge_picture, changed)
    assert found["left_out"] == whole["left_out"] + 1
    assert merge_picture(with_tables(report, decisions=(strange,)), str) is None


@pytest.mark.parametrize("counts", ["x+1", "", "8+", "٣", "1" * 5000, 4.5])
def test_numbers_of_a_file_that_are_none_are_unknown(counts: str | float) -> None:
    numbers = {"pieces_of_parts": counts, "pieces": "four", "axis": 0.5}
    assert piece_counts(Decision("plan", "any", ("a", "b"), True, numbers)) == ()
    plan = SimpleNamespace(decisions=[Decision("plan", "any", ("a", "b"), True, numbers)])
    (row,) = decision_rows(cast(Outcome, SimpleNamespace(plan=plan)))
    assert (row["counts"], row["pieces"], row["axis"], row["peak_bytes"]) == ("", 0, -1, 0)


@pytest.mark.parametrize("order", ["depth-first", "breadth-first"])
def test_the_ready_list_is_replayed(order: str) -> None:
    options = {orders.ORDER_OPTION: order}
    request = RunRequest("teaching-resnet", COARSE, "stcp920", 64, options=options)
    report = run_report(load_sample("teaching-resnet"), request)
    found = picture(order_picture, report)
    assert found["is_breadth_first"] == (order == "breadth-first")
    names = [kernel["name"] for kernel in found["kernels"]]
    now = list(found["initial"])
    for step, row in zip(found["steps"], report.tables["ready"], strict=True):
        assert names[step["run"]] == row["run"]
        now.remove(step["run"])
        now += step["entered"]
        assert ", ".join(names[kernel] for kernel in now) == row["ready"]
    assert now == []


def test_bytes_in_gb_of_each_kernel() -> None:
    report = report_of(COARSE)
    cycle, size = report.arrays["gb_cycle"], report.arrays["gb_bytes"]
    found = picture(order_picture, report)
    for kernel in found["kernels"]:
        inside = [
            int(size[at])
            for at in range(len(cycle))
            if cycle[at] < kernel["end"]
            and (at + 1 == len(cycle) or cycle[at + 1] > kernel["start"])
        ]
        assert kernel["gb_peak_bytes"] == max(inside)
        assert kernel["gb_end_bytes"] == inside[-1]
    assert max(kernel["gb_peak_bytes"] for kernel in found["kernels"]) == size.max()
    assert found["capacity_bytes"] >= size.max()


def test_a_long_curve_keeps_its_peaks(monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(COARSE)
    exact = gb_curve(report)
    assert np.array_equal(exact["gb_bytes"], report.arrays["gb_bytes"])
    monkeypatch.setattr(orders, "MOST_POINTS", 7)
    short = gb_curve(report)
    assert len(short["gb_cycle"]) == len(short["gb_bytes"]) == 7
    assert short["gb_bytes"].max() == exact["gb_bytes"].max()


def test_bindings_of_every_kernel() -> None:
    report = report_of(COARSE)
    found = picture(bind_picture, report)
    rows = [
        (kernel["name"], tensor, op, found["texts"][text], axes, scope)
        for kernel in found["kernels"]
        for tensor, op, text, axes, scope, *_ in found["sheets"][kernel["sheet"]]
    ]
    keys = ("kernel", "tensor", "op", "binding", "axes", "scope")
    assert rows == [tuple(row[key] for key in keys) for row in report.tables["bindings"]]


def test_axes_of_both_pictures_are_called_as_on_the_first_screen() -> None:
    report = report_of(COARSE)
    names = AxisNames(report, "image")
    drawn = picture(split_picture, report, [0] * len(report.tables["groups"]))
    for part in drawn["parts"]:
        for group in part["groups"]:
            assert part["axis_names"] == names.of_result(len(part["shape"]), group)
            assert part["along"] == names.along(report.tables["groups"][group], group)
    bound = picture(bind_picture, report)
    nodes = {node["op"]: node for node in report.tables["graph_nodes"]}
    for sheet in bound["sheets"]:
        for _, op, *_, named, _ in sheet:
            (shape,) = nodes[op]["output_shapes"]
            assert bound["axis_names"][named] == names.of_result(len(shape), nodes[op]["group"])
    assert ["images", "channels", "rows", "columns"] in bound["axis_names"]


def test_two_runs_have_what_they_have_and_say_what_not() -> None:
    header = drawn("tvm@16", COARSE)
    fine, coarse = header["runs"]
    assert [fine[name] for name in ("split", "merge", "order")] == [None, None, None]
    assert fine["missing"] == {
        "split": "tvm@16 does without Algorithm 1: each kernel runs whole, on 16 images at once.",
        "merge": "tvm@16 does without Algorithm 2: it merges no layers.",
        "order": "tvm@16 has no ready list: its kernels run in the order of its plan.",
    }
    assert coarse["missing"] == {}
    assert len(coarse["hue_of_group"]) == len(coarse["groups"])
    assert len(fine["hue_of_group"]) == len(fine["groups"])
    assert header["cores"] == 8


def test_a_lone_run_and_a_level_without_algorithms() -> None:
    (lone,) = drawn("tvm@16")["runs"]
    assert set(lone["missing"]) == {"split", "merge", "order"}
    _, level = drawn("tvm@16", "graphturbo:lb@16")["runs"]
    assert "does without Algorithm 2" in level["missing"]["merge"]
    _, stitched = drawn("tvm@16", "astitch@16")["runs"]
    assert "other rules" in stitched["missing"]["merge"]
