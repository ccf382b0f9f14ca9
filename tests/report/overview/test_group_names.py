"""Names of sub-graphs in words: one per sub-graph, the same on every panel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.report.algorithms.buffer import algorithms_buffer
from graphturbo_core.report.overview.buffer import overview_buffer
from graphturbo_core.report.overview.group_names import in_words, names_of_groups, words_of
from graphturbo_ui.figures import tables
from graphturbo_ui.figures.canvases import gantt_bytes, graph_bytes
from graphturbo_ui.figures.pass_tables import binding_table, ready_table, split_table
from tests.report.overview.reports import report_of
from tests.ui.synthetic import synthetic_report
from tests.ui.unpacking import unpack

FINE = synthetic_report("tvm@2", layers=4)
COARSE = synthetic_report("graphturbo@16", layers=4, layers_per_group=2)
PAIR = ("tvm@2", "graphturbo@2")


def test_a_is_named_by_layers_and_b_by_stages() -> None:
    assert names_of_groups(FINE, COARSE) == [
        ["layer 1", "layer 2", "layer 3", "layer 4"], ["stage 1 (1)", "stage 1 (2)"],
    ]  # fmt: skip


def test_no_two_sub_graphs_of_a_run_have_one_name() -> None:
    for names in names_of_groups(*map(report_of, ("layerwise@2", "graphturbo@2"))):
        assert len(set(names)) == len(names)


def test_every_panel_has_the_same_names() -> None:
    reports = [report_of(strategy) for strategy in PAIR]
    names = names_of_groups(*reports)
    for header, _ in (unpack(graph_bytes(*reports)), unpack(gantt_bytes(*reports))):
        assert header["group_names"] == names
    for made, key in ((overview_buffer, "called"), (algorithms_buffer, "name")):
        header, _ = unpack(made(*reports))
        runs = [[group[key] for group in run["groups"]] for run in header["runs"]]  # type: ignore[index,union-attr]
        assert runs == names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("g2: 8 pieces instead of 4", "stage 1 (2): 8 pieces instead of 4"),
        ("g1, g2 and g3.", "stage 1 (1), stage 1 (2) and g3."),
        ("tensor 'g1' of g1.weight, big1", "tensor 'g1' of g1.weight, big1"),
    ],
)
def test_keys_in_a_text_become_names(text: str, said: str) -> None:
    (_, words) = words_of(FINE, COARSE)
    assert in_words(text, words) == said


def test_a_kernel_is_a_piece_of_its_sub_graph_unless_it_is_all_of_it() -> None:
    fine, coarse = (report_of(strategy) for strategy in PAIR)
    names = names_of_groups(fine, coarse)
    for report, words, own in zip((fine, coarse), words_of(fine, coarse), names, strict=True):
        for kernel in report.tables["kernels"]:
            group = next(g for g in report.tables["groups"] if g["name"] == kernel["group"])
            piece = f", piece {kernel['name'].split('/')[1]}" if group["pieces"] > 1 else ""
            assert words[kernel["name"]] == f"{own[group['index']]}{piece}"


def test_tables_and_notes_have_no_keys() -> None:
    reports = [report_of(strategy) for strategy in PAIR]
    rows = [row for make in (split_table, ready_table, binding_table) for row in make(*reports)]
    assert rows
    for row in rows:
        for column in ("runs", "ready after it", "kernel"):
            assert not str(row.get(column, "")).startswith("g")
    noted = replace(COARSE, contract={**COARSE.contract, "notes": ["g1: it is cut"]})
    assert tables.notes(FINE, noted)[-1] == "B: stage 1 (1): it is cut"
