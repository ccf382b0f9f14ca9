"""The contract, tables and arrays of real runs, compared with each other and with hand counts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Binding
from graphturbo_core.products.program import Cause, Memory
from graphturbo_core.report.bounds.bound_steps import BoundSteps
from graphturbo_core.report.bounds.bounds import Bounds
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.group_rows import _counted, _named, binding_text
from graphturbo_core.report.rows.run_rows import nested_text, numbers_text
from graphturbo_core.report.rows.traffic import Traffic
from graphturbo_core.report.verdict.text import FIGURES, group_table, run_table
from tests.models import model_bytes
from tests.report.overview.reports import report_of

CONTRACT_KEYS = [
    "schema", "model", "profile", "strategy", "options", "dtype", "batch", "cluster_batch",
    "rounds", "notes", "assumptions", "version", "program_sha256", "latency_s",
    "throughput_per_s", "cycles",
    "lower_bound_s", "lower_bound_terms", "plan_bound_s", "program_critical_path_s", "gap",
    "bound_steps",
    "critical_path", "kernels", "instructions",
    "sub_graphs_fine", "groups", "order", "dram_read_bytes", "dram_write_bytes", "gb_read_bytes",
    "gb_write_bytes", "core_to_core_bytes", "compulsory_dram_bytes", "dram_ledger", "macs",
    "needed_macs", "halo_macs", "utilization", "mac_utilization", "stalls",
    "cross_layer_overlap", "overlap", "lb", "gb",
    "layers", "verify", "steps", "schedule_seconds",
]  # fmt: skip
COLUMNS = {
    "round": "cycles longest_chain_cycles cross_layer_overlap layers_in_flight "
    "memory_under_compute repeats clusters",
    "rounds": "samples count cycles is_drawn",
    "engines": "index kind core cores label",
    "layers": "index name op_types group lb_peak_bytes lb_mean_bytes gb_peak_bytes start_s end_s "
    "macs model_macs dram_bytes gb_bytes matrix_cycles vector_cycles move_cycles dma_cycles "
    "matrix_utilization window_s",
    "roofs": "matrix_macs_per_s vector_macs_per_s dram_bytes_per_s gb_bytes_per_s",
    "groups": "index name layers ops split_axis pieces along covered_ops peak_bytes why "
    "why_not outputs binding scope",
    "kernels": "index name group start_cycle end_cycle least_cycles layers",
    "decisions": "index step rule subject taken numbers counts pieces axis peak_bytes",
    "ready": "index run ready",
    "splits": "part index name axis possible pieces covered_ops ops peak_bytes whole_peak_bytes "
    "capacity_bytes taken",
    "bindings": "kernel tensor op binding axes scope",
    "stalls": "engine kind busy data address channel barrier idle",
    "ledger": "memory cause bytes",
    "graph_nodes": (
        "index op op_type origin layer group rank part_rank x_fine x_coarse output_shapes "
        "weight_shapes attributes"
    ),
    "graph_edges": "source target tensor shape bytes",
    "chip": "key value source is_assumption",
    "spaces": "index memory core cores capacity_bytes buffers listed",
    "tensors": "index tensor kind axes",
    "stages": "index title first_layer last_layer",
    "pieces": "kernel cluster axis first end extent second_axis second_first second_end "
    "second_extent",
    "raised": "group pieces_before piece_bytes core_bytes_before core_bytes",
    "next_best": "group how groups pieces along more_cycles",
    "otherwise": "layers is_rest groups kernels cycles best_groups best_kernels best_cycles",
    "reasons": "group is_merged cause times fewest_pieces most_pieces other_layer other_parts rule",
    "stretches": "start_cycle end_cycle moved memory_layers compute_layers",
}
ARRAYS = [
    "start", "hold", "visible", "engine", "kind", "layer", "group", "kernel", "op", "tile",
    "wait", "wait_on", "size_bytes", "busy", "moved_tensor", "box_axes", "box_lo", "box_hi",
    "chain", "path_instruction", "path_start", "path_end", "path_resource", "path_holds_up",
    "flight_cycle", "flight_layers", "under_start", "under_end", "booked_instruction",
    "booked_memory",
    "booked_cause", "booked_bytes", "gb_cycle", "gb_bytes", "lb_cycle", "lb_bytes", "overlap_core",
    "overlap_start", "overlap_end", "buffer_space", "buffer_offset", "buffer_size_bytes",
    "buffer_from", "buffer_to", "buffer_tensor", "buffer_op", "buffer_before", "buffer_after",
    "buffer_lo", "buffer_hi",
]  # fmt: skip


def number(report: Report, key: str) -> float:
    value = report.contract[key]
    assert isinstance(value, int | float)
    return value


@pytest.mark.parametrize("strategy", ["tvm@2", "graphturbo@16", "graphturbo@5"])
def test_every_documented_name_is_there_and_no_other(strategy: str) -> None:
    report = report_of(strategy)
    assert sorted(report.contract) == sorted(CONTRACT_KEYS)
    assert sorted(report.arrays) == sorted(ARRAYS)
    for table, columns in COLUMNS.items():
        assert all(list(row) == columns.split() for row in report.tables[table]), table
    assert sorted(report.tables) == sorted(COLUMNS)


def test_a_report_survives_the_way_to_another_process() -> None:
    report = report_of("graphturbo@5")
    again = Report.from_bytes(report.to_bytes())
    assert again.contract == json.loads(json.dumps(report.contract))
    assert dict(again.tables) == dict(report.tables)
    assert all(np.array_equal(again.arrays[name], array) for name, array in report.arrays.items())


def test_rounds_multiply_time_and_bytes() -> None:
    # 64 samples, 4 clusters, 2 at once: 8 equal rounds; 8 samples: one of them.
    whole, one = report_of("tvm@2"), report_of("tvm@2", batch=8)
    assert (whole.contract["rounds"], one.contract["rounds"]) == (8, 1)
    for key in ("cycles", "dram_read_bytes", "dram_write_bytes", "gb_read_bytes", "macs"):
        assert number(whole, key) == 8 * number(one, key)
    assert whole.contract["kernels"] == one.contract["kernels"] == 13
    assert whole.contract["stalls"] == one.contract["stalls"]


def test_weights_are_fetched_first_once_a_cluster_and_again_after_that() -> None:
    whole, one = (report_of("tvm@2", batch).contract["dram_ledger"] for batch in (64, 8))
    assert isinstance(whole, dict)
    assert isinstance(one, dict)
    assert whole["weight_first"] == one["weight_first"]
    assert whole["weight_again"] == 7 * one["weight_first"] + 8 * one["weight_again"]


def test_a_remainder_is_one_more_smaller_round() -> None:
    # 64 over 4 clusters: shares of 16 in rounds of 5, 5, 5, 1.
    report = report_of("graphturbo@5")
    five, one = report_of("graphturbo@5", batch=20), report_of("graphturbo@1", batch=4)
    assert report.contract["rounds"] == 4
    assert number(report, "cycles") == 3 * number(five, "cycles") + number(one, "cycles")
    assert number(report, "dram_write_bytes") == 3 * number(five, "dram_write_bytes") + number(
        one, "dram_write_bytes"
    )


def test_clusters_without_samples_are_idle() -> None:
    busy, lone = report_of("graphturbo@1", batch=4), report_of("graphturbo@1", batch=1)
    assert any("3 of 4 clusters idle" in note for note in lone.contract["notes"])  # type: ignore[attr-defined]
    assert lone.contract["cycles"] == busy.contract["cycles"]
    for kind, shares in busy.contract["stalls"].items():  # type: ignore[attr-defined]
        alone = lone.contract["stalls"][kind]  # type: ignore[index]
        assert alone["busy"] == pytest.approx(shares["busy"] / 4)
        assert alone["idle"] == pytest.approx(0.75 + shares["idle"] / 4)
    assert number(lone, "cross_layer_overlap") == pytest.approx(
        number(busy, "cross_layer_overlap") / 4
    )


def test_macs_are_those_of_the_network() -> None:
    # 32 x 32: stem 3 -> 16, four 3x3 of 16; 16 x 16: 16 -> 32 1x1 and 3x3, three 3x3 of 32; 320.
    image = 32 * 32 * 9 * (3 * 16 + 4 * 16 * 16) + 16 * 16 * (16 * 32 * 10 + 3 * 9 * 32 * 32) + 320
    assert report_of("tvm@2").contract["macs"] == 64 * image
    assert report_of("tvm@2").contract["halo_macs"] == 0


def test_lists_describe_one_round() -> None:
    report = report_of("graphturbo@16")
    groups = report.contract["groups"]
    assert isinstance(groups, list)
    pieces = [f"{g['name']}/{p}" for g in groups for p in range(1, g["pieces"] + 1)]
    assert sorted(report.contract["order"]) == sorted(pieces)  # type: ignore[call-overload]
    assert [row["name"] for row in report.tables["kernels"]] == report.contract["order"]
    ops = [row["op"] for row in report.tables["graph_nodes"]]
    assert sorted(op for group in groups for op in group["ops"]) == sorted(ops)


def test_layer_rows_sum_to_the_round() -> None:
    report = report_of("tvm@2", batch=8)
    layers = report.tables["layers"]
    moved = number(report, "dram_read_bytes") + number(report, "dram_write_bytes")
    assert 4 * sum(int(row["dram_bytes"] or 0) for row in layers) == moved
    assert 4 * sum(int(row["macs"] or 0) for row in layers) == report.contract["macs"]
    assert sum(row["model_macs"] for row in layers) == report.contract["macs"]
    busy = sum(int(r["busy"] or 0) for r in report.tables["stalls"] if r["kind"] == "matrix")
    assert sum(int(row["matrix_cycles"] or 0) for row in layers) == busy


def test_reasons_name_rule_and_numbers() -> None:
    (group,) = report_of("graphturbo@16").tables["groups"]
    assert "merges, the last: straight, rule 2" in str(group["why"])
    assert "pieces 1" in str(group["why"])
    alone = report_of("tvm@2").tables["groups"][0]
    assert alone["why"] == "one layer: nothing was merged into it"
    assert group["why_not"] == "it is the whole graph: nothing is left to merge with"
    assert str(alone["why_not"]).endswith("merges no layers")


TWO_LAYERS = """two (float[8, 32, 64, 64] x, float[32, 32, 1, 1] w)
=> (float[8, 32, 64, 64] y) {
    a = Conv<kernel_shape = [1, 1]>(x, w)
    b = Relu(a)
    c = Conv<kernel_shape = [1, 1]>(b, w)
    y = Relu(c)
}"""


@pytest.mark.parametrize(
    ("strategy", "groups", "kernels"),
    [
        # Two layers, Conv + Relu each. An op a kernel: four groups, each within one of the two.
        ("layerwise", [1, 1, 1, 1], 4),
        ("tvm", [1, 1], 2),
        # One group of both layers in two pieces: a piece is no further layer.
        ("graphturbo@8", [2], 2),
    ],
)
def test_layers_of_a_group_are_those_its_ops_belong_to(
    strategy: str, groups: list[int], kernels: int
) -> None:
    request = RunRequest("two", strategy, "generic-4x4")
    report = run_report(model_bytes(TWO_LAYERS), request)
    assert report.contract["sub_graphs_fine"] == 2
    assert [group["layers"] for group in report.contract["groups"]] == groups  # type: ignore[attr-defined]
    assert [row["layers"] for row in report.tables["groups"]] == groups
    assert [row["layers"] for row in report.tables["kernels"]] == groups * (kernels // len(groups))


def test_a_group_tells_what_it_hands_out_how_it_is_divided_and_where_it_waits() -> None:
    """2 samples a cluster in 2 pieces: no batch axis is left for the 4 cores to share."""
    report = run_report(model_bytes(TWO_LAYERS), RunRequest("two", "graphturbo@8", "generic-4x4"))
    (group,) = report.tables["groups"]
    assert (group["pieces"], group["outputs"], group["scope"]) == (2, "y", "DRAM")
    assert group["binding"] == "axis 1 in 4: 4 cores"
    made = [row for row in report.tables["bindings"] if row["tensor"] == "y"]
    assert {(row["binding"], row["axes"]) for row in made} == {("[0,1,2,3]", "1")}


def test_numbers_of_a_decision_are_told_in_units() -> None:
    told = numbers_text({"pieces": 8, "peak_bytes": 3 << 20, "parts": "4+4", "free_bytes": "none"})
    assert told == "pieces 8, peak 3 MiB, parts 4+4, free bytes none"


def test_scopes_that_differ_are_counted_and_the_rest_of_many_names_is_numbered() -> None:
    assert _counted(["GB", "LB", "GB", ""]) == "GB (2 of 4), LB (1 of 4)"
    assert _counted(["GB", "GB"]) == "GB"
    assert _counted([]) == ""
    assert _named(dict.fromkeys("abcde")) == "a, b, c, 2 more"
    assert binding_text(Binding((0, 2), (1, 1), (7,))) == "1 core"
    assert binding_text(Binding((0, 2), (8, 4), tuple(range(32)))) == (
        "axis 0 in 8, axis 2 in 4: 32 cores"
    )


def test_quadruples_are_those_of_algorithm_1() -> None:
    """Two 1x1 layers: rows of samples and of pixels carry through both, channels do not."""
    report = run_report(model_bytes(TWO_LAYERS), RunRequest("two", "graphturbo@8", "generic-4x4"))
    whole = [row for row in report.tables["splits"] if row["part"] == "sub-graph"]
    assert [row["axis"] for row in whole] == list(range(len(whole)))
    assert [row["taken"] for row in whole].count(True) == 1
    (group,), (taken,) = report.tables["groups"], [row for row in whole if row["taken"]]
    assert taken["axis"] == group["split_axis"]
    assert taken["covered_ops"] == group["covered_ops"]
    assert taken["whole_peak_bytes"] == group["peak_bytes"]
    assert taken["possible"]
    assert not whole[1]["possible"], "channels are reduced by the second layer"
    layers = [row for row in report.tables["splits"] if row["part"] == "layer"]
    assert len(layers) == 2 * len(whole)
    assert not run_report(model_bytes(TWO_LAYERS), RunRequest("two", "tvm")).tables["splits"]
    lb = run_report(model_bytes(TWO_LAYERS), RunRequest("two", "graphturbo:lb"))
    assert not lb.tables["splits"]


def test_a_group_smaller_than_a_layer_says_so() -> None:
    request = RunRequest("two", "layerwise", "generic-4x4")
    first, *_ = run_report(model_bytes(TWO_LAYERS), request).tables["groups"]
    assert first["why"] == "part of the layer 'Conv_0': nothing was merged into it"


def test_bindings_are_the_vendors_nested_lists() -> None:
    assert nested_text(Binding((0, 2), (2, 2), (0, 1, 2, 3))) == "[[0,1],[2,3]]"
    assert nested_text(Binding((1,), (3,), (4, 5, 6))) == "[4,5,6]"
    assert nested_text(Binding((), (), (7,))) == "7"


def test_a_broken_bound_is_a_bug() -> None:
    Bounds(1.0, 2.0, 3.0, 0, {}, BoundSteps("dram", {})).check(3.0)
    with pytest.raises(InvariantError, match=r"program_critical_path_s 3\.0 exceeds 2\.9"):
        Bounds(1.0, 2.0, 3.0, 0, {}, BoundSteps("dram", {})).check(2.9)


def test_a_byte_without_a_cause_is_a_bug() -> None:
    causes = {Memory.DRAM: {Cause.INPUT: 10}, Memory.GB: {Cause.INPUT: 0}}
    Traffic(6, 4, 0, 0, 0, causes).check()
    with pytest.raises(InvariantError, match="DRAM: 10 of 11 bytes"):
        Traffic(7, 4, 0, 0, 0, causes).check()


def test_tables_for_a_terminal() -> None:
    reports = [report_of("tvm@2"), report_of("graphturbo@16")]
    table = run_table(reports)
    assert table.row_count == len(FIGURES) + 1  # and the seconds of the steps
    assert [str(column.header) for column in table.columns] == ["figure", "tvm@2", "graphturbo@16"]
    assert group_table(reports[1]).row_count == 1
